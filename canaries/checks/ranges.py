"""Is every recorded value one that can have been observed? What is not is no evidence, whichever check reads it.

Types, ranges, and the sums that no check of the candidate covers: a baseline's answer that does not add up, noise of
other tokens than were decoded, more entries kept than there were. Judges neither arm.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from ...engine.request import Generation
from ..observations.answers import by_arm
from ..observations.chat import TURNS
from ..observations.costs import PARTS
from ..observations.pairs import BASELINE, CANDIDATE
from ..observations.replays import NOISE_ROWS
from ..observations.serving.scenarios import SCENARIOS, SERVING
from . import drawn, loaded
from .algebra import complaint
from .base import Case
from .counted import COUNTS
from .values import (
    ROUNDING,
    Missing,
    Optional,
    above,
    amount,
    anything,
    count,
    distance,
    ending,
    integer,
    log_mass,
    mark,
    marked,
    mass,
    text,
    token,
    told,
)

LISTS = (list, tuple)  # the second before it is written and read
SHOWN = 40  # characters of a value that are shown


GENERATION = {
    "name": text,
    "tokens": [count],
    "text": text,
    "finish": ending,
    "prefill": integer,
    "arrivals": [(amount, count)],
    "rounds": [(integer, integer, integer, integer)],
}
REPLAY = {"margin": [distance], "gap": [distance], "below": [mass], "prob": [mass], "outside": [mark]}
SCORED = REPLAY | {"outside": [marked]}  # of a server, which may tell too little to know
VARIANTS = {
    "plain": [GENERATION],
    "variants": {...: {"generations": [GENERATION], "replays": {...: REPLAY}}},
}
TURN = {"prompt": above, "kept": count, "live": GENERATION, "fresh": GENERATION, "replay": Missing(REPLAY)}
TABLE = {"draws": above, "short": count, "first": [count], "counts": [count], "proposed": count, "accepted": count}
COUNTED = {**dict.fromkeys(COUNTS, Optional(count)), "by_position": Optional([count])}
COUNTERS = {"window": COUNTED, "each": [Missing(COUNTED)]}
RUN = {
    "arm": text,
    "repeat": count,
    "wall": amount,
    "generations": [GENERATION],
    "counters": Optional(COUNTERS),
}
SWITCH = {"kind": text, "text": text}
OF_ARMS = (BASELINE, CANDIDATE)
LOST = "lost"  # what the note of an arm that was lost over an observation is called, behind the observation's own name
NOTE = {"arm": lambda value: value in OF_ARMS, "told": text}
BROKEN = {"broken": NOTE}
PROMPT = {
    "canary": text,
    "prefix": [count],
    "law": Missing([(count, amount)]),
    "answers": [[count]],
    "below": [[mass]],
    "prob": [[mass]],
    "outside": [[marked]],
    **{arm: [[count]] for arm in OF_ARMS},
    "again": {arm: [count] for arm in OF_ARMS},
}
USAGE = dict.fromkeys(("prompt_tokens", "completion_tokens"), Missing(count))
SAID = {
    "text": text,
    "finish": text,
    "calls": [(text, text)],
    "usage": USAGE,
    "tokens": [count],
    "told": [(token, told, [(token, log_mass)])],
}
HEARD = {"refused": Missing(text), "answers": [SAID]}
SHAPES: Mapping[str, Any] = {  # a list holds any number of what it names, a tuple just these; ... is any key
    "pairs": {"groups": [{"canaries": [text], "runs": [RUN | {"launched": Optional(amount)}]}]},
    "block": {"launched": amount, "runs": [RUN | {"group": count}]},
    "replays": {
        "noise": {"logits": {...: amount}, "positions": above},
        "census": [SCORED],
        "candidate": [SCORED],
        "replayed": [text],
    },
    "knobs": VARIANTS,
    "synthetic": VARIANTS,
    "conversation": {"dialogues": [{"canary": text, "turns": [TURN]}]},
    "table": TABLE,
    "own_batch": {"answers": [[count]]},
    "recorded": {"canary": text, "target": [[log_mass]], "draft": [[log_mass]]},
    "costs": {"prefill": {"target": amount, "draft": amount}, **{part: [amount] for part in PARTS}},
    "configuration": {arm: {"reported": anything, "switches": [SWITCH]} for arm in OF_ARMS},
    "samples": {"draws": count, "noise": amount, "open": count, "prompts": [PROMPT]},
    "chat": {
        "refused": {end: dict.fromkeys(OF_ARMS, Missing(text)) for end in ("chat", "completions")},
        "drafted": {...: Missing(count)},
        "slots": [{"canary": text, "form": text, "together": mark, **dict.fromkeys(TURNS, HEARD)}],
    },
    "rows": {"draws": above, "short": count, "counts": [[count]]},
    **loaded.shapes(GENERATION, REPLAY),
}


def unreadable(observations: Mapping[str, Any]) -> str | None:
    """The first observation that was broken off, or arm that was lost, and is told in another shape; None if none is.

    These are read by whoever goes on with a record; of all else it is for the checks to say whether it is evidence.
    """
    for key, found in observations.items():
        broken = isinstance(found, dict) and "broken" in found
        shape = BROKEN if broken else NOTE if f"/{LOST}" in key else None
        if shape and (wrong := misshapen(found, shape, key)):
            return wrong
    return None


def misfit(observations: Mapping[str, Any]) -> str | None:
    """The first observation that is not of the shape of its kind; None where all are, or are of a kind not known."""
    for key, found in observations.items():
        name = "block" if "/block/" in key else key.rpartition("/")[2]
        broken = isinstance(found, dict) and "broken" in found
        if name in SHAPES and not broken and (wrong := misshapen(found, SHAPES[name], key)):
            return wrong
    return unreadable(observations)


def misshapen(value: Any, shape: Any, at: str) -> str | None:
    """The first place that is not of the shape, and what stands there; None where all of it is."""
    if isinstance(shape, Optional):
        return misshapen(value, shape.shape, at)
    if isinstance(shape, Missing):
        return None if value is None else misshapen(value, shape.shape, at)
    if not _fits(value, shape):
        return f"{at} is {_short(value)}"
    if isinstance(shape, list) and callable(shape[0]) and all(map(shape[0], value)):
        return None
    return next((wrong for part in _parts(value, shape, at) if (wrong := misshapen(*part))), None)


def _fits(value: Any, shape: Any) -> bool:
    """Whether the value itself is of the shape, whatever its parts are."""
    if isinstance(shape, dict):
        needed = {key for key, one in shape.items() if not isinstance(one, Optional)}
        return type(value) is dict and (... in shape or needed <= value.keys() <= shape.keys())
    if isinstance(shape, tuple):
        return isinstance(value, LISTS) and len(value) == len(shape)
    return isinstance(value, LISTS) if isinstance(shape, list) else bool(shape(value))


def _parts(value: Any, shape: Any, at: str) -> Iterator[tuple[Any, Any, str]]:
    """Each part of the value, its shape and its place; none of a value that has no parts."""
    if isinstance(shape, dict):
        yield from ((item, shape[... if ... in shape else key], f"{at}.{key}") for key, item in value.items())
    elif isinstance(shape, tuple | list):
        shapes = shape if isinstance(shape, tuple) else shape * len(value)
        yield from ((item, one, f"{at}[{n}]") for n, (item, one) in enumerate(zip(value, shapes, strict=True)))


def contrary(case: Case, name: str) -> str | None:
    """What speaks against itself in the cell's observation `name`, which is of its shape and has no hole."""
    return _CONTRARY[name](case) if name in _CONTRARY else None


