"""Draws of the candidate's own engine on laws that are known exactly.

Two targets take the model's place. `table`: a small vocabulary whose law depends on position and history, so that the
joint law of a whole round can be written down. `rows`: rows recorded from the run's own models, the likeliest tokens
kept and the rest lumped, different at every position. p and q differ everywhere; the verifier, the cache and the chance
are the candidate's.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ...engine.drafters.base import Situation
from ...engine.drafters.ngram import NGram
from ...engine.models.table import TableModel, joint_law, peaked_table
from ...engine.request import Generation, Request, Sampling
from ...engine.sampling import next_token_probs, softmax
from ...suites.suite import Cell
from ..contracts import Arm
from .context import Context, sampling_of, seed_of

Floats = npt.NDArray[np.float64]
PERIOD = 7  # positions after which the table's laws repeat: more than a round spans
PROMPT = 12  # tokens of the table's prompt: long enough for an n-gram drafter to find repeats
OWN, OTHER = 0.6, 0.7  # the draft's logits are OWN x the target's + OTHER x unrelated ones: acceptance near 0.7
ROWS_FROM = 40  # tokens of the answer whose most open rows are recorded
KEPT_ROWS = 32  # likeliest tokens kept of a recorded row, by target and by draft together; the rest is lumped into one


class Known(NamedTuple):
    """A pair of models whose laws are known, and the prompt that the candidate continues."""

    target: TableModel
    draft: TableModel
    prompt: tuple[int, ...]


def table(context: Context, cell: Cell) -> Known:
    """The table pair of a cell; it follows from the run's seed."""
    rng = np.random.default_rng(seed_of(context.seed, cell.name, "table"))
    vocabulary = context.suite.law.vocabulary
    logits = peaked_table(vocabulary, PERIOD, rng)
    other = peaked_table(vocabulary, PERIOD, rng)
    prompt = tuple(int(t) for t in rng.integers(0, vocabulary, PROMPT))
    return Known(TableModel(logits), TableModel(OWN * logits + OTHER * other), prompt)


