"""Measures the cache in blocks beside the contiguous one: `python docs/paged.py` writes a block of `docs/results.md`.

One sequence alone; batches of eight whose prompts begin alike, prefill included; and the blocks that a tree takes. The
two caches decode the same requests by the same rounds, one after the other in an order drawn anew each turn.
"""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import blocks
import numpy as np
import torch

from draftgate.canaries.machine import described
from draftgate.canaries.report.text import interval, number
from draftgate.canaries.roofline import machine
from draftgate.canaries.targets.reference import EMBEDDED
from draftgate.engine.cache.blocks import BlockPool
from draftgate.engine.cache.contiguous import ContiguousCache
from draftgate.engine.cache.paged import PagedCache
from draftgate.engine.cache.radix import RadixTree
from draftgate.engine.costs.measuring import in_turn
from draftgate.engine.decoding.plain import PlainDecoder
from draftgate.engine.decoding.round import Speculation
from draftgate.engine.decoding.speculative import SpeculativeDecoder
from draftgate.engine.drafters.draft_model import DraftModel
from draftgate.engine.models import huggingface
from draftgate.engine.models.base import Block
from draftgate.engine.request import Request
from draftgate.engine.scheduling.bypass import Always
from draftgate.engine.scheduling.job import Job, Limits
from draftgate.engine.scheduling.memory import Memory
from draftgate.engine.scheduling.scheduler import Scheduler
from draftgate.engine.verification.batched import BatchedLossless

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from draftgate.engine.models.base import CacheFactory
    from draftgate.engine.models.huggingface import HuggingFaceModel

    Work = Mapping[str, Callable[[], object]]

RESULTS = Path(__file__).with_name("results.md")
BEGIN = blocks.begin("paged", "paged")
BLOCK, K, TURNS = 16, 4, 15
ALONE, ANSWER = 48, 96  # prompt and answer of one sequence, tokens
ROWS, SHARED, OWN, ANSWERS = 8, 512, 16, (32, 64, 128)
NODES = 64  # of the tree, behind SHARED tokens


class Line(NamedTuple):
    """What was measured: the time in blocks over the contiguous one, with its interval, and what it may be at most."""

    what: str
    ratio: float
    low: float
    high: float
    most: float


def main(arguments: Sequence[str]) -> int:
    """The block stands rewritten."""
    if arguments:
        sys.stderr.write("usage: python docs/paged.py\n")
        return 2
    torch.set_num_threads(1)
    models = [huggingface.load(EMBEDDED / name) for name in ("target", "draft")]
    lines = list(measured(models))
    RESULTS.write_text(
        blocks.replaced(RESULTS.read_text(encoding="utf-8"), BEGIN, page(lines, *tree(models[0]))), encoding="utf-8"
    )
    return 0


def measured(models: Sequence[HuggingFaceModel], turns: int = TURNS) -> list[Line]:
    """Every pair of caches, in turn."""
    lines = [_line(f"batch 1, {name}", work, turns, 1.15) for name, work in alone(models).items()]
    for tokens in ANSWERS:
        work = together(models, tokens)
        what = f"batch {ROWS}, {SHARED} tokens shared, answers of {tokens}, prefill included"
        lines.append(_line(what, work, turns, 1.0))
    return lines


def _line(what: str, work: Work, turns: int, most: float) -> Line:
    sys.stderr.write(f"{what}\n")
    seconds = in_turn(work, turns, np.random.default_rng(machine.SEED))
    return Line(what, *machine.interval(seconds["blocks"], seconds["contiguous"]), most)


