"""How much faster, from the tokens that were judged: paired, interleaved, with an interval and A/A beside it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ...engine.request import Generation
from ...stats.launches import across_launches
from ...stats.speed import Ratio, paired_ratio
from ..contracts import Finding, Reason, Status
from ..observations.answers import Answered, answers
from ..observations.context import seed_of
from ..observations.pairs import BASELINE, CANDIDATE
from .base import Case, Certain, not_observed
from .counted import Window, total, windows
from .predicting import BOUND_SLACK, predicted

Times = dict[int, dict[int, float]]
Launches = dict[str, dict[tuple[int, int], float]]
LAUNCHES = 2  # of each arm, at least: one says nothing of how another would have started
NOT_CLAIMED = "speed is not claimed: the {} was launched {} time, and the spread between launches takes {}; run again"
WALL_SHARE = 0.5  # least share of a call's time that its stream may span: what comes after the last token is short


class Speed(Certain):
    """Seconds a token, end to end, baseline over candidate; the unit of pairing is what was decoded together."""

    name = "speed"
    observes = ("pairs",)

    def judge(self, case: Case) -> Finding:
        """PASS where the ratio could be measured: whether it is high enough is the claim's business, not a fault."""
        pairs = case.observed("pairs")
        listed = list(answers(pairs)) if pairs else []
        if not listed or not all(map(_timed, listed)):
            return not_observed(self.name, case)
        if case.kept:
            return self._unclaimed(case, [a.generation for a in listed if a.arm == CANDIDATE])
        if wrong := clocks(pairs, 0.0 if case.kind == "server" else WALL_SHARE):
            return self._impossible(case, wrong)
        launched = launches(pairs)
        if launched and (once := fewest(launched))[1] < LAUNCHES:
            return not_observed(self.name, case, NOT_CLAIMED.format(*once, LAUNCHES))
        ratio = self._measured(case, listed, launched)
        most = tokens_a_window_pass(list(windows(pairs, CANDIDATE))) or tokens_a_pass(listed)
        if ratio.low > BOUND_SLACK * most:
            return self._impossible(case, f"{ratio.ratio:.2f}x is faster than {most:.2f} tokens a target pass allow")
        plain = seconds_a_token(listed, BASELINE)
        again = self._again(case, apart(plain, launched[BASELINE]) if launched else plain)
        how = f", launched in turn, {fewest(launched)[1]} launches each" if launched else ""
        return Finding(
            check=self.name,
            cell=case.cell.name,
            status=Status.PASS,
            summary=f"{ratio.ratio:.2f}x [{ratio.low:.2f}, {ratio.high:.2f}] over {ratio.pairs} pairs{how}",
            figures=_figures(case, ratio, again)
            | {"predicted": predicted(case, listed, ratio)}
            | {"launches": fewest(launched)[1] if launched else None}
            | {arm: _latencies([a.generation for a in listed if a.arm == arm]) for arm in (BASELINE, CANDIDATE)},
        )

    def _measured(self, case: Case, listed: list[Answered], launched: Launches) -> Ratio:
        """The ratio of the turns that both arms took; its interval holds the spread between launches, if any."""
        paired = partnered(listed)
        times = {arm: seconds_a_token(paired, arm) for arm in (BASELINE, CANDIDATE)}
        ratio = self._ratio(case, *(table(times[arm]) for arm in (BASELINE, CANDIDATE)))
        if not launched:
            return ratio
        return across_launches(ratio, by_launches(times, launched), confidence=case.suite.speed.confidence)

    def _unclaimed(self, case: Case, generations: list[Generation]) -> Finding:
        """Times of another hour make no pairs with those of this one."""
        return Finding(
            check=self.name,
            cell=case.cell.name,
            status=Status.NOT_APPLICABLE,
            summary="correctness only; no ratio claimed: the baseline's times are those of another hour",
            figures={"ratio": None, CANDIDATE: _latencies(generations)},
        )

    def _impossible(self, case: Case, words: str) -> Finding:
        return Finding(check=self.name, cell=case.cell.name, status=Status.FAIL, reason=Reason.METRICS, summary=words)

    def _ratio(self, case: Case, baseline: Any, candidate: Any) -> Ratio:
        numbers = case.suite.speed
        rng = np.random.default_rng(seed_of(case.seed, case.cell.name, "bootstrap"))
        return paired_ratio(baseline, candidate, confidence=numbers.confidence, resamples=numbers.resamples, rng=rng)

    def _again(self, case: Case, baseline: Times) -> Ratio | None:
        """Baseline against its own repeat: what the machine alone makes of a ratio. None where nothing was repeated."""
        twice = {group: repeats for group, repeats in baseline.items() if len(repeats) > 1}
        if not twice:
            return None
        times = table(twice)
        return self._ratio(case, times[:, 0], times[:, 1])


def _timed(answered: Answered) -> bool:
    """Whether an answer has tokens and the time of the last."""
    arrivals = answered.generation.arrivals
    return bool(answered.generation.tokens and arrivals and arrivals[-1].seconds > 0)


def clocks(pairs: Mapping[str, Any], least: float) -> str | None:
    """What is wrong with the first run whose stream does not fit the time that the harness itself measured; or None.

    A server's stream is clocked by the harness, from when its request was sent: what it spans `least` of a call tells
    how busy this machine is, and nothing about the engine.
    """
    for run in (run for group in pairs["groups"] for run in group["runs"]):
        last = max(generation["arrivals"][-1][0] for generation in run["generations"])
        if not least * run["wall"] <= last <= run["wall"]:
            return f"a {run['arm']} stream says it took {last:.3f} s, the call took {run['wall']:.3f} s"
    return None


