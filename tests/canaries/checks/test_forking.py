"""The noise scale, and what it explains."""

import math
from dataclasses import replace

import pytest
from observed import NOISE, case, forked, record, spoiled, suite

from draftgate.canaries.checks.forking import excused, explained, noise_of, tolerance, undecided, unexplained
from draftgate.canaries.observations.answers import Fork

WANTED = (1, 2, 3)


def test_the_noise_is_the_largest_one_measured():
    assert 7 * NOISE == noise_of(
        case(spoiled(lambda o: o["greedy/replays"]["noise"]["logits"].update(alone=7 * NOISE)))
    )


def test_the_candidates_own_width_counts_too():
    change = lambda o: o["greedy/replays"]["noise"]["logits"].update({"width 4": 9 * NOISE})  # noqa: E731

    assert 9 * NOISE == noise_of(case(spoiled(change)))


def test_a_fork_is_explained_up_to_the_suites_multiple_of_the_noise():
    of = replace(suite(), noise=replace(suite().noise, fork_multiple=3))

    assert 3 * NOISE == tolerance(case(record(), of=of))


@pytest.mark.parametrize(
    "change",
    [
        lambda o: o.pop("greedy/replays"),
        lambda o: o["greedy/replays"]["noise"].update(positions=0),
        lambda o: o["greedy/replays"]["noise"]["logits"].update({"width 2": None}),
        lambda o: o["greedy/replays"]["noise"]["logits"].pop("width 9"),
        lambda o: o["greedy/replays"]["noise"]["logits"].pop("alone"),
        lambda o: o["greedy/replays"]["noise"]["logits"].clear(),
    ],
    ids=["no replays", "no positions", "no number", "a width less", "never alone", "nothing"],
)
def test_noise_that_was_not_measured_in_full_is_not_a_number(change):
    assert math.isnan(noise_of(case(spoiled(change))))


def test_a_tie_is_explained_and_a_clear_choice_is_not():
    fork = Fork("c", "", 1, (1, 9, 3))

    assert explained(fork, WANTED, {"margin": [0.0, 0.1, 0.0]}, 0.1)
    assert not explained(fork, WANTED, {"margin": [0.0, 0.11, 0.0]}, 0.1)
    assert not explained(fork, WANTED, {"margin": [0.0, 0.1, 0.11]}, 0.1)
    assert not explained(fork, WANTED, {"margin": [0.0, None, 0.0]}, 0.1)


def test_a_length_is_never_explained():
    assert not explained(Fork("c", "", 2, (1, 2)), WANTED, {"margin": [0.0, 0.0]}, 1.0)
    assert not explained(Fork("c", "", 3, (1, 2, 3, 4)), WANTED, {"margin": [0.0] * 4}, 1.0)


def test_unmeasured_noise_explains_nothing():
    assert not explained(Fork("c", "", 1, (1, 9, 3)), WANTED, {"margin": [0.0, 0.0, 0.0]}, math.nan)


@pytest.mark.parametrize(("margin", "innocent"), [(NOISE, True), (1.0, False)])
def test_an_answer_is_excused_where_noise_explains_its_fork(margin, innocent):
    made = case(spoiled(lambda o: forked(o, at=5, margins=[0.0] * 5 + [margin] + [0.0] * 14)))

    assert ({("exact-1", "repeat 0")} if innocent else set()) == excused(made)
    assert ([] if innocent else ["exact-1"]) == [fork.canary for fork in unexplained(made)]


def left(gap, tokens=None, margin=None):
    """A record whose candidate leaves a baseline that was surer than another token by `gap`, and was asked no more."""

    def change(observations):
        forked(observations, at=5, margins=[0.0] * 5 + [margin] + [None] * 14, tokens=tokens)
        observations["greedy/replays"]["candidate"][-1]["gap"][5:] = [gap] + [None] * 14

    return spoiled(change)


@pytest.mark.parametrize(
    ("record", "open_"),
    [
        (left(NOISE), True),
        (left(None), True),
        (left(1.0), False),
        (left(NOISE, margin=1.0), False),
        (left(NOISE, tokens=range(2, 7)), False),
    ],
    ids=["a near tie", "nothing known", "a clear choice", "known to be wrong", "an early end"],
)
def test_a_kept_baseline_leaves_a_near_tie_open_and_a_clear_choice_not(record, open_):
    beside, live = case(record, kept=True), case(record)

    assert [fork.canary for fork in undecided(beside)] == (["exact-1"] if open_ else [])
    assert [fork.canary for fork in unexplained(beside)] == ([] if open_ else ["exact-1"])
    assert excused(beside) == ({("exact-1", "repeat 0")} if open_ else set())
    assert (len(undecided(live)), len(unexplained(live))) == (0, 1)
