"""Serving in small: the shipped suite with fewer canaries, and findings of one scenario by one arm."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

from arms import context, draft, plain

from draftgate.canaries.checks.base import Case
from draftgate.canaries.checks.registry import CHECKS, judge, ledger
from draftgate.canaries.contracts import Finding
from draftgate.canaries.observations import pairs, replays
from draftgate.canaries.observations.context import Context
from draftgate.canaries.observations.serving.table import OBSERVED, SERVING
from draftgate.canaries.targets.strategies import Strategies
from draftgate.suites import loader
from draftgate.suites.suite import Suite

SMALL = {"prompts": 8, "tokens": 24, "batches": (1, 4), "rows": 4, "tight": 12, "calls": 2, "needles": ("needle-1",)}
SMALL |= {"places": 2, "parity_prompts": 2, "draws": 1, "cancels": 3, "law_effect": 0.5}


@cache
def suite() -> Suite:
    """The shipped suite with few canaries a scenario, and one small cell of each sort."""
    whole = loader.load("serving")
    assert whole.serving is not None
    greedy, *_, sampled = whole.cells
    cells = (replace(greedy, prompts=2, tokens=16, again=0), replace(sampled, prompts=2, tokens=16))
    return replace(whole, serving=replace(whole.serving, **SMALL), cells=cells, census=None)


def made(strategies: Strategies | None = None, **numbers: Any) -> Context:
    """Both arms on the embedded models, the candidate with these strategies."""
    of = suite()
    assert of.serving is not None
    of = replace(of, serving=replace(of.serving, **numbers)) if numbers else of
    return context(draft(strategies or Strategies()), of)


def on_cache(of: Context, name: str) -> Context:
    """Both arms on this type of cache."""
    arms: dict[str, Any] = {"baseline": of.baseline, "candidate": of.candidate}
    return replace(of, **{role: arm.on_cache(name) for role, arm in arms.items()})


@cache
def basis() -> dict[str, Any]:
    """The greedy cell's pairs and replays by the honest engine: from them follows the noise."""
    honest = made()
    (cell, _) = honest.suite.cells
    found = {f"{cell.name}/pairs": pairs.observe(honest, cell)}
    return found | {f"{cell.name}/replays": replays.observe(honest, cell, found[f"{cell.name}/pairs"])}


@cache
def honest(name: str) -> dict[str, Any]:
    """What is observed of the honest engine."""
    return observed(made(), name)


def observed(of: Context, name: str) -> dict[str, Any]:
    """One observation, by name."""
    assert of.suite.serving is not None
    return OBSERVED[name](of, of.suite.serving)


def case(observations: dict[str, Any], of: Suite | None = None, cell: int = 0) -> Case:
    """A cell of a record that holds these observations of serving, beside the honest pairs."""
    chosen = of or suite()
    header = {
        "baseline": plain().identity(),
        "candidate": draft().identity() | {"kind": "reference"},
        "seed": 0,
        "eos": list(plain().eos),
    }
    return Case(
        suite=chosen,
        cell=chosen.cells[cell],
        header=header,
        observations=basis() | {f"{SERVING}/{name}": one for name, one in observations.items()},
        ledger=ledger(chosen, "reference"),
    )


def found(check: str, observations: dict[str, Any], of: Suite | None = None, cell: int = 0) -> Finding:
    """What the check says of these observations."""
    return judge(CHECKS[check], case(observations, of, cell))
