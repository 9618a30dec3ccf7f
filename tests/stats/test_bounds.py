from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from draftgate.stats.acceptance import chain_law, mean_accepted
from draftgate.stats.bounds import accepted_bound, contained_bound, expected_tokens
from draftgate.stats.exact import completed, enumerate_law, joint_law, total_variation
from tolerances import ROUNDING


def residual_mass(weight, p, q):
    return (weight * p - q).clip(min=0).sum()


def block_rule(target, draft, k, chance):
    """Block verification (2403.10444, algorithm 2): the largest i whose own uniform accepts the first i tokens."""
    drafted = ()
    for _ in range(k):
        drafted += (chance.draw(draft(drafted)),)
    weights, kept = [Fraction(1)], 0
    for i, token in enumerate(drafted, start=1):
        p, q = target(drafted[: i - 1]), draft(drafted[: i - 1])
        weights.append(min(Fraction(1), weights[-1] * p[token] / q[token]))
        accept = weights[i]
        if i < k:
            left = residual_mass(weights[i], target(drafted[:i]), draft(drafted[:i]))
            whole = left + 1 - weights[i]
            accept = left / whole if whole else Fraction(1)
        if chance.uniform(i) < accept:
            kept = i
    p = target(drafted[:kept])
    left = (weights[kept] * p - draft(drafted[:kept])).clip(min=0) if kept < k else p
    return drafted[:kept], chance.draw(left / left.sum())


def mean_length(law):
    return sum(len(accepted) * mass for (accepted, _), mass in law.items())


@settings(deadline=None, max_examples=15)
@given(seed=st.integers(0, 2**32 - 1), vocab=st.integers(2, 3), k=st.integers(1, 2))
def test_no_lossless_rule_accepts_more_than_the_bound(by_hand, seed, vocab, k):
    """The token rule accepts least, block verification no less, the bound no less than that; all in rationals."""
    rng = np.random.default_rng(seed)
    target, draft = by_hand.fractions_table(rng, vocab, k + 1), by_hand.fractions_table(rng, vocab, k + 1)
    laws = by_hand.history_laws(target), by_hand.history_laws(draft)
    block = enumerate_law(lambda chance: block_rule(*laws, k, chance))
    emitted = completed({(*path, last): m for (path, last), m in block.items()}, laws[0], length=k + 1)

    assert total_variation(emitted, joint_law(laws[0], length=k + 1)) == 0
    assert (
        mean_accepted(chain_law(target[:k], draft[:k])) <= mean_length(block) <= accepted_bound(target[:k], draft[:k])
    )


def test_accepting_everything_exceeds_the_bound_unless_the_draft_is_perfect(by_hand):
    target, draft = (by_hand.fractions_table(np.random.default_rng(seed), 3, 2) for seed in (1, 2))

    assert accepted_bound(target, draft) < 2
    assert accepted_bound(target, target) == 2


def test_the_bound_is_the_mean_of_the_clipped_likelihood_ratio(by_hand):
    target, draft = (by_hand.fractions_table(np.random.default_rng(seed), 3, 2) for seed in (1, 2))
    laws = by_hand.history_laws(target), by_hand.history_laws(draft)
    mean = Fraction(0)
    for length in (1, 2):
        joint = joint_law(laws[0], length=length)
        for text, mass in joint_law(laws[1], length=length).items():
            mean += mass * min(Fraction(1), joint.get(text, Fraction(0)) / mass)

    assert mean == accepted_bound(target, draft)


def test_at_temperature_zero_the_bound_is_the_common_prefix():
    target, draft = ([np.eye(2)[0], np.broadcast_to(np.eye(2)[token], (2, 2))] for token in (0, 1))

    assert accepted_bound(target, draft) == 1


@given(a=st.floats(0, 0.99), k=st.integers(0, 20))
def test_expected_tokens_is_the_closed_form(a, k):
    assert expected_tokens(a, k) == pytest.approx((1 - a ** (k + 1)) / (1 - a), rel=ROUNDING)


def test_a_perfect_draft_gives_k_plus_one_tokens():
    assert expected_tokens(1.0, 4) == 5


@pytest.mark.parametrize(("a", "k"), [(-0.1, 2), (1.1, 2), (0.5, -1), (float("nan"), 2)])
def test_rates_and_lengths_that_cannot_be_are_refused(a, k):
    with pytest.raises(ValueError, match="must"):
        expected_tokens(a, k)


def test_for_a_drawn_chain_the_bound_of_what_is_contained_is_the_bound_of_a_path(by_hand):
    target, draft = (by_hand.fractions_table(np.random.default_rng(seed), 3, 2) for seed in (1, 2))
    laws = by_hand.history_laws(target), by_hand.history_laws(draft)
    texts = [{**joint_law(law, length=1), **joint_law(law, length=2)} for law in laws]

    assert accepted_bound(target, draft) == contained_bound(*texts)


def test_for_siblings_the_bound_is_that_of_independent_draws():
    p, q = [Fraction(1, 2), Fraction(1, 2), Fraction(0)], [Fraction(1, 4), Fraction(1, 2), Fraction(1, 4)]
    contained = {(x,): 1 - (1 - q[x]) ** 2 for x in range(3)}

    assert Fraction(7, 16) + Fraction(1, 2) == contained_bound({(x,): p[x] for x in range(3)}, contained)


def test_for_a_chosen_tree_the_bound_is_the_mass_of_its_nodes():
    mass = {(0,): Fraction(1, 2), (0, 1): Fraction(1, 3), (1,): Fraction(1, 4)}

    assert Fraction(13, 12) == contained_bound(mass, dict.fromkeys(mass, Fraction(1)))
    assert contained_bound(mass, {(2,): Fraction(1)}) == 0
