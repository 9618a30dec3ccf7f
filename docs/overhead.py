"""Measures what the client itself costs, and writes it into `docs/engines.md`.

`python docs/overhead.py LLAMA_CPP.toml VLLM.toml`: the baseline of a llama.cpp configuration is launched, and decode
rate and time to first token of each answer, as the client clocks them, stand beside the server's own `timings` of
it; then that of a vLLM configuration, whose own clock is a sum over answers, from their arrival behind its HTTP front
to the end of the pass, so that a bare socket asks the same in turn: what comes later there too is not the client's
doing. Then many paced streams at once come from the tests' loopback server, a process of its own.
"""

from __future__ import annotations

import json
import math
import random
import socket
import statistics
import sys
import time
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

import blocks
import httpx

from draftgate.canaries.targets.servers import config, prometheus
from draftgate.canaries.targets.servers.arms import opened
from draftgate.canaries.targets.servers.asking import Answer, Ask
from draftgate.canaries.targets.servers.launch import Launch
from draftgate.canaries.targets.servers.registry import APIS
from draftgate.canaries.targets.servers.transport import Connection, Endpoint
from draftgate.engine.request import Request

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from draftgate.canaries.targets.servers.server import Server

ROOT = Path(__file__).resolve().parents[1]
PAGE = Path(__file__).with_name("engines.md")
ANSWERS, SHORT, LONG, TOKENS = 20, 16, 900, 96  # prompts: short ones to clock decoding, long ones to clock the prefill
ASKED = ("LLAMA_CPP.toml", "VLLM.toml")
FIRST, DECODE = "vllm:time_to_first_token_seconds", "vllm:request_decode_time_seconds"  # histograms
STREAMS, CHUNKS, PAUSE_S, PORT = 64, 100, 0.02, 8199


class Clocked(NamedTuple):
    """One answer by both clocks: tokens a second after the first, and milliseconds until the first."""

    rate: float
    server_rate: float
    first_ms: float
    server_first_ms: float


class Sums(NamedTuple):
    """Client over server: decode rates, times to first token; and by how many milliseconds the latter is later."""

    rate: float
    first: float
    later_ms: float


class Beside(NamedTuple):
    """Times to first token, medians: the client's over a bare socket's, and by how many milliseconds it is later."""

    first: float
    later_ms: float


class Streams(NamedTuple):
    """Many streams at once: how many were open together, chunks a second in all, the client's share of a core."""

    together: int
    chunks_s: float
    core: float


def main(arguments: Sequence[str]) -> int:
    """The page has the figures."""
    if len(arguments) != len(ASKED):
        sys.stderr.write(f"usage: python docs/overhead.py {' '.join(ASKED)}\n")
        return 2
    llama_cpp, vllm = (config.read(Path(path))["baseline"] for path in arguments)
    with TemporaryDirectory() as folder:
        with opened(llama_cpp, Path(folder, "clock.log")) as server:
            decoding, prefill = clocked(server, SHORT, TOKENS), clocked(server, LONG, 2)
        with opened(vllm, Path(folder, "sums.log")) as server:
            url = vllm.connection.endpoints[0].url
            sums, long = summed(server, url, SHORT), summed(server, url, LONG)
            beside = beside_bare(server, url, SHORT)
        with opened(loopback("llama_cpp", PAUSE_S), Path(folder, "streams.log")) as server:
            streams = at_once(server, STREAMS, CHUNKS)
    text = "\n".join([own_clock(decoding, prefill), sums_of(sums, long, beside), at_load(streams)])
    sys.stdout.write(f"{text}\n")
    before = PAGE.read_text(encoding="utf-8") if PAGE.exists() else "# Engines\n"
    PAGE.write_text(blocks.replaced(before, blocks.begin("overhead", "overhead"), text), encoding="utf-8")
    return 0


def clocked(server: Server, prompt: int, tokens: int) -> list[Clocked]:
    """Answers one after the other to prompts of their own, without the cache of prefixes."""
    return [by_both(answer) for answer in answered(server, prompt, tokens)]


def answered(server: Server, prompt: int, tokens: int) -> list[Answer]:
    """Answers to any prompts of so many tokens, one after the other."""
    return [server.ask([ask])[0][0] for ask in asks(prompt, tokens)]


def asks(prompt: int, tokens: int) -> list[Ask]:
    """What is asked: any prompts of so many tokens."""
    rng = random.Random(1)  # noqa: S311 - any prompts
    requests = [
        Request(name=str(i), prompt=tuple(rng.randrange(5, 1000) for _ in range(prompt)), max_tokens=tokens)
        for i in range(ANSWERS)
    ]
    return [Ask(request=request, salt=f"clock {i}") for i, request in enumerate(requests)]


def beside_bare(server: Server, url: str, prompt: int) -> Beside:
    """The client's time to first token over that of a bare socket, which asks the same in turn."""
    answered(server, prompt, 2)
    ours, theirs = [], []
    for ask in asks(prompt, 2):
        (answer,) = server.ask([replace(ask, salt=f"{ask.salt} ours")])[0]
        ours.append(answer.generation.arrivals[0].seconds)
        body = server.api.body(server.model, replace(ask, salt=f"{ask.salt} bare"))
        theirs.append(bare(url, server.api.path(ask), body))
    mine, other = statistics.median(ours), statistics.median(theirs)
    return Beside(mine / other, 1000 * (mine - other))


