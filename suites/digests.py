"""Whether the files of a suite are the ones that were frozen.

`DIGESTS` holds sorted lines `sha256  filename`, so `sha256sum --check DIGESTS` verifies a suite without this package
and `sha256sum DIGESTS` prints its identity. Knows nothing about what the files say.
"""

from __future__ import annotations

import re
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from .errors import SuiteEdited, SuiteMalformed

if TYPE_CHECKING:
    from collections.abc import Mapping

NAME = "DIGESTS"


def read(folder: Path) -> dict[str, bytes]:
    """Every file of the folder but DIGESTS, by name. A subfolder cannot be frozen and is refused."""
    files = {}
    for path in sorted(folder.iterdir()):
        if path.is_dir():
            raise SuiteMalformed(f"{shown(path)} is a folder, and a suite is flat; move it elsewhere")
        if path.name != NAME:
            files[path.name] = path.read_bytes()
    return files


def sums(files: Mapping[str, bytes]) -> dict[str, str]:
    """Hexadecimal sha256 of each file."""
    return {name: sha256(content).hexdigest() for name, content in files.items()}


def text(sums: Mapping[str, str]) -> str:
    """What DIGESTS says of files with these sums."""
    return "".join(sorted(f"{value}  {name}\n" for name, value in sums.items()))


def identity(sums: Mapping[str, str]) -> str:
    """The digest of a whole suite: sha256 over its DIGESTS."""
    return sha256(text(sums).encode()).hexdigest()


def digest(folder: Path) -> str:
    """The identity that the suite in `folder` was frozen with, its files unread."""
    return identity(frozen(folder))


def frozen(folder: Path) -> dict[str, str]:
    """What DIGESTS of `folder` says: sha256 by file name."""
    path = folder / NAME
    if not path.is_file():
        raise SuiteMalformed(f"{shown(folder)} has no {NAME}: it was never frozen; freeze it first")
    claims: dict[str, str] = {}
    for number, line in enumerate(path.read_text("utf-8", errors="replace").splitlines(), start=1):
        match = re.fullmatch(r"([0-9a-f]{64})  ([^/\\]+)", line)
        if match is None or match[2] in claims:
            raise SuiteEdited(f"{shown(path)}:{number}: not a new `sha256  filename`: {line!r:.80}; {advice(folder)}")
        claims[match[2]] = match[1]
    return claims


def verified(folder: Path) -> dict[str, bytes]:
    """Every file of the folder, by name: exactly those that DIGESTS lists, unchanged."""
    claims = frozen(folder)
    files = read(folder)
    actual = sums(files)
    for name in sorted(claims.keys() | actual.keys()):
        path = shown(folder / name)
        if name not in actual:
            raise SuiteEdited(f"{path} is missing, but {NAME} lists it; restore it, or {advice(folder)}")
        if name not in claims:
            raise SuiteEdited(f"{path} was added after the suite was frozen; remove it, or {advice(folder)}")
        if actual[name] != claims[name]:
            found, said = f"sha256 {actual[name][:4]}…", f"{NAME} says {claims[name][:4]}…"
            raise SuiteEdited(f"{path} changed after it was frozen ({found}, {said}); {advice(folder)}")
    return files


def shown(path: Path) -> str:
    """How messages call a path: from `suites/` on where it ships with the package, else as it was given."""
    package = Path(__file__).parent
    return path.relative_to(package.parent).as_posix() if path.is_relative_to(package) else str(path)


def advice(folder: Path) -> str:
    """What to do instead of editing a frozen suite."""
    match = re.fullmatch(r"v(\d+)", folder.name)
    copy = f"v{int(match[1]) + 1}/" if match else "a new folder"
    return f"copy the suite to {copy} and freeze that"
