"""A key that is read from the environment and reaches nothing else: no record, no log, no message."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from typing import Any

from ...errors import UsageError

_NAME = re.compile(r"(?:^|[_-])(?:api_?key|key|token|secret|password)$", re.IGNORECASE)
REDACTED = "(not recorded)"


def secret_name(name: str) -> bool:
    """Whether something of this name holds a key: `HF_TOKEN`, `--api-key`, `admin_api_key`."""
    return bool(_NAME.search(name.replace("-", "_")))


def redacted(document: Any) -> Any:
    """A document without the values that its keys call secret; those that are empty stand."""
    if isinstance(document, dict):
        return {
            k: REDACTED if v and isinstance(v, str) and secret_name(k) else redacted(v) for k, v in document.items()
        }
    return [redacted(each) for each in document] if isinstance(document, list) else document


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
