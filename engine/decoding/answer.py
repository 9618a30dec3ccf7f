"""One answer as it grows: where it ends, and what is thrown away behind the end.

End of sequence, stop strings and the token limit are looked for after *every* token, also inside an accepted block.
Knows nothing about models or drafts.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from ..request import Arrival, Generation, Request, Round


class Answer:
    """The tokens emitted for one request so far; `finish` is None while it is open."""

    def __init__(self, request: Request, decode: Callable[[Sequence[int]], str], started: float) -> None:
        self.request = request
        self.tokens: list[int] = []
        self.finish: str | None = None
        self.rounds: list[Round] = []
        self.prefill = 0
        self._decode = decode
        self._started = started
        self._arrivals: list[Arrival] = []

    @property
    def context(self) -> list[int]:
        """Prompt and answer so far: all committed tokens."""
        return [*self.request.prompt, *self.tokens]

    @property
    def remaining(self) -> int:
        """Tokens until the limit."""
        return self.request.max_tokens - len(self.tokens)

    def begin(self, token: int) -> None:
        """Takes the token that prefill gave."""
        self.prefill = self._take([token])

    def extend(self, tokens: Sequence[int], drafted: int) -> None:
        """Takes what one round emitted, its last token included, as far as the answer is still open."""
        emitted = self._take(tokens)
        self.rounds.append(Round(drafted, len(tokens) - 1, emitted, len(tokens) - emitted))

    def step(self, token: int) -> None:
        """Takes one token of plain decoding."""
        self._take([token])

    def generation(self) -> Generation:
        """The finished answer. The text ends before the stop string that ended it."""
        text = self._decode(self.tokens)
        if self.finish == "stop":
            text = text[: min(at for at in map(text.find, self.request.stop) if at >= 0)]
        return Generation(
            name=self.request.name,
            tokens=tuple(self.tokens),
            text=text,
            finish=self.finish or "length",
            prefill=self.prefill,
            arrivals=tuple(self._arrivals),
            rounds=tuple(self.rounds),
        )

    def _take(self, tokens: Sequence[int]) -> int:
        emitted = 0
        for token in map(int, tokens):
            self.tokens.append(token)
            emitted += 1
            self.finish = self._ended(token)
            if self.finish is not None:
                break
        self._arrivals.append(Arrival(time.perf_counter() - self._started, emitted))
        return emitted

    def _ended(self, token: int) -> str | None:
        if token in self.request.eos:
            return "eos"
        if self.request.stop and self._holds_a_stop():
            return "stop"
        return "length" if self.remaining <= 0 else None

    def _holds_a_stop(self) -> bool:
        text = self._decode(self.tokens)
        return any(stop in text for stop in self.request.stop)
