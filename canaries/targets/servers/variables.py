"""Puts the environment's values where a configuration says `${NAME}`: folders differ from machine to machine."""

from __future__ import annotations

import os
import re

from ...errors import UsageError
from .secrets import secret_name

_VARIABLE = re.compile(r"\$\{(\w+)\}")


def expanded(text: str, where: str) -> str:
    """`text` with the value of each variable that it names. Raises UsageError where one is unset, empty or a key.

    A key would stand in the record, as part of the command that started the server.
    """

    def value(found: re.Match[str]) -> str:
        name = found[1]
        if secret_name(name):
            told = "keys stand in no command; the server inherits your environment"
            raise UsageError(f"{where} names ${{{name}}}: {told}")
        if not os.environ.get(name):
            raise UsageError(f"{where} names ${{{name}}}, which is not set; export it and run again")
        return os.environ[name]

    return _VARIABLE.sub(value, text)
