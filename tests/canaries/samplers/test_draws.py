"""Each source of chance has the law that torch says it has."""

from __future__ import annotations

from fractions import Fraction

import pytest
import torch

from draftgate.canaries.samplers.draws import SOURCES, names
from draftgate.canaries.samplers.intercept import intercepted
from draftgate.stats.exact import paths
from draftgate.stats.rounding import RoundingRandomness
from draftgate.stats.symbolic import NotEnumerable

P = torch.tensor([[0.5, 0.0, 0.25, 0.25], [0.0, 2.0, 0.0, 2.0]], dtype=torch.float64)
HALF, QUARTER = Fraction(1, 2), Fraction(1, 4)


def law(run):
    found = {}
    for outcome, mass in paths(lambda chance: intercepted(run, chance, strict=False), chance=RoundingRandomness):
        key = tuple(outcome.reshape(-1).tolist())
        found[key] = found.get(key, 0) + mass
    return found


def test_multinomial_draws_each_row_by_its_weights():
    found = law(lambda g: torch.multinomial(P, 1, generator=g))

    assert {(0, 1): QUARTER, (0, 3): QUARTER} == {key: m for key, m in found.items() if key[0] == 0}
    assert (2, 1) == torch.multinomial(P, 1).shape


def test_multinomial_without_replacement_draws_nothing_twice():
    assert {(1, 3): HALF, (3, 1): HALF} == law(lambda g: torch.multinomial(P[1], 2))
    assert HALF**2 == law(lambda g: torch.multinomial(P[1], 2, replacement=True))[1, 1]


def test_bernoulli_is_true_with_its_chance():
    assert {(1.0,): QUARTER, (0.0,): 1 - QUARTER} == law(lambda g: torch.bernoulli(P[0, 2:3], generator=g))
    assert {(1.0,): QUARTER, (0.0,): 1 - QUARTER} == law(lambda g: torch.empty(1).bernoulli_(0.25))
    assert {(True,): QUARTER, (False,): 1 - QUARTER} == law(lambda g: torch.empty(1, dtype=torch.bool).bernoulli_(0.25))


@pytest.mark.parametrize("draw", [lambda: torch.randint(2, (1,)), lambda: torch.randint(0, 2, size=(1,))])
def test_whole_numbers_are_alike(draw):
    assert {(0,): HALF, (1,): HALF} == law(lambda g: draw())


@pytest.mark.parametrize(
    "draw",
    [
        lambda: torch.empty(1).uniform_() < 0.25,
        lambda: torch.empty(1).uniform_(1, 3) < 1.5,
        lambda: torch.empty(1).uniform_(to=2.0) < 0.5,
        lambda: torch.rand_like(P[0, :1]) < 0.25,
        lambda: torch.rand((1,), dtype=torch.float32) < 0.25,
    ],
)
def test_uniforms_lie_where_they_are_asked_for(draw):
    assert {(True,): QUARTER, (False,): 1 - QUARTER} == law(lambda g: draw())


def test_exponentials_of_another_rate_run_at_their_pace():
    def run(g):
        both = torch.cat([torch.empty(1).exponential_(3.0), torch.empty(1).exponential_(1.0)])
        return both.argmin()

    assert {(0,): Fraction(3, 4), (1,): QUARTER} == law(run)


@pytest.mark.parametrize(
    "draw",
    [
        lambda: torch.randn(1),
        lambda: torch.empty(1).normal_(),
        lambda: torch.randperm(3),
        lambda: torch.randint(2**40, (1,)),
        lambda: torch.nn.functional.gumbel_softmax(P, hard=True),
        lambda: torch.multinomial(torch.rand(2, 2), 1),
    ],
)
def test_what_has_no_exact_form_is_refused(draw):
    with pytest.raises(NotEnumerable):
        law(lambda g: draw())


def test_weights_that_are_none_fail_as_a_sampler_would():
    with pytest.raises(ValueError, match="all 0"):
        law(lambda g: torch.multinomial(torch.zeros(2), 1))


def test_every_source_is_a_torch_function():
    places = (torch, torch.Tensor, torch.nn.functional)

    assert [name for name in SOURCES if not any(hasattr(place, name) for place in places)] == []
    assert {"a", "b"} == names("a b a")