def tokens_a_pass(listed: Sequence[Answered]) -> float:
    """Tokens that the candidate emitted for each pass of its target, prefill included; plain decoding has 1.

    A verify pass costs no less than a plain one, so that no speed-up is larger.
    """
    candidate = [a.generation for a in listed if a.arm == "candidate"]
    passes = sum((1 + len(g.rounds)) if g.rounds else len(g.tokens) for g in candidate)
    return sum(len(g.tokens) for g in candidate) / passes


def tokens_a_window_pass(listed: list[Window]) -> float | None:
    """The same from counts: of each pass one token is the target's own. None where nothing was counted.

    Infinite where drafts are not told: nothing then bounds the speed-up. Cut drafts are passes that were made.
    """
    if not listed:
        return None
    accepted, tokens = total(listed, "accepted"), sum(window.tokens for window in listed)
    return tokens / max(tokens - accepted, 1) if accepted is not None else float("inf")


def partnered(listed: Sequence[Answered]) -> list[Answered]:
    """The answers of the turns that both arms took: the baseline's turns against itself have no partner."""
    turns = {arm: {(a.group, a.repeat) for a in listed if a.arm == arm} for arm in (BASELINE, CANDIDATE)}
    both = turns[BASELINE] & turns[CANDIDATE]
    return [a for a in listed if (a.group, a.repeat) in both]


def seconds_a_token(listed: list[Answered], arm: str) -> Times:
    """Seconds a token by group and repeat: the group's end, over the tokens that came in it."""
    ends: dict[tuple[int, int], list[Generation]] = defaultdict(list)
    for answer in listed:
        if answer.arm == arm:
            ends[answer.group, answer.repeat].append(answer.generation)
    found: Times = defaultdict(dict)
    for (group, repeat), generations in ends.items():
        last = max(g.arrivals[-1].seconds for g in generations)
        found[group][repeat] = last / sum(len(g.tokens) for g in generations)
    return found


def table(times: Times) -> Any:
    """(groups, repeats), of the repeats that every group has."""
    every = sorted(set.intersection(*map(set, times.values())))
    return np.array([[repeats[repeat] for repeat in every] for _, repeats in sorted(times.items())])


def launches(pairs: Mapping[str, Any]) -> Launches:
    """By arm, when the launch began that answered (group, repeat); nothing where both arms were up together."""
    found: Launches = {}
    for number, group in enumerate(pairs["groups"]):
        for run in (run for run in group["runs"] if "launched" in run):
            found.setdefault(run["arm"], {})[number, run["repeat"]] = run["launched"]
    return found


def fewest(launched: Launches) -> tuple[str, int]:
    """The arm with the fewest launches, and how many those are."""
    return min(((arm, len({*began.values()})) for arm, began in launched.items()), key=lambda one: one[1])


def by_launches(times: Mapping[str, Times], launched: Launches) -> list[float]:
    """The mean log ratio of each pair of launches."""
    found: dict[tuple[float, float], list[float]] = defaultdict(list)
    for group, repeats in times[BASELINE].items():
        for repeat, seconds in repeats.items():
            began = launched[BASELINE][group, repeat], launched[CANDIDATE][group, repeat]
            found[began].append(float(np.log(seconds / times[CANDIDATE][group][repeat])))
    return [float(np.mean(logs)) for logs in found.values()]


def apart(times: Times, began: Mapping[tuple[int, int], float]) -> Times:
    """Of each group its first and its last repeat, where another launch answered it."""
    ends = {group: (min(repeats), max(repeats)) for group, repeats in times.items()}
    return {
        group: {repeat: times[group][repeat] for repeat in both}
        for group, both in ends.items()
        if began[group, both[0]] != began[group, both[1]]
    }


def _figures(case: Case, ratio: Ratio, again: Ratio | None) -> dict[str, Any]:
    return {
        "ratio": ratio.ratio,
        "low": ratio.low if np.isfinite(ratio.low) and ratio.low > 0 else None,
        "high": ratio.high if np.isfinite(ratio.high) else None,
        "ratio_of_totals": ratio.ratio_of_totals,
        "pairs": ratio.pairs,
        "confidence": case.suite.speed.confidence,
        "aa_low": again.low if again and np.isfinite(again.high) else None,
        "aa_high": again.high if again and np.isfinite(again.high) else None,
    }


def _latencies(generations: list[Generation]) -> dict[str, float | None]:
    """Medians over answers. The decode rate has no fence-post: tokens after the first chunk, over the time after it."""
    ttft = [g.arrivals[0].seconds for g in generations]
    e2e = [g.arrivals[-1].seconds for g in generations]
    later = [
        (g.arrivals[-1].seconds - g.arrivals[0].seconds) / (len(g.tokens) - g.arrivals[0].tokens)
        for g in generations
        if len(g.tokens) > g.arrivals[0].tokens
    ]
    itl = float(np.median(later)) if later else None
    return {
        "ttft_s": float(np.median(ttft)),
        "itl_ms": itl * 1e3 if itl else None,
        "decode_tok_s": 1 / itl if itl else None,
        "e2e_s": float(np.median(e2e)),
    }
