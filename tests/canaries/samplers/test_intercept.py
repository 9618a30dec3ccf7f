"""Random tensors may be moved about, compared and raced; whatever else is done with them is refused, never guessed."""

from __future__ import annotations

from fractions import Fraction

import pytest
import torch

from draftgate.canaries.samplers.intercept import intercepted
from draftgate.stats.exact import paths
from draftgate.stats.rounding import RoundingRandomness
from draftgate.stats.symbolic import NotEnumerable

EDGE = torch.tensor([[0.25, 0.5], [0.75, 1.0]], dtype=torch.float64)
QUARTER = Fraction(1, 4)


def law(run):
    """The exact law of what `run(generator)` returns."""
    found = {}
    for outcome, mass in paths(lambda chance: intercepted(run, chance, strict=False), chance=RoundingRandomness):
        key = tuple(outcome.reshape(-1).tolist()) if isinstance(outcome, torch.Tensor) else outcome
        found[key] = found.get(key, 0) + mass
    return found


def rand(*shape):
    return torch.rand(*shape, dtype=torch.float64)


PRODUCT = law(lambda g: rand(2, 2) < EDGE)


def test_elements_are_independent_and_compared_one_by_one():
    assert QUARTER * Fraction(1, 2) * Fraction(3, 4) == PRODUCT[True, True, True, True]
    assert sum(PRODUCT.values()) == 1


@pytest.mark.parametrize(
    "move",
    [
        lambda u: u[:, [1, 0]].flip(-1),
        lambda u: u.t().contiguous().t(),
        lambda u: torch.stack([u[0], u[1]]),
        lambda u: torch.cat([u[:1], u[1:]]),
        lambda u: u.unsqueeze(-1).squeeze(-1).view(4).reshape(2, 2),
        lambda u: u.gather(1, torch.tensor([[1, 0], [1, 0]])).roll(1, 1),
        lambda u: u.float().to(torch.float64).clone(),
        lambda u: torch.where(EDGE > 0, u, 0.5),
        lambda u: u.masked_fill(EDGE < 0, 0.0),
        lambda u: u.where(EDGE > 0, torch.tensor(0.5, dtype=torch.float64)),
        lambda u: torch.stack(list(u)),
        lambda u: u.repeat(2, 1)[:2],
        lambda u: torch.cat([u, torch.zeros(2, 1, dtype=torch.float64)], dim=1)[:, :2],
    ],
)
def test_moving_elements_about_changes_nothing(move):
    assert law(lambda g: move(rand(2, 2)) < EDGE) == PRODUCT


@pytest.mark.parametrize(
    "compare",
    [
        lambda u: EDGE > u,
        lambda u: u <= EDGE,
        lambda u: torch.lt(u, EDGE),
        lambda u: ~(u >= EDGE),
        lambda u: 1 - u > 1 - EDGE,
        lambda u: u * 2 < 2 * EDGE,
        lambda u: u.mul_(2) < 2 * EDGE,
        lambda u: (u - EDGE) < 0,
        lambda u: u / 2 < EDGE / 2,
        lambda u: -u > -EDGE,
    ],
)
def test_each_way_to_compare_is_the_same_event(compare):
    assert law(lambda g: compare(rand(2, 2))) == PRODUCT


def test_an_expanded_uniform_is_one_number():
    seen = law(lambda g: rand(1).expand(2) < torch.tensor([0.25, 0.5], dtype=torch.float64))

    assert {(True, True): QUARTER, (False, True): QUARTER, (False, False): 2 * QUARTER} == seen


def test_what_is_written_into_a_tensor_is_seen_in_all_views_of_it():
    def run(g):
        noise = torch.zeros(2, dtype=torch.float64)
        view = noise[1:]
        noise[0] = 0.9
        view.uniform_(generator=g)
        noise[:1] = rand(1)
        return noise < EDGE[0]

    assert {(a, b): m for (a, b, *_), m in law(run).items()} == law(lambda g: rand(2) < EDGE[0])


def test_an_element_taken_out_is_a_symbol():
    assert {True: QUARTER, False: 3 * QUARTER} == law(lambda g: rand(1).item() < 0.25)


@pytest.mark.parametrize(
    "race",
    [
        lambda p: (p / torch.empty_like(p).exponential_()).argmax(-1),
        lambda p: p.div(torch.empty(4, dtype=torch.float64).exponential_(1.0)).argmax(dim=0),
        lambda p: (torch.empty_like(p[1:]).exponential_() / p[1:]).argmin() + 1,
        lambda p: (p.log() + -torch.log(-torch.log(torch.rand_like(p)))).argmax(),
        lambda p: torch.searchsorted(p.cumsum(0), torch.rand(1, dtype=torch.float64)),
        lambda p: (p.cumsum(0) < rand(1)).sum(),
    ],
)
def test_each_way_to_draw_has_the_same_law(race):
    p = torch.tensor([0.0, 0.5, 0.25, 0.25], dtype=torch.float64)
    found = law(lambda g: int(race(p)))

    assert [0.5, 0.25, 0.25] == pytest.approx([float(found[token]) for token in (1, 2, 3)], rel=1e-12)


