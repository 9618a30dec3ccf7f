"""Before anything is drawn a sampler is proved or broken on small cases, or said to be out of reach."""

from __future__ import annotations

import time
from fractions import Fraction

import pytest
import torch

from draftgate.canaries.contracts import Reason, Status
from draftgate.canaries.samplers import exact
from draftgate.canaries.samplers.adapters.registry import ADAPTERS
from draftgate.canaries.samplers.faults import innocent, registry
from draftgate.canaries.samplers.faults.chance import antithetic, with_uniforms
from draftgate.canaries.samplers.interface import Adapted
from draftgate.canaries.samplers.proofs.custom import chain_case
from draftgate.canaries.samplers.run import Options
from torch_samplers import WRONG, sampler

OPTIONS = Options(name="mine", dtype=torch.float64)
BEYOND = ("without the generator", "state of its generator", "at T = 0", "wrote to its inputs")
"""Faults of a stream between calls, which one call does not show; of ties at T = 0; of the contract."""

FAR = {"rows-repeat", "last-repeats"}
"""Faults between rows that lie further apart than the two that are enumerated."""


def test_every_wrong_sampler_that_can_be_followed_is_broken():
    seen = {row.name: exact.look(row.make(), OPTIONS) for row in registry.FAULTS}
    others = {name: proof.out_of_reach or "proved" for name, proof in seen.items() if not proof.broken}

    assert {name for name in FAR if others.pop(name, "") != "proved"} == set()
    assert {name: why for name, why in others.items() if not any(word in why for word in BEYOND)} == {}
    assert len(seen) - len(others) > 30


def test_no_innocent_sampler_is_broken():
    seen = {row.name: exact.look(row.make(), OPTIONS) for row in registry.INNOCENT}

    assert [name for name, proof in seen.items() if proof.broken] == []
    assert {"token", "block", "resample-until-disagree", "no-bonus", "ignore-draft", "honest-tree"} <= {
        name for name, proof in seen.items() if proof.proved
    }


def test_a_numpy_function_is_followed_through_its_own_generator():
    def mine(p, q, x, rng):
        """Draws from p whatever was drafted."""
        return [int(rng.choice(len(p[0]), p=p[0]))]

    def wrong(p, q, x, rng):
        return [int(rng.choice(len(p[0]), p=q[0]))]

    honest, broken = (exact.look(ADAPTERS["numpy-sequence"].adapt(f), OPTIONS) for f in (mine, wrong))

    assert honest.proved
    assert broken.broken


@pytest.mark.parametrize("run", WRONG.values(), ids=WRONG)
def test_a_broken_sampler_is_a_finding_with_its_case(run):
    found = exact.finding(exact.look(run, OPTIONS))

    assert (Status.FAIL, Reason.DISTRIBUTION) == (found.status, found.reason)
    assert "off by a total variation of" in found.summary
    assert found.figures["case"]["vocabulary"] == 2


def test_a_proof_is_a_pass_and_what_is_out_of_reach_is_neither():
    proved, other = exact.look(sampler, OPTIONS), exact.look(Adapted(call=sampler, greedy=True), OPTIONS)

    assert [Status.PASS, Status.NOT_APPLICABLE] == [exact.finding(proof).status for proof in (proved, other)]
    assert exact.told(proved)[0] == (
        "proved on small cases only, to a distance of 1e-09: 60 cases of one row: K = 1 with V <= 3, "
        "K = 2 with V <= 3, K = 3 with V <= 2; 6 pairs of rows in one call: K = 1 with V = 2, K = 2 with V = 2"
    )
    assert exact.told(other)[0].startswith("out of reach of enumeration: at T = 0")


def test_what_breaks_on_symbols_is_not_held_against_the_sampler():
    def picky(p, q, x, g):
        if torch.rand(1, generator=g).isnan().any():
            raise RuntimeError("never")
        return innocent.token(p, q, x, g)

    def counting(p, q, x, g):
        raise KeyError("nothing\nhere")

    assert "isnan" in exact.look(picky, OPTIONS).out_of_reach
    assert "on symbolic chance the sampler raised KeyError: 'nothing" in exact.look(counting, OPTIONS).out_of_reach


def test_a_sampler_that_hangs_is_left_to_the_draws(monkeypatch):
    monkeypatch.setattr(exact, "SECONDS", 0.05)

    assert "the time for small cases is up" in exact.look(lambda p, q, x, g: time.sleep(5), OPTIONS).out_of_reach


def test_a_look_that_is_cut_short_tells_what_held_until_then(monkeypatch):
    monkeypatch.setattr(exact, "SECONDS", 2.0)
    calls = 0

    def slower(p, q, x, g):
        nonlocal calls
        calls += 1
        time.sleep(0.01 if calls > 100 else 0)
        return sampler(p, q, x, g)

    proof = exact.look(slower, OPTIONS)

    assert 0 < proof.cases < exact.CASES
    assert f"time for small cases is up; {proof.cases} small cases held before" in exact.told(proof)[0]


def test_another_device_is_out_of_reach():
    assert "on cuda" in exact.look(sampler, Options(name="mine", device="cuda")).out_of_reach


def test_on_one_case_the_distance_is_exact():
    half, sure = [Fraction(1, 2)] * 2, [Fraction(1), Fraction(0)]
    case = chain_case([half, sure], [sure])

    assert Fraction(1, 4) == exact.off_by(WRONG["the replacement from p"], case)
    assert exact.off_by(sampler, case) == exact.off_by(lambda p, q, x, g: 1 / 0, case) == 0


def test_rows_that_share_chance_show_before_most_cases_of_one_row():
    proof = exact.look(with_uniforms(antithetic), OPTIONS)

    assert proof.broken.beside
    assert proof.cases <= exact.CASES // 6
