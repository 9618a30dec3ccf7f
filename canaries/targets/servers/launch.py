"""Starts a server in a process group of its own, waits until it is ready, and ends the group whatever happens.

All that the server prints goes to a log, with secrets replaced, and its last lines into the error where it dies.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import threading
import time
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self
from urllib.parse import urlsplit

import httpx

from ...errors import OutputUnwritable
from .errors import Died, DiedOf, NotReady, PortTaken, ServerError, Unreachable
from .secrets import Secret, redacted, struck

_LINES = 8  # of the log, in a message
_POLL_S = 0.1
_TELLING = ("VLLM_", "SGLANG_", "SIMULATE_", "LLAMA_", "GGML_", "TLLM_", "TRTLLM_", "CUDA_", "TORCH", "OMP_")
_SETTLE_S = 1.0
_PROBE_S = 5.0  # for one look at the readiness URL, and for the log to run dry


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """How a server is started and stopped. `env` is added to this process's own environment.

    `relaunches` says how often in one run it is started anew after it was lost.
    """

    argv: tuple[str, ...]
    limit_s: float
    grace_s: float
    ready: str
    env: Mapping[str, str] = field(default_factory=dict)
    stop: signal.Signals = signal.SIGTERM
    relaunches: int = 0

    def to_json(self) -> dict[str, Any]:
        """What decides about the server, for its identity: of what it inherits, the variables that it may read."""
        inherited = {name: value for name, value in os.environ.items() if name.startswith(_TELLING)}
        return {"argv": redacted(list(self.argv)), "env": redacted({**inherited, **self.env})}


class Launched:
    """A running server at `url`. Use as a context manager; entering waits until it is ready.

    Raises PortTaken, Unreachable where the program cannot be started, Died, or NotReady.
    """

    def __init__(self, launch: Launch, url: str, log: Path, secret: Secret | None = None) -> None:
        self._launch, self._url, self._log, self._secret = launch, url, log, secret
        self._last: deque[str] = deque(maxlen=_LINES)
        self._ended = False

    def __enter__(self) -> Self:
        _refuse_taken(self._url)
        headers = self._secret.headers() if self._secret else {}
        with httpx.Client(trust_env=False, timeout=_PROBE_S, headers=headers) as client, ExitStack() as failing:
            with _held():
                self._process = self._started()
                failing.callback(self._end)
                self._reader.start()
            self._wait(client)
            failing.pop_all()
        return self

    def _started(self) -> subprocess.Popen[bytes]:
        try:
            log = self._log.open("ab")
        except OSError as error:
            raise OutputUnwritable(f"the log {self._log} cannot be written ({error.strerror}); name another") from None
        try:
            process = subprocess.Popen(  # noqa: S603 - the user's own command
                self._launch.argv,
                env={**os.environ, **self._launch.env},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        except OSError as error:
            log.close()
            told = f"{self._launch.argv[0]!r} cannot be started ({error.strerror})"
            raise Unreachable(self._url, told, "correct argv") from None
        assert process.stdout
        self._reader = threading.Thread(target=self._copy, args=(process.stdout, log), daemon=True)
        return process

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._end()

    def check(self, seen: ServerError | None = None) -> None:
        """Raises Died where the server has ended, DiedOf where that was `seen` to be a question's doing."""
        if seen:  # the connection breaks a moment before the process has ended
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(_SETTLE_S)
        status = self._process.poll()
        if status is not None:
            self._signal(signal.SIGKILL)  # what it may have left behind in its group
            self._ended = True
            self._reader.join(_PROBE_S)
            told = f"signal {signal.Signals(-status).name}" if status < 0 else f"exit status {status}"
            shown = f" (seen as: {seen})" if seen else ""
            kind = DiedOf if isinstance(seen, DiedOf) else Died
            died = kind(self._url, f"the server ended with {told}{shown}", self._told())
            if seen:
                died.lost, died.relaunches = seen.lost, seen.relaunches
            raise died

    def _wait(self, client: httpx.Client) -> None:
        end = time.monotonic() + self._launch.limit_s
        while time.monotonic() < end:
            self.check()
            with suppress(httpx.TransportError):
                if client.get(self._url + self._launch.ready).is_success:
                    return
            time.sleep(_POLL_S)
        told = f"not ready within {self._launch.limit_s:g} s"
        raise NotReady(self._url + self._launch.ready, told, f"raise limit_s; {self._told()}")

    def _told(self) -> str:
        """How the log ends."""
        return f"its log ({self._log}) ends: {' | '.join(self._last) or 'it printed nothing'}"

    def _copy(self, output: IO[bytes], log: IO[bytes]) -> None:
        with output, log:
            for line in output:
                kept = self._secret.scrub(line) if self._secret else line
                kept = struck(kept.decode(errors="surrogateescape")).encode(errors="surrogateescape")
                log.write(kept)
                log.flush()
                if kept.strip():
                    self._last.append(kept.decode(errors="replace").strip())

    def _end(self) -> None:
        """The whole group has ended afterwards: asked first, then killed; also when interrupted while waiting."""
        try:
            self._signal(self._launch.stop)
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(self._launch.grace_s)
        finally:
            self._signal(signal.SIGKILL)
            self._process.wait()
            self._reader.join(_PROBE_S)

    def _signal(self, number: signal.Signals) -> None:
        if self._ended:
            return
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, number)


@contextmanager
def _held() -> Iterator[None]:
    """Signals that would interrupt are told afterwards: no process is started that nobody knows of."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    told: list[int] = []
    held = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = {number: signal.signal(number, lambda n, _: told.append(n)) for number in held}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    for each in told[:1]:
        signal.raise_signal(each)


def _refuse_taken(url: str) -> None:
    parts = urlsplit(url)
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((parts.hostname or "127.0.0.1", parts.port or 80))
        except OSError as error:
            told = f"a server cannot be launched there ({error.strerror})"
            todo = "stop what listens, choose another port, or leave out the launch table to use it"
            raise PortTaken(url, told, todo) from None
