"""Answers in company must be those given alone, and what a scenario is about must really have happened.

A scenario is a set of variants: an unexplained fork, a block that nobody gives back or a prefix of another tenant is a
fault, whatever else; rounds that depend on who came before are wrong figures; and a scenario that did not come about,
such as a preemption, says nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ...engine.request import Generation
from ...suites.served import Serving
from ..contracts import Reason, Status
from ..observations.serving.scenarios import SERVING, Wanted, labels
from .algebra import complaint
from .base import Case
from .variants import Problem, Variants

HAPPENED = {  # what may have to happen, in words
    "rows": "the most rows that ran together",
    "passes": "passes of prompt tokens",
    "preempted": "preemptions",
    "cancelled": "cancellations",
    "gone_before": "cancellations before",
    "hits": "prompt tokens found in the prefix tree",
    "resumed": "prompts that began from an answer",
    "crossings": "times that speculation was switched",
    "stopped": "answers that a stop string ended",
}


class Scenario(Variants):
    """One scenario of serving: tokens, rounds, blocks and hits of every label, and whether it was met."""

    def __init__(self, name: str) -> None:
        super().__init__(name, f"{SERVING}/{name}")

    def wrongs(self, case: Case) -> Iterator[Problem]:
        """Blocks that leaked, prefixes that crossed tenants; then counts, rounds and hits."""
        numbers = case.suite.serving
        assert numbers is not None
        variants, wanted = case.observed(self.observation)["variants"], labels(numbers, self.name)
        for label, variant in variants.items():
            if left := variant["met"]["left"]:
                words = f"{left} blocks are held by nobody after {label}: they are lost to the pool"
                yield Problem(words, Status.FAIL, Reason.CORRECTNESS)
            for event in wanted[label].never:
                if count := variant["met"][event]:
                    words = f"{count} {HAPPENED[event]} under {label}: none may be"
                    yield Problem(words, Status.FAIL, Reason.CORRECTNESS)
        if wrong := next(self.miscounts(case, numbers, variants), None):
            yield Problem(wrong, Status.FAIL, Reason.METRICS)
        for label, one in wanted.items():
            yield from self._moved(numbers, variants, label, one)
        yield from _lost_hits(variants)
        if short := list(_unmet(variants, wanted)):
            yield Problem("; ".join(short), Status.NOT_EXERCISED, Reason.NOT_EXERCISED)

    def miscounts(self, case: Case, numbers: Serving, variants: Mapping[str, Any]) -> Iterator[str]:
        """Answers whose counts do not add up."""
        for label, variant in variants.items():
            for generation in map(Generation.from_json, variant["generations"]):
                if wrong := complaint(generation, case.draft_length, numbers.tokens, case.header["eos"]):
                    yield f"{generation.name} under {label}: {wrong}"

    def _moved(self, numbers: Serving, variants: Mapping[str, Any], label: str, wanted: Wanted) -> Iterator[Problem]:
        """Equal answers whose rounds are others than in the label that they must be as in."""
        if wanted.as_in is None:
            return
        before = {g["name"]: g for g in variants[wanted.as_in]["generations"]}
        equal = [g for g in variants[label]["generations"] if g["tokens"] == before[g["name"]]["tokens"]]
        moved = [g for g in equal if _rounds(g) != _rounds(before[g["name"]])]
        if equal and len(moved) / len(equal) > numbers.moved:
            kept = [sum(r[1] for g in listed for r in g["rounds"]) for listed in (before.values(), equal)]
            words = f"rounds of {len(moved)} of {len(equal)} answers are others under {label} than {wanted.as_in}"
            told = f"{words}, first {moved[0]['name']}; {kept[1]} drafts kept, {kept[0]} there"
            yield Problem(told, Status.FAIL, Reason.METRICS)


def _rounds(generation: Mapping[str, Any]) -> list[list[int]]:
    return [list(one)[:2] for one in generation["rounds"]]


def _lost_hits(variants: Mapping[str, Any]) -> Iterator[Problem]:
    """Prefix hits that plain decoding has under the same load and the candidate has not."""
    for label, variant in variants.items():
        hits, plain = variant["met"]["hits"], variant["met"].get("plain_hits", 0)
        if hits < plain:
            words = f"{hits} prompt tokens found in prefixes under {label}, {plain} by plain decoding"
            yield Problem(words, Status.FAIL, Reason.METRICS)


def _unmet(variants: Mapping[str, Any], wanted: Mapping[str, Wanted]) -> Iterator[str]:
    """What had to happen under a label and did not, or not often enough."""
    for label, one in wanted.items():
        for event, least in one.met.items():
            if (count := variants[label]["met"][event]) < least:
                yield f"{HAPPENED[event]} under {label}: {count}, {least} wanted"
