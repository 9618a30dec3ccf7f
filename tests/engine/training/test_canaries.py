"""The shipped canaries: what the script writes, held out, judged as they should be, and short enough."""

import json
import re
from itertools import islice
from random import Random

import jsonschema
import pytest

from draftgate.canaries.targets.reference import EMBEDDED
from draftgate.engine.models.huggingface import load as load_model
from draftgate.engine.training import canaries
from draftgate.engine.training.corpus import KINDS, Draw, conversations, held_out
from draftgate.engine.training.corpus.tools import parse_calls
from draftgate.engine.training.corpus.words import ORDERS_HELD
from draftgate.suites.loader import SHIPPED, load

SUITES = sorted(canaries.PLANS)
NAME = re.compile(r"[a-z]+_[a-z_]+")


def made(name, kind):
    """The canaries of a kind, each beside the sample it was made from."""
    return zip(load(name).of_kind(kind), canaries.samples(canaries.PLANS[name], kind), strict=True)


def names(canary):
    """Every name that a canary gives to a field, an argument, a tool or a function."""
    schemas = [canary.schema or {}, *(tool["parameters"] for tool in canary.tools)]
    fields = {field for schema in schemas for field in schema.get("properties", {})}
    return fields | {tool["name"] for tool in canary.tools} | set(functions(canary))


def functions(canary):
    return {re.match(r"assert (\w+)\(", line)[1] for line in canary.asserts}


def test_the_shipped_canaries_are_what_the_script_writes(tmp_path):
    canaries.make(tmp_path)
    written = {path.relative_to(tmp_path): path.read_bytes() for path in tmp_path.rglob("*.jsonl")}

    assert len(written) == 2 * len(canaries.DRAWN)
    for path, content in written.items():
        assert (SHIPPED / path).read_bytes() == content, path


@pytest.mark.parametrize("name", SUITES)
def test_every_name_of_a_canary_is_held_out(name):
    suite = load(name)
    found = {name for canary in suite.canaries for name in names(canary)}
    spoken = {
        word for canary in suite.canaries for turn in canary.messages for word in NAME.findall(turn["content"])
    } - {"tool_call"}

    assert len(found) > len(suite.canaries)
    assert [name for name in found | spoken if not held_out(name)] == []


@pytest.mark.parametrize("name", SUITES)
def test_no_name_and_no_turn_of_a_canary_occurs_in_the_text_of_training(name):
    talks = islice(conversations(Random(20), lambda: dict.fromkeys(KINDS, 1.0)), 3000)
    turns = {turn["content"] for talk in talks for turn in talk}
    trained = {word for turn in turns for word in re.findall(r"\w+", turn)}
    suite = load(name)
    asked = {canary.messages[-1]["content"] for canary in suite.canaries}

    assert not {name for canary in suite.canaries for name in names(canary)} & trained
    assert not asked & turns
    assert len(asked) == len(suite.canaries)


@pytest.mark.parametrize("name", SUITES)
def test_every_order_and_composition_of_a_canary_is_one_that_training_never_draws(name, monkeypatch):
    """Everything that the canaries draw is recorded, then held against everything that training may draw."""
    orders, composed = set(), set()
    choose, compose = Draw.order, Draw.composed

    def order(self, choices):
        text = choose(self, choices)
        orders.add((tuple(choices), text))
        return text

    def composition(self, make, key, shared):
        whole = compose(self, make, key, shared)
        if not shared(key(whole)):
            composed.add(key(whole))
        return whole

    monkeypatch.setattr(Draw, "order", order)
    monkeypatch.setattr(Draw, "composed", composition)
    canaries.files(canaries.PLANS[name])
    used, orders = orders, set()
    rng = Random(3)
    for _ in range(3000):
        Draw(rng).order(rng.choice(sorted({choices for choices, _ in used})))

    assert used
    assert not used & orders
    assert composed
    assert all(held_out(whole, ORDERS_HELD) for whole in composed)


