"""Measures throughput against batch, speculation on, off and by bypass: `python docs/throughput.py FILE`.

FILE is what `draftgate roofline --measure --save FILE` kept: the costs that the bypass decides by. Every arm serves
the same requests by the same scheduler, one after the other in an order drawn anew each turn, and plain decoding does
so twice, for the scale. Writes `docs/throughput.svg` and a block of `docs/results.md`, in a quarter of an hour.
"""

from __future__ import annotations

import math
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import blocks
import numpy as np
import torch

from draftgate.canaries.machine import described
from draftgate.canaries.report import dots
from draftgate.canaries.report.text import interval, number
from draftgate.canaries.roofline import machine
from draftgate.canaries.targets.reference import EMBEDDED
from draftgate.engine.cache.blocks import BlockPool
from draftgate.engine.cache.paged import PagedCache
from draftgate.engine.costs.measuring import in_turn
from draftgate.engine.decoding.round import Speculation
from draftgate.engine.decoding.stepping import Stepping
from draftgate.engine.drafters.draft_model import DraftModel
from draftgate.engine.models import huggingface
from draftgate.engine.request import Request
from draftgate.engine.scheduling.bypass import Always, Bypass, Estimate, Never
from draftgate.engine.scheduling.job import Job, Limits
from draftgate.engine.scheduling.memory import Memory
from draftgate.engine.scheduling.scheduler import Scheduler
from draftgate.engine.verification.batched import BatchedLossless
from draftgate.suites import loader

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from draftgate.engine.costs.speedup import Costs
    from draftgate.engine.models.huggingface import HuggingFaceModel
    from draftgate.engine.scheduling.bypass import Policy
    from draftgate.engine.scheduling.records import Served

HERE = Path(__file__).parent
BEGIN = blocks.begin("throughput", "throughput")
BATCHES = (1, 2, 4, 8, 16, 32, 64)
TOKENS, BLOCK, TURNS = 64, 16, 12
CORE, RANDOM = "core", "random"
ON, OFF, BYPASS, AGAIN = "on", "off", "bypass", "off again"
PRIOR, WEIGHT, MEMORY, MARGIN = 0.8, 50.0, 200.0, 0.05  # of the bypass: what it expects, how fast it learns, how sure
TOLERANCE = 1.03  # bypass may be slower than the better arm by this, or by the interval of off against off


class Load(NamedTuple):
    """What is asked and how much is drafted for it."""

    name: str
    k: int
    prompts: str  # those of core, or as many tokens at random, over which the models agree less


class Measured(NamedTuple):
    """Tokens a second over those of plain decoding, with the interval."""

    ratio: float
    low: float
    high: float


LOADS = (
    Load("prompts of core, K = 4", 4, CORE),
    Load("prompts of core, K = 8", 8, CORE),
    Load("random prompts, K = 8", 8, RANDOM),
)
Seconds = dict[str, np.ndarray]  # (turns,) of each arm


def main(arguments: Sequence[str]) -> int:
    """The picture and the block stand rewritten."""
    if len(arguments) != 1:
        sys.stderr.write("usage: python docs/throughput.py FILE\n")
        return 2
    torch.set_num_threads(1)
    found = machine.times(machine.read(Path(arguments[0])))
    costs = machine.costs(found, np.arange(len(next(iter(found.values())))))
    models = [huggingface.load(EMBEDDED / name) for name in ("target", "draft")]
    loads = {load: measured(load, models, costs) for load in LOADS}
    results = HERE / "results.md"
    text = blocks.replaced(results.read_text(encoding="utf-8"), BEGIN, page(loads))
    results.write_text(text, encoding="utf-8")
    (HERE / "throughput.svg").write_text(drawing(loads), encoding="utf-8")
    return 0


