"""Turns the bytes of a suite's files into the nouns of `suite.py`, or says in one line where they fail to be a suite.

Checks each file against its schema, then what no schema can say: names used twice, cells that ask for canaries that do
not exist. Knows nothing about digests.
"""

from __future__ import annotations

import json
import math
import re
import tomllib
from collections import Counter
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import served
from .asserts import comparison
from .chat import Chat
from .dialect import complaint
from .place import Place
from .suite import (
    KINDS,
    Canary,
    Cell,
    Census,
    Conversation,
    DesignNumbers,
    Exercise,
    Knobs,
    Law,
    Loops,
    Noise,
    Required,
    Samples,
    SpeedNumbers,
    StrikeOut,
    Suite,
    Synthetic,
    by_kind,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from jsonschema.protocols import Validator

SETTINGS = "suite.toml"
CENSUS = "census.json"
LEAST_TURNS = 3  # user turns of a dialogue: the live cache is then used at least twice
JUDGED_BY = {  # checks that look at one kind of canary only
    "exact_text": "exact",
    "identifiers": "identifiers",
    "json_valid": "json",
    "tools_valid": "tools",
    "code_runs": "code",
    "multi_turn": "multi_turn",
}
LAWS = {  # the check without which no sampled cell passes, where it is not `pit`
    "reference": "law",
    "kept-server": "samples",
    "kept-transformers": "samples",
}
TABLES: dict[str, Any] = {
    "design": DesignNumbers,
    "noise": Noise,
    "exercise": Exercise,
    "strike_out": StrikeOut,
    "speed": SpeedNumbers,
    "knobs": Knobs,
    "synthetic": Synthetic,
    "law": Law,
}
OPTIONAL: dict[str, Any] = {
    "conversation": Conversation,
    "loops": Loops,
    "samples": Samples,
    "chat": Chat,
    "serving": served.Serving,
}  # tables that are there if a check is required that needs them: mostly that of the same name
NEEDS = {name: name for name in OPTIONAL} | {"logprobs": "chat"} | dict.fromkeys(served.CHECKS, "serving")


def suite(folder: Path, files: Mapping[str, bytes], digest: str) -> Suite:
    """The suite that `files` describe."""
    place = Place(folder / SETTINGS)
    if SETTINGS not in files:
        place.fail("not found; a suite folder has one, so name the folder of one version")
    settings = _settings(place, files[SETTINGS])
    canaries = tuple(
        canary for name in sorted(files) if name.endswith(".jsonl") for canary in _canaries(folder / name, files[name])
    )
    built = Suite(
        name=settings["name"],
        version=settings["version"],
        purpose=settings["purpose"],
        digest=digest,
        folder=folder,
        canaries=canaries,
        cells=tuple(Cell(**table) for table in settings["cells"]),
        required={target: Required(**_tuples(lists)) for target, lists in settings["required"].items()},
        **{name: noun(**_tuples(settings[name])) for name, noun in TABLES.items()},
        **{name: noun(**_tuples(settings[name])) for name, noun in OPTIONAL.items() if name in settings},
        census=_census(Place(folder / CENSUS), files[CENSUS], canaries) if CENSUS in files else None,
    )
    _names(place, built)
    _asks(place, built)
    return built


def _settings(place: Place, content: bytes) -> dict[str, Any]:
    text = _text(place, content)
    try:
        table = tomllib.loads(text, parse_float=_finite)
    except ValueError as error:  # TOMLDecodeError is one
        place.fail(f"not TOML: {error}; mend that line")
    _conform("suite", table, place)
    return table


def _canaries(path: Path, content: bytes) -> list[Canary]:
    """The canaries of one file, in its order."""
    if path.stem not in KINDS:
        Place(path).fail(f"no canary kind is called {path.stem!r}; rename the file to one of {', '.join(KINDS)}")
    lines = _text(Place(path), content).removesuffix("\n").split("\n")  # splitlines() also cuts inside JSON strings
    if lines == [""]:
        Place(path).fail("holds no canary; write one a line, or remove the file")
    return [_canary(Place(path, number), line) for number, line in enumerate(lines, start=1)]


def _census(place: Place, content: bytes, canaries: Iterable[Canary]) -> Census:
    document = _json(place, _text(place, content), "take it anew")
    _conform("census", document, place)
    if {canary.id for canary in canaries} != document["gaps"].keys():
        place.fail("gaps are not those of the suite's canaries; take the census anew")
    return Census(**document)


def _canary(place: Place, line: str) -> Canary:
    document = _json(place, line, "write one object a line")
    _conform("canary", document, place)
    if document["kind"] != place.path.stem:
        place.fail(f"kind {document['kind']!r} stands in {place.path.name}; move the line to {document['kind']}.jsonl")
    _sound(place, document)
    return Canary(**_tuples(document))


def _json(place: Place, text: str, advice: str) -> Any:
    try:
        return json.loads(text, parse_constant=_finite)
    except json.JSONDecodeError as error:
        place.fail(f"not JSON at column {error.colno}: {error.msg}; {advice}")
    except ValueError as error:
        place.fail(f"not JSON: {error}; {advice}")
    except RecursionError:
        place.fail(f"not JSON: nested too deeply; {advice}")


def _sound(place: Place, document: Mapping[str, Any]) -> None:
    """Refuses what the schema of a canary lets through and no check could judge."""
    if document["messages"][-1]["role"] == "assistant":
        place.fail("the last turn is the assistant's, so nothing is asked; end with a user or tool turn")
    if document["kind"] == "multi_turn":
        _turns(place, document["messages"])
    for name in _twice(tool["name"] for tool in document.get("tools", ())):
        place.fail(f"tool {name!r} is described twice; give each its own name")
    offered = {tool["name"] for tool in document.get("tools", ())}
    for call in document.get("calls", ()):
        if call["name"] not in offered:
            place.fail(f"calls {call['name']!r}, but offers {', '.join(sorted(offered))}; call one that is offered")
    schemas = [document["schema"]] if "schema" in document else []
    schemas += [tool["parameters"] for tool in document.get("tools", ())]
    for schema in [*schemas, *(call["arguments"] for call in document.get("calls", ()))]:
        if wrong := complaint(schema):
            place.fail(wrong)
    for line in document.get("asserts", ()):
        try:
            comparison(line)
        except ValueError as error:
            place.fail(f"{error}; write each assert so")


def _turns(place: Place, messages: Sequence[Mapping[str, str]]) -> None:
    """A dialogue: user and assistant in turn, three of the user's at least, perhaps after a system message."""
    roles = [message["role"] for message in messages]
    spoken = roles[1:] if roles[0] == "system" else roles
    if spoken[1::2] != ["assistant"] * (len(spoken) // 2) or set(spoken[::2]) != {"user"}:
        place.fail(f"turns are {', '.join(roles)}; let user and assistant take turns, the user first")
    if len(spoken) < 2 * LEAST_TURNS - 1:
        place.fail(f"{spoken.count('user')} user turns; a dialogue has at least {LEAST_TURNS}")


def _tuples(table: Mapping[str, Any]) -> dict[str, Any]:
    return {key: tuple(value) if isinstance(value, list) else value for key, value in table.items()}


def _text(place: Place, content: bytes) -> str:
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        place.fail(f"not UTF-8 at byte {error.start}; save the file as UTF-8")


def _finite(number: str) -> float:
    value = float(number)
    if not math.isfinite(value):
        raise ValueError(f"{number} is not a finite number")
    return value


def _names(place: Place, built: Suite) -> None:
    """Refuses names used twice, and a version that its folder contradicts."""
    for what, names in (("canary id", [c.id for c in built.canaries]), ("cell name", [c.name for c in built.cells])):
        for name in _twice(names):
            place.fail(f"{what} {name!r} is used twice; give each its own")
    if re.fullmatch(r"v\d+", built.folder.name) and built.folder.name != built.version:
        place.fail(f"version is {built.version!r} but the folder is {built.folder.name}; make them the same")


def _twice(names: Iterable[str]) -> list[str]:
    return [name for name, times in Counter(names).items() if times > 1]


def _asks(place: Place, built: Suite) -> None:
    """Refuses cells and tables that ask for canaries the suite does not have."""
    asks = [(f"cell {cell.name!r}", cell.prompts) for cell in built.cells]
    asks += [("knobs", built.knobs.prompts), ("synthetic", built.synthetic.prompts)]
    for who, prompts in asks:
        if prompts > len(built.canaries):
            place.fail(f"{who} asks for {prompts} prompts of {len(built.canaries)}; ask for fewer or add canaries")
    _tables(place, built)
    for target, required in built.required.items():
        law = LAWS.get(target, "pit")
        for listed, check, sort in ((required.greedy, "exact_tokens", "greedy"), (required.sampled, law, "sampled")):
            if check not in listed:
                place.fail(f"{sort} cells do not require {check}; without it a PASS would mean nothing")
    for cell in built.cells:
        kinds = {canary.kind for canary in built.canaries_for(cell)}
        needed = {check for required in built.required.values() for check in required.checks_for(cell)}
        for check, kind in JUDGED_BY.items():
            if check in needed and kind not in kinds:
                place.fail(f"cell {cell.name!r} requires {check}, but asks no {kind} canary; add some")


def _tables(place: Place, built: Suite) -> None:
    """Refuses a check without its table of numbers, and numbers that cannot be met."""
    required = {check for lists in built.required.values() for check in (*lists.greedy, *lists.sampled)}
    for name, table in NEEDS.items():
        if name in required and getattr(built, table) is None:
            place.fail(f"{name} is required, but there is no table [{table}]; add its numbers")
    if built.conversation and built.conversation.prompts > (there := len(built.of_kind("multi_turn"))):
        place.fail(
            f"conversation asks for {built.conversation.prompts} dialogues of {there} multi_turn canaries; ask for "
            "fewer or add some"
        )
    if built.serving and (lack := served.complaint(built.serving, built)):
        place.fail(lack)
    if built.loops and built.loops.shortest > built.loops.longest:
        place.fail("loops.shortest is more than loops.longest; no phrase has such a length")
    asked = built.chat.prompts if built.chat else 0
    if few := [kind for kind, there in by_kind(built.canaries).items() if there < asked]:
        place.fail(f"chat asks for {asked} canaries of each kind, more than there are of {few[0]}; ask for fewer")
    shortest = min((cell.tokens for cell in built.cells if not cell.greedy), default=0)
    if built.samples and built.samples.tokens > shortest > 0:
        place.fail(f"samples asks for {built.samples.tokens} tokens, a sampled cell for {shortest}; ask for fewer")


def _conform(name: str, document: Any, place: Place) -> None:
    """Fails at the first, deepest breach of the schema called `name`."""
    from jsonschema.exceptions import best_match

    error = best_match(_validator(name).iter_errors(document))
    if error is not None:
        spot = error.json_path.removeprefix("$").removeprefix(".")
        place.fail(f"{spot}: {error.message:.200}" if spot else f"{error.message:.200}")


@cache
def _validator(name: str) -> Validator:
    """JSON Schema as published, but 8.0 is no integer: what counts is used to count with."""
    from jsonschema import Draft202012Validator
    from jsonschema.validators import extend

    types = Draft202012Validator.TYPE_CHECKER.redefine("integer", lambda _, value: type(value) is int)
    text = (Path(__file__).parent / "schema" / f"{name}.schema.json").read_text("utf-8")
    strict: type[Validator] = extend(Draft202012Validator, type_checker=types)  # type: ignore[no-untyped-call]
    return strict(json.loads(text))
