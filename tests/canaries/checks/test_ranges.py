"""Every recorded value is altered in turn: what cannot have been observed is never part of a PASS, nor a crash."""

import math
from dataclasses import replace

import chats
import dialogues
import observed
import pytest
import sampled
from observed import candidate, case, judged, record, spoiled

from draftgate.canaries.checks.ranges import SHAPES, misshapen
from draftgate.canaries.checks.registry import CHECKS, judge
from draftgate.canaries.contracts import Reason, Status

IMPOSSIBLE = (None, True, "x", -1, 0.5, math.nan, math.inf, 10**400, [], {})
ONCE = {  # checks that pass on the honest record, by the cell in which they read it
    "greedy": ("exact_tokens", "exact_text", "json_valid", "noise", "knobs", "synthetic", "exercise", "algebra"),
    "sampled": ("noise", "law", "pit", "support", "exercise", "algebra"),
}
CHECKED = {cell: (*names, "acceptance", "speed") for cell, names in ONCE.items()}
READ_BY = {"knobs": ("knobs",), "synthetic": ("synthetic", "exercise", "acceptance")}  # of an observation of the run
PLACE = {"greedy": "greedy", "sampled": "sampled", "knobs": "greedy", "synthetic": "greedy", "recorded": "sampled"}
MAY_LACK = {"margin", "gap", "below", "prob"}  # fields of a replay that may hold no number


