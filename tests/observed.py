"""Small honest records for the checks, and the pieces to spoil them with.

Two cells: `greedy` (four canaries, two repeats) and `sampled` (the same canaries, one repeat). Every number of the
suite is small enough that the honest record passes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from itertools import cycle
from typing import Any

import numpy as np

from draftgate.canaries.checks.base import Case
from draftgate.canaries.checks.blocks import assembled
from draftgate.canaries.checks.law import own_batch_tokens
from draftgate.canaries.checks.registry import CHECKS, judge, ledger
from draftgate.canaries.contracts import Finding
from draftgate.canaries.observations import blocks, laws, own_batch
from draftgate.canaries.observations.context import Context
from draftgate.canaries.observations.costs import TURNS
from draftgate.canaries.observations.replays import NOISE_ROWS
from draftgate.engine.sampling import next_token_probs
from draftgate.suites import loader
from draftgate.suites.suite import Canary, Cell, Suite

EOS = 0
K = 2
NOISE = 1e-4  # logits; the suite's multiple explains margins up to eight times as much
LAW_EFFECTS = {"law_effect": 0.2, "own_batch_effect": 0.3}
GAP = 5.0  # logits between the two best tokens: far from a tie
GREEDY = Cell(name="greedy", temperature=0.0, batch=2, prompts=4, tokens=20, repeats=2)
SAMPLED = Cell(name="sampled", temperature=1.0, batch=4, prompts=4, tokens=20, repeats=1)
ASK = ({"role": "user", "content": "Say a."},)
CANARIES = (
    Canary(id="exact-1", kind="exact", messages=ASK, expect="a"),
    Canary(id="json-1", kind="json", messages=ASK, schema={"type": "object"}),
    Canary(id="prose-1", kind="prose", messages=ASK),
    Canary(id="exact-2", kind="exact", messages=ASK, expect="a"),
)
TEXTS = {"exact": "a", "json": "{}", "prose": "Once."}
HEADER = {
    "candidate": {"method": "draft", "guarantee": "SAME_LAW", "options": {"k": K}},
    "seed": 0,
    "eos": [EOS],
}
ANSWER = tuple(range(2, 21))  # nineteen tokens and the end


@cache
def suite() -> Suite:
    """The smoke suite with two small cells, and effects that small records can show."""
    smoke = loader.load("smoke")
    return replace(
        smoke,
        canaries=CANARIES,
        cells=(GREEDY, SAMPLED),
        census=None,
        noise=replace(smoke.noise, fork_multiple=8, unstable_above=0.5, widths=(2, 5, 9)),
        design=replace(smoke.design, token_fault_rate=0.1, pit_effect=0.9, acceptance_effect=0.2, **LAW_EFFECTS),
        exercise=replace(smoke.exercise, proposed=2, accepted=1, rejected=1, full=1),
        knobs=replace(smoke.knobs, draft_lengths=(1, 3), prompts=3, tokens=20),
        synthetic=replace(smoke.synthetic, drafters=("oracle", "adversary"), prompts=3, tokens=20),
        law=replace(smoke.law, draft_length=1, vocabulary=3, batch=500),
    )


def rounds(tokens: int, kept: Sequence[int], drafted: int = K) -> list[list[int]]:
    """Rounds that emit `tokens` tokens, keeping `kept` drafts in turn; the last one may be cut."""
    found, turns = [], cycle(kept)
    while tokens > 0:
        accepted = next(turns)
        emitted = min(accepted + 1, tokens)
        found.append([drafted, accepted, emitted, accepted + 1 - emitted])
        tokens -= emitted
    return found


def generation(
    name: str, tokens: Sequence[int] = (*ANSWER, EOS), *, kept: Sequence[int] | None = (2, 0, 1), drafted: int = K
) -> dict[str, Any]:
    """An honest answer as recorded; `kept` None is plain decoding."""
    done = rounds(len(tokens) - 1, kept, drafted) if kept else []
    bursts = [1, *(r[2] for r in done)] if kept else [1] * len(tokens)
    return {
        "name": name,
        "tokens": list(tokens),
        "text": TEXTS.get(name.partition("-")[0], "Once."),
        "finish": "eos" if tokens and tokens[-1] == EOS else "length",
        "prefill": 1,
        "arrivals": [[0.01 * (place + 1), burst] for place, burst in enumerate(bursts)],
        "rounds": done,
    }


def replay(tokens: int, **fields: Sequence[Any]) -> dict[str, list[Any]]:
    """A replay that found every token the best one, in the middle of its law; of a margin, the second best."""
    even = [(place + 0.5) / max(tokens, 1) for place in range(tokens)]
    gaps = [min(margin or GAP, GAP) for margin in fields.get("margin", [0.0] * tokens)]
    found = {"margin": [0.0] * tokens, "gap": gaps, "below": even, "prob": [0.0] * tokens}
    return {name: list(values) for name, values in (found | {"outside": [0] * tokens} | fields).items()}


def run(arm: str, repeat: int, generations: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """One arm's answers to a group, and how long the call took: a tenth longer than its stream."""
    last = max((g["arrivals"][-1][0] for g in generations if g["arrivals"]), default=0.0)
    return {"arm": arm, "repeat": repeat, "wall": 1.1 * last, "generations": list(generations)}


