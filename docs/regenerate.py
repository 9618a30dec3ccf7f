"""Rewrites what pages show of the program: tables from its registries, output from its runs.

`python docs/regenerate.py` rewrites the README's tables; with `--runs` the two runs of its first screen and those of
`examples/campaign.md` too, in minutes.
Blocks are those of `blocks.py`.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import blocks

from draftgate.canaries.checks.registry import CHECKS
from draftgate.canaries.faults.registry import PLANTS
from draftgate.canaries.reasons import REASONS
from draftgate.canaries.samplers.adapters.registry import ADAPTERS
from draftgate.canaries.targets.registry import ROWS
from draftgate.suites import loader
from draftgate.suites.served import CHECKS as SERVED
from draftgate.suites.suite import Required

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

ROOT = Path(__file__).resolve().parents[1]
README = ROOT / "README.md"
CAMPAIGN = ROOT / "examples" / "campaign.md"
FOUR_BITS = "draftgate run smoke --baseline plain:cache=int4 --candidate draft:k=3,cache=int4"
RUNS = {  # what is run, and the heading before which what is shown of it ends
    README: {
        "honest": ("draftgate run", "Checks by cell"),
        "planted": ("draftgate run --fault resample-from-target", "Not looked at"),
    },
    CAMPAIGN: {
        "garbled": (
            f"{FOUR_BITS} --fault verify-sees-itself",
            "Acceptance by position",
        ),
        "repaired": (FOUR_BITS, "Acceptance by position"),
    },
}

KINDS_OF_TARGETS = {
    "reference": "reference engine",
    "transformers": "transformers",
    "server": "servers",
    "kept-transformers": "transformers, kept baseline",
    "kept-server": "servers, kept baseline",
}
QUESTIONS = {  # a check's question in one line; a test holds the names against the registry
    "exact_tokens": "Are all greedy tokens those of plain decoding, near ties within the measured noise aside?",
    "exact_text": "Are answers whose wording is known right, where plain decoding is right?",
    "identifiers": "Are opaque identifiers right, one by one, where plain decoding's are?",
    "json_valid": "Is JSON valid against its schema, where plain decoding's is?",
    "tools_valid": "Do tool calls have the right names and arguments, where plain decoding's have?",
    "code_runs": "Do programs pass their asserts, run in isolation, where plain decoding's do?",
    "multi_turn": "Are answers that need earlier turns right, where plain decoding is right?",
    "conversation": "Are answers from a live cache those of a fresh prefill of the visible text?",
    "loops": "Do answers end in endless repetition no more often than plain decoding's?",
    "noise": "Does plain decoding agree with itself, at other widths and batches?",
    "knobs": "Do all draft lengths give the same greedy answers?",
    "synthetic": "Do drafters that are always right, always wrong or random give the same greedy answers?",
    "exercise": "Did enough rounds propose, accept, reject, and accept everything?",
    "algebra": "Do tokens, rounds, arrival times and finish reasons add up?",
    "acceptance": "Is acceptance what it must be where it can be computed?",
    "law": "Does a whole round follow the exact law, on a table and on rows recorded from the model?",
    "pit": "Do the timed tokens follow plain decoding's law at their own prefix?",
    "support": "Does every token lie within top-k and top-p?",
    "samples": "Do answers asked for by the hundred follow the plain law, each with a chance of its own?",
    "chat": "Are chat answers, streamed and whole, with tools and schemas, plain decoding's, ends and usage too?",
    "logprobs": "Are told logprobs and best tokens plain decoding's, where both tell them?",
    "configuration": "Is no synthetic acceptance and no lossy rule switched on, and does the baseline draft nothing?",
    "answered": "Could every answer be read, to its end?",
    "neighbours": "Are answers at every batch size, requests coming one by one, those given alone, by the same rounds?",
    "traffic": "Do answers stay the same after other traffic and cancellations, and find their prefixes?",
    "chained": "Is a second turn that begins from a first answer's blocks what a fresh prefill gives?",
    "preemption": "Do rows that give way for want of blocks come back as if they had not?",
    "order": "Do neither tokens nor rounds depend on who came before?",
    "seam": "Does nothing change where speculation is switched off and on inside an answer?",
    "needle": "Are long prompts, and those about the edge of a sliding window, answered as alone?",
    "parameters": "Has every row of a mixed batch its own limit, draft length and stop strings?",
    "parameters_law": "Do sampled rows of mixed batches follow their own law, within their own filters?",
    "private_words": "Does no answer hold a word that only another's prompt holds?",
    "mask_probe": "Do logits stay where a token is changed that may not be seen?",
    "state_parity": "Is the cache after every round what a prefill of the committed tokens leaves?",
    "speed": "How fast, in interleaved pairs, beside plain against plain?",
}


def main(arguments: Sequence[str]) -> int:
    """The pages stand rewritten; asks for the runs only where told to."""
    written: dict[Path, dict[str, str]] = {README: tables(), CAMPAIGN: {}}
    for page, contents in written.items():
        if "--runs" in arguments:
            contents |= {name: shown(*run) for name, run in RUNS[page].items()}
        page.write_text(replaced(page.read_text(encoding="utf-8"), contents), encoding="utf-8")
    return 0


def tables() -> dict[str, str]:
    """Every table by the name of its block, as the registries have it now."""
    made: dict[str, Callable[[], str]] = {
        "numbers": numbers,
        "methods": methods,
        "checks": checks,
        "reasons": reasons,
        "faults": faults,
        "suites": suites,
        "signatures": signatures,
    }
    return {name: make() for name, make in made.items()}


def numbers() -> str:
    """What a PASS on core means, from the suite's own design."""
    suite = loader.load("core")
    design, length = suite.design, suite.law.draft_length + 1
    return (
        f"It cries wolf at most once in {1 / design.false_alarm:,.0f} runs of a correct engine. It would have seen, "
        f"all but once in {1 / design.miss:,.0f} times, a fault that changes one greedy token in "
        f"{1 / design.token_fault_rate:,.0f} or that moves the law of the first {length} sampled tokens by a total "
        f"variation of {design.law_effect}."
    )


