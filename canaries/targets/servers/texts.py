"""Holds the text of an answer against what its ids decode to: a detokeniser that loses or doubles text is a fault.

Four differences are none: a space before the first word, which some tokenisers drop at the start of a text; half a
character at the end; where a stop string ended the answer, what the server cut off; and tokens of control, spelled in
angle brackets, which texts leave out and decoding does not.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from ....engine.request import Generation
from ....engine.sequences import shared_length
from .errors import TextDiffers

_SHOWN = 24
_CONTROL = re.compile(r"<[^<>]+>")


def check_text(where: str, answer: Generation, eos: Sequence[int], decode: Callable[[tuple[int, ...]], str]) -> None:
    """Raises TextDiffers where the ids, less an end of sequence, do not decode to the text."""
    tokens = answer.tokens
    while tokens and tokens[-1] in eos:
        tokens = tokens[:-1]
    text, cut = _plain(answer.text), answer.finish == "stop"
    decoded = _plain(decode(tokens))
    if not _same(decoded, text, cut=cut):
        control = {token for token in {*tokens} if _CONTROL.fullmatch(decode((token,)).strip())}
        decoded = _plain(decode(tuple(token for token in tokens if token not in control))) if control else decoded
    if _same(decoded, text, cut=cut):
        return
    at = shared_length(decoded, text)
    told = f"from character {at} the ids decode to {decoded[at:][:_SHOWN]!r} and the text is {text[at:][:_SHOWN]!r}"
    raise TextDiffers(where, f"{answer.name}: {told}", "report it to the server's authors")


def _same(decoded: str, text: str, *, cut: bool) -> bool:
    return decoded == text or (cut and decoded.startswith(text))


def _plain(text: str) -> str:
    return text.removeprefix(" ").rstrip("\ufffd")
