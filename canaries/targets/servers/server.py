"""One arm's server or servers: asks in, answers out, from ordinary code that knows no event loop.

Answers of a batch go to the replicas in turn, in the order of the asks, and each answer names its own. Every failure is
a ServerError; whether it is a finding is said by its type.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from types import TracebackType
from typing import Any, Self, TypeVar

from ....engine.request import Request
from .asking import Answer, Ask, TokenLogprob
from .counters import Counters, summed, window
from .errors import Dropped, Garbled, Hung, NotServed, ServerError, ServerFailed, Unreachable, Unsupported
from .gathering import Gathering
from .openai import OpenAI, Tokenizing
from .secrets import redacted
from .statuses import refuse_error
from .switches import Found, find
from .transport import Connection, Transport

T = TypeVar("T")
Row = tuple[Sequence[int], Sequence[int]]  # a prompt and an answer to it
_REPORT = "report it to the server's authors"


class Server:
    """An open arm. `launched` is what is known of its command line and environment, when it was launched here.

    `spell` gives the text of ids, where a tokenizer is at hand: some servers name tokens by their text alone.

    Use as a context manager. Raises ServerError from everything that asks.
    """

    def __init__(
        self,
        api: OpenAI,
        connection: Connection,
        model: str | None = None,
        launched: Any = None,
        spell: Callable[[Sequence[int]], str] | None = None,
    ) -> None:
        self.api, self._spell = api, spell
        self._model, self._launched = model, launched
        self._loop = asyncio.Runner()
        self._loop.get_loop().set_exception_handler(_told)
        self._transport = self._loop.run(_made(connection))
        self._replicas = range(len(connection.endpoints))
        self._drained: Counters | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        try:
            self._run(self._transport.__aexit__(None, None, None))
        finally:
            self._loop.close()

    def _run(self, work: Coroutine[Any, Any, T]) -> T:
        return self._loop.run(work)

    @property
    def where(self) -> str:
        """The address that messages name."""
        return self._transport.where(0, self.api.prompts)

    @property
    def model(self) -> str:
        """The model that is asked for: as configured, else the only one that is served."""
        if self._model is None:
            names = self.models()
            if len(names) != 1:
                told = f"{len(names)} models are served ({', '.join(names)})"
                raise NotServed(
                    self._transport.where(0, "/v1/models"), told, "name one with model in the configuration"
                )
            (self._model,) = names
        return self._model

    def models(self) -> list[str]:
        """The names of the models that the server lists."""
        document = self._run(self._transport.json("GET", "/v1/models"))
        return self._shaped("/v1/models", lambda: [str(row["id"]) for row in document["data"]])

    def ask(self, asks: Sequence[Ask]) -> list[list[Answer]]:
        """The answers to each ask, `n` of them, all under way at once; the first failure ends the batch."""
        model = self.model
        return self._run(_all([self._asked(model, ask, turn) for turn, ask in enumerate(asks)]))

    def tried(self, asks: Sequence[Ask]) -> list[list[Answer] | ServerError]:
        """As `ask`, with the refusal in the place of answers where the server refused one: the others go on."""
        model = self.model
        return self._run(_all([self._tried(model, ask, turn) for turn, ask in enumerate(asks)]))

    async def _tried(self, model: str, ask: Ask, turn: int) -> list[Answer] | ServerError:
        try:
            return await self._asked(model, ask, turn)
        except (Unsupported, NotServed, ServerFailed) as refused:
            return refused

    async def _asked(self, model: str, ask: Ask, turn: int) -> list[Answer]:
        replica, path = turn % len(self._replicas), self.api.path(ask)
        where = self._transport.where(replica, path)
        gathering = Gathering(ask, self._transport.endpoints[replica].name, where)

        def take(seconds: float, document: Any) -> None:
            for part in document if isinstance(document, list) else [document]:  # llama.cpp lists n answers
                told = refuse_error(where, part)
                _shaped(where, lambda told=told: gathering.take(seconds, self.api.read(told)))  # type: ignore[misc]

        body = self.api.body(model, ask)
        if ask.stream:
            await self._transport.stream(path, body, take, replica=replica)
        else:
            take(*await self._transport.reply("POST", path, body, replica=replica))
        return gathering.answers()

    def _shaped(self, path: str, read: Callable[[], T]) -> T:
        return _shaped(self._transport.where(0, path), read)

    def score(self, prompt: Sequence[int], answer: Sequence[int], best: int) -> tuple[TokenLogprob, ...]:
        """The answer's logprobs under teacher forcing, the `best` best beside each; nan for a token not among them.

        In one request where the API can, else in one request a token.
        """
        (found,) = self.scores([(prompt, answer)], best)
        return found

    def scores(self, rows: Sequence[Row], best: int, *, stepped: bool = False) -> list[tuple[TokenLogprob, ...]]:
        """As `score`, for many answers at once; `stepped` asks one request a token also where the API need not."""
        forced = [self.api.forced(self.model, *row, best) for row in rows]
        if stepped or any(call is None for call in forced):
            return self._stepped(rows, best)
        calls = [call for call in forced if call is not None]
        documents = self._run(_all([self._transport.json("POST", path, body) for path, body in calls]))
        return [
            self._shaped(path, lambda told=told, answer=answer: self.api.read_forced(told, answer))  # type: ignore[misc]
            for (path, _), told, (_, answer) in zip(calls, documents, rows, strict=True)
        ]

    def _stepped(self, rows: Sequence[Row], best: int) -> list[tuple[TokenLogprob, ...]]:
        asks = [
            Ask(
                request=Request(name=f"step {i}", prompt=(*prompt, *answer[:i]), max_tokens=1),
                stream=False,
                logprobs=best,
            )
            for prompt, answer in rows
            for i in range(len(answer))
        ]
        told = iter(self.ask(asks))
        return [tuple(self._step(token, next(told)[0]) for token in answer) for _, answer in rows]

    def _step(self, token: int, told: Answer) -> TokenLogprob:
        listed = told.logprobs[0].best if told.logprobs else {}
        by_text = bool(listed) and not any(isinstance(key, int) for key in listed)
        if by_text and self._spell is None:
            raise Unsupported(self.api.name, "its logprobs name tokens by text only", "name a tokenizer folder")
        name = self._spell((token,)) if by_text and self._spell else token
        return TokenLogprob(name, float(listed.get(name, float("nan"))), listed)

    def encode(self, messages: Sequence[Mapping[str, Any]]) -> tuple[int, ...]:
        """Prompt ids of a conversation, the assistant's turn opened, by the server's own template and tokenizer."""
        path = self._tokenizing().template
        if not path:
            raise Unsupported(self.api.name, "it applies no template without answering", "name a tokenizer folder")
        told = self._posted(path, {"model": self.model, "messages": list(messages)})
        if self._shaped(path, lambda: "tokens" in told):
            return self._shaped(path, lambda: tuple(map(int, told["tokens"])))
        return self.tokens(self._shaped(path, lambda: str(told["prompt"])))

    def tokens(self, text: str) -> tuple[int, ...]:
        """The ids of a text, by the server's tokenizer."""
        asked = self._tokenizing()
        told = self._posted(asked.encode, {"model": self.model, asked.asked: text, **asked.special})
        return self._shaped(asked.encode, lambda: tuple(map(int, told["tokens"])))

    def text(self, tokens: Sequence[int]) -> str:
        """The text of ids, by the server's tokenizer."""
        asked = self._tokenizing()
        told = self._posted(asked.decode, {"model": self.model, "tokens": list(tokens)})
        return self._shaped(asked.decode, lambda: str(told[asked.answered]))

    def _tokenizing(self) -> Tokenizing:
        if self.api.tokenizing is None:
            raise Unsupported(self.api.name, "its tokenizer cannot be asked", "name a tokenizer folder")
        return self.api.tokenizing

    def _posted(self, path: str, body: Any) -> Any:
        return self._run(self._transport.json("POST", path, body))

    def counters(self) -> Counters:
        """Totals since the start, over all replicas; all None where the server has none."""
        call = self.api.counting
        if call is None:
            return Counters()
        texts = [self._run(self._transport.text(*call, replica=replica)) for replica in self._replicas]
        read = summed([self._shaped(call.path, lambda text=text: self.api.counters(text)) for text in texts])  # type: ignore[misc]
        if self.api.drained:
            self._drained = read if self._drained is None else summed([self._drained, read])
            return self._drained
        return read

    def counted(self, before: Counters) -> Counters:
        """What was counted since `before`. Raises RanBackwards."""
        where = self._transport.where(0, self.api.counting.path if self.api.counting else "")
        return window(before, self.counters(), where)

    def identity(self) -> dict[str, Any]:
        """What is known of the arm: its kind, model, replicas, effective configuration, and how it was launched."""
        return {
            "server": self.api.name,
            "model": self.model,
            "replicas": [{"name": e.name, "url": e.url} for e in self._transport.endpoints],
            "configuration": {call.path: self._configuration(call) for call in self.api.configuration},
            "launched": self._launched,
        }

    def _configuration(self, call: Sequence[str]) -> Any:
        """What each replica reports at one end point; None where it does not report."""
        method, path = call
        try:
            told = [self._run(self._transport.json(method, path, replica=replica)) for replica in self._replicas]
            return redacted(told)
        except (NotServed, Unsupported):
            return None

    def switches(self) -> list[Found]:
        """The switches that make a figure unquotable, as far as configuration and launch show them."""
        identity = self.identity()
        return find(self.api.switches, identity["configuration"], identity["launched"] or {})

    def reset(self) -> None:
        """Empties the cache of prefixes of every replica. Raises Unsupported where the API has no way."""
        call = self.api.reset
        if call is None:
            raise Unsupported(self.api.name, "its cache cannot be reset", "salt the prompts, or start it anew")
        for replica in self._replicas:
            self._run(self._transport.text(*call, replica=replica))

    def alive(self) -> bool:
        """Whether the server still says that it is ready: its front may answer for a while when its engine is dead."""
        try:
            self._run(self._transport.text("GET", self.api.ready))
        except ServerError as error:
            sick = self.api.ready == "/health" and isinstance(error, ServerFailed)
            return not (sick or isinstance(error, Unreachable | Dropped | Hung))
        return True


def _shaped(where: str, read: Callable[[], T]) -> T:
    """What `read` makes of a document; Garbled where the document has another shape."""
    try:
        return read()
    except (LookupError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise Garbled(where, f"an answer of another shape ({type(error).__name__}: {error})", _REPORT) from None


def _told(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """What nobody waits for any more is told, but not that it was interrupted: whoever stopped it knows."""
    if not isinstance(context.get("exception"), KeyboardInterrupt):
        loop.default_exception_handler(context)


async def _made(connection: Connection) -> Transport:
    return Transport(connection)


async def _all(work: Sequence[Awaitable[T]]) -> list[T]:
    """All results in order; the first failure cancels the rest and is raised alone."""
    tasks = [asyncio.ensure_future(each) for each in work]
    try:
        return await asyncio.gather(*tasks)
    except BaseException:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        raise
