import numpy as np
import pytest
from trials import settings

from draftgate.canaries.contracts import Status
from draftgate.canaries.samplers.checks import independence
from draftgate.canaries.samplers.checks.base import Rates, judge
from draftgate.canaries.samplers.faults import chance, innocent
from draftgate.canaries.samplers.trial import Trial
from draftgate.suites import samplers
from tolerances import SURE

ASKED = samplers.load().independence
RATES = Rates(SURE, SURE, 0.1)


def failed(sampler, calls=40):
    pairs = independence.Pairs(ASKED, ASKED.batch, 3)
    trial = Trial(independence.bundle(ASKED, 3), sampler, settings(batch=ASKED.batch))
    for _ in range(calls):
        pairs.add(trial.completed(trial.once().tokens).numpy())
    tests = [independence.IndependenceTest(name, pairs) for name in pairs.counts]
    found = {test.cell: judge(test, None, RATES).status for test in tests}
    assert Status.INCONCLUSIVE not in found.values()
    return {cell for cell, status in found.items() if status == Status.FAIL}


@pytest.mark.parametrize("sampler", [innocent.token, innocent.block, innocent.ignore_draft])
def test_independent_rounds_pass_at_every_lag(sampler):
    assert set() == failed(sampler)


@pytest.mark.parametrize(
    ("source", "lag"),
    [
        (chance.shared_by_rows, "rows 1 apart"),
        (chance.antithetic, "rows 512 apart"),
        (chance.overlapping, "rows 1 apart"),
        (chance.shared_by_calls, "calls 1 apart"),
    ],
)
def test_shared_chance_is_seen_where_it_is_shared(source, lag):
    assert lag in failed(chance.with_uniforms(source))


def test_no_round_is_in_two_pairs_of_one_lag():
    pairs = independence.Pairs(ASKED, 64, 3)
    left, lag = pairs._left["rows 4 apart"], 4

    assert len({*left.tolist(), *(left + lag).tolist()}) == 2 * len(left) == 64


def test_coins_are_fair():
    made = independence.bundle(ASKED, 3)

    assert {0.5} == {float(laws.max()) for laws in made.problems[0].target}
    assert {1.0} == {float(laws.max()) for laws in made.problems[0].draft}


def test_enough_asks_every_lag():
    pairs = independence.Pairs(ASKED, 64, 3)
    pairs.add(np.zeros((64, 4), np.int64))

    assert not pairs.enough(1)