class Server(NamedTuple):
    """What every arm serves with."""

    load: Load
    batch: int
    models: Sequence[HuggingFaceModel]
    costs: Costs

    def serve(self, arm: str, jobs: Sequence[Job]) -> Served:
        """All answers by one arm, from empty pools."""
        (target, draft), k = self.models, self.load.k
        longest = max(len(job.request.prompt) for job in jobs) + TOKENS + k + 1
        pools = [BlockPool(self.batch * (2 + longest // BLOCK), BLOCK) for _ in range(2)]
        plain = arm in {OFF, AGAIN}
        drafter = DraftModel(draft, k, PagedCache.factory(pools[1]))
        rounds = (
            Stepping(model=target) if plain else Speculation(model=target, drafter=drafter, verifier=BatchedLossless())
        )
        limits = Limits(batch=self.batch, chunk=1024, tokens=1024 * self.batch)
        memory = Memory(pools[0], draft=None if plain else pools[1])
        return Scheduler(rounds, memory, limits, self.policy(arm)).serve(jobs)

    def policy(self, arm: str) -> Policy:
        """How much each arm drafts."""
        if arm != BYPASS:
            return Always(self.load.k) if arm == ON else Never()
        estimate = Estimate(prior=PRIOR, weight=WEIGHT, memory=MEMORY)
        return Bypass(costs=self.costs, longest=self.load.k, acceptance=estimate, margin=MARGIN)


def measured(load: Load, models: Sequence[HuggingFaceModel], costs: Costs, turns: int = TURNS) -> dict[int, Seconds]:
    """Seconds of each arm by batch."""
    found = {}
    for batch in BATCHES:
        sys.stderr.write(f"{load.name}, batch {batch}\n")
        server = Server(load, batch, models, costs)
        jobs = asked(load, models[0], batch)
        arms = {arm: partial(server.serve, arm, jobs) for arm in (ON, OFF, BYPASS, AGAIN)}
        found[batch] = in_turn(arms, turns, np.random.default_rng(machine.SEED + batch))
    return found


def asked(load: Load, model: HuggingFaceModel, batch: int) -> list[Job]:
    """Greedy requests, all there from the first step on: two for each place in the batch, eight at least."""
    rng, served = np.random.default_rng(machine.SEED), max(8, 2 * batch)
    prompts = [model.encode(canary.messages) for canary in loader.load("core").first(served)]
    if load.prompts == RANDOM:
        prompts = [tuple(map(int, rng.integers(1, model.vocabulary, len(prompt)))) for prompt in prompts]
    ends = model.eos if load.prompts == CORE else ()
    return [
        Job(request=Request(name=f"{n}", prompt=prompts[n % len(prompts)], max_tokens=TOKENS, eos=ends))
        for n in range(served)
    ]


def beside(seconds: Seconds, arm: str, other: str = OFF) -> Measured:
    """Throughput of an arm over that of another, turn by turn."""
    return Measured(*machine.interval(seconds[other], seconds[arm]))


def crossover(found: Mapping[int, Seconds]) -> str:
    """The batch from which speculation is slower than none, by straight lines over the batch's logarithm; resampled."""
    batches = sorted(found)
    gains = np.array([np.log(found[batch][OFF] / found[batch][ON]) for batch in batches])  # (batches, turns)
    rng, turns = np.random.default_rng(machine.SEED), gains.shape[1]
    drawn = [crossing(batches, gains[:, rng.integers(turns, size=turns)].mean(1)) for _ in range(machine.RESAMPLES)]
    ends = [(1 - machine.CONFIDENCE) / 2, (1 + machine.CONFIDENCE) / 2]
    low, high = np.quantile(drawn, ends, method="closest_observation")
    at = crossing(batches, gains.mean(1))
    if math.isinf(at) and math.isinf(low):
        return f"on pays at every batch up to {batches[-1]}"
    told = [f"above {batches[-1]}" if math.isinf(end) else number(end, ".0f") for end in (at, low, high)]
    return "on stops to pay at batch {} [{}, {}]".format(*told)


def crossing(batches: Sequence[int], gains: np.ndarray) -> float:
    """Where the gain's logarithm first comes down to 0; inf where it stays above."""
    if gains[0] <= 0:
        return float(batches[0])
    for place in range(1, len(batches)):
        if gains[place] <= 0:
            share = gains[place - 1] / (gains[place - 1] - gains[place])
            low, high = np.log(batches[place - 1]), np.log(batches[place])
            return float(np.exp(low + share * (high - low)))
    return math.inf


def kept_up(seconds: Seconds) -> tuple[Measured, bool]:
    """Time of the bypass over the better arm's, and whether that is within the tolerance or the noise of off."""
    better = max((ON, OFF), key=lambda arm: beside(seconds, arm).ratio)
    slower, noise = beside(seconds, better, BYPASS), beside(seconds, AGAIN)
    return slower, slower.ratio <= max(TOLERANCE, noise.high, 1 / noise.low)


def page(loads: Mapping[Load, Mapping[int, Seconds]]) -> str:
    """A table a load."""
    on = described()
    told = (
        f"Greedy requests of up to {TOKENS} tokens, two for each place in the batch, prefill included, on "
        f"{on['processor']}, {on['threads']} thread, by processor time, {TURNS} turns: times the throughput of plain "
        "decoding, which is served by the same scheduler, with intervals. Last, the time of bypass over that of the "
        f"better of on and off: at most {TOLERANCE:g}, or as far as plain decoding is from itself."
    )
    parts = ["## Throughput against batch", told]
    head = ("batch", "on", "bypass", "off again", "bypass behind the better", "within")
    for load, found in loads.items():
        rows = [_row(batch, seconds) for batch, seconds in found.items()]
        table = "\n".join(f"| {' | '.join(cells)} |" for cells in (head, ["---"] * len(head), *rows))
        parts += [f"**{load.name}**: {crossover(found)}.", table]
    return "\n\n".join([*parts, "![throughput by batch](throughput.svg)"])


def _row(batch: int, seconds: Seconds) -> list[str]:
    slower, within = kept_up(seconds)
    shown = [beside(seconds, arm) for arm in (ON, BYPASS, AGAIN)]
    return [str(batch), *map(_told, shown), _told(slower), "yes" if within else "NO"]


def _told(one: Measured) -> str:
    return f"{number(one.ratio)} {interval(one.low, one.high)}"


def drawing(loads: Mapping[Load, Mapping[int, Seconds]]) -> str:
    """A row a load and batch, a point for on and one for the bypass."""
    rows = [
        dots.Row(
            f"K = {load.k}{'' if load.prompts == CORE else ', random'}, {batch}",
            [_dot(seconds, arm) for arm in (ON, BYPASS)],
        )
        for load, found in loads.items()
        for batch, seconds in found.items()
    ]
    ends = [end for row in rows for dot in row.dots for end in (dot.low, dot.high)]
    least, most = math.floor(2 * min(ends)) / 2, math.ceil(2 * max(ends)) / 2
    return dots.plot("Throughput over plain decoding, by batch", rows, least=least, most=most, step=0.5)


def _dot(seconds: Seconds, arm: str) -> dots.Dot:
    return dots.Dot(arm, *beside(seconds, arm))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