@pytest.mark.parametrize("kind", ["exact", "identifiers", "multi_turn"])
def test_an_exact_answer_is_the_samples_own(kind):
    for canary, sample in made("core/v1", kind):
        assert canary.expect == sample.answer
        assert list(canary.messages) == sample.messages[:-1]


def test_identifiers_are_eight_a_canary_and_none_comes_twice():
    listed = [word for canary in load("core").of_kind("identifiers") for word in canary.expect.split(" ")]

    assert canaries.IDENTIFIERS * 12 == len(set(listed)) == len(listed)


@pytest.mark.parametrize("name", SUITES)
def test_a_json_schema_accepts_the_right_answer_and_few_others(name):
    strict = 0
    for canary, sample in made(name, "json"):
        right = json.loads(sample.answer)
        key = next(iter(right))
        wrong = [right | {"extra": 1}, {k: right[k] for k in right if k != key}]
        if not sample.free:
            strict += 1
            wrong += [right | {key: value} for value in (f"{right[key]}x", True, 10**9, None) if value != right[key]]

        jsonschema.validate(right, canary.schema)
        for value in wrong:
            with pytest.raises(jsonschema.ValidationError):
                jsonschema.validate(value, canary.schema)
    assert strict >= len(load(name).of_kind("json")) / 2


@pytest.mark.parametrize("name", SUITES)
def test_the_calls_of_a_canary_are_the_right_ones_of_its_tools(name):
    for canary, sample in made(name, "tools"):
        calls = parse_calls(sample.answer)
        parameters = {tool["name"]: tool["parameters"] for tool in canary.tools}

        assert [call["name"] for call in calls] == [call["name"] for call in canary.calls]
        for call, wanted in zip(calls, canary.calls, strict=True):
            jsonschema.validate(call["arguments"], wanted["arguments"])
            jsonschema.validate(call["arguments"], parameters[call["name"]])
            with pytest.raises(jsonschema.ValidationError):
                jsonschema.validate(call["arguments"] | {"extra": 1}, wanted["arguments"])
        assert all(f"{tool['name']}(" in canary.messages[0]["content"] for tool in canary.tools)


@pytest.mark.parametrize("name", SUITES)
def test_every_third_tools_canary_wants_two_calls(name):
    wanted = [len(canary.calls) for canary in load(name).of_kind("tools")]

    assert [1, 1, 2] * (len(wanted) // 3) == wanted


@pytest.mark.parametrize("name", SUITES)
def test_asserts_pass_after_the_right_program_and_not_all_after_one_that_returns_the_same(name):
    for canary, sample in made(name, "code"):
        (function,) = functions(canary)
        exec("\n".join([sample.answer, *canary.asserts]), {})
        for line in canary.asserts:
            still = f"def {function}(*_):\n    return {line.partition(' == ')[2]}"
            with pytest.raises(AssertionError):
                exec("\n".join([still, *canary.asserts]), {})


def test_several_turns_are_three_questions_and_more_with_answers_between():
    for canary in load("core").of_kind("multi_turn"):
        roles = [turn["role"] for turn in canary.messages if turn["role"] != "system"]

        assert roles == ["user", "assistant"] * (len(roles) // 2) + ["user"]
        assert 3 <= roles.count("user")


@pytest.mark.parametrize("name", SUITES)
def test_right_answers_end_within_the_greedy_cells_and_mostly_are_of_15_to_50_tokens(name):
    tokenizer, suite = load_model(EMBEDDED / "target").tokenizer, load(name)
    lengths = [
        len(tokenizer(sample.answer)["input_ids"]) + 1
        for kind in canaries.DRAWN
        if kind != "prose"
        for _, sample in made(name, kind)
    ]

    assert max(lengths) <= min(cell.tokens for cell in suite.cells if cell.greedy)
    assert len(lengths) / 2 < sum(15 <= length <= 50 for length in lengths)
