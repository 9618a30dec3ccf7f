"""Figures beside the verdict: where, how hot, how diverse, and whether seeds repeat."""

from dataclasses import replace

import pytest
import sampled

from draftgate.canaries.checks.drawn import read
from draftgate.canaries.checks.places import differs_at, figures

TOKENS = sampled.NUMBERS.tokens


def shown(made):
    return figures(sampled.case(made), sampled.NUMBERS, read(made, TOKENS, ()), made["prompts"])


@pytest.fixture(scope="module")
def honest():
    return sampled.observe(sampled.context(sampled.drafting()))


def test_an_honest_arm_is_as_hot_and_as_diverse_as_it_was_asked_to_be(honest):
    found = shown(honest)

    assert found["temperature_low"] < found["temperature"] < found["temperature_high"]
    assert found["temperature"] == pytest.approx(sampled.CELL.temperature, abs=0.3)
    assert found["likeliest_first"] == pytest.approx(found["likeliest_first_by_law"], abs=0.1)
    assert ("12 of 12", "12 of 12") == (found["seeds_repeat"], found["seeds_repeat_baseline"])
    assert found["different_answers"] == pytest.approx(found["different_answers_baseline"], rel=0.2)
    assert [] == found["differs_at"]


def test_seeds_that_do_not_repeat_are_counted(honest):
    prompt = honest["prompts"][0]
    other = [(number + 1) % len(prompt["answers"]) for number in prompt["again"]["candidate"]]
    prompts = [prompt | {"again": prompt["again"] | {"candidate": other}}, *honest["prompts"][1:]]

    assert ("8 of 12", "12 of 12") == tuple(
        shown(honest | {"prompts": prompts})[key] for key in ("seeds_repeat", "seeds_repeat_baseline")
    )


def test_places_that_differ_are_named_and_others_are_not(honest):
    """The second tokens of one prompt's answers are said to be the likeliest throughout."""
    prompts = [dict(one) for one in honest["prompts"]]
    prompts[1]["below"] = [[b if place != 1 else 0.0 for place, b in enumerate(row)] for row in prompts[1]["below"]]
    made = honest | {"prompts": prompts}

    assert ["prose-2: token 2"] == differs_at(sampled.case(made), sampled.NUMBERS, read(made, TOKENS, ()), prompts)


def test_the_rate_of_false_places_is_the_suites(honest):
    sure = replace(sampled.NUMBERS, false_discovery=1 - 1e-12)
    found = differs_at(sampled.case(honest), sure, read(honest, TOKENS, ()), honest["prompts"])

    assert set(found) <= {f"prose-{n}: token {place}" for n in (1, 2, 3) for place in (1, 2, 3)}


def test_nothing_is_told_of_laws_that_are_unknown():
    found = shown(sampled.observe(sampled.context(sampled.drafting(), sampled.plain(sampled.Silent))))

    assert (None, None, []) == (found["temperature"], found["likeliest_first"], found["differs_at"])
    assert found["different_answers"] > 0
