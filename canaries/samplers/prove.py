"""Proves the engine's rules on thousands of small cases: `python -m draftgate.canaries.samplers.prove`.

Each case is a pair of laws in rational numbers, enumerated whole: zero distance is an identity. Made in parts, which a
record keeps (`--out`), so that a proof that was stopped goes on where it was (`--resume`). Exit status 0: all proved;
1: a counterexample, shown as small as it gets; 2: usage; 3: stopped.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from ... import __version__
from .. import record
from ..errors import GateError, Interrupted, RecordBroken, UsageError
from ..report.progress import Progress, Silent, progress
from .proofs.proof import Part, case_of, failing, joined, prove_part
from .proofs.rules import RULES, ProvedRule
from .proofs.shrink import smallest, told

CASES = 10_000
PART = 250
"""Cases a part: seconds, so that little is lost when a proof is stopped."""
PROVED = (
    "engine/verification",
    "engine/sampling.py",
    "engine/tree.py",
    *(f"stats/{name}.py" for name in ("exact", "symbolic", "ratio", "bounds")),
    *(f"canaries/samplers/proofs/{name}.py" for name in ("cases", "rounds", "rules", "proof")),
)
"""What a proof rests on: a record made with other files is no proof of these."""

Step = Callable[[str, Callable[[], Any]], Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """What all cases of a rule showed, the time that took on one core, and the smallest case that fails, if any."""

    rule: str
    part: Part
    seconds: float
    example: tuple[str, ...] = ()

    @property
    def proved(self) -> bool:
        """Whether no case speaks against the rule."""
        return not self.part.failures

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return {"rule": self.rule, "seconds": self.seconds, "example": list(self.example), **self.part.to_json()}


def prove(rules: Iterable[ProvedRule], *, cases: int, seed: int, step: Step, shown: Progress) -> list[Proof]:
    """A proof a rule. `step(key, compute)` makes a part, or finds it made before."""
    asked = list(rules)
    shown.total(len(asked) * -(-cases // PART))
    return [_proof(rule, cases, seed, step, shown) for rule in asked]


def read(folder: Path) -> list[Proof]:
    """The proofs of a record. Raises RecordBroken where it is no proof, or not a whole one."""
    found = record.read(folder)
    if found.header.get("suite", {}).get("name") != "proof" or not found.ended:
        raise RecordBroken(f"{folder} holds no whole proof; make one with --out, or finish it with --resume")
    made: dict[str, list[Mapping[str, Any]]] = {}
    for key, one in found.observations.items():
        made.setdefault(key.rpartition("/")[0], []).append(one)
    return [_joined(rule, parts) for rule, parts in made.items()]


def _joined(rule: str, made: Sequence[Mapping[str, Any]], example: Sequence[str] = ()) -> Proof:
    part = joined(Part.from_json(one["part"]) for one in made)
    return Proof(rule=rule, part=part, seconds=sum(one["seconds"] for one in made), example=tuple(example))


def _proof(rule: ProvedRule, cases: int, seed: int, step: Step, shown: Progress) -> Proof:
    made: list[Mapping[str, Any]] = []
    for start in range(0, cases, PART):
        shown.step(rule.name)
        stop = min(start + PART, cases)
        made.append(step(f"{rule.name}/{start}-{stop}", lambda a=start, b=stop: _timed(rule, range(a, b), seed)))  # type: ignore[misc]
    proof = _joined(rule.name, made)
    if proof.proved:
        return proof
    first = case_of(rule, seed, proof.part.failures[0])
    return _joined(rule.name, made, told(smallest(first, lambda case: failing(rule, case))))


def _timed(rule: ProvedRule, indices: range, seed: int) -> dict[str, Any]:
    started = time.process_time()
    part = prove_part(rule, indices, seed)
    return {"part": part.to_json(), "seconds": time.process_time() - started}


def header(cases: int, seed: int) -> dict[str, Any]:
    """What decides the parts of a proof, as the header of a record."""
    return {
        "draftgate": __version__,
        "suite": {"name": "proof", "version": "v1", "digest": digest()},
        "seed": seed,
        "baseline": {"name": "the target's law"},
        "candidate": {"name": "rules", "cases": cases},
    }


def digest() -> str:
    """The digest of the files that a proof rests on."""
    root = Path(__file__).parents[2]
    files = sorted(file for name in PROVED for file in [root / name, *(root / name).glob("*.py")] if file.is_file())
    return sha256(b"".join(sha256(file.read_bytes()).digest() for file in files)).hexdigest()


def main(arguments: Sequence[str] | None = None) -> int:
    """The exit status, after the proofs were printed."""
    try:
        options = _parser().parse_args(arguments)
        rules = [_rule(name) for name in options.rules] or list(RULES.values())
        proofs = _proved(options, rules)
    except GateError as error:
        sys.stderr.write(f"prove: {error}\n")
        return error.exit_status
    lines = [json.dumps([proof.to_json() for proof in proofs])] if options.json else report(proofs)
    sys.stdout.write("\n".join(lines) + "\n")
    return 0 if all(proof.proved for proof in proofs) else 1


def _proved(options: argparse.Namespace, rules: Sequence[ProvedRule]) -> list[Proof]:
    if options.resume and not options.out:
        raise UsageError("--resume needs the folder of a record; add --out")
    begin = record.Journal.resume if options.resume else record.Journal.create
    shown = Silent() if options.json else progress()
    try:
        with begin(options.out, header(options.cases, options.seed)) if options.out else nullcontext() as journal:
            step: Step = journal.step if journal else (lambda _, compute: compute())
            return prove(rules, cases=options.cases, seed=options.seed, step=step, shown=shown)
    except KeyboardInterrupt:
        kept = f"go on with --out {options.out} --resume" if options.out else "with --out a proof can be resumed"
        raise Interrupted(f"stopped; {kept}") from None
    finally:
        shown.close()


def report(proofs: Sequence[Proof]) -> list[str]:
    """The proofs for people."""
    width = max(len(proof.rule) for proof in proofs)
    lines = []
    for proof in proofs:
        part = proof.part
        word = "proved" if proof.proved else "REFUTED"
        kept = f"accepts {part.accepted / part.cases:.3f} of at most {part.bound / part.cases:.3f} tokens"
        token = f", token rule {part.token / part.cases:.3f}" if part.token is not None else ""
        lines.append(f"{proof.rule:{width}}  {word} on {part.cases} cases; {kept}{token}; {proof.seconds:.0f} s")
        if not proof.proved:
            lines += [f"  {line}" for line in (*_against(part), "smallest failing case:", *proof.example)]
    return lines


def _against(part: Part) -> list[str]:
    found = (
        (part.wrong, f"not the target's law, by up to {part.worst}"),
        (part.too_keen, "more is accepted than by any lossless rule"),
        (part.too_shy, "less is accepted than the rule must"),
    )
    return [f"{len(cases)} cases: {what}" for cases, what in found if cases]


def _rule(name: str) -> ProvedRule:
    if name not in RULES:
        raise UsageError(f"there is no rule {name!r}; take from {', '.join(map(repr, RULES))}")
    return RULES[name]


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> Any:
        """One line, as everywhere."""
        raise UsageError(f"{message}; see --help")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="prove", description="Prove the engine's rules on small cases in rational numbers.")
    parser.add_argument("rules", nargs="*", metavar="RULE", help="which rules; all of them by default")
    parser.add_argument("--cases", type=_count, default=CASES, help=f"cases a rule (default {CASES})")
    parser.add_argument("--seed", type=int, default=0, help="which cases (default 0)")
    parser.add_argument("--out", type=Path, help="folder for the record, so that the proof can be resumed")
    parser.add_argument("--resume", action="store_true", help="go on with the record in --out")
    parser.add_argument("--json", action="store_true", help="print one JSON document and nothing else")
    return parser


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of cases; give 1 or more")
    return int(text)


if __name__ == "__main__":
    sys.exit(main())