def pairs(cell: Cell, canaries: Sequence[Canary] = CANARIES) -> dict[str, Any]:
    """Both arms give the same answers."""
    groups = []
    for start in range(0, len(canaries), cell.batch):
        names = [canary.id for canary in canaries[start : start + cell.batch]]
        runs = [
            run(arm, repeat, [generation(name, kept=kept) for name in names])
            for repeat in range(cell.repeats)
            for arm, kept in (("baseline", None), ("candidate", (2, 0, 1)))
        ]
        groups.append({"canaries": names, "runs": runs})
    return {"groups": groups}


def replays(cell: Cell, canaries: Sequence[Canary] = CANARIES) -> dict[str, Any]:
    """What the plain arm says: no fork in greedy cells, every answer in sampled ones."""
    names = [] if cell.greedy else [canary.id for canary in canaries] * cell.repeats
    logits = {f"width {width}": NOISE for width in suite().noise.widths} | {"alone": NOISE}
    length = len(ANSWER) + 1
    return {
        "noise": {"logits": logits, "positions": length * len(canaries[:NOISE_ROWS])},
        "census": [replay(length) for _ in canaries] if cell.greedy else [],
        "candidate": [replay(length) for _ in names],
        "replayed": names,
    }


def variants(kept: dict[str, Sequence[int]]) -> dict[str, Any]:
    """Every variant gives the plain answers; each keeps drafts as told."""
    names = [canary.id for canary in suite().first(3)]
    return {
        "plain": [generation(name, kept=None) for name in names],
        "variants": {
            label: {
                "generations": [generation(name, kept=keeps, drafted=max(*keeps, 1)) for name in names],
                "replays": {},
            }
            for label, keeps in kept.items()
        },
    }


def context_of(chosen: Suite) -> Context:
    """What laws are made from; no arm is called."""
    return Context(suite=chosen, baseline=None, candidate=None, seed=0)


def context() -> Context:
    """The small suite's."""
    return context_of(suite())


