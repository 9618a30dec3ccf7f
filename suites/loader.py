"""Finds suites by name, and gives them out only as they were frozen.

Digests first, always; then the schema. Knows nothing about what is done with a suite.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from . import digests, parse, samplers
from .digests import digest
from .errors import SuiteEdited, SuiteUnknown
from .suite import by_kind

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .samplers import SamplerSuite
    from .suite import Suite

__all__ = ["SuiteRow", "available", "check", "digest", "freeze", "load", "verified"]

SHIPPED = Path(__file__).parent


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteRow:
    """One line of the list of suites. `canaries` counts them by kind; samplers have laws, in bundles as cells."""

    name: str
    version: str
    canaries: Mapping[str, int]
    cells: tuple[str, ...]
    digest: str


def load(name: str) -> Suite:
    """The suite called `core` (its newest version), `core/v1`, or at a path.

    Raises SuiteUnknown, SuiteEdited or SuiteMalformed.
    """
    folders = _shipped()
    newest = {folder.parent.name: folder for folder in folders.values()}
    folder = folders.get(name) or newest.get(name) or Path(name)
    if not folder.is_dir():
        known = ", ".join(folders) or "none"
        raise SuiteUnknown(f"no suite is called {name!r}; there are {known}, or give the path of a folder")
    return check(folder)


def available() -> list[SuiteRow]:
    """Every suite that ships with the package, each checked, versions in order."""
    return [_row(check(folder)) for folder in _shipped().values()] + [
        _laws(samplers.load(rows.parent)) for rows in sorted(SHIPPED.glob(f"*/v*/{samplers.ROWS}"))
    ]


def verified(name: str) -> Suite | SamplerSuite:
    """The suite called `name`, of either sort, after its files were found to be those that were frozen."""
    folder = samplers.SHIPPED if name in {"sampler", "sampler/v1"} else Path(name)
    return samplers.load(folder) if (folder / samplers.ROWS).is_file() else load(name)


def check(folder: Path) -> Suite:
    """The suite in `folder`, after its files were found to be those that were frozen, and well formed."""
    files = digests.verified(folder)
    return parse.suite(folder, files, digests.identity(digests.sums(files)))


def freeze(folder: Path, *, unreleased: bool = False, new: Mapping[str, bytes] | None = None) -> str:
    """Writes DIGESTS, and the `new` files beside it; returns the suite's digest.

    A suite frozen with other content stays as it is and SuiteEdited is raised, unless it is declared `unreleased`: no
    result may have been published on it.
    """
    new = new or {}
    files = {**digests.read(folder), **new}
    sums = digests.sums(files)
    built = parse.suite(folder, files, digests.identity(sums))
    path = folder / digests.NAME
    if path.exists() and not unreleased and digests.frozen(folder) != sums:
        raise SuiteEdited(f"{digests.shown(folder)} is frozen with other content; {digests.advice(folder)}")
    for name, content in {**new, digests.NAME: digests.text(sums).encode()}.items():
        (folder / name).write_bytes(content)
    return built.digest


def _shipped() -> dict[str, Path]:
    """Folders of the shipped suites by `name/vN`, later ones after earlier; those for samplers have no canaries."""
    found = [folder for folder in SHIPPED.glob("*/v*") if folder.name[1:].isdecimal() and any(folder.glob("*.jsonl"))]
    folders = sorted(found, key=lambda folder: (folder.parent.name, int(folder.name[1:])))
    return {f"{folder.parent.name}/{folder.name}": folder for folder in folders}


def _row(suite: Suite) -> SuiteRow:
    return SuiteRow(
        name=suite.name,
        version=suite.version,
        canaries=by_kind(suite.canaries),
        cells=tuple(cell.name for cell in suite.cells),
        digest=suite.digest,
    )


def _laws(suite: SamplerSuite) -> SuiteRow:
    return SuiteRow(
        name=suite.name,
        version=suite.version,
        canaries={"laws": sum(len(bundle.problems) for bundle in suite.bundles)},
        cells=tuple(bundle.name for bundle in suite.bundles),
        digest=suite.digest,
    )
