import json

import pytest

from draftgate.suites.errors import SuiteMalformed
from draftgate.suites.loader import check, freeze
from draftgate.suites.suite import Conversation

CANARY = '{"id": "x", "kind": "prose", "messages": [{"role": "user", "content": "Hi"}]%s}\n'


def refusal(folder) -> str:
    """The one line that refuses a freshly frozen suite."""
    with pytest.raises(SuiteMalformed) as caught:
        freeze(folder, unreleased=True)
    line = str(caught.value)
    assert "\n" not in line
    assert line.startswith(str(folder))
    return line.removeprefix(f"{folder}/")


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("temperature = 1.3", "temperature = -1.0", "cells[1].temperature: -1.0 is less than the minimum of 0"),
        ("temperature = 1.3", "temperature = inf", "not TOML: inf is not a finite number; mend that line"),
        ("top_p = 0.9", "top_p = 0", "cells[1].top_p: 0 is less than or equal to the minimum of 0"),
        ("top_p = 0.9", "top_p = 1.1", "cells[1].top_p: 1.1 is greater than the maximum of 1"),
        ("top_p = 0.9", "top_p = nan", "not TOML: nan is not a finite number; mend that line"),
        ("prompts = 16", "prompts = 16.0", "cells[1].prompts: 16.0 is not of type 'integer'"),
        ("prompts = 16", "prompts = true", "cells[1].prompts: True is not of type 'integer'"),
        (
            "prompts = 16",
            "prompts = 25",
            "cell 'topp-8' asks for 25 prompts of 24; ask for fewer or add canaries",
        ),
        ('name = "topp-8"', 'name = "greedy-1"', "cell name 'greedy-1' is used twice; give each its own"),
        ('version = "v1"', 'version = "v2"', "version is 'v2' but the folder is v1; make them the same"),
        ("[strike_out]", "[strike_out", "not TOML: Expected ']' at the end of a table declaration"),
        ("confidence = 0.95", "confidence = 0.95\nlucky = 7", "speed: Additional properties are not allowed ('lucky'"),
        ("miss = 1e-3", "missed = 1e-3", "design: Additional properties are not allowed ('missed' was unexpected)"),
        ('"oracle", "adv', '"oracles", "adv', "synthetic.drafters[0]: 'oracles' is not one of ['oracle', "),
        ('sampled = ["noise"', 'sampled = ["nose"', "required.reference.sampled[0]: 'nose' is not one of ["),
        ("[required.reference]", "[required.Reference]", "required: 'Reference' does not match "),
    ],
)
def test_a_wrong_setting_is_refused_where_it_stands(folder, rewrite, old, new, expected):
    rewrite("suite.toml", old, new)

    assert refusal(folder).startswith(f"suite.toml: {expected}")


def test_a_suite_without_settings_is_refused(folder):
    (folder / "suite.toml").unlink()

    assert refusal(folder) == "suite.toml: not found; a suite folder has one, so name the folder of one version"


def test_settings_that_are_not_utf_8_are_refused(folder):
    (folder / "suite.toml").write_bytes(b'name = "\xff"')

    assert refusal(folder) == "suite.toml: not UTF-8 at byte 8; save the file as UTF-8"


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (
            "{'id': 1}\n",
            "not JSON at column 2: Expecting property name enclosed in double quotes; write one object a line",
        ),
        (CANARY % ', "expect": NaN', "not JSON: NaN is not a finite number; write one object a line"),
        ("\n", "not JSON at column 1: Expecting value; write one object a line"),
        ("[" * 100_000 + "\n", "not JSON: nested too deeply; write one object a line"),
        ("[]\n", "[] is not of type 'object'"),
        (CANARY % ', "answer": "Hi"', "'answer' is not one of ['id', 'kind', 'messages']"),
        (CANARY % ', "expect": "Hi"', "'expect' is not one of ['id', 'kind', 'messages']"),
        (CANARY.replace("prose", "exact") % "", "'expect' is a required property"),
        (CANARY.replace("prose", "json") % "", "'schema' is a required property"),
        (CANARY.replace("prose", "verse") % "", "kind: 'verse' is not one of ['exact', 'identifiers', 'json', "),
        (
            CANARY.replace("user", "users") % "",
            "messages[0].role: 'users' is not one of ['system', 'user', 'assistant', 'tool']",
        ),
        (
            CANARY.replace("prose", "exact") % ', "expect": "Hi"',
            "kind 'exact' stands in prose.jsonl; move the line to exact.jsonl",
        ),
    ],
)
def test_a_wrong_line_is_refused_by_file_and_line(folder, line, expected):
    with (folder / "prose.jsonl").open("a", encoding="utf-8") as file:
        file.write(line)

    assert refusal(folder).startswith(f"prose.jsonl:5: {expected}")


