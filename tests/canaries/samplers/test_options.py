import argparse

import pytest

from draftgate.canaries.samplers import options


def parsed(add, *words):
    parser = argparse.ArgumentParser(exit_on_error=False)
    add(parser)
    return parser.parse_args(words)


def test_a_sampler_needs_no_more_than_its_name():
    asked = parsed(options.sampler, "mine.py:fn")

    assert ("mine.py:fn", "batch", "unknown", 0, None) == (
        asked.sampler, asked.adapter, asked.rule, asked.seed, asked.effect,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("convert", "text"),
    [
        (options.fraction, "0"),
        (options.fraction, "1"),
        (options.fraction, "nan"),
        (options.fraction, "a"),
        (options.positive, "0"),
        (options.positive, "inf"),
        (options.natural, "-1"),
        (options.several, "1"),
        (options.several, "1.5"),
    ],
)
def test_numbers_that_mean_nothing_are_refused(convert, text):
    with pytest.raises(argparse.ArgumentTypeError, match=f"^{text} "):
        convert(text)


def test_a_plan_is_for_an_effect_or_for_draws_not_both():
    assert 7 == parsed(options.plan, "--draws", "7").draws
    with pytest.raises((argparse.ArgumentError, SystemExit)):
        parsed(options.plan, "--draws", "7", "--effect", "0.1")
