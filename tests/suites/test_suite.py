import dataclasses
from collections import Counter

import pytest

from draftgate.suites.loader import load
from draftgate.suites.suite import KINDS, Canary, Cell, by_kind

GREEDY = Cell(name="greedy", temperature=0, batch=1, prompts=6, tokens=8, repeats=1)


def test_kinds_take_turns_in_file_order():
    cell = dataclasses.replace(GREEDY, prompts=9)
    expected = [f"{kind.replace('_', '-')}-01" for kind in KINDS] + ["exact-02", "identifiers-02"]

    assert [canary.id for canary in load("core").canaries_for(cell)] == expected


def test_a_kind_that_is_used_up_leaves_its_turns_to_the_others():
    whole = load("smoke")
    suite = dataclasses.replace(whole, canaries=(*whole.of_kind("exact"), *whole.of_kind("json"), whole.canaries[-1]))

    assert Counter(canary.kind for canary in suite.first(6)) == {"exact": 3, "json": 2, suite.canaries[-1].kind: 1}
    assert sorted(canary.id for canary in suite.first(7)) == sorted(canary.id for canary in suite.canaries)


def test_of_kind_keeps_one_kind():
    assert [canary.id for canary in load("smoke").of_kind("prose")] == ["prose-01", "prose-02", "prose-03"]


def test_greedy_and_sampled_cells_require_their_own_checks():
    required = load("core").required["reference"]
    sampled = dataclasses.replace(GREEDY, temperature=0.7)

    assert "exact_tokens" in required.checks_for(GREEDY)
    assert "law" not in required.checks_for(GREEDY)
    assert "law" in required.checks_for(sampled)
    assert "exact_tokens" not in required.checks_for(sampled)


def test_a_cell_may_have_effects_of_its_own_and_no_other_number():
    suite = load("core")
    own = {cell.name: suite.design_of(cell) for cell in suite.cells}

    assert own["greedy-1"] == suite.design
    assert own["topk-1"] == dataclasses.replace(suite.design, pit_effect=0.25, token_fault_rate=0.02)


def test_a_suite_cannot_be_changed():
    suite = load("smoke")

    with pytest.raises(dataclasses.FrozenInstanceError):
        suite.design.false_alarm = 0.05


def test_all_kinds_take_turns_in_one_order():
    kinds = [kind for kind in reversed(KINDS) for _ in range(2)]
    canaries = tuple(Canary(id=f"{kind}-{n}", kind=kind, messages=()) for n, kind in enumerate(kinds))
    suite = dataclasses.replace(load("smoke"), canaries=canaries)

    assert [*KINDS, *KINDS] == [canary.kind for canary in suite.first(14)]
    assert {"prose": 1, "exact": 1} == by_kind([canaries[0], canaries[-1]])
    assert ["exact", "prose"] == list(by_kind([canaries[0], canaries[-1]]))
