from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from draftgate.stats.exact import SymbolicRandomness, completed, enumerate_law, joint_law, paths, total_variation
from draftgate.stats.symbolic import NotEnumerable

HALF, THIRD = Fraction(1, 2), Fraction(1, 3)
PEAKED = np.array([Fraction(3, 4), Fraction(1, 4)], dtype=object)
FLAT = np.array([HALF, HALF], dtype=object)


def always(law):
    return lambda history: law


@pytest.fixture(scope="session")
def distance(by_hand):
    """How far the completed output of one round of a chain is from plain decoding."""

    def measure(target, draft, k, **faults):
        def run(chance):
            accepted, last = by_hand.token_rule(target, draft, k, chance, by_hand.rule(**faults))
            return (*accepted, last)

        emitted = completed(enumerate_law(run), target, length=k + 1)
        return total_variation(emitted, joint_law(target, length=k + 1))

    return measure


@settings(deadline=None, max_examples=40)
@given(seed=st.integers(0, 2**32 - 1), vocab=st.integers(2, 4), k=st.integers(1, 2))
def test_the_token_rule_emits_exactly_the_targets_law(by_hand, distance, seed, vocab, k):
    rng = np.random.default_rng(seed)
    target, draft = (by_hand.history_laws(by_hand.fractions_table(rng, vocab, k + 1)) for _ in range(2))

    assert distance(target, draft, k) == 0


@pytest.mark.parametrize(
    ("p", "q"),
    [([1, 0, 0], [0, 1, 0]), ([HALF, HALF, 0], [0, 0, 1]), ([THIRD] * 3, [THIRD] * 3), ([0, 1, 0], [THIRD] * 3)],
)
def test_point_masses_disjoint_supports_and_ties_are_exact_too(distance, p, q):
    p, q = (np.array([Fraction(mass) for mass in law], dtype=object) for law in (p, q))

    assert distance(always(p), always(q), 2) == 0


@pytest.mark.parametrize(
    "fault",
    [{"residual": False}, {"shared_uniform": True}, {"accept_all": True}],
    ids=["resamples from p", "shares a uniform between positions", "accepts everything"],
)
def test_a_wrong_rule_is_found(distance, fault):
    assert distance(always(PEAKED), always(FLAT), 2, **fault) > 0


def test_a_shared_uniform_shows_its_exact_distance(by_hand):
    """Both drafts 1 have mass 1/4 and are kept with chance 1/2 each: together 1/8 under one uniform, not 1/16."""
    shared = enumerate_law(
        lambda chance: by_hand.token_rule(always(PEAKED), always(FLAT), 2, chance, by_hand.rule(shared_uniform=True))[0]
    )

    assert shared[1, 1] == Fraction(1, 8)


def test_a_draw_that_reads_the_acceptance_uniform_is_found():
    """Given the slot of the acceptance test, the draw sees only what that test left of the uniform."""

    def run(chance, slot):
        token = chance.draw(FLAT, slot)
        kept = chance.uniform("accept") * FLAT[token] < PEAKED[token]
        return token if kept else 0

    honest, shared = (enumerate_law(lambda chance, slot=slot: run(chance, slot)) for slot in ("draft", "accept"))

    assert {0: Fraction(3, 4), 1: Fraction(1, 4)} == honest
    assert {0: Fraction(1)} == shared


def test_a_comparison_splits_the_interval():
    law = enumerate_law(lambda chance: chance.uniform("u") < THIRD)

    assert law == {True: THIRD, False: 1 - THIRD}


def test_the_same_slot_is_the_same_number():
    law = enumerate_law(lambda chance: (chance.uniform("u") < THIRD, chance.uniform("u") < HALF))

    assert law == {(True, True): THIRD, (False, True): HALF - THIRD, (False, False): HALF}


def test_other_slots_are_independent():
    law = enumerate_law(lambda chance: (chance.uniform("u") < THIRD, chance.uniform("v") < HALF))

    assert law[True, True] == THIRD * HALF


