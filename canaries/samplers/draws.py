"""Where torch samplers take chance from, each as symbols or as forks; and what cannot be had that way."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NoReturn, Protocol

import torch
from torch import Tensor

from ...stats.generator import MOST_WAYS
from ...stats.rounding import RoundingRandomness
from ...stats.symbolic import NotEnumerable


def names(text: str) -> frozenset[str]:
    """The words of a text."""
    return frozenset(text.split())


class Holder(Protocol):
    """What makes a tensor random."""

    chance: RoundingRandomness

    def hold(self, x: Tensor, elements: Sequence[Any]) -> Tensor:
        """`x`, which holds these symbols from now on."""

    def random(self, x: Tensor) -> bool:
        """Whether `x` holds symbols."""

    def elements(self, x: Tensor) -> list[Any]:
        """The symbols or numbers of `x`, flat."""


def uniforms(mode: Holder, func: Any, *args: Any, generator: Any = None, **kwargs: Any) -> Tensor:
    """`torch.rand` and `torch.rand_like`."""
    del func, generator
    like = isinstance(args[0], Tensor) if args else False
    x = (torch.empty_like if like else torch.empty)(*args, **kwargs)
    return mode.hold(x, [mode.chance.fresh() for _ in range(x.numel())])


def uniform_(
    mode: Holder,
    func: Any,
    x: Tensor,
    low: float = 0,
    high: float = 1,
    **kwargs: Any,  # torch's own names: from, to
) -> Tensor:
    """`x.uniform_(low, high)`."""
    del func
    low, high = kwargs.get("from", low), kwargs.get("to", high)
    fresh = [mode.chance.fresh() for _ in range(x.numel())]
    return mode.hold(x, fresh if (low, high) == (0, 1) else [u * (high - low) + low for u in fresh])


def exponential_(mode: Holder, func: Any, x: Tensor, lambd: float = 1, *, generator: Any = None) -> Tensor:
    """`x.exponential_(lambd)`."""
    del func, generator
    fresh = [-mode.chance.fresh().log() for _ in range(x.numel())]
    return mode.hold(x, fresh if lambd == 1 else [e / lambd for e in fresh])


def multinomial(
    mode: Holder,
    func: Any,
    weights: Tensor,
    num_samples: int,
    replacement: bool = False,  # noqa: FBT001, FBT002 - torch's
    *,
    generator: Any = None,
) -> Tensor:
    """`torch.multinomial`: one fork a draw."""
    del func, generator
    rows = [_drawn(mode, row, num_samples, replacement=replacement) for row in _rows(mode, weights)]
    return torch.tensor(rows).reshape(*weights.shape[:-1], num_samples)


def _drawn(mode: Holder, weights: list[Any], count: int, *, replacement: bool) -> list[int]:
    left, found = list(weights), []
    for _ in range(count):
        found.append(mode.chance.weighted(left))
        if not replacement:
            left[found[-1]] = 0
    return found


def _rows(mode: Holder, x: Tensor) -> list[list[Any]]:
    if mode.random(x):
        raise NotEnumerable("the sampler draws with random numbers as weights")
    return list(x.reshape(-1, x.shape[-1]).tolist())


def bernoulli(mode: Holder, func: Any, p: Tensor, *, generator: Any = None) -> Tensor:
    """`torch.bernoulli`: one fork an element."""
    del func, generator
    return bernoulli_(mode, None, torch.empty_like(p), p)


def bernoulli_(mode: Holder, func: Any, x: Tensor, p: Any = 0.5, *, generator: Any = None) -> Tensor:
    """`x.bernoulli_(p)`."""
    del func, generator
    chances = p if isinstance(p, Tensor) else torch.full_like(x, p, dtype=torch.float64)
    hits = [mode.chance.fresh() < mass for mass in mode.elements(chances.expand(x.shape))]
    return x.copy_(torch.tensor(hits).reshape(x.shape))


def randint(mode: Holder, func: Any, *args: Any, generator: Any = None, **kwargs: Any) -> Tensor:
    """`torch.randint([low,] high, size)`: one fork an element."""
    del func, generator
    numbers = [x for x in args if isinstance(x, int)]
    size = next((x for x in args if not isinstance(x, int)), kwargs.get("size", ()))
    high = kwargs.get("high", numbers[-1] if numbers else 0)
    low = kwargs.get("low", numbers[0] if len(numbers) > 1 or (numbers and "high" in kwargs) else 0)
    x = torch.empty(size, dtype=kwargs.get("dtype", torch.int64))
    if not 0 < high - low <= MOST_WAYS:
        raise NotEnumerable(f"the sampler draws one of {high - low} whole numbers, a seed rather than a choice")
    flat = [low + mode.chance.weighted([1] * (high - low)) for _ in range(x.numel())]
    return x.copy_(torch.tensor(flat).reshape(x.shape))


def refused(mode: Holder, func: Any, *args: Any, **kwargs: Any) -> NoReturn:
    """Chance that has no exact form here."""
    del mode, args, kwargs
    name = getattr(func, "__name__", func)
    raise NotEnumerable(f"the sampler draws with torch's {name}, which cannot be enumerated")


SOURCES: dict[str, Callable[..., Any]] = {
    "rand": uniforms,
    "rand_like": uniforms,
    "uniform_": uniform_,
    "exponential_": exponential_,
    "multinomial": multinomial,
    "bernoulli": bernoulli,
    "bernoulli_": bernoulli_,
    "randint": randint,
    **dict.fromkeys(
        names(
            "randn randn_like normal normal_ randperm random_ randint_like poisson binomial "
            "log_normal_ cauchy_ geometric_ dropout dropout_ gumbel_softmax rrelu alpha_dropout feature_alpha_dropout"
        ),
        refused,
    ),
}
