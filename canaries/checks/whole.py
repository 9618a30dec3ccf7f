"""Is an observation all there, and one that can have been made? If not it is treated as one that was not made.

So no gap can hide a fault, and no number that an engine cannot have given. Checks take observations by this door only.

Knows what the suite asked for; judges nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ...suites.suite import Canary
from ..observations import laws, own_batch
from ..observations.answers import by_arm, forks
from ..observations.blocks import order as by_blocks
from ..observations.chat import FORMS, Slot, slots
from ..observations.chat import TURNS as CHAT_TURNS
from ..observations.costs import PARTS, TURNS
from ..observations.pairs import BASELINE, CANDIDATE, order
from ..observations.samples import Open
from . import blocks, loaded, ranges
from .base import NOT_MADE, Case
from .covered import answered, cover
from .forking import noise_of
from .law import own_batch_tokens
from .samples import draws_needed

RESTS_ON = {"replays": "pairs", "costs": "pairs", "rows": "recorded"}  # what an observation was made from


def hole(case: Case, name: str) -> str | None:
    """Why the cell's observation `name` is no evidence; None where it is sound and holds all that was asked for."""
    key = case.key(name)
    if key not in case.holes:
        case.holes[key] = _hole(case, name)
    return case.holes[key]


def whole(case: Case, name: str) -> bool:
    """Whether the cell's observation `name` is evidence."""
    return hole(case, name) is None


def _hole(case: Case, name: str) -> str | None:
    if (found := case.observed(name)) is None:
        return (blocks.unfit(case) if name == "pairs" else None) or NOT_MADE
    if isinstance(found, dict) and found.keys() == {"broken"}:
        return f"{case.key(name)} was not to be read; see the check `answered`"
    if name in RESTS_ON and (before := hole(case, RESTS_ON[name])):
        return before
    wrong = ranges.misshapen(found, ranges.SHAPES[name], name)
    if not wrong and name in _WHOLE and not _WHOLE[name](case):
        return NOT_MADE
    wrong = wrong or ranges.contrary(case, name)
    return f"{case.key(name)} cannot have been observed ({wrong}); run again" if wrong else None


def pairs(case: Case) -> bool:
    """Every canary of the cell was answered once by each arm in each repeat, as many at once as the cell decodes."""
    wanted, batch = [canary.id for canary in case.suite.canaries_for(case.cell)], case.cell.batch
    groups = case.observed("pairs")["groups"]
    runs = [(group["canaries"], run["generations"]) for group in groups for run in group["runs"]]
    return (
        [list(group["canaries"]) for group in groups]
        == [wanted[start : start + batch] for start in range(0, len(wanted), batch)]
        != []
        and all(
            sorted((run["arm"], run["repeat"]) for run in group["runs"]) == sorted(_order(case, len(groups), number))
            for number, group in enumerate(groups)
        )
        and all(("launched" in run) == blocks.in_turn(case.header) for group in groups for run in group["runs"])
        and all([g["name"] for g in generations] == canaries for canaries, generations in runs)
        and all(_counted(run) == (case.kind == "server") for group in groups for run in group["runs"])
    )


def _order(case: Case, groups: int, number: int) -> list[tuple[str, int]]:
    """Which arm answers the group in which repeats."""
    return by_blocks(case.cell, groups, number) if blocks.in_turn(case.header) else order(case.cell, number)


def _counted(run: Mapping[str, Any]) -> bool:
    """Whether the run carries counts, one for each answer."""
    return "counters" in run and len(run["counters"]["each"]) == len(run["generations"])


def replays(case: Case) -> bool:
    """The noise was measured, and every token that must be replayed was: baseline's and forks', or all candidate's."""
    found = case.observed("replays")
    listed = case.observed("pairs")
    if case.cell.greedy:
        judged = [(one.canary, one.tokens) for one in forks(listed)]
        plain = [a.generation.tokens for a in by_arm(listed, BASELINE) if a.repeat == 0]
    else:
        judged = [(a.canary, a.generation.tokens) for a in by_arm(listed, CANDIDATE)]
        plain = []
    return (
        not math.isnan(noise_of(case))
        and [canary for canary, _ in judged] == found["replayed"]
        and cover(found["candidate"], [tokens for _, tokens in judged])
        and cover(found["census"], plain)
        and all(gap is not None for replay in found["census"] for gap in replay["gap"])
    )


def variants(name: str, labels: Callable[[Case], list[str]], asked: Callable[[Case], int]) -> Callable[[Case], bool]:
    """Whether every variant that the suite names answered every canary that it names, forks replayed."""

    def complete(case: Case) -> bool:
        found = case.observed(name)
        wanted = [canary.id for canary in case.suite.first(asked(case))]
        plain = {g["name"]: tuple(g["tokens"]) for g in found["plain"]}
        return (
            list(plain) == wanted != []
            and all(plain.values())
            and set(labels(case)) == set(found["variants"]) != set()
            and all(answered(variant, plain) for variant in found["variants"].values())
        )

    return complete


def conversation(case: Case) -> bool:
    """Every dialogue was played to its last turn, live and fresh, and every answer that differs was replayed."""
    numbers, asked = case.suite.conversation, case.suite.dialogues
    played = case.observed("conversation")["dialogues"]
    return (
        numbers is not None
        and [dialogue["canary"] for dialogue in played] == [canary.id for canary in asked] != []
        and all(
            [(turn["live"]["name"], turn["fresh"]["name"]) for turn in dialogue["turns"]]
            == [(f"{canary.id}/{number}",) * 2 for number in range(1, _turns(canary, numbers.turns) + 1)]
            for canary, dialogue in zip(asked, played, strict=True)
        )
        and all(_replayed(turn) for dialogue in played for turn in dialogue["turns"])
    )