@cache
def law_observations() -> dict[str, Any]:
    """Counts as close to the exact laws as whole numbers can be."""
    draws, length, spanned = 20000, suite().law.draft_length + 1, laws.spanned(K)
    known = laws.table(context(), SAMPLED)
    sampling = laws.law_sampling(SAMPLED, known.target.vocabulary)
    _, accepts = laws.first_acceptance(known, sampling, "draft", {})
    rng = np.random.default_rng(0)
    recorded = {
        arm: np.log(rng.dirichlet(np.full(6, 2.0), size=spanned + 1)).tolist() for arm in ("target", "draft")
    } | {"canary": "prose-1"}
    rows = laws.rows(context(), SAMPLED, *(np.array(recorded[arm]) for arm in ("target", "draft")))
    table = {
        "draws": draws,
        "short": 0,
        "first": whole(laws.first_law(known, sampling), draws),
        "counts": whole(laws.round_law(known, sampling, length), draws),
        "proposed": draws,
        "accepted": round(accepts * draws),
    }
    return {
        "sampled/table": table,
        "sampled/own_batch": {"answers": plain_answers(SAMPLED)},
        "recorded": recorded,
        "sampled/rows": {
            "draws": draws,
            "short": 0,
            "counts": [whole(law, draws) for law in laws.row_laws(rows, sampling, spanned)],
        },
    }


def plain_answers(cell: Cell) -> list[list[int]]:
    """Long answers on the cell's far table, each token drawn from its law: as many as the design asks for."""
    known = own_batch.far(context(), cell)
    sampling, rng = laws.law_sampling(cell, known.target.vocabulary), np.random.default_rng(1)
    share = ledger(suite(), "reference").share(f"{SAMPLED.name}/law/own batch")
    answers = []
    for _ in range(own_batch.answers(own_batch_tokens(suite(), share), cell)):
        text = list(known.prompt)
        for _ in range(own_batch.LONG):
            law = next_token_probs(known.target.law(text)[None, None], [sampling])[0, 0]
            text.append(int(rng.choice(len(law), p=law)))
        answers.append(text[len(known.prompt) :])
    return answers


def whole(law: Any, draws: int) -> list[int]:
    """Counts that sum to `draws` and follow the law but for rounding."""
    counts = np.floor(law * draws).astype(int)
    counts[int(np.argmax(law))] += draws - counts.sum()
    return counts.tolist()


def record() -> dict[str, Any]:
    """The observations of an honest run, anew at each call."""
    copied: dict[str, Any] = {name: _copy(value) for name, value in law_observations().items()}
    return copied | {
        "greedy/pairs": pairs(GREEDY),
        "greedy/replays": replays(GREEDY),
        "sampled/pairs": pairs(SAMPLED),
        "sampled/replays": replays(SAMPLED),
        "knobs": variants({"k=1": (1, 0), "k=3": (3, 0)}),
        "synthetic": variants({"oracle": (2,), "adversary": (0,)}),
    }


def costs(step: float = 0.01, draft: float = 0.001, verify: float = 0.0105) -> dict[str, Any]:
    """What the parts of a round cost, the same in every turn: a beat each, and prefills that take none."""
    parts = {"step": step, "draft": draft, "verify": verify, "drafted": float(K)}
    return {"prefill": {"target": step, "draft": draft}, **{name: [part] * TURNS for name, part in parts.items()}}


def served() -> dict[str, Any]:
    """The observations of an honest server: no rounds, but counts; the same drafts were kept."""
    observations = {key: value for key, value in record().items() if key.partition("/")[0] in ("greedy", "sampled")}
    for cell in ("greedy", "sampled"):
        _serve(observations, cell)
    told: dict[str, Any] = {"reported": {"/version": ["1"]}, "switches": []}
    return observations | {"configuration": {"baseline": told, "candidate": told}}


def in_turn() -> dict[str, Any]:
    """The observations of the same servers, launched in turn: four blocks a cell, a launch each."""
    observations = served()
    for cell in (GREEDY, SAMPLED):
        groups = observations.pop(f"{cell.name}/pairs")["groups"]
        for block, arm in enumerate(blocks.BLOCKS):
            runs = [
                {"group": group} | next(run for run in groups[group]["runs"] if run["arm"] == arm) | {"repeat": repeat}
                for group, repeat in blocks.turns(cell, len(groups), block)
            ]
            observations[blocks.key(cell, block)] = _copy({"launched": 100.0 + block, "runs": runs})
    for name in ("candidate", "replayed"):  # the one group of this cell is answered in both halves
        observations["sampled/replays"][name] *= 2
    return observations