ROUND = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Ho"}]
TALK = [{"role": "system", "content": "Be short."}, *ROUND, *ROUND, ROUND[0]]
SCHEMA = {"type": "object"}
TOOL = {"name": "add", "parameters": SCHEMA}
NEW = {
    "identifiers": {"messages": TALK[-1:], "expect": "a1 b2 c3 d4 e5 f6 g7 h8"},
    "tools": {"messages": TALK[-1:], "tools": [TOOL], "calls": [{"name": "add", "arguments": SCHEMA}]},
    "code": {"messages": TALK[-1:], "asserts": ["assert f(1) == 2"]},
    "multi_turn": {"messages": TALK, "expect": "Ho"},
}


def with_line(folder, kind, **changes):
    """The suite with one canary of a kind that it did not have, whose fields are changed."""
    document = {"id": "x", "kind": kind} | NEW[kind] | changes
    (folder / f"{kind}.jsonl").write_text(json.dumps(document) + "\n", "utf-8")
    return folder


@pytest.mark.parametrize("kind", NEW)
def test_a_canary_of_every_kind_is_read(folder, kind):
    freeze(with_line(folder, kind), unreleased=True)

    (canary,) = check(folder).of_kind(kind)
    assert {"id": "x", "kind": kind} | NEW[kind] == {
        key: list(value) if isinstance(value, tuple) else value
        for key, value in ((key, getattr(canary, key)) for key in ("id", "kind", *NEW[kind]))
    }


@pytest.mark.parametrize(
    ("kind", "changes", "expected"),
    [
        ("identifiers", {"expect": "a b c"}, "expect: 'a b c' does not match"),
        ("identifiers", {"expect": "a b c d e f  g"}, "expect: 'a b c d e f g' does not match"),
        ("tools", {"tools": [TOOL, TOOL]}, "tool 'add' is described twice; give each its own name"),
        ("tools", {"tools": []}, "tools: [] should be non-empty"),
        ("tools", {"calls": []}, "calls: [] should be non-empty"),
        (
            "tools",
            {"calls": [{"name": "sub", "arguments": {}}]},
            "calls 'sub', but offers add; call one that is offered",
        ),
        ("tools", {"calls": [{"name": "add", "arguments": {"type": "x"}}]}, "schema is not a JSON Schema: 'x' is not"),
        ("tools", {"tools": [{"name": "add", "parameters": {"type": 1}}]}, "schema is not a JSON Schema: 1 is not"),
        (
            "tools",
            {"tools": [{"name": "add", "parameters": {"$ref": "http://127.0.0.1:9/x"}}]},
            "schema refers to 'http://127.0.0.1:9/x', which it does not hold",
        ),
        ("tools", {"calls": [{"name": "add", "arguments": {"$ref": "#/x"}}]}, "schema refers to '#/x', which it does"),
        ("tools", {"expect": "a"}, "'expect' is not one of ['id', 'kind', 'messages', 'tools', 'calls']"),
        ("code", {"asserts": []}, "asserts: [] should be non-empty"),
        ("code", {"asserts": ["assert f(1)"]}, "'assert f(1)' is not `assert EXPRESSION == LITERAL`; write each"),
        ("multi_turn", {"messages": TALK[1:4]}, "2 user turns; a dialogue has at least 3"),
        ("multi_turn", {"messages": TALK[:3]}, "the last turn is the assistant's, so nothing is asked; end with"),
        (
            "multi_turn",
            {"messages": [*TALK, ROUND[0]]},
            "turns are system, user, assistant, user, assistant, user, user",
        ),
        ("multi_turn", {"messages": [TALK[0], *TALK]}, "turns are system, system, user"),
        ("code", {"messages": ROUND}, "the last turn is the assistant's"),
    ],
)
def test_a_wrong_line_of_a_kind_is_refused_in_one_line(folder, kind, changes, expected):
    assert refusal(with_line(folder, kind, **changes)).startswith(f"{kind}.jsonl:1: {expected}")


