"""One conversation of the corpus, with what is needed to judge another answer to it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

Message = dict[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """A conversation that ends with a right answer.

    messages
        Turns with `role` and `content`; the last is the assistant's.
    schema
        Where the answer is JSON: the JSON schema it must satisfy.
    asserts
        Where the answer is Python: lines that pass after it.
    tools, calls
        Where the answer is tool calls: the tools with the schema of their arguments, and the calls in their order with
        the schema that only the right arguments satisfy.
    free
        Whether other answers are as good, as in prose.
    """

    messages: list[Message]
    schema: dict[str, Any] | None = None
    asserts: tuple[str, ...] = ()
    tools: tuple[dict[str, Any], ...] = ()
    calls: tuple[dict[str, Any], ...] = ()
    free: bool = False

    @property
    def answer(self) -> str:
        """The right answer, or one of them."""
        return self.messages[-1]["content"]


def turns(*contents: str, system: str = "") -> list[Message]:
    """User and assistant in turn, the user first; a system prompt before them where one is given."""
    opening = [{"role": "system", "content": system}] if system else []
    return opening + [
        {"role": ("user", "assistant")[place % 2], "content": content} for place, content in enumerate(contents)
    ]
