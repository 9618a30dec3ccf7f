"""A kept baseline says what it said, and nothing that it was not asked."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from recorded import played, recorder, request

from draftgate.canaries.errors import RecordBroken
from draftgate.canaries.targets.kept import Kept

ONE = request(5, 6)


def test_it_is_what_was_recorded():
    made = recorder()
    kept = played(made)

    assert kept.identity() == made.identity() | {"kept": {"draftgate": "0.1", "recorded": "then", "sha256": "ab"}}
    for name in ("name", "kind", "guarantee", "capabilities", "unseen", "eos", "draft_length"):
        assert getattr(kept, name) == getattr(made, name)


def test_it_answers_what_it_was_asked_in_the_order_in_which_it_was():
    made = recorder()
    told = [made.watch([ONE]), made.generate([ONE]), made.generate([ONE])]
    others = made.encode([{"role": "user"}]), made.shapes([5]), made.next_law([ONE, request(9)]), made.configuration()
    kept = played(made)

    assert [kept.watch([ONE]), kept.generate([ONE]), kept.generate([ONE])] == told
    assert kept.generate([ONE]) == told[-1]
    assert (
        kept.encode([{"role": "user"}]),
        kept.shapes([7, 9]),
        kept.next_law([ONE, request(9)]),
        kept.configuration(),
    ) == others
    kept.check(ONE)


def test_what_it_was_never_asked_is_refused_and_a_law_is_unknown():
    made = recorder()
    made.generate([ONE])
    kept = played(made)

    with pytest.raises(RecordBroken, match=r"of draftgate 0\.1, was never asked for answers of these; record it again"):
        kept.generate([request(5, 6, seed=1)])
    assert kept.next_law([ONE]) == [None]


def test_a_score_of_another_answer_holds_as_far_as_it_was_scored():
    made = recorder()
    (first,) = made.score([ONE], [(7, 8, 9)], width=0, slack=0.0)
    (again,) = made.score([ONE], [(7, 8, 9)], width=0, slack=0.0)
    kept = played(made)

    assert first.gap != again.gap
    found = [kept.score([ONE], [(7, 8, 9)], width=0, slack=0.0)[0] for _ in range(3)]
    assert [one.gap for one in found] == [first.gap, again.gap, again.gap]

    (other,) = kept.score([ONE], [(7, 1, 2, 3)], width=0, slack=0.5)
    assert other.gap[:2] == first.gap[:2]
    assert other.margin[0] == 0.0
    unknown = [*other.gap[2:], *other.margin[1:], *other.below[1:], *other.prob]
    assert len(unknown) == 2 + 3 + 3 + 4
    assert all(map(math.isnan, unknown))
    assert other.outside == (0, 0, 0, 0)


def test_of_another_request_or_another_width_nothing_is_known():
    made = recorder()
    made.score([ONE], [(7, 8)], width=0, slack=0.0)
    kept = played(made)

    for asked, width in ((request(5, 7), 0), (request(5, 6, temperature=1.0), 0), (ONE, 1)):
        (replay,) = kept.score([asked], [(7, 8)], width=width, slack=0.0)
        assert all(math.isnan(gap) for gap in replay.gap)


def test_it_is_kept_and_hears_no_chat_whatever_it_says_of_itself():
    made = recorder()
    kept = played(made)
    kept = Kept.on(replace(kept.tape, arm=dict(kept.tape.arm) | {"capabilities": ["counters", "chat", "forks"]}))

    assert kept.capabilities == {"counters", "kept"}


SPOILED = {
    "fewer answers": lambda told: told["generations"].pop(),
    "no clock": lambda told: told.pop("wall"),
    "no tokens": lambda told: told["generations"][0].pop("tokens"),
    "a list": lambda told: [*told],
}


@pytest.mark.parametrize("spoil", SPOILED.values(), ids=SPOILED)
def test_answers_of_another_shape_are_told_in_one_line(spoil):
    made = recorder()
    made.watch([ONE, ONE])
    kept = played(made)
    (told,) = next(iter(kept.tape.calls.values()))
    changed = spoil(told)
    next(iter(kept.tape.calls.values()))[0] = changed if isinstance(changed, list) else told

    with pytest.raises(
        RecordBroken, match=r"of draftgate 0\.1, tells answers that cannot be read \(.*; record it again"
    ):
        kept.watch([ONE, ONE])


def test_noise_of_one_shape_and_scores_of_another_are_told_in_one_line():
    made = recorder()
    made.shapes([5])
    made.score([ONE], [(7, 8)], width=0, slack=0.0)
    kept = played(made)
    for told in kept.tape.calls.values():
        told[0].pop(next(iter(told[0])) if isinstance(told[0], dict) else -1)

    with pytest.raises(RecordBroken, match="tells the noise that cannot be read"):
        kept.shapes([5])
    with pytest.raises(RecordBroken, match="tells scores that cannot be read"):
        kept.score([ONE], [(7, 8)], width=0, slack=0.0)