def methods() -> str:
    """Method, guarantee, and the checks that its cells must pass."""
    required = loader.load("core").required["reference"]
    same = set(required.greedy) & set(required.sampled)
    greedy = ", ".join(check for check in required.greedy if check not in same)
    sampled = ", ".join(check for check in required.sampled if check not in same)
    judged = [row for row in ROWS if row.candidate and row.kind == "reference" and row.name != "plain"]
    head = ("method", "what it is", "options", "guarantee", "greedy cells", "sampled cells")
    rows = ((f"`{r.name}`", r.summary, _code(r.options), r.guarantee, greedy, sampled) for r in judged)
    return f"{_table(head, rows)}\n\nIn both kinds of cell: {', '.join(c for c in required.greedy if c in same)}."


def checks() -> str:
    """Every check, its question, and in which cells of which kind of target core requires it, or else serving."""
    required, loaded = (loader.load(name).required for name in ("core", "serving"))
    rows = (
        (
            f"`{name}`",
            QUESTIONS[name],
            *(_cells(required[kind], name) or _under_load(loaded.get(kind), name) for kind in KINDS_OF_TARGETS),
        )
        for name in CHECKS
    )
    return _table(("check", "question", *KINDS_OF_TARGETS.values()), rows)


def _under_load(required: Required | None, check: str) -> str:
    """The cells of the suite `serving` that must pass the check, where core's need not."""
    cells = _cells(required, check) if required and check in SERVED else ""
    return f"{cells} (serving)" if cells else ""


def _cells(required: Required, check: str) -> str:
    """The cells that must pass the check."""
    return ", ".join(sort for sort in ("greedy", "sampled") if check in getattr(required, sort))


def reasons() -> str:
    """Why a result is held, who is at fault, what to do."""
    rows = ((f"`{reason}`", row.culprit, row.means, row.next) for reason, row in REASONS.items())
    return _table(("reason", "at fault", "means", "next"), rows)


def faults() -> str:
    """What can be planted and what the gate must answer."""
    rows = ((p.code, f"`{p.name}`", p.summary, p.expected, f"`{p.seen_by}`" if p.seen_by else "") for p in PLANTS)
    return _table(("code", "name", "what it does", "must be answered", "seen by"), rows)


def suites() -> str:
    """The suites that ship."""
    found = ((row, loader.verified(row.name).purpose) for row in _newest())
    rows = ((f"`{row.name}`", row.version, ", ".join(row.cells), purpose) for row, purpose in found)
    return _table(("suite", "version", "cells", "for"), rows)


def signatures() -> str:
    """What `draftgate sampler --as` takes."""
    return _table(("`--as`", "signature"), ((f"`{name}`", row.signature) for name, row in ADAPTERS.items()))


def shown(command: str, heading: str) -> str:
    """The command and what it really printed before a heading, from a folder of its own."""
    environment = {**os.environ, "COLUMNS": "80", "NO_COLOR": "1"}
    start = [sys.executable, str(ROOT / "harness.py"), *command.split()[1:]]
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(  # noqa: S603 - our own command
            start, stdout=subprocess.PIPE, text=True, cwd=folder, env=environment, check=False
        )
    lines = "\n".join(line.rstrip() for line in done.stdout.splitlines())
    first, fold, _ = lines.partition(f"\n{heading}")
    if not fold:
        raise SystemExit(f"{command} ended with status {done.returncode} and no report")
    return f"```console\n$ {command}\n{first.rstrip()}\n[...]\n$ echo $?\n{done.returncode}\n```"


def replaced(text: str, contents: dict[str, str]) -> str:
    """The text with these blocks' contents exchanged. Raises SystemExit for a block that it does not have."""
    for name, content in contents.items():
        first = blocks.begin(name, "regenerate")
        if first not in text:
            raise SystemExit(f"there is no block {first!r}")
        text = blocks.replaced(text, first, content)
    return text


def _newest() -> Iterable[loader.SuiteRow]:
    return {row.name: row for row in loader.available()}.values()


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (head, ["---"] * len(head), *rows))


def _code(words: Iterable[str]) -> str:
    return ", ".join(f"`{word}`" for word in words)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
