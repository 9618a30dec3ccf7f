"""Looks at a sampler exactly before anything is drawn: proved or broken on small cases, or out of reach.

A broken sampler needs no draws. A proved one is drawn from all the same: kernels, large vocabularies and what is
carried from call to call are not in the small cases.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from ...stats.symbolic import NotEnumerable
from ..contracts import Finding, Reason, Status
from .calling import CtrlC, TimeIsUp, raised, time_limit
from .interface import Adapted, Pair, Sampler
from .proofs.cases import Case
from .proofs.custom import LATE, SamplerProof, prove_sampler
from .proofs.samplers import torch_round
from .run import Options

CHECK = "exact"
CASES = 60
"""Small cases: a fault of the law shows in the first few, and all of them take a second or two."""
SECONDS = 60.0
"""The longest that this may take before the designed draws begin without it."""


def look(sampler: Sampler | Pair, options: Options) -> SamplerProof:
    """What the small cases show. Never raises for what the sampler does: that is out of reach, and draws will tell."""
    if options.device != "cpu":
        return _out_of_reach(f"on {options.device}, chance cannot be followed")
    if isinstance(sampler, Adapted) and sampler.greedy:
        return _out_of_reach("at T = 0 there is nothing to enumerate")
    try:
        with time_limit(SECONDS, f"on symbolic chance the sampler did not return within {SECONDS:g} s"):
            return prove_sampler(sampler, cases=CASES, seed=options.seed, dtype=options.dtype)
    except TimeIsUp:
        return _out_of_reach(LATE)
    except CtrlC:
        raise
    except BaseException as error:  # noqa: BLE001 - symbols may break any code; that says nothing against the sampler
        return _out_of_reach(f"on symbolic chance {raised(error)}")


def off_by(sampler: Sampler | Pair, case: Case) -> Fraction:
    """The exact distance of a sampler's law from the target's on one case; 0 where it is out of reach, too."""
    try:
        return torch_round(case, sampler).distance(case)
    except (Exception, NotEnumerable):  # noqa: BLE001 - see above
        return Fraction(0)


def finding(proof: SamplerProof) -> Finding:
    """The proof as a finding; FAIL for a counterexample."""
    return Finding(
        check=CHECK,
        cell=CHECK,
        status=Status.FAIL if proof.broken else Status.PASS if proof.proved else Status.NOT_APPLICABLE,
        reason=Reason.DISTRIBUTION if proof.broken else None,
        summary=told(proof)[0],
        figures=plain(proof),
    )


def told(proof: SamplerProof) -> list[str]:
    """For people; the first line says it all."""
    if proof.broken:
        return proof.broken.text()
    if proof.out_of_reach:
        held = f"; {proof.cases} small cases held before" if proof.cases else ""
        return [f"out of reach of enumeration: {proof.out_of_reach}{held}"]
    return [f"proved on small cases only, to a distance of {proof.slack:g}: {proof.scope}"]


def plain(proof: SamplerProof) -> dict[str, Any]:
    """As a document."""
    broken = proof.broken
    return {
        "cases": proof.cases,
        "told": told(proof)[0],
        "proved": proof.proved,
        "slack": proof.slack,
        "out_of_reach": proof.out_of_reach,
        "distance": str(broken.distance) if broken else None,
        "case": broken.case.to_json() if broken else None,
        "beside": broken.beside.to_json() if broken and broken.beside else None,
    }


def _out_of_reach(why: str) -> SamplerProof:
    return SamplerProof(cases=0, out_of_reach=why)