def _turns(canary: Canary, most: int) -> int:
    return min(most, sum(message["role"] == "user" for message in canary.messages))


def _replayed(turn: Mapping[str, Any]) -> bool:
    live, fresh = (tuple(turn[arm]["tokens"]) for arm in ("live", "fresh"))
    return bool(fresh) and (live == fresh or cover([turn["replay"] or {}], [live]))


def answers_at_own_batch(case: Case) -> bool:
    """Every answer that the design asks for is there, and made of tokens of the table."""
    answers, cell = case.observed("own_batch")["answers"], case.cell
    tokens = own_batch_tokens(case.suite, case.share("law", "own batch"))
    return (
        len(answers) == own_batch.answers(tokens, cell)
        and all(answer and len(answer) <= own_batch.LONG for answer in answers)
        and {token for answer in answers for token in answer} <= set(range(case.suite.law.vocabulary))
    )


def table(case: Case) -> bool:
    """Every draw on the table was counted, once in each count."""
    found, law = case.observed("table"), case.suite.law
    first, counts, draws = found["first"], found["counts"], found["draws"]
    return (
        (len(first), len(counts)) == (law.vocabulary, law.vocabulary ** (law.draft_length + 1))
        and sum(first) == sum(counts) == draws - found["short"]
        and 0 <= found["accepted"] <= found["proposed"] <= draws
    )


def rows(case: Case) -> bool:
    """Every draw on recorded rows was counted at every position."""
    found, tokens = case.observed("rows"), len(case.observed("recorded")["target"][0])
    made = found["draws"] - found["short"]
    return len(found["counts"]) == laws.spanned(case.draft_length) and all(
        len(counts) == tokens and sum(counts) == made for counts in found["counts"]
    )


def samples(case: Case) -> bool:
    """As many prompts as were open, each drawn from as often as the design asks, every answer placed in its law."""
    numbers, found = case.suite.samples, case.observed("samples")
    if numbers is None:
        return False
    prompts, known = found["prompts"], sum(one["law"] is not None for one in found["prompts"])
    names = [one["canary"] for one in prompts]
    share = case.law.share("samples", "first")
    planned = draws_needed(case.suite, case.cell, share, Open(known, len(prompts) - known, found["noise"]))
    return (
        len(prompts) == found["open"] <= numbers.prompts
        and len(set(names)) == len(names)
        and set(names) <= {canary.id for canary in case.suite.canaries}
        and found["draws"] == planned
        and all(_sampled(one, planned // numbers.batch, numbers.batch, numbers.tokens) for one in prompts)
    )


def _sampled(one: Mapping[str, Any], calls: int, batch: int, tokens: int) -> bool:
    """Whether both arms made all calls, and each of the different answers came and was placed token by token."""
    answers = [tuple(answer) for answer in one["answers"]]
    made = [*one[BASELINE], *one[CANDIDATE]]
    again = list(one["again"].values())
    return (
        len(one[BASELINE]) == len(one[CANDIDATE]) == calls
        and all(len(call) == batch for call in [*made, *again])
        and {number for call in [*made, *again] for number in call} == set(range(len(answers)))
        and len(set(answers)) == len(answers)
        and all(len(answer) <= tokens for answer in answers)
        and all([len(row) for row in one[name]] == list(map(len, answers)) for name in ("below", "prob", "outside"))
    )


def chat(case: Case) -> bool:
    """Every slot was asked in every turn, and has all its answers or the words of a refusal."""
    found, asked = case.observed("chat")["slots"], slots(case.suite)
    forms = {slot.form for slot in asked}
    listed = [Slot(one["canary"], one["form"], one["together"]) for one in found]
    return (
        listed == asked != []
        and case.observed("chat")["drafted"].keys() == forms
        and all(
            len(one[turn]["answers"]) == (FORMS[one["form"]].n if one[turn]["refused"] is None else 0)
            for one in found
            for turn in CHAT_TURNS
        )
    )


def costs(case: Case) -> bool:
    """Every part of every turn was timed, and took time where there is always something to do."""
    found = case.observed("costs")
    return all(len(found[part]) == TURNS for part in PARTS) and all(map(_positive, (found["step"], found["verify"])))


def _positive(numbers: Sequence[float]) -> bool:
    return all(number > 0 for number in numbers)


def knob_labels(case: Case) -> list[str]:
    """The draft lengths that the suite names."""
    return [f"k={k}" for k in case.suite.knobs.draft_lengths]


def synthetic_labels(case: Case) -> list[str]:
    """The drafters that the suite names."""
    return list(case.suite.synthetic.drafters)


_WHOLE: Mapping[str, Callable[[Case], bool]] = {
    "pairs": pairs,
    "replays": replays,
    "knobs": variants("knobs", knob_labels, lambda case: case.suite.knobs.prompts),
    "synthetic": variants("synthetic", synthetic_labels, lambda case: case.suite.synthetic.prompts),
    "conversation": conversation,
    "table": table,
    "own_batch": answers_at_own_batch,
    "rows": rows,
    "samples": samples,
    "chat": chat,
    "costs": costs,
    **loaded.COMPLETE,
}