@pytest.mark.parametrize(
    "compare",
    [
        lambda u: u < THIRD,
        lambda u: u <= THIRD,
        lambda u: not u > THIRD,
        lambda u: not u >= THIRD,
        lambda u, third=THIRD: third > u,
        lambda u: u * HALF < THIRD / 2,
        lambda u: HALF * u <= THIRD / 2,
        lambda u: not u * HALF > THIRD / 2,
        lambda u: not u * HALF >= THIRD / 2,
        lambda u: u * 3 < 1,
    ],
)
def test_each_way_to_write_the_comparison_is_the_same_event(compare):
    assert enumerate_law(lambda chance: compare(chance.uniform("u")))[True] == THIRD


def test_an_impossible_draft_token_is_neither_below_nor_above_nothing():
    zero = Fraction(0)
    law = enumerate_law(
        lambda chance: (
            chance.uniform("u") * zero < zero,
            chance.uniform("u") * zero < THIRD,
            chance.uniform("u") * 0 >= 0,
        )
    )

    assert law == {(False, True, True): 1}


def test_bounds_beyond_0_and_1_are_certain():
    law = enumerate_law(lambda chance: (chance.uniform("u") < 2, chance.uniform("u") < -1))

    assert law == {(True, False): 1}


def test_impossible_tokens_are_never_drawn():
    law = enumerate_law(lambda chance: chance.draw([0, THIRD, 0, 1 - THIRD]))

    assert law == {1: THIRD, 3: 1 - THIRD}


@pytest.mark.parametrize(
    ("law", "error", "message"),
    [
        ([HALF, THIRD], ValueError, "sum to 5/6"),
        ([Fraction(3, 2), -HALF], ValueError, "negative"),
        ([0.5, 0.5], TypeError, "no rational number"),
        (np.array([0.5, 0.5], dtype=np.float32), TypeError, "no rational number"),
    ],
)
def test_what_is_no_exact_law_is_refused(law, error, message):
    with pytest.raises(error, match=message):
        enumerate_law(lambda chance: chance.draw(law))


def test_chance_from_elsewhere_is_noticed():
    changing = iter([HALF, THIRD, HALF, THIRD])

    with pytest.raises(ValueError, match="somewhere else"):
        enumerate_law(lambda chance: chance.uniform("u") < next(changing))


def test_a_walk_that_does_not_end_is_given_up():
    def run(chance):
        return tuple(chance.draw(FLAT) for _ in range(10))

    with pytest.raises(NotEnumerable, match="more than 1000 paths"):
        enumerate_law(run, most_paths=1000)


def test_without_chance_there_is_one_outcome():
    assert enumerate_law(lambda chance: "sure") == {"sure": 1}


def test_total_variation_counts_what_only_one_law_has():
    assert total_variation({"a": HALF, "b": HALF}, {"a": HALF, "c": HALF}) == HALF
    assert total_variation({"a": Fraction(1)}, {"a": Fraction(1)}) == 0


def test_completion_cuts_long_texts_and_goes_on_with_short_ones():
    full = completed({(0, 1, 1): HALF, (1,): HALF}, always(PEAKED), length=2)

    assert {(0, 1): HALF, (1, 0): Fraction(3, 8), (1, 1): Fraction(1, 8)} == full


def test_completion_does_not_forgive_a_wrong_first_token():
    wrong = completed({(1,): Fraction(1)}, always(PEAKED), length=3)

    assert total_variation(wrong, joint_law(always(PEAKED), length=3)) == Fraction(3, 4)


def test_each_path_comes_with_its_chance():
    found = list(paths(lambda chance: chance.uniform("u") < THIRD))

    assert [(True, THIRD), (False, 1 - THIRD)] == found


def test_the_chance_that_is_handed_out_may_be_another_class():
    class Counting(SymbolicRandomness):
        asked = 0

        def uniform(self, slot):
            self.asked += 1
            return super().uniform(slot)

    def run(chance):
        return chance.uniform("u") < THIRD, chance.asked

    assert [(True, 1), (False, 1)] == [result for result, _ in paths(run, chance=Counting)]


def test_a_refusal_that_the_function_swallows_is_no_proof():
    def swallowing(rng):
        try:
            return float(rng.uniform(0)) < 1 / 2
        except:  # noqa: E722 - the worst of fallbacks
            return rng.draw((Fraction(1, 2), Fraction(1, 2)))

    with pytest.raises(NotEnumerable, match="swallows"):
        enumerate_law(swallowing)
