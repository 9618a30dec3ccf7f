"""Server-sent events, read as they come: bytes in, the data of whole events out. Knows nothing about JSON.

Lines end in CR, LF or CRLF, wherever the network cuts them. WHATWG HTML, section 9.2.6.
"""

from __future__ import annotations

import re

_LINE_END = re.compile(rb"\r\n|\n|\r")
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class EventReader:
    """Keeps what has come of the next event."""

    def __init__(self) -> None:
        self._begun = False
        self._after_cr = False
        self._rest = b""
        self._data: list[str] = []

    def feed(self, data: bytes) -> list[str]:
        """The data of each event that `data` completes. Raises UnicodeDecodeError where a line is not UTF-8."""
        if self._after_cr and data.startswith(b"\n"):
            data = data[1:]
        self._after_cr = data.endswith(b"\r")
        *lines, self._rest = _LINE_END.split(self._rest + data)
        return [event for line in lines for event in self._take(line)]

    def left(self) -> str:
        """What stands of an event that was not completed; `[DONE]` needs no empty line behind it."""
        lines = [*self._data, *([self._rest.decode(errors="replace")] if self._rest else [])]
        return "\n".join(lines).removeprefix("data:").strip().removesuffix("[DONE]")

    def _take(self, line: bytes) -> list[str]:
        if not self._begun:
            self._begun, line = True, line.removeprefix(_BYTE_ORDER_MARK)
        if line.startswith(b"data:"):
            self._data.append(line[5:].removeprefix(b" ").decode())
        if line or not self._data:  # comments, event names, ids and retry times say nothing here
            return []
        event, self._data = "\n".join(self._data), []
        return [event]
