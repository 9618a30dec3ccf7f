"""What a server can do wrong, each in one line: where, what, which value, what to do.

    TargetUnavailable (exit 3)
    └── ServerError             `finding` says whether it is evidence about the engine
        │                       could not judge: the way to the server, or its limits
        ├── Unreachable         connection refused, unknown host
        ├── Untrusted           TLS
        ├── Unauthorised        401, 403
        ├── NotServed           404: no such model or path
        ├── Busy                429
        ├── ServerFailed        5xx, or an error told in the middle of a stream
        ├── Hung                the deadline passed
        │   └── NotReady        that of a launch
        ├── Dropped             the connection ended before the answer did
        ├── NotTheApi           a redirect or another content type: something else answers there
        ├── Unsupported         another 4xx, or a field that the API lacks: the probe takes it as "no"
        ├── PortTaken           something already listens where a server should be launched
        ├── Died                a server that we launched ended by itself
        │                       findings: the engine took the request and answered what no server may answer
        └── AtFault
            ├── Garbled         not JSON, not UTF-8, half an event, fields of the wrong type
            ├── Unfinished      the answer ended in good order without a finish reason
            ├── Lacking         ids, logprobs or usage that the server offers are missing in one answer
            ├── TextDiffers     the ids do not decode to the text
            ├── DiedOf          it answered before a question of the probe and no longer after it
            └── RanBackwards    a counter went down within one window

Only connection set-up is tried again; whatever is raised after a request was sent stands. ServerFailed, Hung, Dropped
and NotTheApi are findings when they come over the same observation in two runs (`run.once`).
"""

from __future__ import annotations

from typing import ClassVar

from ...errors import TargetUnavailable


class ServerError(TargetUnavailable):
    """`where` is the replica's URL and path. `unanswered`: a request was taken, and no answer to it came."""

    finding: ClassVar[bool] = False
    unanswered: ClassVar[bool] = False

    def __init__(self, where: str, what: str, todo: str) -> None:
        super().__init__(f"{where}: {what}; {todo}")
        self.where = where


class Unreachable(ServerError):
    """No connection could be set up."""


class Untrusted(ServerError):
    """The connection could not be secured."""


class Unauthorised(ServerError):
    """The server does not know the key, or does not let it in."""


class NotServed(ServerError):
    """The server has no such model or path."""


class Busy(ServerError):
    """The server limits how much may be asked."""


class ServerFailed(ServerError):
    """The server says that it failed."""

    unanswered = True


class Hung(ServerError):
    """The answer did not end within the deadline."""

    unanswered = True


class NotReady(Hung):
    """A launched server was not ready within its time: nothing was asked of it."""

    unanswered = False


class Dropped(ServerError):
    """The connection ended before the answer did."""

    unanswered = True


class NotTheApi(ServerError):
    """Something answers there, and it is not this API."""

    unanswered = True


class Unsupported(ServerError):
    """The server refuses a field or a value, or its API has no such field."""


class PortTaken(ServerError):
    """Something already listens at the address of a server to be launched."""


class Died(ServerError):
    """A launched server ended by itself; the message ends with the last lines of its log."""


class AtFault(ServerError):
    """The engine took the request and answered what no server may answer."""

    finding = True


class Garbled(AtFault):
    """The answer cannot be read."""


class Unfinished(AtFault):
    """The answer ended in good order without a finish reason."""


class Lacking(AtFault):
    """Something that was asked for, and that the server offers, is not in the answer."""


class TextDiffers(AtFault):
    """The ids of an answer do not decode to its text."""


class DiedOf(AtFault):
    """The server answered before a question and no longer after it."""


class RanBackwards(AtFault):
    """A counter went down within one window."""