def _baseline(case: Case, listed: Sequence[Mapping[str, Any] | Generation], limit: int) -> str | None:
    """The first plain answer that plain decoding cannot have given."""
    for given in listed:
        answer = given if isinstance(given, Generation) else Generation.from_json(dict(given))
        wrong = complaint(answer, 0, limit, case.header["eos"])
        if not wrong and (answer.rounds or answer.prefill != (0 if case.kind == "server" else 1)):
            wrong = f"{len(answer.rounds)} rounds and a prefill of {answer.prefill} tokens"
        if wrong:
            return f"plain decoding's answer to {answer.name} does not add up: {wrong}"
    return None


def _pairs(case: Case) -> str | None:
    return _baseline(case, [a.generation for a in by_arm(case.observed("pairs"), BASELINE)], case.cell.tokens)


def _replays(case: Case) -> str | None:
    """Noise is measured on the baseline's first answers, all tokens of each; every replay holds together."""
    plain = [a.generation for a in by_arm(case.observed("pairs"), BASELINE) if a.repeat == 0][:NOISE_ROWS]
    found = case.observed("replays")
    tokens, said = sum(len(one.tokens) for one in plain), found["noise"]["positions"]
    if said != tokens:
        return f"noise.positions is {said}, but the answers have {tokens} tokens"
    listed = [*found["census"], *found["candidate"]]
    return _unmarked(case, [replay["outside"] for replay in listed]) or _torn(listed)


