"""The blocks of a page that scripts write: from `<!-- NAME: written by docs/SCRIPT.py -->` to `<!-- end -->`."""

from __future__ import annotations

import re

END = "<!-- end -->"


def begin(name: str, script: str) -> str:
    """The line that opens a block of `docs/SCRIPT.py`."""
    return f"<!-- {name}: written by docs/{script}.py -->"


def kept(text: str) -> list[str]:
    """All blocks of a page, whole."""
    return re.findall(rf"<!-- \w+: written by [\w/.]+ -->.*?{END}", text, re.DOTALL)


def replaced(text: str, first: str, content: str) -> str:
    """The page with this content in the block that `first` opens, in its place, or at the end of a page without it."""
    block = f"{first}\n{content}\n{END}"
    for old in kept(text):
        if old.startswith(first):
            return text.replace(old, block)
    return f"{text.rstrip()}\n\n{block}\n"
