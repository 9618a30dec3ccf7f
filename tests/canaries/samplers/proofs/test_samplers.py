"""The law of somebody's sampler, proved or broken, or said to be out of reach."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from draftgate.canaries.errors import ContractBroken
from draftgate.canaries.samplers.proofs.cases import random_case
from draftgate.canaries.samplers.proofs.proof import token_accepted
from draftgate.canaries.samplers.proofs.rules import CHAINS
from draftgate.canaries.samplers.proofs.samplers import rows_distance, sequence_round, torch_round
from draftgate.stats.symbolic import NotEnumerable
from torch_samplers import HONEST, WRONG, sampler

CASES_OF_TWO = random_case(3, 1, ((2, (-1, 0)),)), random_case(3, 9, ((2, (-1, 0)),))
CASES = [random_case(3, index, CHAINS[:2]) for index in range(10)]


def wrong(run, of=torch_round):
    return sum(of(case, run).distance(case) > 0 for case in CASES)


@pytest.mark.parametrize("run", HONEST.values(), ids=HONEST)
def test_a_torch_sampler_is_the_targets_law_to_rounding(run):
    assert 0 == wrong(run)


@pytest.mark.parametrize("run", WRONG.values(), ids=WRONG)
def test_a_wrong_torch_sampler_is_found(run):
    assert 1 < wrong(run)


def test_single_precision_is_judged_by_its_own_rounding():
    found = [torch_round(case, sampler, torch.float32) for case in CASES[:5]]

    assert [0] * 5 == [one.distance(case) for one, case in zip(found, CASES, strict=False)]
    assert 0 < max(one.round.distance(case) for one, case in zip(found, CASES, strict=False))


def test_what_a_sampler_accepts_is_counted():
    for case in CASES[:4]:
        assert float(token_accepted(case)) == pytest.approx(float(torch_round(case, sampler).round.accepted))


def by_hand(p, q, x, rng):
    out = []
    for i, token in enumerate(x):
        if not rng.random() * q[i][token] < p[i][token]:
            left = np.maximum(p[i] - q[i], 0)
            return [*out, rng.choice(len(left), p=left / left.sum())]
        out.append(token)
    return [*out, rng.choice(len(p[-1]), p=p[-1]), -1]


def in_floats(p, q, x, rng):
    return by_hand(np.asarray(p, dtype=float), np.asarray(q, dtype=float), x, rng)


def from_p(p, q, x, rng):
    """Wrong: the replacement is drawn from p."""
    out = []
    for i, token in enumerate(x):
        if not rng.random() * q[i][token] < p[i][token]:
            return [*out, rng.choice(len(p[i]), p=p[i])]
        out.append(token)
    return [*out, rng.choice(len(p[-1]), p=p[-1])]


def test_a_python_function_that_takes_fractions_is_proved_without_any_slack():
    found = [sequence_round(case, by_hand) for case in CASES]

    assert {0} == {one.slack for one in found} == {one.round.distance(c) for one, c in zip(found, CASES, strict=True)}


def test_a_python_function_that_wants_floats_is_proved_to_rounding():
    found = [sequence_round(case, in_floats) for case in CASES]

    assert all(0 < one.slack < 1e-6 for one in found)
    assert 0 == wrong(in_floats, sequence_round)


def test_a_wrong_python_function_is_found():
    assert 2 < wrong(from_p, sequence_round)


def test_what_cannot_be_followed_is_said_to_be_so():
    """Never a proof, never a refutation."""

    def normal(p, q, x, g):
        return (p[:, :, 0] < torch.randn(1, generator=g)).long()

    with pytest.raises(NotEnumerable, match="randn"):
        torch_round(CASES[0], normal)
    with pytest.raises(NotEnumerable, match="normal"):
        sequence_round(CASES[0], lambda p, q, x, rng: [int(rng.normal() > 0)])


def test_a_function_without_end_is_given_up(monkeypatch):
    def endless(p, q, x, rng):
        while rng.random() < p[0].max() / 2:
            pass
        return [0]

    with pytest.raises(NotEnumerable, match="does the function end"):
        sequence_round(CASES[0], endless)
    monkeypatch.setattr("draftgate.canaries.samplers.proofs.samplers.MOST_PATHS", 1)
    with pytest.raises(NotEnumerable, match="more than 1 paths"):
        sequence_round(CASES[1], by_hand)


def test_answers_that_are_none_are_refused():
    with pytest.raises(ContractBroken, match="emits nothing"):
        torch_round(CASES[0], lambda p, q, x, g: torch.full(p.shape[:2], -1))
    with pytest.raises(ValueError, match="return 1 to"):
        sequence_round(CASES[0], lambda p, q, x, rng: [99])


def test_two_rows_of_a_call_are_independent_and_each_of_its_own_law():
    pair = CASES_OF_TWO

    assert rows_distance(pair, sampler) == 0
    assert rows_distance(pair, lambda p, q, x, g: sampler(p.flip(0), q.flip(0), x.flip(0), g)) > 0
    assert rows_distance(pair, lambda p, q, x, g: sampler(p[:1], q[:1], x[:1], g).expand(2, -1)) > 0
