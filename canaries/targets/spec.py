"""Reads how a target is named on the command line: `name` or `name:key=value,key=value`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from ..errors import UsageError

WHOLE = re.compile(r"-?[0-9]{1,9}")  # longer numbers cannot be meant
SHARE = re.compile(r"0?\.[0-9]{1,9}")
MOST = 64  # of any whole option: a draft of more tokens than this is a slip of the hand


@dataclass(frozen=True, slots=True)
class TargetSpec:
    """A target's name and its options, as written."""

    name: str
    options: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def parse(cls, text: str) -> TargetSpec:
        """Raises UsageError for an option without `=`, or given twice."""
        name, _, rest = text.partition(":")
        options = {}
        for part in filter(None, rest.split(",")):
            key, equals, value = part.partition("=")
            if not equals:
                raise UsageError(f"target option {part!r} in {text!r} has no value; write {name}:{key}=VALUE")
            if key.strip() in options:
                raise UsageError(f"target option {key.strip()!r} in {text!r} has two values; give {key.strip()!r} once")
            options[key.strip()] = value.strip()
        return cls(name.strip(), options)

    def whole(self, key: str, default: int, least: int = 0) -> int:
        """The option `key` as a whole number of at least `least` and at most `MOST`."""
        text = self.options.get(key)
        if text is None:
            return default
        if not WHOLE.fullmatch(text) or not least <= int(text) <= MOST:
            raise UsageError(f"{self.name}:{key}={text} is not a whole number from {least} to {MOST}")
        return int(text)

    def share(self, key: str) -> float:
        """The option `key` as a number above 0 and below 1, such as 0.4."""
        text = self.options[key]
        if not SHARE.fullmatch(text) or not float(text):
            raise UsageError(f"{self.name}:{key}={text} is not a number between 0 and 1, such as 0.4")
        return float(text)

    def refuse_unknown(self, known: tuple[str, ...]) -> None:
        """Raises UsageError naming the first option that the target does not have."""
        for key in self.options:
            if key not in known:
                choice = ", ".join(known) or "it takes none"
                raise UsageError(f"target {self.name!r} has no option {key!r}; options: {choice}")
