import math

import pytest
from scipy.stats import binom, fisher_exact, hypergeom

from draftgate.stats.clustering import at_marked_places, design
from draftgate.stats.decision import Decision, decide
from tolerances import QUANTILE, ROUNDING


def p_value(marked_forks, forks, marked=30, positions=100):
    return at_marked_places(marked_forks, forks, marked=marked, positions=positions, hypothesis="h").p_value


@pytest.mark.parametrize(("marked_forks", "forks"), [(0, 5), (2, 5), (5, 5), (9, 12)])
def test_it_is_fishers_exact_test(marked_forks, forks):
    table = [[marked_forks, forks - marked_forks], [30 - marked_forks, 70 - forks + marked_forks]]

    assert p_value(marked_forks, forks) == pytest.approx(fisher_exact(table, "greater").pvalue, rel=ROUNDING)


def test_a_p_value_of_a_or_less_comes_with_chance_a_at_most():
    """Exactly: summed over all tables with 12 forks."""
    values = [(p_value(k, 12), hypergeom.pmf(k, 100, 30, 12)) for k in range(13)]

    assert all(sum(mass for p, mass in values if p <= a) <= a * (1 + ROUNDING) for a, _ in values)


def test_no_forks_say_nothing_against_the_engine():
    seen = at_marked_places(0, 0, marked=30, positions=100, hypothesis="h")

    assert seen.p_value == 1
    assert seen.n == 100


def test_scattered_forks_pass_and_forks_at_rejections_fail():
    plan = design(marked=1000, positions=10_000, false_alarm=1e-6, miss=1e-3)

    def judge(marked_forks, forks):
        seen = at_marked_places(marked_forks, forks, marked=1000, positions=10_000, hypothesis="h")
        return decide(seen, plan, effect=plan.detectable)

    assert judge(3, 30) == Decision.PASS
    assert judge(30, 30) == Decision.FAIL


def test_the_design_asks_for_the_fewest_forks_that_prove_it():
    """One place in ten is marked: six forks, all marked, have a p-value just below 1e-6 here, five do not."""
    detectable = design(marked=1000, positions=10_000, false_alarm=1e-6, miss=1e-3).detectable

    assert p_value(6, 6, 1000, 10_000) <= 1e-6 < p_value(5, 5, 1000, 10_000)
    assert binom.cdf(5, 1000, detectable) == pytest.approx(1e-3, rel=QUANTILE)


def test_too_few_marked_places_show_nothing():
    assert math.inf == design(marked=3, positions=100, false_alarm=1e-6, miss=1e-3).detectable


def test_no_places_give_no_p_value():
    assert math.isnan(p_value(0, 0, marked=0, positions=0))


@pytest.mark.parametrize(("marked_forks", "forks"), [(-1, 2), (3, 2), (31, 40), (0, 71), (5, 101)])
def test_tables_that_cannot_be_are_refused(marked_forks, forks):
    with pytest.raises(ValueError, match=r"cannot be|do not fit"):
        p_value(marked_forks, forks)