CONVERSATION = "[conversation]\nprompts = 1\nturns = 3\ntokens = 8\neffect = 0.5\n\n[required.reference]"
SAMPLES = """[samples]
prompts = 3
least_open = 0.25
tokens = 4
batch = 8
effect = 0.1
shared_effect = 0.25
confidence = 0.95
false_discovery = 0.01

[required.reference]"""
CHAT = """[chat]
prompts = 9
tokens = 8
batch = 2
logprobs = 2
effect = 0.5
told_effect = 0.5

[required.reference]"""
LOOPS = "[loops]\nshortest = 2\nlongest = 8\ntimes = 3\neffect = 0.5\n\n[required.reference]"


def test_tables_of_numbers_are_there_where_they_are_written_and_only_there(folder, rewrite):
    assert (None, None, ()) == (check(folder).conversation, check(folder).loops, check(folder).dialogues)
    assert check(folder).samples is None
    tables = CONVERSATION.replace("[required.reference]", LOOPS).replace("[required.reference]", SAMPLES)
    rewrite("suite.toml", "[required.reference]", tables)
    freeze(with_line(folder, "multi_turn"), unreleased=True)

    built = check(folder)
    assert (Conversation(prompts=1, turns=3, tokens=8, effect=0.5), 8) == (built.conversation, built.loops.longest)
    assert ["x"] == [canary.id for canary in built.dialogues]
    assert (0.25, 4, 8) == (built.samples.least_open, built.samples.tokens, built.samples.batch)


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("greedy = [", 'greedy = ["conversation",', "conversation is required, but there is no table [conversation]"),
        ("greedy = [", 'greedy = ["loops",', "loops is required, but there is no table [loops]; add its numbers"),
        ("[required.reference]", CONVERSATION, "conversation asks for 1 dialogues of 0 multi_turn canaries; ask for"),
        ("[required.reference]", LOOPS.replace("= 2", "= 9"), "loops.shortest is more than loops.longest"),
        ("[required.reference]", CONVERSATION.replace("turns = 3", "turns = 1"), "conversation.turns: 1 is less than"),
        ("[required.reference]", LOOPS.replace("effect = 0.5", ""), "loops: 'effect' is a required property"),
        ("sampled = [", 'sampled = ["samples",', "samples is required, but there is no table [samples]; add its"),
        (
            "[required.reference]",
            SAMPLES.replace("tokens = 4", "tokens = 999"),
            "samples asks for 999 tokens, a sampled cell for",
        ),
        ("greedy = [", 'greedy = ["logprobs",', "logprobs is required, but there is no table [chat]; add its numbers"),
        ("[required.reference]", CHAT, "chat asks for 9 canaries of each kind, more than there are of json; ask for"),
        ("[required.reference]", SAMPLES.replace("batch = 8\n", ""), "samples: 'batch' is a required property"),
        (
            "[required.reference]",
            SAMPLES.replace("open = 0.25", "open = 1.5"),
            "samples.least_open: 1.5 is greater than or equal",
        ),
    ],
)
def test_a_check_without_its_numbers_is_refused(folder, rewrite, old, new, expected):
    rewrite("suite.toml", old, new)

    assert refusal(folder).startswith(f"suite.toml: {expected}")


