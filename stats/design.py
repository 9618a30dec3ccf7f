"""What a number of draws can show, computed before any data.

Every test errs in two ways: it may alarm although the code is right (`false_alarm`) or stay silent although the code is
wrong (`miss`). Both rates are fixed first; then either the effect fixes the number of draws or the draws fix the
smallest effect seen. Functions come in such pairs. `math.inf` means: no effect of any size would be seen.

After TensorFlow Probability, `statistical_testing.py`, which does this for means and CDFs.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from scipy.optimize import brentq
from scipy.stats import beta, binom, chi2, ncx2

from .evidence import number_to_json

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


@dataclass(frozen=True, slots=True, kw_only=True)
class Design:
    """What this many draws can show.

    false_alarm
        This check's share of the run's budget: the chance that right code is called wrong.
    miss
        The chance that code off by `detectable` or more is not called wrong.
    detectable
        The smallest effect found at those rates, in `effect_unit`: "total variation", "cdf gap", "rate".
    """

    test: str
    n: int
    false_alarm: float
    miss: float
    detectable: float
    effect_unit: str

    def to_json(self) -> dict[str, Any]:
        """A dictionary of plain values that strict JSON can hold; `from_json` gives the same design back."""
        return {
            "test": self.test,
            "n": int(self.n),
            "false_alarm": number_to_json(self.false_alarm),
            "miss": number_to_json(self.miss),
            "detectable": number_to_json(self.detectable),
            "effect_unit": self.effect_unit,
        }

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> Design:
        """The design that `to_json` wrote."""
        return cls(
            test=record["test"],
            n=record["n"],
            false_alarm=float(record["false_alarm"]),
            miss=float(record["miss"]),
            detectable=float(record["detectable"]),
            effect_unit=record["effect_unit"],
        )


def chi_square_draws(effect: float, cells: int, *, false_alarm: float, miss: float) -> int:
    """Draws after which Pearson's test finds a total variation of `effect` over `cells` cells.

    64 cells, 0.02, false alarm 1e-6, miss 1e-3 -> 88,493 draws.
    """
    _check_effect(effect)
    needed = _noncentrality(cells, false_alarm=false_alarm, miss=miss) / (4 * effect**2)
    return _enough(needed, effect, lambda n: chi_square_detectable(n, cells, false_alarm=false_alarm, miss=miss))


def chi_square_detectable(n: int, cells: int, *, false_alarm: float, miss: float) -> float:
    """The smallest total variation that Pearson's test finds with `n` draws over `cells` cells.

    A fault r has noncentrality `n * sum((r - p)**2 / p)`, which is at least `4 * n * TV**2` (Cauchy-Schwarz): the law
    for which a distance shows least is assumed. `false_alarm` is the level the p-value is really held to; at small
    levels that is half the share (see `chi_square.design`).
    """
    if n == 0 or cells == 1:
        return math.inf
    distance = math.sqrt(_noncentrality(cells, false_alarm=false_alarm, miss=miss) / (4 * n))
    return distance if distance <= 1 else math.inf


def ks_draws(effect: float, *, false_alarm: float, miss: float) -> int:
    """Draws after which the DKW test finds a CDF gap of `effect`: 0.01 at 1e-6 and 1e-6 takes 290,174."""
    _check_effect(effect)
    _check_rates(false_alarm, miss)
    radii = _dkw_radius(1, false_alarm) + _dkw_radius(1, miss)
    return _enough((radii / effect) ** 2, effect, lambda n: ks_detectable(n, false_alarm=false_alarm, miss=miss))


def ks_detectable(n: int, *, false_alarm: float, miss: float) -> float:
    """The smallest CDF gap that `n` draws reveal. Shrinks like `1 / sqrt(n)`.

    DKW with Massart's constant (1990): `P(sup|F_n - F| > eps) <= 2 * exp(-2 * n * eps**2)`, once for the hypothesis,
    once for the fault.
    """
    _check_rates(false_alarm, miss)
    gap = _dkw_radius(n, false_alarm) + _dkw_radius(n, miss) if n else math.inf
    return gap if gap <= 1 else math.inf


def rate_draws(rate: float, *, miss: float) -> int:
    """Independent tokens among which a fault of this `rate` shows at least once, except with chance `miss`."""
    _check_effect(rate)
    _check_rates(miss)
    needed = math.log(miss) / math.log1p(-rate) if rate < 1 else 1.0
    return _enough(needed, rate, lambda n: rate_detectable(n, miss=miss))


def rate_detectable(n: int, *, miss: float) -> float:
    """The smallest per-token fault rate of which `n` independent tokens show at least one: `1 - miss**(1/n)`.

    Nothing is left to chance under the hypothesis (one fault is proof), so there is no false alarm.
    """
    _check_rates(miss)
    return -math.expm1(math.log(miss) / n) if n else math.inf


@lru_cache(maxsize=1 << 16)
def binomial_detectable(n: int, rate: float, *, false_alarm: float, miss: float) -> float:
    """The smallest shift of a success rate, up or down, that the exact two-sided binomial test finds with `n` draws.

    Both directions count: each shift of at least this size is found. A direction in which even the largest shift stays
    hidden counts with its whole room, since nothing larger exists. Exact: the power at a critical count is a Beta
    quantile (Clopper and Pearson 1934).
    """
    _check_rates(false_alarm, miss)
    low, high = critical_counts(n, rate, false_alarm=false_alarm)
    seen_up, seen_down = high <= n, low >= 0
    up = float(beta.isf(miss, high, n - high + 1)) - rate if seen_up else math.nextafter(1 - rate, math.inf)
    down = rate - float(beta.ppf(miss, low + 1, n - low)) if seen_down else math.nextafter(rate, math.inf)
    return max(up, down) if seen_up or seen_down else math.inf


class CriticalCounts(NamedTuple):
    """The largest low count and the smallest high count that a two-sided test rejects; -1 and n + 1 mean none."""

    low: int
    high: int


def critical_counts(n: int, rate: float, *, false_alarm: float) -> CriticalCounts:
    """Where the exact two-sided binomial test at `false_alarm` begins to reject."""
    low = bisect_left(range(n + 1), x=True, key=lambda k: bool(2 * binom.cdf(k, n, rate) > false_alarm)) - 1
    high = bisect_left(range(n + 1), x=True, key=lambda k: bool(2 * binom.sf(k - 1, n, rate) <= false_alarm))
    return CriticalCounts(low, high)


@lru_cache(maxsize=1 << 16)
def _noncentrality(cells: int, *, false_alarm: float, miss: float) -> float:
    """The noncentrality at which chi-square on `cells - 1` degrees of freedom misses with chance `miss`."""
    _check_rates(false_alarm, miss)
    if cells < 2:  # noqa: PLR2004 (two cells are the least that can differ)
        raise ValueError(f"a chi-square test over {cells} cells can show nothing; give it at least 2")
    critical = float(chi2.isf(false_alarm, cells - 1))

    def excess(noncentrality: float) -> float:
        return float(ncx2.cdf(critical, cells - 1, noncentrality)) - miss

    above = critical
    while excess(above) > 0:
        above *= 2
    return float(brentq(excess, 0.0, above))


def _dkw_radius(n: int, rate: float) -> float:
    return math.sqrt(math.log(2 / rate) / (2 * n))


def _enough(needed: float, effect: float, detectable: Callable[[int], float]) -> int:
    """The whole number at or above `needed` whose detectable effect is no larger than `effect`, rounding included."""
    n = max(1, math.ceil(needed))
    return n if detectable(n) <= effect else n + 1


def _check_rates(*rates: float) -> None:
    for rate in rates:
        if not 0 < rate < 1:
            raise ValueError(f"an error rate of {rate} cannot be planned for; it must lie strictly between 0 and 1")


def _check_effect(effect: float) -> None:
    if not 0 < effect <= 1:
        raise ValueError(f"an effect of {effect} cannot be planned for; it must lie in (0, 1]")
