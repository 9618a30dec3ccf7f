"""The way to a server: JSON and streams over HTTP, each failure a typed error of one line.

Knows endpoints, deadlines, keys and bytes; knows nothing about fields. A request that was sent is never sent again:
only connection set-up is tried again. Proxies and .netrc of the environment are not used, so that what is timed is the
server and no key travels unasked.
"""

from __future__ import annotations

import asyncio
import json
import ssl
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from types import MappingProxyType, TracebackType
from typing import Any, NamedTuple, Self

import httpx

from . import statuses
from .errors import Dropped, Garbled, Hung, NotTheApi, ServerError, Unreachable, Untrusted
from .secrets import Secret, struck
from .sse import EventReader

Take = Callable[[float, Any], None]
_SET_UP_RETRIES = 2  # of a connection, before anything was sent: a listen queue that was full for a moment
_LIMITS = httpx.Limits(keepalive_expiry=2.0)  # servers end idle connections after 5 s: no request may meet that
_LAST = {"Connection": "close"}  # of a stream: some servers end its connection against their own promise
_AROUND = 20  # bytes on each side of one that is wrong
_SHOWN = 300  # characters of a server's own words in a message
if find_spec("sniffio") is None:  # httpcore looks for it at every lock of every request, in all folders of the path
    sys.modules["sniffio"] = None  # type: ignore[assignment]  # from now on it is known not to be there
_IDENTITY = {"Accept-Encoding": "identity"}  # compressed streams arrive in other portions than they were sent in


class Endpoint(NamedTuple):
    """One replica: its name in the record, its URL without a path of the API."""

    name: str
    url: str


class Reply(NamedTuple):
    """A whole answer: seconds from the sending of its request to its last byte, and its document."""

    seconds: float
    document: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Connection:
    """How an arm is reached. `deadline_s` bounds one request, `concurrency` how many are under way in all."""

    endpoints: tuple[Endpoint, ...]
    deadline_s: float
    concurrency: int
    secret: Secret | None = None
    ca_file: str | None = None


