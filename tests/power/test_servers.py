"""Faults behind a real socket: the suites judge a server by what it tells, and an honest one passes."""

from __future__ import annotations

import functools
from contextlib import ExitStack
from dataclasses import replace

import pytest
from arms import draft, plain
from plants import KeepsFirstUnseen, strategies
from served_engine import EngineKind, opened

from draftgate.canaries import documents
from draftgate.canaries.checks.base import Case
from draftgate.canaries.checks.registry import CHECKS, judge, ledger
from draftgate.canaries.contracts import Reason, Status
from draftgate.canaries.observations.context import Context
from draftgate.canaries.plan import plan
from draftgate.canaries.run import told
from draftgate.canaries.targets.strategies import Strategies
from draftgate.suites import loader
from draftgate.suites.suite import Cell
from servers_loopback import reply, stream

GREEDY = Cell(name="greedy", temperature=0.0, batch=2, prompts=7, tokens=24, repeats=1)
SAMPLED = Cell(name="sampled", temperature=2.5, top_k=20, batch=8, prompts=16, tokens=40, repeats=1)


@functools.cache
def suite(*cells):
    """Smoke's canaries in small cells; what a text must be is left to other tests."""
    smoke = loader.load("smoke")
    required = smoke.required["server"]
    chat = {"chat", "logprobs"}  # have their own faults beside them
    left = {"samples"} if GREEDY not in cells else set()  # once, beside an honest server, is enough here
    texts = left | chat | {"exact_text", "identifiers", "json_valid", "tools_valid", "code_runs", "multi_turn", "loops"}
    kept = {
        sort: tuple(check for check in getattr(required, sort) if check not in texts) for sort in ("greedy", "sampled")
    }
    return replace(
        smoke,
        cells=cells,
        census=None,
        chat=None,
        required={"server": replace(required, **kept)},
        design=replace(smoke.design, token_fault_rate=0.1, pit_effect=0.25),
        exercise=replace(smoke.exercise, proposed=2, accepted=1),
    )


def findings(candidate, baseline=None, cells=(GREEDY,)):
    """What the checks say of two engines behind sockets."""
    chosen = suite(*cells)
    with ExitStack() as stack:
        arms = {
            role: stack.enter_context(opened(role, kind))
            for role, kind in {"baseline": baseline or EngineKind(plain()), "candidate": candidate}.items()
        }
        context = Context(suite=chosen, seed=0, **arms)
        made = {}
        for key, compute, *_ in plan(context):
            observed = told(functools.partial(compute, made))
            made[key] = documents.decode(documents.encode(observed))
        header = {arm: one.identity() for arm, one in arms.items()} | {"seed": 0, "eos": list(arms["baseline"].eos)}
    shares = ledger(chosen, "server")
    case = Case(suite=chosen, cell=cells[0], header=header, observations=made, ledger=shares)
    return {
        (cell.name, check): judge(CHECKS[check], replace(case, cell=cell))
        for cell in cells
        for check in chosen.required["server"].checks_for(cell)
    }


def failed(found):
    return {key: finding.reason for key, finding in found.items() if finding.status is Status.FAIL}


def test_an_honest_server_passes_every_check():
    found = findings(EngineKind(draft(Strategies())), cells=(GREEDY, SAMPLED))

    assert {key: finding.summary for key, finding in found.items() if finding.status is not Status.PASS} == {}


def test_a_draft_that_is_kept_unseen_is_found_in_the_tokens():
    found = findings(EngineKind(draft(strategies(verifier=KeepsFirstUnseen())).variant("uniform")))

    assert failed(found)["greedy", "exact_tokens"] is Reason.CORRECTNESS


class Cold(EngineKind):
    """Takes the best token whatever temperature it is asked for."""

    def asked(self, body):
        return super().asked(body | {"temperature": 0})


def test_a_server_that_does_not_sample_is_found_in_the_places():
    found = findings(Cold(draft(Strategies())), cells=(SAMPLED,))

    assert failed(found) == {("sampled", "pit"): Reason.DISTRIBUTION}


class Boasting(EngineKind):
    """Counts more tokens than it emitted."""

    def _count(self, answer):
        super()._count(answer)
        self.emitted += 1


class Endless(EngineKind):
    """Ends its streams without a finish reason."""

    def completions(self, asked):
        if asked.body.get("stream"):
            return stream({"choices": [{"index": 0, "text": "a", "token_ids": [5]}]}, "[DONE]")
        return super().completions(asked)


class Synthetic(EngineKind):
    """Says that it accepts by decree."""

    def paths(self):
        return super().paths() | {"/server_info": lambda _: reply({"config": "synthetic_acceptance_rate=0.9"})}


@pytest.mark.parametrize(
    ("kind", "check", "reason"),
    [
        (Boasting, "algebra", Reason.METRICS),
        (Endless, "answered", Reason.CORRECTNESS),
        (Synthetic, "configuration", Reason.LOSSY_UNDECLARED),
    ],
)
def test_what_a_server_says_of_itself_is_judged(kind, check, reason):
    found = findings(kind(draft(Strategies())))

    assert failed(found).get(("greedy", check)) is reason


def test_a_baseline_that_drafts_is_found():
    found = findings(EngineKind(draft(Strategies())), baseline=EngineKind(draft(Strategies())))

    assert failed(found) == {("greedy", "configuration"): Reason.BASELINE_UNSTABLE}
