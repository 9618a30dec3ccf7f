"""Opens an arm as it is configured: launched here if asked, and ready to be asked."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from .config import ArmConfig
from .errors import ServerError
from .launch import Launched
from .registry import APIS
from .server import Server


@contextmanager
def opened(config: ArmConfig, log: Path, spell: Callable[[Sequence[int]], str] | None = None) -> Iterator[Server]:
    """The arm's server; if it was launched, its output goes to `log` and it has ended afterwards.

    Raises ServerError. An error while a launched server is gone is told as its death, with its last lines.
    """
    with ExitStack() as stack:
        launched = None
        if config.launch:
            url, secret = config.connection.endpoints[0].url, config.connection.secret
            launched = stack.enter_context(Launched(config.launch, url, log, secret))
        told = config.launch.to_json() if config.launch else None
        server = stack.enter_context(Server(APIS[config.server], config.connection, config.model, told, spell))
        try:
            yield server
        except ServerError as error:
            if launched:
                launched.check(error)
            raise
