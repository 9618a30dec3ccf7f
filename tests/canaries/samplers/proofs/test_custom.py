from __future__ import annotations

from fractions import Fraction

import pytest
import torch

from draftgate.canaries.samplers.proofs.custom import prove_sampler
from draftgate.canaries.samplers.proofs.samplers import sequence_round, torch_round
from torch_samplers import WRONG, by_gumbel, sampler


def torch_law(run):
    return lambda case: torch_round(case, run)


def test_an_honest_sampler_is_proved_and_says_how_exactly():
    found = prove_sampler(torch_law(sampler), cases=40, seed=0)

    assert found.proved
    assert (40, None, None) == (found.cases, found.broken, found.out_of_reach)
    assert 0 < found.slack < 1e-6


@pytest.mark.parametrize("run", WRONG.values(), ids=WRONG)
def test_a_wrong_one_is_broken_by_a_small_case(run):
    found = prove_sampler(torch_law(run), cases=100, seed=0)
    lines = found.broken.text()

    assert not found.proved
    assert found.broken.case.vocabulary == 2
    assert torch_round(found.broken.case, run).distance(found.broken.case) == found.broken.distance > 0
    assert lines[0].startswith("off by a total variation of ")
    assert lines[1] == f"K = {found.broken.case.k}, V = 2"


def test_one_that_cannot_be_followed_is_neither_proved_nor_broken():
    def warmer(p, q, x, g):
        return sampler(p, q, x, g, draw=lambda left, g, u: (by_gumbel(left, g, u) + torch.randn(1)).long())

    found = prove_sampler(torch_law(warmer), cases=40, seed=0)

    assert not found.proved
    assert found.broken is None
    assert "randn" in found.out_of_reach


def test_no_cases_prove_nothing():
    assert not prove_sampler(torch_law(sampler), cases=0, seed=0).proved


def test_a_python_function_in_fractions_has_no_slack():
    def ignores_the_draft(p, q, x, rng):
        return [rng.choice(len(p[0]), p=p[0])]

    def takes_the_draft(p, q, x, rng):
        return [x[0]]

    honest, wrong = (
        prove_sampler(lambda case, f=f: sequence_round(case, f), cases=30, seed=0)
        for f in (ignores_the_draft, takes_the_draft)
    )

    assert (True, 0) == (honest.proved, honest.slack)
    assert Fraction(1) == wrong.broken.distance


def test_an_error_of_the_sampler_is_its_own():
    def fails(p, q, x, g):
        raise RuntimeError("not today")

    with pytest.raises(RuntimeError, match="not today"):
        prove_sampler(torch_law(fails), cases=1, seed=0)
