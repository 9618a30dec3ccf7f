from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import torch

import draftgate
import draftgate.testing
from draftgate.canaries.errors import ContractBroken
from draftgate.canaries.samplers.adapters.trees import tree
from draftgate.canaries.samplers.interface import Drafted, Pair
from draftgate.canaries.samplers.proofs.cases import random_case
from draftgate.canaries.samplers.proofs.custom import SHAPES, chain_case, prove_sampler, prove_sequence
from draftgate.canaries.samplers.proofs.samplers import torch_round
from torch_samplers import WRONG, sampler


def test_an_honest_sampler_is_proved_and_says_how_exactly():
    found = prove_sampler(sampler, cases=40, seed=0)

    assert found.proved
    assert (40, None, None) == (found.cases, found.broken, found.out_of_reach)
    assert 0 < found.slack < 1e-6


@pytest.mark.parametrize("run", WRONG.values(), ids=WRONG)
def test_a_wrong_one_is_broken_by_a_small_case(run):
    found = prove_sampler(run, cases=100, seed=0)
    lines = found.broken.text()

    assert not found.proved
    assert found.broken.case.vocabulary == 2
    assert torch_round(found.broken.case, run).distance(found.broken.case) == found.broken.distance > 0
    assert lines[0].startswith("off by a total variation of ")
    assert lines[1] == f"K = {found.broken.case.k}, V = 2"


def drafter(probs, g):
    return Drafted(torch.multinomial(probs, 1, generator=g)[:, 0], probs)


def likeliest(probs, g):
    """Wrong: nothing is drawn from what is reported."""
    return Drafted(probs.argmax(dim=1), probs)


def test_a_pair_is_judged_with_what_its_drafter_really_draws():
    honest, wrong = (prove_sampler(Pair(drawing, sampler), cases=20, seed=0) for drawing in (drafter, likeliest))

    assert honest.proved
    assert wrong.broken.distance > 0


def one_stream(p, q, x, g):
    """Wrong: all rows of a call share their uniforms."""
    u = torch.rand(1, x.shape[1] + 1, generator=g, dtype=p.dtype).expand(len(x), -1)
    px, qx = (law[:, : x.shape[1]].gather(-1, x[..., None]).squeeze(-1) for law in (p, q))
    kept = (u[:, :-1] * qx < px).long().cumprod(1).sum(1)
    left = torch.cat([(p[:, :-1] - q).clamp(min=0), p[:, -1:]], dim=1)[torch.arange(len(x)), kept]
    last = ((left / left.sum(-1, keepdim=True)).cumsum(-1) < u[:, -1:]).sum(-1).clamp(max=p.shape[-1] - 1)
    rows = [[*x[b, : kept[b]].tolist(), int(last[b])] + [-1] * (x.shape[1] - int(kept[b])) for b in range(len(x))]
    return torch.tensor(rows)


def test_rows_that_share_a_stream_are_found_two_at_a_time():
    found = prove_sampler(one_stream, cases=20, seed=0)

    assert torch_round(random_case(0, 0, SHAPES), one_stream).distance(random_case(0, 0, SHAPES)) == 0
    assert found.broken.text()[0].startswith("two rows of one call: off by")
    assert "and beside it" in found.broken.text()


def test_one_that_cannot_be_followed_is_neither_proved_nor_broken():
    def warmer(p, q, x, g):
        return sampler(p, q, x, g, draw=lambda left, g, u: (left + torch.randn(1, generator=g)).argmax(-1))

    found = prove_sampler(warmer, cases=40, seed=0)

    assert not found.proved
    assert found.broken is None
    assert "randn" in found.out_of_reach


def test_one_that_writes_to_its_inputs_is_refused():
    with pytest.raises(ContractBroken, match="wrote to its inputs"):
        prove_sampler(lambda p, q, x, g: sampler(p.mul_(1), q, x, g), cases=1, seed=0)


def test_no_cases_prove_nothing():
    assert not prove_sampler(sampler, cases=0, seed=0).proved


def test_a_python_function_in_fractions_has_no_slack():
    def ignores_the_draft(p, q, x, rng):
        return [rng.choice(len(p[0]), p=p[0])]

    def takes_the_draft(p, q, x, rng):
        return [x[0]]

    honest, wrong = (prove_sequence(function, cases=30, seed=0) for function in (ignores_the_draft, takes_the_draft))

    assert (True, 0) == (honest.proved, honest.slack)
    assert Fraction(1) == wrong.broken.distance


def test_an_error_of_the_sampler_is_its_own():
    def fails(p, q, x, g):
        raise RuntimeError("not today")

    with pytest.raises(RuntimeError, match="not today"):
        prove_sampler(fails, cases=1, seed=0)


def test_a_small_case_comes_with_a_test_to_paste_that_fails():
    broken = prove_sampler(WRONG["the replacement from p"], cases=20, seed=0).broken
    pasted = broken.test("mine")
    namespace = {"draftgate": draftgate, "mine": WRONG["the replacement from p"]}
    exec(pasted, namespace)

    with pytest.raises(AssertionError, match="its chance is"):
        namespace["test_mine_follows_the_target"]()
    namespace["mine"] = sampler
    namespace["test_mine_follows_the_target"]()


def test_a_case_that_needs_two_rows_or_a_memory_has_no_test_to_paste():
    found = prove_sampler(one_stream, cases=20, seed=0)
    remembered = replace(found.broken, case=random_case(0, 1, SHAPES[1:2]), beside=None)

    assert "" == found.broken.test("mine") == remembered.test("mine")
    assert found.example("mine").startswith("smallest failing laws\ntwo rows of one call")
    assert "" == prove_sampler(sampler, cases=1, seed=0).example("mine")


def test_laws_without_memory_make_a_case():
    half = [Fraction(1, 2), Fraction(1, 2)]
    case = chain_case([half, half], [half])

    assert (2, (-1, 0), 1) == (case.vocabulary, case.parents, case.k)
    assert ({(), (0,), (1,)}, {()}) == (set(case.target), set(case.draft))


@pytest.mark.parametrize(("slip", "proved"), [(False, True), (True, False)], ids=["honest", "not renormalised"])
def test_a_verifier_of_trees_is_followed_through_its_numpy_generator(slip, proved):
    """Siblings drawn without replacement, each stating its own law; the slip takes the law that all were drawn from."""

    def verify(tokens, parents, p, q, rng):
        left, dead = p[0], np.zeros_like(p[0])
        for node, token in enumerate(tokens):
            law = q[0] * (1 - dead) if slip else q[node]
            if rng.random() * law[token] < left[token]:
                return [token, rng.choice(len(left), p=p[node + 1])]
            left = np.maximum(left - law, 0)
            left, dead[token] = left / left.sum(), 1
        return [rng.choice(len(left), p=left)]

    found = prove_sampler(tree(verify, (-1, 0, 0), distinct=True), cases=30, seed=0)

    assert proved == found.proved
    assert found.out_of_reach is None
    assert proved or found.broken.case.parents == (-1, 0, 0)
    assert proved or "" == found.broken.test("mine")
