"""Opens servers on a loopback socket, and asks them."""

from __future__ import annotations

from contextlib import contextmanager

from draftgate.canaries.targets.servers.asking import Ask
from draftgate.canaries.targets.servers.registry import APIS
from draftgate.canaries.targets.servers.server import Server
from draftgate.canaries.targets.servers.transport import Connection, Endpoint
from draftgate.engine.request import Request, Sampling
from servers_loopback import Loopback, kind, reply

SECONDS = 20.0  # far above what anything here takes
PROMPT = (5, 6, 7)


def connection(*urls, **changes):
    """A connection to replicas; `changes` replace its limits."""
    endpoints = tuple(Endpoint(f"replica {i}", url) for i, url in enumerate(urls))
    return Connection(endpoints=endpoints, **{"deadline_s": SECONDS, "concurrency": 8} | changes)


@contextmanager
def served(name, answer=None, model=None, launched=None, **changes):
    """(server, loopback) of a kind, or of whatever `answer` says."""
    with (
        Loopback(answer or kind(name)) as loopback,
        Server(APIS[name], connection(loopback.url, **changes), model, launched) as server,
    ):
        yield server, loopback


def answering(parts):
    """Lists one model, and answers all else with what `parts` gives."""
    return lambda asked: reply({"data": [{"id": "tiny"}]}) if asked.path == "/v1/models" else parts(asked)


def request(prompt=PROMPT, max_tokens=8, **changes):
    sampling = Sampling(**{key: changes.pop(key) for key in list(changes) if hasattr(Sampling, key)})
    return Request(name="r", prompt=prompt, max_tokens=max_tokens, sampling=sampling, **changes)


def ask(asking=None, **changes):
    """An ask of one short greedy request; `changes` are the request's, `asking` the ask's."""
    return Ask(request=request(**changes), **(asking or {}))
