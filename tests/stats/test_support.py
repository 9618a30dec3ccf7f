import pytest

from draftgate.stats.decision import Decision, decide
from draftgate.stats.design import rate_draws
from draftgate.stats.support import design, outside_support

PLAN = {"false_alarm": 1e-9, "miss": 1e-6}


def judge(tokens_outside, n, effect=0.01):
    seen = outside_support(tokens_outside, n, hypothesis="no token leaves the top 5")
    return decide(seen, design(rate_draws(effect, miss=1e-6), **PLAN), effect=effect)


def test_no_token_outside_passes_after_enough_tokens():
    n = rate_draws(0.01, miss=1e-6)

    assert judge(0, n) == Decision.PASS
    assert judge(0, n - 1) == Decision.INCONCLUSIVE


def test_one_token_outside_is_proof():
    assert judge(1, 1_000_000) == Decision.FAIL
    assert judge(1, 1) == Decision.FAIL


def test_no_tokens_prove_nothing():
    assert judge(0, 0) == Decision.INCONCLUSIVE


@pytest.mark.parametrize(("tokens_outside", "n"), [(-1, 3), (4, 3)])
def test_counts_that_cannot_be_are_refused(tokens_outside, n):
    with pytest.raises(ValueError, match="cannot be outside"):
        outside_support(tokens_outside, n, hypothesis="h")
