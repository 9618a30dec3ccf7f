"""Writes what was proved into `docs/results.md`: `python docs/proofs.py FOLDER`, the `--out` of a proof.

The block is rewritten in its place, or put at the end.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import blocks

from draftgate.canaries import record
from draftgate.canaries.samplers import prove

if TYPE_CHECKING:
    from collections.abc import Sequence

RESULTS = Path(__file__).with_name("results.md")
BEGIN = blocks.begin("proofs", "proofs")


def main(arguments: Sequence[str]) -> int:
    """`docs/results.md` has the table of this proof."""
    if len(arguments) != 1:
        sys.stderr.write("usage: python docs/proofs.py FOLDER\n")
        return 2
    folder = Path(arguments[0])
    proved = page(prove.read(folder), record.read(folder).header["suite"]["digest"])
    RESULTS.write_text(blocks.replaced(RESULTS.read_text(encoding="utf-8"), BEGIN, proved), encoding="utf-8")
    return 0


def page(proofs: Sequence[prove.Proof], digest: str) -> str:
    """One row a rule."""
    head = ("rule", "cases", "refuted by", "largest distance", "accepts", "token rule", "at most", "seconds")
    rows = [
        (
            proof.rule,
            f"{proof.part.cases:,}",
            str(len(proof.part.failures)),
            proof.part.worst,
            f"{proof.part.accepted / proof.part.cases:.4f}",
            f"{proof.part.token / proof.part.cases:.4f}" if proof.part.token is not None else "",
            f"{proof.part.bound / proof.part.cases:.4f}",
            f"{proof.seconds:.0f}",
        )
        for proof in proofs
    ]
    lines = [f"| {' | '.join(cells)} |" for cells in (head, ["---"] * len(head), *rows)]
    return "\n".join(
        [
            "## Proofs",
            "",
            "Each rule of the engine, enumerated whole on random cases in rational numbers: vocabularies of up to 5",
            "tokens, up to 3 levels, laws that depend on the whole history, with zeros, ties, disjoint supports, p = q",
            "and point masses. A distance of 0 is an identity. Accepted tokens are means over cases, beside what the",
            "token rule accepts of the same chains and what no lossless rule can exceed. Seconds are one core's.",
            f"Proved of the files with digest `{digest[:12]}`.",
            "",
            *lines,
        ]
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