def alone(models: Sequence[HuggingFaceModel]) -> dict[str, Work]:
    """One sequence, plain and speculative."""
    (asked,) = requests(models[0], 1, 0, ALONE, ANSWER)
    room = -(-(ALONE + ANSWER + K + 1) // BLOCK) + 1
    caches: dict[str, CacheFactory] = {
        "contiguous": ContiguousCache,
        "blocks": PagedCache.factory(BlockPool(room, BLOCK)),
    }
    plain = {name: PlainDecoder(model=models[0], new_cache=new_cache) for name, new_cache in caches.items()}
    drafted = {
        name: SpeculativeDecoder(model=models[0], drafter=DraftModel(models[1], K), new_cache=new_cache)
        for name, new_cache in caches.items()
    }
    return {
        "plain decoding": {name: partial(decoder.generate, [asked]) for name, decoder in plain.items()},
        f"speculation, K = {K}": {name: partial(decoder.generate, [asked]) for name, decoder in drafted.items()},
    }


def together(models: Sequence[HuggingFaceModel], tokens: int) -> Work:
    """Prompts that begin alike: each row its own cache, or the shared part once, by the scheduler."""
    asked = requests(models[0], ROWS, SHARED, OWN, tokens)
    drafter, verifier = DraftModel(models[1], K), BatchedLossless()
    apart = SpeculativeDecoder(model=models[0], drafter=drafter, verifier=verifier)
    return {"contiguous": partial(apart.generate, asked), "blocks": partial(shared, models, asked)}


def shared(models: Sequence[HuggingFaceModel], asked: Sequence[Request]) -> None:
    """The first request comes a step before the others, so that they find what it has left."""
    room = -(-(SHARED + OWN + asked[0].max_tokens + K + 1) // BLOCK) + 1
    pool = BlockPool(ROWS * room, BLOCK)
    memory = Memory(pool, prefixes=RadixTree(pool, pool.blocks))
    rounds = Speculation(model=models[0], drafter=DraftModel(models[1], K), verifier=BatchedLossless())
    limits = Limits(batch=ROWS, chunk=SHARED + OWN, tokens=ROWS * (SHARED + OWN))
    jobs = [Job(request=request, arrives=min(place, 1)) for place, request in enumerate(asked)]
    Scheduler(rounds, memory, limits, Always(K)).serve(jobs)


def requests(model: HuggingFaceModel, rows: int, common: int, own: int, tokens: int) -> list[Request]:
    """Greedy ones without an end, over prompts of tokens at random: `common` of them in all, `own` in each."""
    rng = np.random.default_rng(machine.SEED)
    first = tuple(map(int, rng.integers(1, model.vocabulary, common)))
    return [
        Request(name=f"{row}", prompt=(*first, *map(int, rng.integers(1, model.vocabulary, own))), max_tokens=tokens)
        for row in range(rows)
    ]


def tree(model: HuggingFaceModel) -> tuple[int, int]:
    """Blocks that a prefix takes, and those that it takes with a tree to be judged behind it."""
    pool = BlockPool(2 * (SHARED + NODES) // BLOCK, BLOCK)
    cache = PagedCache.factory(pool)(1)
    rng = np.random.default_rng(machine.SEED)
    model.score_last(Block.chains([list(rng.integers(1, model.vocabulary, SHARED))]), cache)
    cache.commit([list(range(1, SHARED))])
    before, parents = pool.used, (-1, *((node - 1) // 2 for node in range(1, NODES)))
    model.score(Block.of([list(rng.integers(1, model.vocabulary, NODES))], [parents]), cache)
    return before, pool.used


def page(lines: Sequence[Line], before: int, judged: int) -> str:
    """The table and the tree."""
    on = described()
    head = ("blocks over contiguous, time", "ratio", "at most", "reached")
    rows = [
        (line.what, f"{number(line.ratio)} {interval(line.low, line.high)}", f"{line.most:g}", _reached(line))
        for line in lines
    ]
    table = "\n".join(f"| {' | '.join(cells)} |" for cells in (head, ["---"] * len(head), *rows))
    told = (
        f"Blocks of {BLOCK} tokens beside contiguous rows, on {on['processor']}, {on['threads']} thread, by processor "
        f"time, {TURNS} turns, with intervals. Random prompts: next to no draft is kept, so rounds are many."
    )
    tree_told = (
        f"A tree of {NODES} nodes behind {SHARED} tokens takes {judged} blocks while it is judged, {before} of them "
        f"the prefix's: {judged - before} for {NODES} tokens."
    )
    return f"## Cache in blocks\n\n{told}\n\n{table}\n\n{tree_told}"


def _reached(line: Line) -> str:
    return "yes" if line.ratio <= line.most else "NO"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
