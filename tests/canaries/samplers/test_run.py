import pytest

from draftgate.canaries.contracts import Status
from draftgate.canaries.errors import UsageError
from draftgate.canaries.report.progress import Silent
from draftgate.canaries.samplers.faults import innocent, rules
from draftgate.canaries.samplers.run import Options, Run


def ready(sampler, **options):
    run = Run(sampler, Options(name="mine", **{"effect": 0.05, **options}))
    run.prepare()
    return run


def test_the_promise_states_effect_draws_and_seconds():
    told = ready(innocent.token).promise()

    assert told.startswith("mine: finds a total variation of 0.05 with ")
    assert "false alarm 1e-06, miss 1e-06" in told


def test_a_gross_fault_ends_the_run_after_the_first_looks():
    run = ready(rules.accept_everything)
    drawn = run.draw(Silent())

    assert drawn.stopped_early
    assert [Status.FAIL] == [finding.status for finding in drawn.findings]
    assert drawn.findings[0].evidence[0]["n"] < 20_000


def test_what_else_stands_out_then_is_a_hint():
    drawn = ready(rules.accept_everything).draw(Silent())

    assert any(hint.startswith("bound") for hint in drawn.hints)


def test_a_budget_that_buys_nothing_is_refused_with_the_smallest_that_does():
    run = Run(innocent.token, Options(name="mine"))
    took = {bundle.name: 1e-5 for bundle in run.bundles}
    run._plan(0.01, took)
    with pytest.raises(UsageError, match="give --budget") as refused:
        run._afford(0.01, 1e-3, took)
    run._plan(0.01, took)
    run._afford(0.01, float(str(refused.value).split("--budget ")[1].split()[0]), took)

    assert run.plan.effect <= 0.05


def test_a_budget_buys_a_larger_effect():
    run = Run(innocent.token, Options(name="mine"))
    took = {bundle.name: 1e-6 for bundle in run.bundles}
    run._plan(0.01, took)
    budget = run.seconds / 9
    run._afford(0.01, budget, took)

    assert 0.025 < run.plan.effect < 0.05
    assert run.seconds <= budget


def test_every_planned_test_is_required():
    run = ready(innocent.token)
    tests = [test for several in run.plan.tests.values() for test in several]

    assert {(t.cell, t.check) for t in (*tests, run.plan.independence)} == {
        (cell, check) for cell, checks in run.required().items() for check in checks
    }
