import numpy as np
from trials import RATES, bundle, look

from draftgate.canaries.contracts import Reason, Status
from draftgate.canaries.samplers.checks.base import chi_square_rounds, judge
from draftgate.canaries.samplers.checks.law import LawTest
from draftgate.canaries.samplers.faults import innocent, rules

TEST = LawTest("joint", "small", "small/zipf", 0, bundle().problems[0].joint())


def test_a_finding_says_what_was_drawn_and_what_would_have_been_seen():
    found = judge(TEST, look(innocent.token), RATES)

    assert Status.PASS == found.status
    assert found.reason is None
    assert "total variation" in found.seen
    assert found.evidence[0]["n"] == found.design[0]["n"] == 40 * 512


def test_a_failure_names_its_hypothesis_and_the_distance():
    found = judge(TEST, look(rules.accept_everything), RATES)

    assert (Status.FAIL, Reason.DISTRIBUTION) == (found.status, found.reason)
    assert "emitted tokens follow the target's law" in found.summary
    assert "distance 0." in found.summary


def test_too_few_draws_never_pass():
    found = judge(TEST, look(innocent.token, calls=1), RATES)

    assert (Status.INCONCLUSIVE, Reason.INCOMPLETE) == (found.status, found.reason)
    assert "show only effects from" in found.summary


def test_no_draws_never_pass():
    assert Status.INCONCLUSIVE == judge(TEST, look(innocent.token, calls=0), RATES).status
    assert np.isnan(TEST.evidence(look(innocent.token, calls=0), RATES).p_value)


def test_cells_are_filled_before_they_are_counted():
    """64 equal cells: the effect alone would take fewer draws than the hundred that each cell must expect."""
    law = np.full(64, 1 / 64)

    assert chi_square_rounds(law, RATES._replace(effect=0.2)) >= 6400
