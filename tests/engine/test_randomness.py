import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from draftgate.engine.randomness import CounterRandomness, Purpose, philox
from draftgate.stats.decision import Decision, decide
from draftgate.stats.design import ks_draws
from draftgate.stats.kolmogorov_smirnov import design, uniform_ks
from tolerances import SURE

EFFECT = 0.05
N = ks_draws(EFFECT, false_alarm=SURE, miss=SURE)
PLAN = design(N, false_alarm=SURE, miss=SURE)

KNOWN_ANSWERS = [  # Random123, tests/kat_vectors: counter, key, answer of philox4x32 with 10 rounds
    ("00000000 00000000 00000000 00000000", "00000000 00000000", "6627e8d5 e169c58d bc57ac4c 9b00dbd8"),
    ("ffffffff ffffffff ffffffff ffffffff", "ffffffff ffffffff", "408f276d 41c83b0e a20bc7c6 6d5451fd"),
    ("243f6a88 85a308d3 13198a2e 03707344", "a4093822 299f31d0", "d16cfe09 94fdcceb 5001e420 24126ea1"),
]


def words(text):
    return np.array([[[int(word, 16)]] for word in text.split()], np.uint64)


def uniforms(seeds, rounds, purpose=Purpose.ACCEPT, slots=4):
    return CounterRandomness().uniforms(np.asarray(seeds), np.asarray(rounds), purpose, slots)


def judge(values):
    return decide(uniform_ks(values, hypothesis="the engine's chance is uniform"), PLAN, effect=EFFECT)


@pytest.mark.parametrize(("counter", "key", "answer"), KNOWN_ANSWERS)
def test_philox_gives_the_known_answers(counter, key, answer):
    assert np.array_equal(words(answer), philox(words(counter), words(key)))


def test_known_answers_hold_side_by_side_in_one_array():
    counters, keys, answers = (
        np.concatenate([words(text) for text in texts], axis=1) for texts in zip(*KNOWN_ANSWERS, strict=True)
    )

    assert np.array_equal(answers, philox(counters, keys))


def test_a_double_is_made_of_53_bits_of_two_words():
    a, b = 0x6627E8D5, 0xE169C58D
    expected = ((a >> 5) * 2**26 + (b >> 6)) / 2**53

    assert expected == uniforms([0], [0], Purpose.PLAIN, 1)[0, 0]


@given(
    st.lists(st.tuples(st.integers(-(2**63), 2**63 - 1), st.integers(0, 2**31)), min_size=1, max_size=6),
    st.sampled_from(Purpose),
    st.integers(1, 9),
)
def test_a_rows_uniforms_do_not_depend_on_the_other_rows(rows, purpose, slots):
    seeds, rounds = zip(*rows, strict=True)
    together = uniforms(seeds, rounds, purpose, slots)
    alone = np.concatenate([uniforms([seed], [turn], purpose, slots) for seed, turn in rows])

    assert (len(rows), slots) == together.shape
    assert np.array_equal(alone, together)


@given(st.integers(1, 12), st.integers(1, 12))
def test_asking_for_more_slots_changes_none_of_the_first(few, more):
    assert np.array_equal(uniforms([7], [3], slots=few)[:, :more], uniforms([7], [3], slots=more)[:, :few])


def test_no_uniform_is_shared_between_seeds_rounds_purposes_or_slots():
    """Twelve thousand 53-bit numbers agree by chance once in 1e8; a reused counter always."""
    seeds, rounds = np.meshgrid([0, 1, 2, 2**32, 2**32 + 1, -1, 2**63 - 1], np.arange(13))
    seen = [uniforms(seeds.ravel(), rounds.ravel(), purpose, 33).ravel() for purpose in Purpose]

    assert 4 * 7 * 13 * 33 == len(np.unique(np.concatenate(seen)))


@pytest.mark.parametrize("axis", ["slots", "rounds", "seeds"])
def test_uniforms_are_uniform_along_every_axis(axis):
    counts = np.arange(N)
    along = {
        "slots": lambda: uniforms([5], [1], slots=N),
        "rounds": lambda: uniforms(np.full(N, 5), counts, slots=1),
        "seeds": lambda: uniforms(counts, np.ones(N, int), slots=1),
    }[axis]()

    assert Decision.PASS == judge(along.ravel())
    assert Decision.FAIL == judge(along.ravel() ** 1.3)


def test_neighbouring_slots_do_not_move_together():
    """Of two independent uniforms the fractional part of the sum is uniform; of a repeated one it is not
    (2u mod 1 is), so the difference is looked at too."""
    pairs = uniforms(np.arange(N), np.zeros(N, int), slots=2)

    assert Decision.PASS == judge((pairs[:, 0] - pairs[:, 1]) % 1)
    assert Decision.FAIL == judge((pairs[:, 0] - pairs[:, 0]) % 1)