def bare(url: str, path: str, body: Mapping[str, Any]) -> float:
    """Seconds from the sending of a request's body to its first event, by a socket and nothing else."""
    data, parts = json.dumps(body).encode(), urlsplit(url)
    head = f"POST {path} HTTP/1.1\r\nHost: {parts.netloc}\r\nContent-Type: application/json\r\nConnection: close\r\n"
    with socket.create_connection((parts.hostname, parts.port), timeout=60) as line:
        line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        line.sendall(f"{head}Content-Length: {len(data)}\r\n\r\n".encode())
        begun, first, came = time.perf_counter(), 0.0, b""
        line.sendall(data)
        while b"[DONE]" not in came and (more := line.recv(65536)):
            came += more
            first = first or (time.perf_counter() - begun if b"data:" in came else 0.0)
    return first


def summed(server: Server, url: str, prompt: int) -> Sums:
    """The client's seconds over vLLM's own, on the same answers to prompts of so many tokens."""
    answered(server, prompt, 2)  # what is made at the first requests falls on neither clock
    before = [seconds_at(url, name) for name in (FIRST, DECODE)]
    arrivals = [answer.generation.arrivals for answer in answered(server, prompt, TOKENS)]
    own = [seconds_at(url, name) - was for name, was in zip((FIRST, DECODE), before, strict=True)]
    first, decode = sum(row[0].seconds for row in arrivals), sum(row[-1].seconds - row[0].seconds for row in arrivals)
    return Sums(own[1] / decode, first / own[0], 1000 * (first - own[0]) / len(arrivals))


def seconds_at(url: str, name: str) -> float:
    """The sum of a histogram of vLLM's."""
    text = httpx.get(f"{url}/metrics", trust_env=False, timeout=20).raise_for_status().text
    return math.fsum(sample.value for sample in prometheus.samples(text) if sample.name == f"{name}_sum")


def by_both(answer: Answer) -> Clocked:
    """The fence posts are the server's: tokens after the first, over the time since the first."""
    arrivals, told = answer.generation.arrivals, answer.usage["timings"]
    after = sum(arrival.tokens for arrival in arrivals[1:])
    rate = after / (arrivals[-1].seconds - arrivals[0].seconds)
    return Clocked(rate, told["predicted_per_second"], 1000 * arrivals[0].seconds, told["prompt_ms"])


def at_once(server: Server, streams: int, chunks: int) -> Streams:
    """All streams asked for at once, a token a chunk."""
    requests = [Request(name=str(i), prompt=(5, 6, 7 + i), max_tokens=chunks) for i in range(streams)]
    asked = [Ask(request=request) for request in requests]
    server.ask(asked[:1])
    begun, busy = time.perf_counter(), time.process_time()
    answers = [answer.generation.arrivals for (answer,) in server.ask(asked)]
    wall, busy = time.perf_counter() - begun, time.process_time() - busy
    first_end = min(arrivals[-1].seconds for arrivals in answers)
    together = sum(arrivals[0].seconds < first_end for arrivals in answers)
    return Streams(together, sum(map(len, answers)) / wall, busy / wall)


def loopback(server: str, seconds: float) -> config.ArmConfig:
    """The tests' server of a kind, on a socket, that waits so long after each chunk."""
    argv = (sys.executable, str(ROOT / "tests/servers_loopback.py"), server, str(PORT), "", str(seconds))
    url = f"http://127.0.0.1:{PORT}"
    connection = Connection(endpoints=(Endpoint("replica 0", url),), deadline_s=60, concurrency=STREAMS)
    launch = Launch(argv=argv, limit_s=20, grace_s=5, ready=APIS[server].ready)
    return config.ArmConfig(
        server=server, connection=connection, model=None, launch=launch, eos=(), logprobs=2, draft_length=0
    )


def own_clock(decoding: list[Clocked], prefill: list[Clocked]) -> str:
    """The section's heading, and what the two clocks of an answer say."""
    rate = statistics.median(row.rate / row.server_rate for row in decoding)
    first = statistics.median(row.first_ms / row.server_first_ms for row in prefill)
    more = statistics.median(row.first_ms - row.server_first_ms for row in prefill)
    return f"""## What the client costs

One stream of llama.cpp, {ANSWERS} answers, the client's clock over the server's own, medians: decode rate {rate:.4f};
time to first token {first:.4f} at prompts of {LONG} tokens, {more:.1f} ms later than the end of the server's
prefill."""


def sums_of(short: Sums, long: Sums, beside: Beside) -> str:
    """What the sums of a server say that times behind its front, and a bare socket before that front."""
    return f"""One stream of vLLM, {ANSWERS} answers to prompts of {SHORT} tokens, sums over its own from arrival on:
decode rate {short.rate:.4f}; time to first token {short.first:.4f}, {short.later_ms:.1f} ms later; at prompts of {LONG}
tokens {long.first:.4f}, {long.later_ms:.1f} ms later. Its clock runs behind its HTTP front: over a bare socket's,
which asks the same short prompts in turn, the client's time to first token is {beside.first:.4f},
{beside.later_ms:.1f} ms later."""


def at_load(streams: Streams) -> str:
    """What many streams at once cost."""
    return f"""{streams.together} of {STREAMS} streams open together, paced at {1 / PAUSE_S:.0f} chunks a second each:
{streams.chunks_s:,.0f} chunks a second in all, with {streams.core:.0%} of a core."""


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
