import numpy as np
import pytest

from draftgate.canaries.samplers.laws import MAKERS, problem
from tolerances import ROUNDING

SHAPE = (6, 2, 3)


def made(name, shape=SHAPE):
    return problem(name, shape, np.random.default_rng(1))


@pytest.mark.parametrize("name", MAKERS)
def test_every_state_has_laws_of_its_own_at_every_position(name):
    found = made(name)

    assert [(1, 6), (3, 6), (9, 6)] == [laws.shape for laws in found.target]
    assert [(1, 6), (3, 6)] == [laws.shape for laws in found.draft]
    for laws in (*found.target, *found.draft):
        assert (laws >= 0).all()
        assert laws.sum(axis=1) == pytest.approx(1, rel=ROUNDING)


def test_the_joint_law_is_the_product_of_the_laws_on_the_way():
    found = made("zipf")
    first, second, third = 4, 2, 5
    expected = found.target[0][0, first] * found.target[1][first % 3, second]
    expected *= found.target[2][3 * (first % 3) + second % 3, third]

    assert found.joint()[36 * first + 6 * second + third] == pytest.approx(expected, rel=ROUNDING)
    assert found.joint().sum() == pytest.approx(1, rel=ROUNDING)


def test_marginals_are_those_of_the_joint_law():
    found = made("zipf")

    assert found.marginal(1) == pytest.approx(found.joint().reshape(6, 6, 6).sum(axis=(0, 2)), rel=ROUNDING)
    assert found.reached(3).sum() == pytest.approx(1, rel=ROUNDING)


def test_laws_have_what_their_names_say():
    assert (made("zeros").target[0] == 0).sum() == 2
    assert not (made("disjoint").target[2][:2] * made("disjoint").draft[1][:2]).sum() > 1
    assert (np.minimum(made("disjoint").target[0], made("disjoint").draft[0]) == 0).all()
    assert made("chosen").draft[0].max() == 1
    assert made("greedy").target[0].max() == 1
    assert (made("same").target[1] == made("same").draft[1]).all()
    assert made("tiny").target[0].min() == 1e-8


def test_recorded_rows_come_in_another_order_with_their_draft():
    p, q = np.array([0.5, 0.25, 0.25]), np.array([0.625, 0.125, 0.25])
    found = problem("recorded", (3, 1, 3), np.random.default_rng(0), [(p, q)])

    assert sorted(zip(p, q, strict=True)) == sorted(zip(found.target[0][0], found.draft[0][0], strict=True))


def test_a_problem_without_drafts_is_plain_decoding():
    found = made("zipf", (4, 0, 4))

    assert 0 == found.draft_length
    assert (4,) == found.joint().shape
