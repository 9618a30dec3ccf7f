import shutil
from pathlib import Path

import pytest


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of a small suite, frozen, that a test may spoil. It does not change with what ships."""
    copy = tmp_path / "mine" / "v1"
    shutil.copytree(Path(__file__).with_name("sample"), copy)
    return copy


@pytest.fixture
def rewrite(folder: Path):
    """Replaces text in one file of the copy, which must hold it exactly once."""

    def replace(name: str, old: str, new: str) -> None:
        path = folder / name
        text = path.read_bytes().decode()
        assert text.count(old) == 1, f"{old!r} stands {text.count(old)} times in {name}"
        path.write_bytes(text.replace(old, new).encode())

    return replace