def test_a_json_canary_needs_a_schema_that_is_one(folder):
    with (folder / "json.jsonl").open("a", encoding="utf-8") as file:
        file.write(CANARY.replace("prose", "json") % ', "schema": {"type": "objects"}')

    assert refusal(folder).startswith("json.jsonl:9: schema is not a JSON Schema: 'objects' is not valid")


def test_a_canary_id_used_twice_is_refused_across_files(folder, rewrite):
    rewrite("prose.jsonl", "prose-02", "json-01")

    assert refusal(folder) == "suite.toml: canary id 'json-01' is used twice; give each its own"


def test_an_empty_canary_file_is_refused(folder):
    (folder / "prose.jsonl").write_bytes(b"")

    assert refusal(folder) == "prose.jsonl: holds no canary; write one a line, or remove the file"


def test_a_file_of_an_unknown_kind_is_refused(folder):
    (folder / "prose.jsonl").rename(folder / "verse.jsonl")

    expected = "verse.jsonl: no canary kind is called 'verse'; rename the file to one of "
    expected += "exact, identifiers, json, tools, code, multi_turn, prose"
    assert refusal(folder) == expected


@pytest.mark.parametrize(("kind", "needing"), [("exact", "exact_text"), ("json", "json_valid")])
def test_a_cell_that_requires_a_check_on_a_kind_it_never_asks_is_refused(folder, rewrite, kind, needing):
    (folder / f"{kind}.jsonl").unlink()
    rewrite("suite.toml", "prompts = 16", "prompts = 12")

    assert refusal(folder) == f"suite.toml: cell 'greedy-1' requires {needing}, but asks no {kind} canary; add some"


def test_a_suite_need_not_have_prose(folder, rewrite):
    (folder / "prose.jsonl").unlink()
    freeze(folder, unreleased=True)

    assert check(folder).of_kind("prose") == ()


def test_a_line_separator_inside_a_text_does_not_end_the_line(folder):
    text = json.dumps(
        {"id": "x", "kind": "prose", "messages": [{"role": "user", "content": "a\u2028b"}]}, ensure_ascii=False
    )
    (folder / "prose.jsonl").write_text(text + "\n", "utf-8")
    freeze(folder, unreleased=True)

    assert check(folder).of_kind("prose")[0].messages[0]["content"] == "a\u2028b"


def with_census(folder, **changes):
    """The folder's suite frozen with a census of this content."""
    ids = [json.loads(line)["id"] for path in folder.glob("*.jsonl") for line in path.read_text("utf-8").splitlines()]
    census = {
        "weights_sha256": "a" * 64,
        "dtype": "float32",
        "tokens": 32,
        "quantiles": {"0.5": 1.0},
        "gaps": dict.fromkeys(ids, 2.0),
    }
    (folder / "census.json").write_text(json.dumps(census | changes), "utf-8")


def test_a_census_is_read_and_is_under_the_digest(folder):
    without = check(folder)
    with_census(folder)
    freeze(folder, unreleased=True)
    suite = check(folder)

    assert without.census is None
    assert 32 == suite.census.tokens
    assert {2.0} == set(suite.census.gaps.values())
    assert suite.digest != without.digest


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"gaps": {"other": 1.0}}, "gaps are not those of the suite's canaries; take the census anew"),
        ({"tokens": 0}, "tokens: 0 is less than the minimum of 1"),
        ({"quantiles": {"0.5": -1.0}}, "-1.0 is less than the minimum of 0"),
        ({"quantiles": {"0.5": float("nan")}}, "not JSON: NaN is not a finite number; take it anew"),
        ({"lucky": 7}, "Additional properties are not allowed ('lucky'"),
    ],
)
def test_a_wrong_census_is_refused(folder, changes, expected):
    with_census(folder, **changes)
    line = refusal(folder)

    assert line.startswith("census.json: ")
    assert expected in line
