import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from draftgate.stats.ledger import Ledger
from tolerances import ROUNDING


@given(
    total=st.floats(1e-12, 0.5),
    weights=st.dictionaries(st.text(min_size=1), st.floats(1e-3, 1e3), min_size=1, max_size=20),
)
def test_shares_sum_to_the_total(total, weights):
    ledger = Ledger.split(total=total, weights=weights)

    assert math.fsum(row.share for row in ledger.rows()) == pytest.approx(total, rel=ROUNDING)


def test_a_share_follows_its_weight():
    ledger = Ledger.split(total=1e-6, weights={"law": 3, "support": 1})

    assert ledger.share("law") == pytest.approx(7.5e-7)
    assert ledger.share("support") == pytest.approx(2.5e-7)


def test_a_test_that_was_not_planned_has_no_share():
    ledger = Ledger.split(total=1e-6, weights={"law": 3, "support": 1})

    with pytest.raises(ValueError, match=r"no share for 'lwa'.*law, support"):
        ledger.share("lwa")


def test_rows_keep_their_order():
    ledger = Ledger.split(total=1e-6, weights={"b": 1, "a": 1})

    assert [row.name for row in ledger.rows()] == ["b", "a"]


@pytest.mark.parametrize("weight", [0, -1, math.nan, math.inf])
def test_a_weight_that_gives_no_share_is_refused(weight):
    with pytest.raises(ValueError, match="weight"):
        Ledger.split(total=1e-6, weights={"law": weight})


@pytest.mark.parametrize("total", [0, 1, math.nan])
def test_a_budget_that_cannot_be_kept_is_refused(total):
    with pytest.raises(ValueError, match="budget"):
        Ledger.split(total=total, weights={"law": 1})


def test_a_budget_for_nobody_is_refused():
    with pytest.raises(ValueError, match="nobody"):
        Ledger.split(total=1e-6, weights={})