def _unmarked(case: Case, marks: Iterable[Sequence[int | None]]) -> str | None:
    """A mark that is missing where all logits are known, or where the best token alone may be emitted."""
    told = case.kind == "server" and not case.cell.greedy
    return None if told or not any(None in row for row in marks) else "outside is None where the law is known"


def _torn(replays: Iterable[Mapping[str, Any]]) -> str | None:
    """The first numbers of one token that exclude each other: what is not the best is no nearer to it than the second.

    And the masses of the tokens ahead and of its own are parts of one law.
    """
    for replay in replays:
        for margin, gap in zip(replay["margin"], replay["gap"], strict=True):
            if margin and gap is not None and margin < gap:
                return f"margin is {margin:g} logits where the second best token is {gap:g} below the best"
        for below, own in zip(replay["below"], replay["prob"], strict=True):
            if below is not None and own is not None and below + own > 1 + ROUNDING:
                return f"below is {below:g} and prob {own:g}, more than all mass"
    return None


def _variants(case: Case, name: str, limit: int) -> str | None:
    """The plain answers add up, and so do the replays of each variant."""
    found = case.observed(name)
    replays = (replay for variant in found["variants"].values() for replay in variant["replays"].values())
    return _baseline(case, found["plain"], limit) or _torn(replays)


def _scenario(case: Case, name: str) -> str | None:
    """As of any variants."""
    return _variants(case, name, case.suite.serving.tokens if case.suite.serving else 0)


def _conversation(case: Case) -> str | None:
    """Of a prompt at most what the cache holds can be kept: the prompt before and its answer; never the last token."""
    numbers = case.suite.conversation
    for dialogue in case.observed("conversation")["dialogues"]:
        held = 0
        for turn in dialogue["turns"]:
            most = min(held, turn["prompt"] - 1)
            if turn["kept"] > most:
                return f"kept is {turn['kept']} at {turn['live']['name']}, where {most} entries are the most"
            held = turn["prompt"] + len(turn["live"]["tokens"])
            differs = turn["live"]["tokens"] != turn["fresh"]["tokens"]
            wrong = _torn([turn["replay"]] if turn["replay"] and differs else [])
            if wrong := wrong or (_baseline(case, [turn["fresh"]], numbers.tokens) if numbers else None):
                return wrong
    return None


def _recorded(case: Case) -> str | None:
    """Both models' rows at the same places, on the same tokens, each a law."""
    found = case.observed("recorded")
    rows = [*found["target"], *found["draft"]]
    if len(found["target"]) != len(found["draft"]) or len({*map(len, rows)}) != 1:
        return "target and draft are not on the same tokens at the same places"
    if found["canary"] not in {canary.id for canary in case.suite.canaries}:
        return f"canary is {_short(found['canary'])}, which the suite does not have"
    sums = [math.fsum(map(math.exp, row)) for row in rows]
    return next((f"a row's masses sum to {total:.12g}" for total in sums if abs(total - 1) > ROUNDING), None)


_CONTRARY: Mapping[str, Callable[[Case], str | None]] = {
    "pairs": _pairs,
    "replays": _replays,
    "knobs": lambda case: _variants(case, "knobs", case.suite.knobs.tokens),
    "synthetic": lambda case: _variants(case, "synthetic", case.suite.synthetic.tokens),
    "conversation": _conversation,
    "recorded": _recorded,
    "samples": lambda case: (
        _unmarked(case, [row for one in case.observed("samples")["prompts"] for row in one["outside"]])
        or drawn.contrary(case.observed("samples"))
    ),
    **{f"{SERVING}/{name}": partial(_scenario, name=f"{SERVING}/{name}") for name in SCENARIOS},
}


def _short(value: Any) -> str:
    """The value as it stands in the record, cut."""
    try:
        told = repr(value)
    except ValueError:  # an integer of more digits than Python writes
        told = "an integer of thousands of digits"
    return told if len(told) <= SHOWN else f"{told[:SHOWN]}..."