class Transport:
    """An open client. Use as an async context manager, on one event loop."""

    def __init__(self, connection: Connection) -> None:
        self.endpoints = connection.endpoints
        self._deadline_s = connection.deadline_s
        self._secret = connection.secret
        self._free = asyncio.Semaphore(connection.concurrency)
        verify = ssl.create_default_context(cafile=connection.ca_file) if connection.ca_file else True
        self._client = httpx.AsyncClient(
            transport=httpx.AsyncHTTPTransport(verify=verify, retries=_SET_UP_RETRIES, limits=_LIMITS),
            headers=_IDENTITY | (connection.secret.headers() if connection.secret else {}),
            timeout=None,  # the deadline is kept here, for the request as a whole  # noqa: S113
            trust_env=False,
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        await self._client.aclose()

    async def json(self, method: str, path: str, body: Any = None, *, replica: int = 0) -> Any:
        """The document of one answer. Raises ServerError."""
        return (await self.reply(method, path, body, replica=replica)).document

    async def reply(self, method: str, path: str, body: Any = None, *, replica: int = 0) -> Reply:
        """The document of one answer, and when its last byte came. Raises ServerError."""
        data, seconds = bytearray(), 0.0

        def feed(now: float, part: bytes) -> None:
            nonlocal seconds
            seconds = now
            data.extend(part)

        kind = await self._exchange(method, path, body, replica, feed)
        where = self.where(replica, path)
        if "json" not in kind:
            raise _not_the_api(where, kind, "JSON")
        return Reply(seconds, self._parsed(where, bytes(data)))

    async def text(self, method: str, path: str, *, replica: int = 0) -> str:
        """The body of one answer. Raises ServerError, Garbled where it is not UTF-8."""
        data = bytearray()
        await self._exchange(method, path, None, replica, lambda _, part: data.extend(part))
        try:
            return self._scrubbed(bytes(data)).decode()
        except UnicodeDecodeError as error:
            raise self._not_utf8(self.where(replica, path), error) from None

    async def stream(self, path: str, body: Any, take: Take, *, replica: int = 0) -> None:
        """Hands each event to `take` with its arrival, in seconds since the request was sent. Raises ServerError."""
        where, reader = self.where(replica, path), EventReader()

        def feed(seconds: float, part: bytes) -> None:
            try:
                events = reader.feed(part)
            except UnicodeDecodeError as error:
                raise self._not_utf8(where, error) from None
            for event in events:
                if event != "[DONE]":
                    take(seconds, self._parsed(where, event.encode()))

        kind = await self._exchange("POST", path, body, replica, feed, _LAST)
        if "event-stream" not in kind:
            raise _not_the_api(where, kind, "server-sent events")
        if reader.left():
            told = self._words(reader.left().encode())
            raise Garbled(where, f"the stream ends with half an event: {told!r}", "report it to the server's authors")

    def where(self, replica: int, path: str) -> str:
        """The address that messages name."""
        return self.endpoints[replica].url + path

    async def _exchange(
        self,
        method: str,
        path: str,
        body: Any,
        replica: int,
        take: Callable[[float, bytes], None],
        more: Mapping[str, str] = MappingProxyType({}),
    ) -> str:
        """The content type of an answer whose body was handed to `take` as it came."""
        where, received = self.where(replica, path), _Received(take)
        async with self._free:
            try:
                async with asyncio.timeout(self._deadline_s):
                    return await self._sent(method, where, body, received, more)
            except TimeoutError:
                told = f"no end within {self._deadline_s:g} s; {received.count} bytes came"
                raise Hung(where, told, "raise deadline_s, or look whether the server hangs") from None
            except httpx.ConnectError as error:
                raise _unreachable(where, error) from None
            except (httpx.TransportError, httpx.StreamError) as error:
                words = self._words(str(error).encode())
                told = f"the connection ended after {received.count} bytes of the answer ({words})"
                raise Dropped(where, told, "look at the server's log; nothing was asked again") from None

    async def _sent(self, method: str, where: str, body: Any, received: _Received, more: Mapping[str, str]) -> str:
        content = None if body is None else json.dumps(body, allow_nan=False).encode()
        headers = {**more, **({} if body is None else {"Content-Type": "application/json"})}
        traced = {"trace": received.trace}
        async with self._client.stream(method, where, content=content, headers=headers, extensions=traced) as response:
            kind = str(response.headers.get("content-type", "no content type"))
            if response.is_success and "html" not in kind:
                async for part in response.aiter_raw():
                    received(part)
                return self._words(kind.encode())
            told = {name: self._words(value.encode()) for name, value in response.headers.items()}
            words = self._words(await response.aread())
            raise statuses.refusal(where, response.status_code, told, words)

    def _parsed(self, where: str, data: bytes) -> Any:
        try:
            return json.loads(self._scrubbed(data).decode(), parse_constant=_refuse_constant)
        except UnicodeDecodeError as error:
            raise self._not_utf8(where, error) from None
        except ValueError as error:
            told = f"no valid JSON ({error}): {self._words(data)!r}"
            raise Garbled(where, told, "report it to the server's authors") from None

    def _not_utf8(self, where: str, error: UnicodeDecodeError) -> Garbled:
        before, after = error.object[: error.start], error.object[error.start :]
        shown = self._scrubbed(before)[-_AROUND:] + self._scrubbed(after)[:_AROUND]
        return Garbled(where, f"the answer is not UTF-8, at {shown!r}", "report it to the server's authors")

    def _scrubbed(self, data: bytes) -> bytes:
        return self._secret.scrub(data) if self._secret else data

    def _words(self, data: bytes) -> str:
        """What a server said, fit for one line of a message."""
        return struck(" ".join(self._scrubbed(data).decode(errors="replace").split()))[:_SHOWN]


@dataclass(slots=True)
class _Received:
    """Parts of a body on their way, and how many bytes came."""

    take: Callable[[float, bytes], None]
    begun: float = 0.0
    count: int = 0

    async def trace(self, event: str, _: Any) -> None:
        """Starts the clock when the request is sent: a connection that had to be made is not the server's time."""
        if event.endswith("send_request_body.started"):  # a server cannot begin before it has that
            self.begun = time.perf_counter()

    def __call__(self, part: bytes) -> None:
        self.count += len(part)
        self.take(time.perf_counter() - self.begun, part)


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no number of JSON")


def _not_the_api(where: str, kind: str, wanted: str) -> NotTheApi:
    return NotTheApi(where, f"the answer is {kind}, not {wanted}", "check url and server in the configuration")


def _unreachable(where: str, error: httpx.ConnectError) -> ServerError:
    told = str(error) or "no connection"
    if "SSL" in told or "certificate" in told.lower():
        return Untrusted(where, f"TLS failed ({told})", "check http or https in url, or name the authority's ca_file")
    return Unreachable(where, f"no connection ({told})", "start the server, or correct url")
