"""Which of two changes departs: read from four arms, of which a test spoils the one it wants."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from arms import embedded

from draftgate.canaries import attribution
from draftgate.canaries.contracts import Status
from draftgate.canaries.errors import UsageError
from draftgate.canaries.faults import registry as faults
from draftgate.canaries.faults.masks import VerifySeesItself
from draftgate.canaries.observations.context import Context
from draftgate.canaries.report.progress import Silent
from draftgate.canaries.targets import reference
from draftgate.canaries.targets.reference import ReferenceTarget
from draftgate.canaries.targets.spec import TargetSpec
from draftgate.canaries.targets.strategies import Strategies
from draftgate.suites import loader

SEEN = ("exact_text", "json_valid", "tools_valid", "code_runs", "multi_turn")


class WrongOn4Bits(ReferenceTarget):
    """Its verify pass sees itself alone, but only where the cache is not of floats: as the public report had it."""

    __slots__ = ()

    def _decoder(self, tokens):
        honest = ReferenceTarget._decoder(self, tokens)
        return honest if self.cache_type == "float" else replace(honest, model=VerifySeesItself(self.model))


def found(parts=None, arm=ReferenceTarget):
    """The four arms on one canary of each kind of smoke."""
    whole = loader.load("smoke")
    suite = replace(whole, cells=(replace(whole.cells[0], prompts=7), *whole.cells[1:]))
    candidate = reference.build(TargetSpec.parse("draft:k=3,cache=int4"), embedded(), parts or Strategies())
    fields = ("name", "model", "method", "draft", "options", "strategies")
    made = arm(**{name: getattr(candidate, name) for name in fields})
    plain = reference.build(TargetSpec.parse("plain:cache=int4"), embedded(), Strategies())
    context = Context(suite=suite, baseline=plain, candidate=made, seed=0)
    return attribution._attributed(context, None, Silent())


def asked(**changes):
    given = {"suite": "smoke", "candidate": "draft", "model": None, "dtype": None, "fault": None, "seed": 0}
    return attribution.Options(**given | changes)


def test_an_honest_engine_departs_on_neither_cache():
    document = found()

    assert ("none", ["float", "int4"]) == (document["cause"], document["types"])
    assert not any(side["departs"] for side in document["sides"].values())


def test_a_verify_pass_that_sees_itself_fails_what_prose_hides_on_either_cache():
    """The public fault: exact copies, JSON, tools, code and dialogues, every one of them."""
    document = found(faults.find("verify-sees-itself").apply(Strategies()))

    assert "speculation" == document["cause"]
    for side in document["sides"].values():
        assert [Status.FAIL] * len(SEEN) == [side["right"][check]["status"] for check in SEEN]


def test_what_departs_on_4_bits_alone_is_an_interaction():
    document = found(arm=WrongOn4Bits)

    assert ("interaction", False, True) == (
        document["cause"],
        *(document["sides"][name]["departs"] for name in ("float", "int4")),
    )
    assert "int4" in document["told"]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({}, "on a cache of floats; name one as draft:cache=int4"),
        ({"candidate": "hf:method=draft"}, "has no cache to exchange"),
        ({"candidate": "draft:cache=int5"}, "draft:cache=int5 is not known"),
        ({"candidate": "draft:cache=int4", "model": Path("none")}, "no model at none"),
    ],
)
def test_what_cannot_be_attributed_is_refused_in_one_line(changes, words):
    with pytest.raises((UsageError, ValueError), match=words) as caught:
        attribution.attribute(asked(**changes), Silent())

    assert "\n" not in str(caught.value)


def test_a_suite_without_greedy_cells_is_refused(monkeypatch):
    whole = loader.load("smoke")
    sampled = replace(whole, cells=tuple(cell for cell in whole.cells if not cell.greedy))
    monkeypatch.setattr(loader, "load", lambda _: sampled)

    with pytest.raises(UsageError, match="has no greedy cell"):
        attribution.attribute(asked(candidate="draft:cache=int4"), Silent())