def served_cell(cell: Cell, canaries: Sequence[Canary]) -> dict[str, Any]:
    """The pairs and replays of one cell, by an honest server."""
    observations = {f"{cell.name}/pairs": pairs(cell, canaries), f"{cell.name}/replays": replays(cell, canaries)}
    _serve(observations, cell.name)
    return observations


def _serve(observations: dict[str, Any], cell: str) -> None:
    """A cell's rounds become counts."""
    for group in observations[f"{cell}/pairs"]["groups"]:
        for one in group["runs"]:
            each = [_counted(g) for g in one["generations"]]
            window = {name: sum(count[name] for count in each) for name in each[0]}
            one["counters"] = {"window": window, "each": each}
            for answer in one["generations"]:
                answer |= {"rounds": [], "prefill": 0}
    observations[f"{cell}/replays"]["noise"]["logits"] = {"again": 0.0, "alone": NOISE}


def _counted(answer: dict[str, Any]) -> dict[str, int]:
    rounds_ = answer["rounds"]
    kept = {"drafted": sum(r[0] for r in rounds_), "accepted": sum(r[1] for r in rounds_)}
    return {"rounds": len(rounds_), "emitted": len(answer["tokens"])} | kept


def _copy(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _copy(item) for key, item in value.items()}
    return [_copy(item) for item in value] if isinstance(value, list) else value


def case(
    observations: dict[str, Any],
    cell: str = "greedy",
    *,
    of: Suite | None = None,
    k: int = K,
    kind: str = "reference",
    kept: bool = False,
) -> Case:
    """One cell of a record; `kept` says that its baseline was kept from another hour."""
    chosen = of or suite()
    header = HEADER | {"candidate": HEADER["candidate"] | {"options": {"k": k}, "kind": kind}}
    header |= {"baseline": HEADER.get("baseline", {}) | ({"kept": {}} if kept else {})}
    return Case(
        suite=chosen,
        cell=next(one for one in chosen.cells if one.name == cell),
        header=header,
        observations=observations,
        ledger=ledger(chosen, kind),
    )


def case_in_turn(observations: dict[str, Any], cell: str = "greedy", *, of: Suite | None = None) -> Case:
    """One cell of a record whose arms were launched in turn."""
    made = case(observations, cell, of=of, kind="server")
    header = {**made.header, "launching": blocks.IN_TURN}
    return replace(made, header=header, observations=assembled(made.suite, header, observations))


def judged(check: str, observations: dict[str, Any], cell: str = "greedy", **more: Any) -> Finding:
    """What the named check says of a record."""
    return judge(CHECKS[check], case(observations, cell, **more))


def spoiled(change: Callable[[dict[str, Any]], Any]) -> dict[str, Any]:
    """The honest record after `change` was made to it in place."""
    observations = record()
    change(observations)
    return observations


def candidate(observations: dict[str, Any], cell: str = "greedy", canary: int = 0, repeat: int = 0) -> dict[str, Any]:
    """One recorded answer of the candidate, to be changed in place."""
    batch = {one.name: one.batch for one in suite().cells}[cell]
    group = observations[f"{cell}/pairs"]["groups"][canary // batch]
    (run,) = (r for r in group["runs"] if (r["arm"], r["repeat"]) == ("candidate", repeat))
    found: dict[str, Any] = run["generations"][canary % batch]
    return found


def forked(
    observations: dict[str, Any],
    *,
    at: int,
    margins: Sequence[float | None],
    canary: int = 0,
    tokens: Sequence[int] | None = None,
) -> None:
    """The candidate's answer to one canary leaves the baseline's at `at` in its first repeat."""
    answer = candidate(observations, canary=canary)
    changed = list(answer["tokens"])
    changed[at] = 99
    changed = list(tokens) if tokens is not None else changed
    answer |= generation(answer["name"], changed)
    replays_ = observations["greedy/replays"]
    replays_["candidate"].append(replay(len(changed), margin=margins))
    replays_["replayed"].append(answer["name"])