def places(value, at=()):
    """Where something stands in a document: one entry of a list, but each run and each count of a round."""
    yield at
    if isinstance(value, dict):
        for key, item in value.items():
            yield from places(item, (*at, key))
    elif isinstance(value, list) and value:
        all_of_it = at[-1] == "runs" or (len(value) <= 4 and not isinstance(value[0], dict))
        for place in range(len(value)) if all_of_it else [len(value) // 2]:
            yield from places(value[place], (*at, place))


def statuses(observations, cell, checks):
    """What each check says of one record; whoever raises fails the test."""
    one = case(observations, cell)
    return {judge(CHECKS[name], one).status for name in checks}


def spots(observations, key):
    """Every place of one observation, as (what holds it, its key there, its path)."""
    for path in places(observations[key], (key,)):
        holder = observations
        for step in path[:-1]:
            holder = holder[step]
        yield holder, path[-1], path


def possible(path, old, new):
    """Whether the new value may have been observed in the old one's place, or is the old one."""
    same = type(old) is type(new) and old == new
    lacking = new is None and MAY_LACK.intersection(path[-2:-1])
    return (
        same or lacking or (path[-1] == "text" and type(new) is str) or (type(old) is type(new) is float and new == 0.5)
    )


def passed_by(observations, key, cell, checks):
    """(path, value) of what cannot have been observed and was passed nevertheless."""
    for holder, last, path in spots(observations, key):
        old = holder[last]
        for new in IMPOSSIBLE:
            holder[last] = new
            found = statuses(observations, cell, checks)
            if found == {Status.PASS} and not possible(path, old, new):
                yield path, new
        holder[last] = old


def test_the_honest_record_passes():
    for cell, checks in CHECKED.items():
        assert {Status.PASS} == statuses(record(), cell, checks)


@pytest.mark.parametrize("key", record())
def test_no_value_that_cannot_have_been_observed_is_part_of_a_pass(key):
    cell = PLACE[key.partition("/")[0]]

    assert [] == list(passed_by(record(), key, cell, READ_BY.get(key, CHECKED[cell])))


@pytest.fixture
def beside_the_dialogues(monkeypatch):
    """A suite with dialogues, whose cells ask what they always ask."""
    chosen = replace(
        observed.suite(), canaries=(*observed.CANARIES, *dialogues.CANARIES), conversation=dialogues.NUMBERS
    )
    monkeypatch.setattr(type(chosen), "canaries_for", lambda self, cell: observed.CANARIES[: cell.prompts])
    monkeypatch.setattr(observed, "suite", lambda: chosen)


@pytest.mark.usefixtures("beside_the_dialogues")
def test_no_turn_that_cannot_have_been_observed_is_part_of_a_pass():
    observations = record() | {"conversation": dialogues.played()}

    assert {Status.PASS} == statuses(observations, "greedy", ["conversation"])
    assert [] == list(passed_by(observations, "conversation", "greedy", ["conversation"]))


def unsaid(path, old, new):
    """Whether a server may as well have told nothing there, or told it in other words."""
    told = {"told", "usage", "drafted"} & set(path[:-1])
    less = (new is None and told) or (new == [] and {"told", "tokens"} & set(path))
    named = new == "x" and (type(old) is str or "told" in path)  # a token may be named by its text
    other = new == -1 and type(old) is float  # noise of plain decoding, as far as the suite bears with it
    return less or named or other or "refused" in path


def test_no_chat_that_cannot_have_been_observed_is_part_of_a_pass():
    one, found = observed.case(chats.record(), of=chats.suite(), kind="server"), []
    assert {Status.PASS} == {judge(CHECKS[name], one).status for name in chats.CHECKS}
    sound = {key: why for key, why in one.holes.items() if key != "chat"}
    for holder, last, path in spots(one.observations, "chat"):
        old = holder[last]
        for new in IMPOSSIBLE:
            holder[last] = new
            if unsaid(path, old, new) or possible(path, old, new):
                continue
            spoiled_ = replace(one, holes=dict(sound))
            if all(judge(CHECKS[name], spoiled_).status is Status.PASS for name in chats.CHECKS):
                found.append((path, new))
        holder[last] = old

    assert [] == found


@pytest.fixture
def black_box(monkeypatch):
    """A suite that asks for sampled answers alone."""
    monkeypatch.setattr(observed, "suite", sampled.suite)
    monkeypatch.setitem(observed.HEADER, "eos", [])


def untold(path, new):
    """Whether the law there may as well be unknown."""
    return new is None and (path[-1] == "law" or {"below", "prob"} & set(path[:-1]))


@pytest.mark.usefixtures("black_box")
def test_no_sampled_answer_that_cannot_have_been_observed_is_part_of_a_pass():
    observations = {"sampled/samples": sampled.observe(sampled.context(sampled.drafting()))}

    assert {Status.PASS} == statuses(observations, "sampled", ["samples"])
    passed = passed_by(observations, "sampled/samples", "sampled", ["samples"])
    assert [] == [(path, new) for path, new in passed if not untold(path, new)]


KEPT = {
    "more than was said": {"prompt": 90, "kept": 50},
    "the last token of the prompt": {"prompt": 40, "kept": 40},
}


@pytest.mark.usefixtures("beside_the_dialogues")
@pytest.mark.parametrize("claim", KEPT)
def test_no_more_entries_are_kept_than_there_were(claim):
    conversation = dialogues.played()
    conversation["dialogues"][-1]["turns"][-1] |= KEPT[claim]

    finding = judged("conversation", record() | {"conversation": conversation})

    assert (Status.INCONCLUSIVE, Reason.INCOMPLETE) == (finding.status, finding.reason)
    assert f"kept is {KEPT[claim]['kept']} at multi-turn-4/3" in finding.summary


def baseline(observations, cell="sampled"):
    return observations[f"{cell}/pairs"]["groups"][0]["runs"][0]["generations"][1]


CONTRARY = {
    "a field is told with its place and value": (
        lambda o: o["sampled/replays"]["noise"].update(positions=-1),
        "sampled/replays cannot have been observed (replays.noise.positions is -1); run again",
    ),
    "a value is cut": (
        lambda o: o["sampled/replays"]["noise"]["logits"].update(alone=10**5000),
        "(replays.noise.logits.alone is an integer of thousands of digits)",
    ),
    "noise of other tokens": (
        lambda o: o["sampled/replays"]["noise"].update(positions=81),
        "(noise.positions is 81, but the answers have 80 tokens)",
    ),
    "a token that misses the best by less than the second best": (
        lambda o: o["sampled/replays"]["candidate"][1]["margin"].__setitem__(3, 0.5),
        "(margin is 0.5 logits where the second best token is 5 below the best)",
    ),
    "tokens ahead that leave no room for the token": (
        lambda o: o["sampled/replays"]["candidate"][0].update(below=[0.6] * 20, prob=[0.5] * 20),
        "(below is 0.6 and prob 0.5, more than all mass)",
    ),
    "a baseline whose stream lost a token": (
        lambda o: baseline(o)["arrivals"].pop(),
        "plain decoding's answer to json-1 does not add up: 20 tokens, but the stream carried 19",
    ),
    "a baseline that speculates": (
        lambda o: baseline(o).update(rounds=[[0, 0, 1, 0]]),
        "plain decoding's answer to json-1 does not add up: 1 rounds and a prefill of 1 tokens",
    ),
    "a baseline without a first token": (
        lambda o: baseline(o).update(prefill=0),
        "0 rounds and a prefill of 0 tokens",
    ),
    "a baseline of another end": (
        lambda o: baseline(o).update(finish="stop"),
        "finish is stop, but no stop string was asked for",
    ),
}


@pytest.mark.parametrize("change", CONTRARY)
def test_what_cannot_have_been_observed_is_told(change):
    spoil, words = CONTRARY[change]

    finding = judged("noise", spoiled(spoil), "sampled")

    assert (Status.INCONCLUSIVE, Reason.INCOMPLETE) == (finding.status, finding.reason)
    assert words in finding.summary


ROWS = {
    "a canary that was not asked": (lambda r: r.update(canary="prose-9"), "canary is 'prose-9'"),
    "a row less": (lambda r: r["draft"].pop(), "not on the same tokens"),
    "a token less": (lambda r: r["target"][0].pop(), "not on the same tokens"),
    "no rows": (lambda r: r.update(target=[], draft=[]), "not on the same tokens"),
    "a mass that moved": (
        lambda r: r["target"][0].__setitem__(0, r["target"][0][0] - 0.01),
        "a row's masses sum to 0.99",
    ),
}


@pytest.mark.parametrize("change", ROWS)
def test_recorded_rows_are_laws_on_the_same_tokens(change):
    spoil, words = ROWS[change]

    finding = judged("law", spoiled(lambda o: spoil(o["recorded"])), "sampled")

    assert (Status.INCONCLUSIVE, Reason.INCOMPLETE) == (finding.status, finding.reason)
    assert words in finding.summary


def test_a_miscount_of_the_candidate_is_for_algebra_to_judge():
    assert (
        judged("algebra", spoiled(lambda o: candidate(o)["rounds"].__setitem__(0, [2, -1, 0, -2]))).status
        is Status.FAIL
    )


@pytest.mark.parametrize("change", [lambda d: d.pop("short"), lambda d: d.update(more=1)], ids=["less", "more"])
def test_a_document_has_its_keys_and_no_others(change):
    table = record()["sampled/table"]
    assert misshapen(table, SHAPES["table"], "table") is None

    change(table)
    assert "table is {'draws'" in misshapen(table, SHAPES["table"], "table")
