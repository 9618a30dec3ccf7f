"""The numbers of serving stand in the suite that requires its checks, and ask for what it has."""

from dataclasses import replace

import pytest

from draftgate.stats.design import ks_draws
from draftgate.suites import served
from draftgate.suites.loader import load


def test_the_table_is_there_where_its_checks_are_required():
    suite = load("serving")

    assert isinstance(suite.serving, served.Serving)
    assert set(served.CHECKS) <= {*suite.required["reference"].greedy, *suite.required["reference"].sampled}
    assert served.complaint(suite.serving, suite) is None
    assert load("core").serving is None


def test_mixed_batches_draw_as_many_tokens_as_the_effect_asks_for():
    suite = load("serving")
    numbers = suite.serving
    sampled = numbers.prompts // 2 * numbers.draws * numbers.tokens

    share = suite.design.false_alarm / 20  # more tests than that share the run's rate
    assert ks_draws(numbers.law_effect, false_alarm=share, miss=suite.design.miss) < sampled


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"needles": ("pin-1",)}, "serving.needles names 'pin-1', and no canary is called so"),
        ({"prompts": 500}, "serving.prompts asks for 500 canaries of 39"),
        ({"places": 500}, "serving.places asks for 500 canaries of 39"),
    ],
)
def test_what_the_suite_does_not_have_is_told_in_one_line(changes, told):
    suite = load("serving")

    assert told in served.complaint(replace(suite.serving, **changes), suite)


def test_private_words_need_a_canary_that_has_some():
    suite = load("serving")
    bare = replace(suite, canaries=tuple(c for c in suite.canaries if c.kind != "identifiers"))

    assert "no identifiers canary" in served.complaint(suite.serving, bare)
