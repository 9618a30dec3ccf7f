"""A live cache must change no answer; a near tie may; what was not played is no evidence."""

from dataclasses import replace

import dialogues
import observed
import pytest
from dialogues import TOKENS, played, turn

from draftgate.canaries.contracts import Reason, Status

SUITE = replace(observed.suite(), canaries=(*observed.CANARIES, *dialogues.CANARIES), conversation=dialogues.NUMBERS)


def judged(conversation, of=SUITE):
    return observed.judged("conversation", observed.record() | {"conversation": conversation}, of=of)


@pytest.fixture(autouse=True)
def _pairs_of_the_small_suite(monkeypatch):
    """The cell asks what it always asks; the dialogues are beside it."""
    monkeypatch.setattr(type(SUITE), "canaries_for", lambda self, cell: observed.CANARIES[: cell.prompts])


def test_equal_answers_pass_and_say_what_would_have_been_seen():
    finding = judged(played())

    assert finding.status is Status.PASS
    assert {"answers": 12, "from_live_cache": 8, "entries_kept": 240, "forks": 0, "unexplained": 0} == finding.figures
    assert "a fault that changes 1 in 1.7 answers from a live cache" == finding.seen


def test_a_cache_that_keeps_no_answer_was_not_tried():
    forgetful = played()
    for dialogue in forgetful["dialogues"]:
        for said in dialogue["turns"]:
            said["kept"] = min(said["kept"], 1)  # the template's first token and nothing else

    finding = judged(forgetful)

    assert (Status.NOT_EXERCISED, 0) == (finding.status, finding.figures["from_live_cache"])
    assert "chat template words earlier turns otherwise" in finding.summary


def test_one_answer_that_a_live_cache_changed_fails():
    other = (*TOKENS[:5], 99, *TOKENS[6:])

    finding = judged(played(tokens=other, margin=[0.0] * 5 + [2.0] + [0.0] * 14, text="Twice."))

    assert (Status.FAIL, Reason.CORRECTNESS) == (finding.status, finding.reason)
    assert ("multi-turn-4/3",) == finding.reproduce
    assert "multi-turn-4/3: fresh 'Once.', live 'Twice.'" in finding.summary


def test_a_near_tie_is_explained():
    other = (*TOKENS[:5], 99, *TOKENS[6:])
    finding = judged(played(tokens=other, margin=[0.0] * 5 + [4 * observed.NOISE] + [0.0] * 14))

    assert finding.status is Status.PASS
    assert (1, 0) == (finding.figures["forks"], finding.figures["unexplained"])


@pytest.mark.parametrize("tokens", [TOKENS[:7], (*TOKENS[:-1], 3)])
def test_an_early_or_a_late_end_is_not_explained_by_a_tie(tokens):
    margins = [0.0] * (len(tokens) - 1) + [1.0]

    assert judged(played(tokens=tokens, margin=margins)).status is Status.FAIL


def test_too_few_answers_from_a_live_cache_are_incomplete():
    strict = replace(SUITE, conversation=replace(dialogues.NUMBERS, effect=0.2))

    finding = judged(played(), strict)
    assert (Status.INCONCLUSIVE, Reason.INCOMPLETE) == (finding.status, finding.reason)
    assert "23 more are needed" in finding.summary


def without_cache(conversation):
    for dialogue in conversation["dialogues"]:
        for one in dialogue["turns"]:
            one["kept"] = 0


def without_drafts(conversation):
    for dialogue in conversation["dialogues"]:
        for one in dialogue["turns"]:
            one["live"]["rounds"] = [[0, 0, 1, 0]] * 19


@pytest.mark.parametrize(
    ("change", "words"),
    [(without_cache, "no answer began from a live cache"), (without_drafts, "nothing was drafted on a live cache")],
)
def test_a_session_that_never_met_a_live_cache_or_a_draft_exercised_nothing(change, words):
    conversation = played()
    change(conversation)

    finding = judged(conversation)
    assert Status.NOT_EXERCISED is finding.status
    assert finding.summary.startswith(words)


HOLES = {
    "no dialogues": lambda d: d.clear(),
    "a dialogue less": lambda d: d.pop(),
    "a dialogue twice": lambda d: d.append(d[0]),
    "a turn less": lambda d: d[0]["turns"].pop(),
    "no turns": lambda d: d[0]["turns"].clear(),
    "turns swapped": lambda d: d[0]["turns"].reverse(),
    "an answer of another turn": lambda d: d[0]["turns"][0]["fresh"].update(name="other"),
    "both answers empty": lambda d: [d[0]["turns"][0][arm]["tokens"].clear() for arm in ("live", "fresh")],
    "a difference that was not replayed": lambda d: d[0]["turns"][0]["live"]["tokens"].append(5),
    "a replay that is too short": lambda d: d[0]["turns"][0].update(
        turn("multi-turn-1/1", 0, tokens=(5, 6, 7), margin=[0.0])
    ),
}


@pytest.mark.parametrize("hole", HOLES)
def test_a_hole_is_no_evidence(hole):
    conversation = played()
    HOLES[hole](conversation["dialogues"])

    finding = judged(conversation)
    assert (Status.INCONCLUSIVE, Reason.INCOMPLETE) == (finding.status, finding.reason)


def test_a_suite_without_its_numbers_judges_nothing():
    assert judged(played(), observed.suite()).status is Status.INCONCLUSIVE


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ({"text": "Twice."}, Reason.CORRECTNESS),
        ({"finish": "length"}, Reason.CORRECTNESS),
        ({"rounds": []}, Reason.METRICS),
        ({"prefill": 0}, Reason.METRICS),
    ],
    ids=["text", "end", "rounds", "prefill"],
)
def test_equal_tokens_that_are_told_otherwise_fail(answer, reason):
    finding = judged(played(**answer))

    assert (Status.FAIL, reason) == (finding.status, finding.reason)
    assert "multi-turn-4/3" in finding.summary
