"""The table of plants."""

import inspect
import re
from dataclasses import fields
from importlib.resources import files
from pathlib import Path

import pytest
from arms import context, plain

from draftgate.canaries.errors import UsageError
from draftgate.canaries.faults import registry
from draftgate.canaries.observations.context import GREEDY
from draftgate.canaries.targets.reference import ReferenceTarget
from draftgate.canaries.targets.strategies import Strategies
from draftgate.engine.verification.base import Guarantee

CODES = [plant.code for plant in registry.PLANTS]


@pytest.mark.parametrize("plant", registry.PLANTS, ids=CODES)
def test_every_plant_changes_one_part_and_keeps_the_promise(plant):
    own, planted = Strategies(), plant.apply(Strategies())

    changed = [part.name for part in fields(Strategies) if _kind(own, part.name) != _kind(planted, part.name)]
    assert len(changed) == 1
    assert planted.verifier.guarantee is Guarantee.SAME_LAW


@pytest.mark.parametrize("plant", registry.PLANTS, ids=CODES)
def test_every_plant_still_answers(plant):
    parts = plant.apply(Strategies())
    arm = ReferenceTarget(
        name="ngram", model=parts.model(plain().model), method="ngram", options={"k": 3}, strategies=parts
    )
    made = context()
    requests = made.requests(made.suite.first(2), tokens=8, sampling=GREEDY, label="plants")

    assert all(generation.tokens for generation in arm.generate(requests))


@pytest.mark.parametrize("plant", registry.PLANTS, ids=CODES)
def test_faults_must_be_held_and_look_alikes_must_pass(plant):
    assert plant.expected.startswith("HOLD ") == plant.code.startswith("F")
    assert (plant.expected == "PASS") == plant.code.startswith("N")
    assert bool(plant.seen_by) == plant.code.startswith("F")


def test_only_look_alikes_may_change_what_both_arms_share():
    """A fault in both arms would show in plain decoding, too, and be no fault of speculation."""
    assert ["N03"] == [plant.code for plant in registry.PLANTS if plant.shared]


def test_a_plant_is_found_by_code_in_any_case_and_by_name():
    assert registry.find("F06") is registry.find("f06") is registry.find("resample-from-target")


def test_an_unknown_plant_is_refused_and_all_are_named():
    with pytest.raises(UsageError, match="unknown fault 'F99'") as caught:
        registry.find("F99")

    assert all(code in str(caught.value) for code in CODES)
    assert "\n" not in str(caught.value)


def test_codes_and_names_are_used_once():
    assert len(registry.BY_NAME) == 2 * len(registry.PLANTS)
    assert [row["code"] for row in registry.rows()] == CODES


def test_production_code_names_no_fault():
    package = Path(str(files("draftgate")))
    named = re.compile("|".join(rf"\b{re.escape(key)}\b" for key in registry.BY_NAME))
    kinds = [package / folder for folder in ("canaries", "engine", "stats", "suites")]
    sources = [package / "harness.py", *(path for folder in kinds for path in folder.rglob("*.py"))]
    guilty = [
        path.relative_to(package).as_posix()
        for path in sources
        if "faults" not in path.relative_to(package).parts and named.search(path.read_text(encoding="utf-8"))
    ]

    assert len(sources) > 50
    assert guilty == []


def _kind(strategies, part):
    chosen = getattr(strategies, part)
    return chosen if isinstance(chosen, type) or inspect.isfunction(chosen) else type(chosen)
