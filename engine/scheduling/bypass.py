"""How many tokens to draft at this step: none above the break-even batch, where speculation stops to pay.

A policy decides before a draft is made, from rounds that are over, so that it cannot look at tokens still to be judged
and every answer keeps its law. Which step speculates is a matter of speed alone.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from ..costs.speedup import Costs, best_length, break_even, predicted


class Kept(NamedTuple):
    """One row's round that is over: how many tokens were drafted for the request, and how many of them were kept."""

    request: str
    drafted: int
    accepted: int


class Policy(Protocol):
    """Says how long drafts are. `length` is asked once a step, before it; `observe` told once a step, after it."""

    def length(self, batch: int) -> int:
        """Tokens to draft at this step in each of `batch` running rows; 0: plain decoding."""

    def limits(self, requests: Sequence[str], length: int) -> list[int]:
        """For each request of the step how many of these `length` tokens are worth drafting."""

    def observe(self, rounds: Sequence[Kept]) -> None:
        """Learns from the rounds of the step, also where nothing was drafted."""


class Always:
    """Every step drafts `k` tokens."""

    def __init__(self, k: int) -> None:
        self.k = k

    def length(self, batch: int) -> int:
        """The same at any batch."""
        del batch
        return self.k

    def limits(self, requests: Sequence[str], length: int) -> list[int]:
        """The same for all."""
        return [length] * len(requests)

    def observe(self, rounds: Sequence[Kept]) -> None:
        """Learns nothing."""


class Never(Always):
    """Plain decoding at every step."""

    def __init__(self) -> None:
        super().__init__(0)


class Estimate:
    """A running estimate of the chance that a draft is kept.

    It is `prior` with the weight of `weight` judged drafts, and what was judged since; that fades, by one part in
    `memory` at each step. So it goes back to the prior while nothing is drafted, and speculation is tried again: the
    more rarely the longer the memory is.
    """

    def __init__(self, *, prior: float, weight: float, memory: float) -> None:
        self.prior, self.weight, self.memory = prior, weight, memory
        self._kept = self._judged = 0.0

    @property
    def rate(self) -> float:
        """The estimate."""
        return self.beside(self.prior)

    def beside(self, prior: float) -> float:
        """The estimate with another prior of the same weight."""
        return (prior * self.weight + self._kept) / (self.weight + self._judged)

    def fade(self) -> None:
        """A step has passed."""
        self._kept *= 1 - 1 / self.memory
        self._judged *= 1 - 1 / self.memory

    def learn(self, drafted: int, accepted: int) -> None:
        """A chain is judged up to its first rejection: the drafts behind that say nothing."""
        self._kept += accepted
        self._judged += min(accepted + 1, drafted)


@dataclass(kw_only=True)
class Bypass:
    """Drafts up to `longest` tokens where that pays, by costs and acceptance, and none where it does not.

    It goes on only where a gain of `margin` is predicted and off where none is, and leaves a length that pays for
    another only at such a gain over it: a batch that wavers about the break-even one does not turn it on and off.
    """

    costs: Costs
    longest: int
    acceptance: Estimate
    margin: float
    _current: int = 0
    _own: dict[str, Estimate] = field(default_factory=dict)

    def length(self, batch: int) -> int:
        """Tokens to draft at this step."""
        rate = self.acceptance.rate
        best = best_length(self.costs, rate, batch, self.longest)
        now, then = (predicted(self.costs, rate, batch, k) for k in (self._current, best))
        if not best or then >= (1 + self.margin) * max(now, 1.0):
            self._current = best
        elif now < 1:  # the length in use does not pay, and what does pays less than the margin
            self._current = 0
        return self._current

    def break_even(self, most: int) -> int:
        """The batch up to which speculation pays by what is known now, of those up to `most`."""
        return break_even(self.costs, self.acceptance.rate, self.longest, most)

    def limits(self, requests: Sequence[str], length: int) -> list[int]:
        """By each request's own acceptance, of which the common one is the prior, up to the longest that pays."""
        rate, batch = self.acceptance.rate, len(requests)
        rates = [self._own[name].beside(rate) if name in self._own else rate for name in requests]
        return [best_length(self.costs, own, batch, length) for own in rates]

    def observe(self, rounds: Sequence[Kept]) -> None:
        """All that was judged, together and by request. Requests that have no round in this step are forgotten."""
        self.acceptance.fade()
        own = defaultdict(
            self._estimate, {one.request: self._own[one.request] for one in rounds if one.request in self._own}
        )
        for request, drafted, accepted in rounds:
            own[request].fade()
            for estimate in (self.acceptance, own[request]):
                estimate.learn(drafted, accepted)
        self._own = dict(own)

    def _estimate(self) -> Estimate:
        return Estimate(prior=self.acceptance.prior, weight=self.acceptance.weight, memory=self.acceptance.memory)
