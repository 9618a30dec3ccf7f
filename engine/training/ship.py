"""Puts trained models into the package: `python -m draftgate.engine.training.ship DIR`.

Copies the folders of the recipe's models and writes `SHA256SUMS` beside them, so that `sha256sum --check SHA256SUMS`
there verifies what ships. Knows nothing about how good they are.
"""

from __future__ import annotations

import argparse
import hashlib
import shutil
import tomllib
from collections.abc import Sequence
from pathlib import Path

from .train import RECIPE

EMBEDDED = Path(__file__).parents[1] / "models" / "embedded"
SUMS = "SHA256SUMS"


def ship(trained: Path, to: Path = EMBEDDED) -> list[str]:
    """Every model of the recipe that `trained` holds stands in `to`, and nothing else; returns their names.

    Raises FileNotFoundError, before anything is touched, where there is none.
    """
    names = [name for name in tomllib.loads(RECIPE.read_text())["models"] if (trained / name / "config.json").is_file()]
    if not names:
        raise FileNotFoundError(f"{trained} holds no trained model; give the --out of the training")
    shutil.rmtree(to, ignore_errors=True)
    for name in names:
        (to / name).mkdir(parents=True)
        for file in sorted((trained / name).iterdir()):
            shutil.copyfile(file, to / name / file.name)
    (to / SUMS).write_text(sums(to), encoding="ascii")
    return names


def sums(folder: Path) -> str:
    """`sha256  model/model.safetensors` of each weights file under the folder."""
    files = sorted(folder.glob("*/*.safetensors"))
    return "".join(f"{hashlib.sha256(f.read_bytes()).hexdigest()}  {f.relative_to(folder).as_posix()}\n" for f in files)


def main(arguments: Sequence[str] | None = None) -> None:
    """Reads the command line and copies."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("trained", type=Path, help="the --out of the training")
    parser.add_argument("--to", type=Path, default=EMBEDDED)
    options = parser.parse_args(arguments)
    print(", ".join(ship(options.trained, options.to)))


if __name__ == "__main__":
    main()
