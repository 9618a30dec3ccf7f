import math

from draftgate.canaries.contracts import Status
from draftgate.canaries.samplers.checks.base import Rates, judge
from draftgate.canaries.samplers.checks.reference import ReferenceTest
from tolerances import SURE

RATES = Rates(SURE, SURE, 5e-4)


def status(differing, rows=200_000):
    return judge(ReferenceTest(rows, differing, 1e-5), None, RATES).status


def test_rounding_is_allowed_for_and_more_is_not():
    assert Status.PASS == status(0)
    assert Status.PASS == status(5)
    assert Status.FAIL == status(100)


def test_too_few_rows_never_pass():
    assert Status.INCONCLUSIVE == status(0, rows=100)
    assert Status.INCONCLUSIVE == status(0, rows=0)
    assert math.inf == ReferenceTest(0, 0, 1e-5).design(0, RATES).detectable
