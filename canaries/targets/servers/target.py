"""A server as one arm of the gate: what is asked of it, and what it told, in the gate's own nouns.

Each call finds the cache of prefixes cold where the API has a way to say so: both arms then have the same state. The
end of an answer is a token of it, whether or not the server lists that.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any

from ....engine.models.pretrained import Words
from ....engine.request import Arrival, Generation, Request
from ...contracts import Conversed, Heard, Replay, Shape, Watched
from ...errors import BrokenAnswer
from .asking import Answer, Ask
from .config import ArmConfig
from .counters import Counters, summed
from .errors import ServerError, ServerFailed, Unsupported
from .laws import LEAST, deciding, law, listed, placed
from .server import Server
from .texts import check_text


@dataclass(frozen=True, kw_only=True)
class ServerTarget:
    """An open server in one of the two roles. Raises ServerError; one that is a finding names the role.

    `words` is a tokenizer here, for servers that have none to ask, or that answer in text or in ids alone.
    """

    role: str
    server: Server
    config: ArmConfig
    words: Words | None = None
    _encoded: dict[str, tuple[int, ...]] = field(default_factory=dict, repr=False)
    _calls: Iterator[int] = field(default_factory=count, repr=False)

    kind = "server"
    guarantee = "SAME_LAW"
    capabilities = frozenset({"counters", "configuration", "chat"})

    @property
    def name(self) -> str:
        """The kind of server."""
        return self.server.api.name

    @property
    def draft_length(self) -> int:
        """How many tokens a round proposes at most, as configured; 0 for the baseline."""
        return self.config.draft_length

    @property
    def unseen(self) -> tuple[str, ...]:
        """What the server's way to answer hides from every check."""
        if self.words is None or self.server.api.ids_told:
            return ()
        return ("ids of answers: they were made from texts, so that two spellings of one text look alike",)

    @property
    def eos(self) -> tuple[int, ...]:
        """Ids that end an answer, as configured."""
        return self.config.eos

    def encode(self, messages: Sequence[Mapping[str, str]]) -> tuple[int, ...]:
        """Prompt ids of a conversation, by the server's own template; each is asked for once."""
        key = json.dumps(messages, default=dict)
        if key not in self._encoded:
            with self._named():
                self._encoded[key] = (self.words or self.server).encode(messages)
        return self._encoded[key]

    def check(self, request: Request) -> None:
        """Nothing: a prompt that is too long is for the server to refuse."""

    def generate(self, requests: Sequence[Request]) -> list[Generation]:
        """Answers in the order of the requests, all under way at once."""
        return self.watch(requests).generations

    def watch(self, requests: Sequence[Request]) -> Watched:
        """The answers, on the clock, with the counters of each and of the window. What judges them is read after it."""
        salt = self._cold()
        with self._named():
            before = self.server.counters()
            started = time.perf_counter()
            told = self.server.ask([Ask(request=request, salt=salt) for request in requests])
            wall = time.perf_counter() - started
            answers = [each for (each,) in told]
            counters = counted(self.server.counted(before), answers)
            made = [self._whole(request, answer) for request, answer in zip(requests, answers, strict=True)]
        return Watched(wall, made, counters)

    def _cold(self) -> str | None:
        """A salt that no call had before, where the API takes one; else its cache is emptied, where it has a way."""
        if self.server.api.salted:
            return f"{self.role}-{next(self._calls)}"
        if self.server.api.reset:
            self.server.reset()
        return None

    def converse(self, asks: Sequence[Ask]) -> Conversed:
        """The answers as they came, or the words with which each ask was refused, by a server that lives on."""
        salt = self._cold()
        with self._named():
            before = self.server.counters()
            told = self.server.tried([replace(ask, salt=salt) for ask in asks])
            failed = [one for one in told if isinstance(one, ServerFailed)]
            if failed and not self.server.alive():
                raise failed[0]
            answers = [answer for one in told if not isinstance(one, ServerError) for answer in one]
            window = counted(self.server.counted(before), answers)["window"] or {}
            heard = [Heard((), str(one)) if isinstance(one, ServerError) else Heard(one, None) for one in told]
            return Conversed(heard, window.get("drafted"))

    def _whole(self, request: Request, answer: Answer) -> Generation:
        generation = answer.generation
        if answer.counted != "ids":
            if self.words is None:
                told = "its answers carry no token ids"
                raise Unsupported(self.name, told, "use the server's own kind, or name a tokenizer folder")
            return ended(retokenised(generation, self.words), request)
        if self.words and not generation.text:
            return ended(replace(generation, text=self.words.decode(generation.tokens)), request)
        if self.words or self.server.api.tokenizing:
            decode = self.words.decode if self.words else self.server.text
            check_text(self.server.where, generation, request.eos, decode)
        return ended(generation, request)

    def score(
        self, requests: Sequence[Request], answers: Sequence[Sequence[int]], *, width: int, slack: float
    ) -> list[Replay]:
        """Teacher-forces the answers: in one request each where the API can and `width` is 0, else one a token."""
        rows = [(request.prompt, answer) for request, answer in zip(requests, answers, strict=True)]
        most = self._most(requests)
        with self._named():
            told = self.server.scores(rows, most, stepped=width == 1)
            return [
                joined([placed(token, request.sampling, slack, most, self.server.where) for token in tokens])
                for request, tokens in zip(requests, told, strict=True)
            ]

    def shapes(self, widths: Sequence[int]) -> tuple[Shape, ...]:
        """The same again, alone, and token by token where the yardstick is not: widths cannot be asked for."""
        del widths
        stepped = (Shape("stepped", 1, alone=False),) if self.server.api.whole else ()
        return Shape("", 0, alone=False), Shape("again", 0, alone=False), *stepped, Shape("alone", 0, alone=True)

    def next_law(self, requests: Sequence[Request]) -> list[Mapping[int, float] | None]:
        """The law of each answer's first token, from the best tokens right after the prompt."""
        most = self._most(requests)
        asks = [
            Ask(
                request=Request(name=request.name, prompt=request.prompt, max_tokens=1),
                stream=False,
                logprobs=most,
            )
            for request in requests
        ]
        with self._named():
            told = self.server.ask(asks)
            return [self._law(request, answer, most) for request, (answer,) in zip(requests, told, strict=True)]

    def _most(self, requests: Sequence[Request]) -> int:
        """How many logprobs are asked for: as many as decide the law of each request, of those that may be asked."""
        return min(self.config.logprobs, max((deciding(request.sampling) for request in requests), default=LEAST))

    def _law(self, request: Request, answer: Answer, most: int) -> dict[int, float] | None:
        told = answer.logprobs[0].best if answer.logprobs else {}
        if any(isinstance(token, str) for token in told):
            return None  # several ids may have one text
        best = listed(told, most, self.server.where)
        found = law(best, request.sampling)
        if found is None:
            return None
        return {int(token): float(mass) for token, mass in zip(best.ids, found, strict=True) if mass > 0}

    def identity(self) -> dict[str, Any]:
        """How the arm was configured and launched; `model` is what must be the same in both arms."""
        told = self.server.identity()
        cold = "salt" if self.server.api.salted else "reset" if self.server.api.reset else "as it is"
        return {
            "name": f"{self.name}:k={self.draft_length}" if self.draft_length else self.name,
            "kind": self.kind,
            "method": self.name,
            "guarantee": self.guarantee,
            "options": {"k": self.draft_length} if self.draft_length else {},
            "model": {"server": self.name} | self.server.api.alike(told["configuration"]),
            "server": {key: told[key] for key in ("model", "replicas", "launched")} | {"prefix_cache": cold},
        }

    def configuration(self) -> dict[str, Any]:
        """All that the server reports of itself, and the switches found in it."""
        switches = [found._asdict() for found in self.server.switches()]
        return {"reported": self.server.identity()["configuration"], "switches": switches}

    @contextmanager
    def _named(self) -> Iterator[None]:
        """What is a finding about the engine is told with the arm that gave it, and so is an engine that gives none."""
        try:
            yield
        except ServerError as error:
            if error.finding:
                raise BrokenAnswer(str(error), self.role) from error
            if error.unanswered or not self.server.alive():
                error.lost = self.role
                error.relaunches = self.config.launch.relaunches if self.config.launch else 0
            raise


