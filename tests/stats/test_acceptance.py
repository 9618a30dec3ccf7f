from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from draftgate.stats.acceptance import block_law, chain_law, expected_acceptance, mean_accepted
from draftgate.stats.exact import enumerate_law


def test_acceptance_is_the_overlap_of_the_two_laws():
    p, q = np.array([0.5, 0.3, 0.2]), np.array([0.2, 0.2, 0.6])

    assert expected_acceptance(p, q) == pytest.approx(0.6)


def test_a_draft_that_never_agrees_is_never_accepted():
    assert expected_acceptance(np.array([1.0, 0.0]), np.array([0.0, 1.0])) == 0


@settings(deadline=None, max_examples=15)
@given(seed=st.integers(0, 2**32 - 1), vocab=st.integers(2, 3), k=st.integers(1, 2))
def test_the_law_of_accepted_tokens_is_that_of_the_enumerated_walk(by_hand, seed, vocab, k):
    rng = np.random.default_rng(seed)
    target, draft = (by_hand.fractions_table(rng, vocab, k + 1) for _ in range(2))
    laws = by_hand.history_laws(target), by_hand.history_laws(draft)
    accepted = enumerate_law(lambda chance: len(by_hand.token_rule(*laws, k, chance)[0]))

    assert [accepted.get(count, Fraction(0)) for count in range(k + 1)] == chain_law(target[:k], draft[:k]).tolist()


def test_a_perfect_draft_is_accepted_whole(by_hand):
    law = by_hand.fractions_table(np.random.default_rng(1), 3, 2)

    assert chain_law(law, law).tolist() == [0, 0, 1]
    assert mean_accepted(chain_law(law, law)) == 2


def test_with_one_rate_everywhere_it_is_geometric():
    p, q = np.array([0.5, 0.5]), np.array([0.8, 0.2])
    tables = (
        [np.broadcast_to(p, (2,) * (i + 1)) for i in range(3)],
        [np.broadcast_to(q, (2,) * (i + 1)) for i in range(3)],
    )

    assert chain_law(*tables) == pytest.approx([0.3, 0.7 * 0.3, 0.49 * 0.3, 0.343])


def test_block_verification_keeps_eleven_ninths_where_the_token_rule_keeps_ten():
    """The example of Sun et al. 2024, section 2: p = (1/3, 2/3), q = (2/3, 1/3) everywhere, two tokens drafted."""
    p, q = (np.array([Fraction(a, 3), Fraction(3 - a, 3)]) for a in (1, 2))
    tables = [[np.broadcast_to(law, (2,) * (i + 1)) for i in range(2)] for law in (p, q)]

    assert Fraction(10, 9) == mean_accepted(chain_law(*tables))
    assert Fraction(11, 9) == mean_accepted(block_law(*tables))


@pytest.mark.parametrize("seed", range(8))
def test_block_verification_never_keeps_less_and_the_first_token_as_often(by_hand, seed):
    rng = np.random.default_rng(seed)
    target, draft = (by_hand.fractions_table(rng, 3, 3) for _ in range(2))
    block, token = block_law(target, draft), chain_law(target, draft)

    assert sum(block) == 1
    assert block[0] == token[0]
    assert mean_accepted(block) >= mean_accepted(token)


def test_laws_over_different_vocabularies_are_refused():
    with pytest.raises(ValueError, match="different vocabularies"):
        expected_acceptance(np.ones(1), np.array([0.5, 0.5]))


def test_chains_of_different_lengths_are_refused(by_hand):
    table = by_hand.fractions_table(np.random.default_rng(1), 2, 2)

    with pytest.raises(ValueError, match="zip"):
        chain_law(table, table[:1])