@pytest.mark.parametrize(
    "need",
    [
        lambda u: u.sum(),
        lambda u: u.sort().values,
        lambda u: u.topk(1).indices,
        lambda u: u.cumsum(0),
        lambda u: u.exp(),
        lambda u: u.clamp(max=u.flip(0)),
        lambda u: (u * 4).long(),
        lambda u: int(u.tolist()[0]),
        lambda u: u.max(),
        lambda u: torch.max(u, u.flip(0)),
        lambda u: u.numpy(),
        lambda u: float(u[0]),
        lambda u: bool(u[0]),
        lambda u: u == 0.5,
        lambda u: u[0] < u[1],
        lambda u: torch.multinomial(u, 1),
        lambda u: torch.searchsorted(u, 0.5),
        lambda u: u,
        lambda u: u.max(dim=0).indices,
    ],
)
def test_what_needs_the_number_itself_is_refused(need):
    with pytest.raises(NotEnumerable):
        law(lambda g: need(rand(2)))


@pytest.mark.parametrize(
    "compare",
    [
        lambda u: torch.tensor([[a < b for a, b in zip(*r, strict=True)] for r in zip(u.tolist(), EDGE, strict=True)]),
        lambda u: u.log() < EDGE.log(),
        lambda u: EDGE.log() - 1 >= u.log() - 1,
    ],
)
def test_numbers_read_out_and_logarithms_are_compared_as_they_are(compare):
    found = law(lambda g: compare(rand(2, 2)))

    assert {key: float(mass) for key, mass in PRODUCT.items()} == pytest.approx(
        {key: float(mass) for key, mass in found.items()}, rel=1e-12
    )


@pytest.mark.parametrize("keepdim", [False, True])
def test_the_largest_of_a_race_is_drawn_by_its_weights(keepdim):
    def run(g):
        noise = torch.empty(2, 2, dtype=torch.float64).exponential_(generator=g)
        largest = (EDGE / noise).max(dim=1, keepdim=keepdim).indices
        return largest.reshape(2)

    assert Fraction(2, 3) == sum(mass for key, mass in law(run).items() if key[0] == 1)


def test_noise_used_in_two_races_is_refused():
    def run(g):
        noise = torch.empty(2, dtype=torch.float64).exponential_(generator=g)
        return torch.stack([(EDGE[0] / noise).argmax(), (EDGE[1] / noise).argmax()])

    with pytest.raises(NotEnumerable, match="two comparisons"):
        law(run)


@pytest.mark.parametrize("past", [lambda g: torch.nn.Dropout()(EDGE), lambda g: g.seed() and EDGE])
def test_chance_drawn_past_the_mode_is_refused(past):
    with pytest.raises(NotEnumerable):
        law(lambda g: past(g) < EDGE)


def test_nothing_is_a_tensor_of_no_elements():
    assert {(): 1} == law(lambda g: torch.rand(2, 0, generator=g) < torch.zeros(2, 0))


@pytest.mark.parametrize(
    "elsewhere",
    [
        lambda g: torch.rand(1),
        lambda g: torch.rand(1, generator=torch.Generator()),
        lambda g: torch.distributions.Categorical(EDGE).sample(),
    ],
)
def test_chance_from_another_generator_is_refused(elsewhere):
    """Nothing is known of another's stream: it may be the same in every call."""
    with pytest.raises(NotEnumerable, match="without the generator that it was given"):
        list(paths(lambda chance: intercepted(elsewhere, chance), chance=RoundingRandomness))


def test_a_uniform_held_between_two_numbers_is_one_of_them_or_itself():
    below = {edge: law(lambda g, e=edge: rand(1).clamp(min=0.25, max=0.5) <= e) for edge in (0.125, 0.25, 0.375, 0.5)}

    assert {(False,): 1} == below[0.125]
    assert [QUARTER, Fraction(3, 8), 1] == [below[edge][(True,)] for edge in (0.25, 0.375, 0.5)]


@pytest.mark.parametrize(
    "read",
    [
        lambda g: g.get_state(),
        lambda g: g.initial_seed(),
        lambda g: g.seed(),
        lambda g: g.manual_seed(1),
        lambda g: g.set_state(torch.Generator().get_state()),
        lambda g: g.clone_state(),
    ],
)
def test_the_state_of_the_generator_is_no_law(read):
    """A sampler may seed another stream from it: symbolic chance has no state, so its one value would be no chance."""
    with pytest.raises(NotEnumerable, match="state of its generator"):
        law(lambda g: (read(g), 0)[1])


@pytest.mark.parametrize("need", [lambda x: x.topk(1), lambda x: (x + 1e-9).log()])
def test_a_fallback_of_the_sampler_does_not_hide_what_cannot_be_followed(need):
    def falls_back(generator):
        try:
            need(rand(2))
        except Exception:  # noqa: BLE001 - as samplers do
            return 0
        return 1

    with pytest.raises(NotEnumerable):
        law(falls_back)


@pytest.mark.parametrize(
    "narrow",
    [
        lambda: rand(2).to(torch.bfloat16),
        lambda: torch.rand(2, dtype=torch.bfloat16),
        lambda: torch.rand(2, dtype=torch.float16),
        lambda: rand(2).to(torch.float16),
    ],
)
def test_random_numbers_of_few_bits_are_no_uniforms(narrow):
    with pytest.raises(NotEnumerable, match=r"rounding|rounds"):
        law(lambda _: narrow() < 0.5)


def test_whole_numbers_are_drawn_from_the_range_however_it_is_written():
    third = {(n,): Fraction(1, 3) for n in (5, 6, 7)}

    assert third == law(lambda _: torch.randint(5, 8, (1,)))
    assert third == law(lambda _: torch.randint(5, high=8, size=(1,)))
    assert third == law(lambda _: torch.randint(low=5, high=8, size=(1,)))
