"""Writes into `docs/results.md` what a campaign of samplers measured: `python docs/samplers.py FILE`.

`python docs/samplers.py --fine` measures rounds a second and the finest effect, in half a minute. Either block is
rewritten in its place, or put at the end.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import blocks
import torch

from draftgate.canaries.samplers.faults import campaign, fine
from draftgate.canaries.samplers.faults.registry import FAULTS

if TYPE_CHECKING:
    from collections.abc import Sequence

RESULTS = Path(__file__).with_name("results.md")
BEGIN, FINE = (blocks.begin(name, "samplers") for name in ("samplers", "fine"))


def main(arguments: Sequence[str]) -> int:
    """`docs/results.md` has the table of this campaign, or what is measured now."""
    if len(arguments) != 1:
        sys.stderr.write("usage: python docs/samplers.py FILE | --fine\n")
        return 2
    text, fast = RESULTS.read_text(encoding="utf-8"), arguments[0] == "--fine"
    first, content = (FINE, speed()) if fast else (BEGIN, page(campaign.read(Path(arguments[0]))))
    RESULTS.write_text(blocks.replaced(text, first, content), encoding="utf-8")
    return 0


def page(lines: Sequence[dict[str, Any]]) -> str:
    """Faults, then honest samplers with the second level: how often their p-values lie below a level."""
    lines = campaign.latest(lines)
    rows = campaign.tally(lines)
    planted = {row.name for row in FAULTS}
    faults, honest = ([r for r in rows if (r["name"] in planted) == wanted] for wanted in (True, False))
    parts = ["## Samplers"]
    if faults:
        parts += ["Wrong samplers, by the judge at its usual effect (code A: the table of published test designs)."]
        parts += [_table(faults, ("codes", "name", "summary", "runs", "held", "by", "draws", "seconds"))]
    if honest:
        parts += [f"Honest samplers, by the judge at an effect of {campaign.HONEST_EFFECT}: none may be held."]
        parts += [_table(honest, ("name", "summary", "runs", "held", "seconds"))]
        parts += [second_level([p for line in lines for p in line.get("p_values", [])])]
    return "\n\n".join(parts)


def speed() -> str:
    """What one core does now, drafting and counting included. Raises SystemExit where it is not what it must be."""
    torch.set_num_threads(1)
    lines, good = fine.measured(fine.EFFECT)
    if not good:
        raise SystemExit("\n".join(lines))
    return "\n".join(
        ["How fast and how fine the judge of samplers is, drafting included:", "", *(f"- {x}" for x in lines)]
    )


def second_level(p_values: Sequence[float]) -> str:
    """The shares of honest p-values below some levels; each may be at most the level, up to chance."""
    levels = (0.001, 0.01, 0.1, 0.5)
    shares = [sum(p <= level for p in p_values) / max(1, len(p_values)) for level in levels]
    told = ", ".join(f"{share:.4f} below {level}" for share, level in zip(shares, levels, strict=True))
    return f"Second level: of {len(p_values):,} p-values of honest runs, a share of {told}."


def _table(rows: Sequence[dict[str, Any]], head: Sequence[str]) -> str:
    cells = [[f"{row[key]:.1f}" if isinstance(row[key], float) else str(row[key]) for key in head] for row in rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in (head, ["---"] * len(head), *cells))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
