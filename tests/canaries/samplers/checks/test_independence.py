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
RATES = Rates(SURE, SURE, ASKED.effect)


def judged(sampler, draft_length=3, seed=0):
    test = independence.IndependenceTest.planned(ASKED, ASKED.batch, draft_length)
    test.draw(Trial(independence.bundle(ASKED, draft_length), sampler, settings(seed, batch=ASKED.batch)), RATES)
    return judge(test, None, RATES)


@pytest.mark.parametrize("draft_length", [1, 3])
@pytest.mark.parametrize("sampler", [innocent.token, innocent.block, innocent.no_bonus, innocent.ignore_draft])
def test_independent_rounds_pass(sampler, draft_length):
    assert Status.PASS == judged(sampler, draft_length).status


@pytest.mark.parametrize(
    ("source", "where"),
    [
        (chance.shared_by_rows, " 1 row apart"),
        (chance.antithetic, "512 rows apart"),
        (chance.overlapping, " 3 rows apart"),  # the last uniform of one is the first of the other
        (chance.repeating(1), " 1 row apart"),
        (chance.repeating(333), "333 rows apart"),
        (chance.repeating(1000), "1000 rows apart"),
        (chance.repeating(1023), "1023 rows apart"),
        (chance.repeating_last(1000), "1000 rows apart"),
        (chance.shared_by_calls, " 1 call apart"),
    ],
)
def test_shared_chance_is_seen_where_it_is_shared(source, where):
    found = judged(chance.with_uniforms(source))

    assert Status.FAIL == found.status
    assert where in found.summary


def test_too_few_calls_are_no_pass():
    test = independence.IndependenceTest.planned(ASKED, ASKED.batch, 3)
    trial = Trial(independence.bundle(ASKED, 3), innocent.token, settings(batch=ASKED.batch))
    test.draw(trial, Rates(SURE, SURE, 0.49))

    assert Status.INCONCLUSIVE == judge(test, None, RATES).status


def test_coins_are_fair():
    made = independence.bundle(ASKED, 3)

    assert {0.5} == {float(laws.max()) for laws in made.problems[0].target}
    assert {1.0} == {float(laws.max()) for laws in made.problems[0].draft}
    assert 0.5 == 2 * made.problems[0].target[0][0, 1] + 2 * made.problems[0].target[0][0, 2]
