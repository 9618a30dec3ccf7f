"""Long answers on a law that is known, decoded at a cell's own batch; each token then has a place in its own law.

A call at batch 1 gives one answer. So an answer is long, every token counts, and tokens of many histories are judged
together by their places (the randomised probability integral transform), for which no thin outcome has to be merged.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ...engine.models.table import TableModel, peaked_table
from ...engine.request import Sampling
from ...engine.sampling import next_token_probs
from ...suites.suite import Cell
from ..contracts import Arm
from .context import Context, seed_of
from .laws import PERIOD, Drawn, Known, continuations, table

Floats = npt.NDArray[np.float64]
LONG = 128  # tokens an answer: some fifty rounds for one prefill


def far(context: Context, cell: Cell) -> Known:
    """The cell's table with a draft that knows nothing of it: refusals are many, so a wrong one moves many tokens."""
    known = table(context, cell)
    rng = np.random.default_rng(seed_of(context.seed, cell.name, "far"))
    return known._replace(draft=TableModel(peaked_table(known.target.vocabulary, PERIOD, rng)))


def observe(context: Context, cell: Cell, arm: Arm, tokens: int) -> dict[str, Any]:
    """Whole batches of answers of `LONG` tokens, `tokens` and more in all, at the cell's own batch."""
    known, much = far(context, cell), Drawn(answers(tokens, cell), LONG, cell.batch)
    made = [g.tokens for batch in continuations(context, cell, arm, known, much) for g in batch]
    return {"answers": [[int(token) for token in answer] for answer in made]}


def answers(tokens: int, cell: Cell) -> int:
    """How many answers hold `tokens` tokens: whole batches."""
    return -(-tokens // (LONG * cell.batch)) * cell.batch


class Placed(NamedTuple):
    """Tokens in their laws, all of shape (tokens,): the mass of those before, and their own.

    `likelihood` counts the likelier tokens before. `ratio` counts those that the target favours most over the draft: a
    verifier that errs moves mass along this order, whatever the history, so that nothing cancels out.
    """

    likelihood: Floats
    ratio: Floats
    mass: Floats


def place(known: Known, sampling: Sampling, listed: list[list[int]]) -> Placed:
    """Where each token of `listed` answers stands in the law after the prompt and what was answered before it."""
    laws, drafts = (_laws(model, sampling) for model in (known.target, known.draft))
    where = [row for answer in listed for row in _histories(known, answer)]
    position, before, last, token = np.array(where, np.int64).reshape(-1, 4).T
    p, q = laws[position, before, last], drafts[position, before, last]
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        ratio = np.where(p > 0, p / q, -1.0)
    return Placed(_before(p, p, token), _before(p, ratio, token), p[np.arange(len(p)), token])


def _laws(model: TableModel, sampling: Sampling) -> Floats:
    """The table's laws as they are sampled, in the shape of the table."""
    rows = model.table.reshape(-1, 1, model.vocabulary).astype(np.float64)
    return next_token_probs(rows, [sampling] * len(rows))[:, 0].reshape(model.table.shape)


def _histories(known: Known, answer: list[int]) -> list[tuple[int, int, int, int]]:
    """Position in the table, the two tokens before, and the token, for each of `answer`."""
    text, start = [*known.prompt, *answer], len(known.prompt)
    return [(at % len(known.target.table), *text[at - 2 : at + 1]) for at in range(start, len(text))]  # type: ignore[misc]


def _before(p: Floats, order: Floats, token: npt.NDArray[np.int64]) -> Floats:
    """Mass (tokens,) of what comes before `token` where larger `order` (tokens, vocabulary) comes first, ids last."""
    own = np.take_along_axis(order, token[:, None], axis=1)
    earlier = (order > own) | ((order == own) & (np.arange(p.shape[1]) < token[:, None]))
    below: Floats = np.where(earlier, p, 0.0).sum(axis=1)
    return below
