"""A key that is read from the environment and reaches nothing else: no record, no log, no message.

What else is called a secret, in what a server prints or tells of itself, is struck as well.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from typing import Any

from ...errors import UsageError

_NAME = re.compile(r"(?:^|[_-])(?:api_?key|key|token|secret|password)$", re.IGNORECASE)
REDACTED = "(not recorded)"
LEAST = 8  # characters of a secret that is looked for wherever it may stand: no key is shorter, and many words are
_SWITCH = re.compile(r"(?<![\w-])(--?[A-Za-z][\w-]*)([ =]+)(?![-(])\S+")
_NAMED = re.compile(r"""(\w+)(['"]?\s*[:=]\s*)('[^']+'|"[^"]+"|\[\s*['"][^\]]*\])""")  # as Python and JSON write it


def secret_name(name: str) -> bool:
    """Whether something of this name holds a key: `HF_TOKEN`, `--api-key`, `admin_api_key`."""
    return bool(_NAME.search(name.replace("-", "_")))


def redacted(document: Any) -> Any:
    """A document without secrets; those that are empty stand.

    Struck are: what a key calls secret, the word behind a switch that calls it so (`--api-key`, `SECRET`), both inside
    texts as well, and wherever it stands what a variable of this environment calls secret.
    """
    if isinstance(document, dict):
        return {k: REDACTED if _texts(v) and secret_name(str(k)) else redacted(v) for k, v in document.items()}
    if isinstance(document, list):
        before = [None, *document]
        return [REDACTED if _behind(*pair) else redacted(pair[1]) for pair in zip(before, document, strict=False)]
    return struck(document) if isinstance(document, str) else document


def struck(text: str) -> str:
    """A text without the secrets that stand in it."""
    for value, name in known():
        text = text.replace(value, f"${name}")
    for pattern in (_SWITCH, _NAMED):
        text = pattern.sub(lambda m: m[1] + m[2] + REDACTED if secret_name(m[1]) else m[0], text)
    return text


def known() -> list[tuple[str, str]]:
    """(value, name) of each variable of this environment that holds a secret, the longest value first."""
    found = [(value.strip(), name) for name, value in os.environ.items() if secret_name(name)]
    return sorted((pair for pair in found if len(pair[0]) >= LEAST), key=lambda pair: -len(pair[0]))


def _texts(value: Any) -> bool:
    """Whether there is a text to be struck: one, or some in a list."""
    return bool(value) and (isinstance(value, str) or (isinstance(value, list) and any(map(_texts, value))))


def _behind(switch: Any, word: Any) -> bool:
    """Whether the word is the value of a switch that calls it secret."""
    named = isinstance(switch, str) and switch.startswith("-") and secret_name(switch)
    return named and isinstance(word, str) and bool(word) and not word.startswith("-")


@dataclass(frozen=True, slots=True)
class Secret:
    """A key by the name of its environment variable; only `headers` tells it, and only to a connection."""

    variable: str
    _value: str = field(repr=False)

    @classmethod
    def read(cls, variable: str) -> Secret:
        """Raises UsageError where the variable is unset, empty, or cannot stand in a header."""
        value = os.environ.get(variable, "").strip()
        if not value:
            raise UsageError(f"the environment variable {variable} (key_env) is not set; export it and run again")
        if not (value.isascii() and value.isprintable()):
            raise UsageError(f"the key in {variable} has characters that no header may have; set the key alone")
        return cls(variable, value)

    def headers(self) -> dict[str, str]:
        """What shows the key to the server."""
        return {"Authorization": f"Bearer {self._value}"}

    def scrub(self, data: bytes) -> bytes:
        """`data` with the key replaced by the variable's name."""
        return data.replace(self._value.encode(), f"${self.variable}".encode())