def law_sampling(cell: Cell, vocabulary: int) -> Sampling:
    """The cell's sampling parameters, top-k lowered where the known law has too few tokens for it to bite."""
    sampling = sampling_of(cell)
    return replace(sampling, top_k=min(sampling.top_k, vocabulary // 2 + 1))


def round_law(known: Known, sampling: Sampling, length: int) -> Floats:
    """Joint law of the `length` tokens after the first one, (vocabulary ** length,), the last token fastest."""
    vocabulary = known.target.vocabulary
    histories = [h for n in range(length + 1) for h in product(range(vocabulary), repeat=n)]
    logits = np.stack([known.target.law(known.prompt + h) for h in histories])
    laws = dict(zip(histories, next_token_probs(logits[:, None], [sampling] * len(histories))[:, 0], strict=True))
    joint = joint_law(laws, length + 1).reshape(vocabulary, -1)
    summed: Floats = joint.sum(axis=0)
    return summed


def first_law(known: Known, sampling: Sampling) -> Floats:
    """Law of the first token, which prefill gives."""
    return _law_after(known.target, known.prompt, sampling)


def observe_table(context: Context, cell: Cell, arm: Arm, draws: int) -> dict[str, Any]:
    """Counts of the first token and of the tokens of the first round, with how often its first node was accepted."""
    known = table(context, cell)
    length, vocabulary = context.suite.law.draft_length + 1, known.target.vocabulary
    counts, first = np.zeros(vocabulary**length, np.int64), np.zeros(vocabulary, np.int64)
    proposed = accepted = short = 0
    place = vocabulary ** np.arange(length - 1, -1, -1)
    for generations in continuations(context, cell, arm, known, Drawn(draws, length + 1, context.suite.law.batch)):
        long = [generation for generation in generations if len(generation.tokens) > length]
        short += len(generations) - len(long)
        tokens = np.array([generation.tokens[: length + 1] for generation in long]).reshape(-1, length + 1)
        first += np.bincount(tokens[:, 0], minlength=vocabulary)
        counts += np.bincount(tokens[:, 1:] @ place, minlength=vocabulary**length)
        proposed += sum(generation.rounds[0].drafted > 0 for generation in long if generation.rounds)
        accepted += sum(generation.rounds[0].accepted > 0 for generation in long if generation.rounds)
    return {
        "draws": draws,
        "short": short,
        "first": first.tolist(),
        "counts": counts.tolist(),
        "proposed": proposed,
        "accepted": accepted,
    }


def rows(context: Context, cell: Cell, target: Floats, draft: Floats) -> Known:
    """Recorded logits (positions, tokens) of target and draft as a pair of tables without history."""
    prompt = (0, 0)
    rng = np.random.default_rng(seed_of(context.seed, cell.name, "rows"))
    order = rng.permutation(target.shape[1])  # the likeliest token must not always be token 0
    shape = (len(target), target.shape[1], target.shape[1], target.shape[1])
    models = [
        TableModel(np.broadcast_to(np.roll(x[:, order], len(prompt), axis=0)[:, None, None, :], shape))
        for x in (target, draft)
    ]
    return Known(models[0], models[1], prompt)


def record_rows(context: Context, positions: int) -> dict[str, Any]:
    """The most open rows of target and draft along the baseline's answer to an open canary, lumped.

    A lumped row keeps the tokens that either model finds likeliest; the last entry stands for all others.
    """
    request, answer = _long_answer(context, min(positions, ROWS_FROM))
    target, draft = context.candidate.recorded_logits(request, answer.tokens)
    law = softmax(np.asarray(target, np.float64))
    openness = -(law * np.log(np.maximum(law, np.finfo(np.float64).tiny))).sum(axis=-1)
    chosen = np.sort(np.argsort(-openness)[:positions])
    lumped = [lump(target[place], draft[place]) for place in chosen]
    return {"canary": request.name, "target": [p for p, _ in lumped], "draft": [q for _, q in lumped]}


def _long_answer(context: Context, tokens: int) -> tuple[Request, Generation]:
    """The first open canary whose answer has `tokens` tokens, or the longest answer: few rows would come again soon."""
    found: list[tuple[Request, Generation]] = []
    for canary in context.suite.of_kind("prose") or context.suite.canaries:
        (request,) = context.requests([canary], tokens=ROWS_FROM, sampling=Sampling(), label="rows")
        found += zip([request], context.baseline.generate([request]), strict=True)
        if len(found[-1][1].tokens) >= tokens:
            return found[-1]
    return max(found, key=lambda one: len(one[1].tokens))


def lump(target: Floats, draft: Floats) -> tuple[list[float], list[float]]:
    """Both rows on the same tokens: the likeliest of either, and one entry for the rest. Natural-log probabilities."""
    chosen = sorted({int(t) for row in (target, draft) for t in np.argsort(-row)[: KEPT_ROWS // 2]})
    spare = [t for t in np.argsort(-target) if int(t) not in set(chosen)]
    chosen += [int(t) for t in spare[: KEPT_ROWS - len(chosen)]]
    found = []
    for row in (target, draft):
        wide = np.asarray(row, np.float64)  # in float32 the rest of a flat row loses mass to rounding
        logs = wide - np.logaddexp.reduce(wide)
        rest = np.logaddexp.reduce(np.delete(logs, chosen))
        found.append([*logs[chosen].tolist(), float(rest)])
    return found[0], found[1]


def observe_rows(context: Context, cell: Cell, arm: Arm, recorded: Mapping[str, Any], draws: int) -> dict[str, Any]:
    """Counts (positions, tokens) of the tokens of the first rounds on recorded rows, at the candidate's own length."""
    known = rows(context, cell, np.array(recorded["target"]), np.array(recorded["draft"]))
    length = spanned(arm.draft_length)
    counts, short = np.zeros((length, known.target.vocabulary), np.int64), 0
    for generations in continuations(context, cell, arm, known, Drawn(draws, length + 1, context.suite.law.batch)):
        long = [generation.tokens[1 : length + 1] for generation in generations if len(generation.tokens) > length]
        short += len(generations) - len(long)
        np.add.at(counts, (np.arange(length), np.array(long, np.int64).reshape(-1, length)), 1)
    return {"draws": draws, "short": short, "counts": counts.tolist()}


def spanned(draft_length: int) -> int:
    """Tokens judged on recorded rows: two full rounds, so that every node and a later round are met."""
    return 2 * (draft_length + 1)


def row_laws(known: Known, sampling: Sampling, length: int) -> Floats:
    """(length, vocabulary): the law at each position after the first token."""
    logits = np.stack([known.target.law((0,) * (len(known.prompt) + 1 + place)) for place in range(length)])
    return next_token_probs(logits[:, None], [sampling] * length)[:, 0]


def first_acceptance(known: Known, sampling: Sampling, method: str, options: Mapping[str, Any]) -> tuple[float, float]:
    """Chance that the first round proposes, and that it proposes and its first node is accepted: sum min(p, q).

    Over the first token's law. Raises KeyError for a method whose proposal law is not known here.
    """
    proposes = accepts = 0.0
    for token, mass in enumerate(first_law(known, sampling)):
        context = (*known.prompt, token)
        p = _law_after(known.target, context, sampling)
        q = _PROPOSALS[method](known, sampling, context, options)
        proposes += mass * (q.sum() > 0)
        accepts += mass * np.minimum(p, q).sum()
    return float(proposes), float(accepts)


def _law_after(model: TableModel, context: tuple[int, ...], sampling: Sampling) -> Floats:
    law: Floats = next_token_probs(model.law(context)[None, None], [sampling])[0, 0]
    return law


def _draft_law(known: Known, sampling: Sampling, context: tuple[int, ...], _: Mapping[str, Any]) -> Floats:
    return _law_after(known.draft, context, sampling)


def _self_law(known: Known, sampling: Sampling, context: tuple[int, ...], _: Mapping[str, Any]) -> Floats:
    return _law_after(known.target, context, sampling)


def _uniform_law(known: Known, _: Sampling, __: tuple[int, ...], ___: Mapping[str, Any]) -> Floats:
    return np.full(known.target.vocabulary, 1.0 / known.target.vocabulary)


def _ngram_law(known: Known, _: Sampling, context: tuple[int, ...], options: Mapping[str, Any]) -> Floats:
    drafter = NGram(known.target.vocabulary, 1, options.get("longest", 3), options.get("shortest", 2))
    request = Request(name="", prompt=context, max_tokens=2)
    (tree,) = drafter.draft(Situation([request], [context], [1], np.zeros((1, 1)), [0]))
    return tree.probs[1] if tree.drafted else np.zeros(known.target.vocabulary)


_PROPOSALS = {"draft": _draft_law, "self": _self_law, "uniform": _uniform_law, "ngram": _ngram_law}


class Drawn(NamedTuple):
    """How much is drawn: answers of `tokens` tokens, `batch` of them in one call."""

    draws: int
    tokens: int
    batch: int


def continuations(context: Context, cell: Cell, arm: Arm, known: Known, much: Drawn) -> Iterator[list[Generation]]:
    """Continuations of the prompt, each with a seed of its own, batch by batch."""
    engine = arm.on(known.target, known.draft)
    sampling = law_sampling(cell, known.target.vocabulary)
    base = seed_of(context.seed, cell.name, known.target.identity()["sha256"])
    for start in range(0, much.draws, much.batch):
        seeds: Sequence[int] = range(start, min(start + much.batch, much.draws))
        yield engine.generate(
            [
                Request(
                    name="law", prompt=known.prompt, max_tokens=much.tokens, sampling=sampling, seed=(base + s) % 2**63
                )
                for s in seeds
            ]
        )