def ended(generation: Generation, request: Request) -> Generation:
    """The answer with its end as a token: some servers list the end of the sequence, others only say that it came."""
    if generation.finish != "eos" or not request.eos or generation.tokens[-1:] in {(token,) for token in request.eos}:
        return generation
    arrivals = generation.arrivals
    if arrivals:
        arrivals = (*arrivals[:-1], arrivals[-1]._replace(tokens=arrivals[-1].tokens + 1))
    return replace(generation, tokens=(*generation.tokens, request.eos[0]), arrivals=arrivals)


def retokenised(generation: Generation, words: Words) -> Generation:
    """An answer that came as text, with ids made from it. Which chunk brought which is not known: all come last."""
    tokens = words.tokens(generation.text)
    *before, last = generation.arrivals or (Arrival(0.0, 0),)
    arrivals = (*(arrival._replace(tokens=0) for arrival in before), last._replace(tokens=len(tokens)))
    return replace(generation, tokens=tokens, arrivals=arrivals)


def counted(over: Counters, answers: Sequence[Answer]) -> dict[str, Any]:
    """The counters of a window and of its answers; where only answers are told, the window is their sum."""
    each = [answer.counters for answer in answers]
    told = summed([counters for counters in each if counters]) if all(each) and each else None
    window = over if over.drafted is not None or told is None else told
    return {"window": window.to_json(), "each": [counters.to_json() if counters else None for counters in each]}


def joined(parts: Sequence[Replay]) -> Replay:
    """Replays of one token each, as one."""
    return Replay(*(tuple(value for part in parts for value in getattr(part, name)) for name in Replay._fields))
