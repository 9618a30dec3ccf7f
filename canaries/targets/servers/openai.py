"""Any OpenAI-compatible server: completions and chat, streaming or not. The other APIs are this one, with differences.

An API knows fields and paths and nothing about the network: it writes bodies and reads documents. Reading raises
LookupError, TypeError or ValueError on a document of another shape; whoever calls makes that a Garbled answer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

from .asking import Ask, Delta, Piece, TokenLogprob
from .counters import Counters
from .errors import Unsupported
from .switches import Switch

Document = Mapping[str, Any]


class Call(NamedTuple):
    """A method and a path."""

    method: str
    path: str


class Tokenizing(NamedTuple):
    """Where text and ids are exchanged: paths, the text's key in what is asked and in what is answered."""

    encode: str
    asked: str
    decode: str
    answered: str
    template: str = ""  # answers messages with "tokens", or with the "prompt" that they make
    special: Mapping[str, bool] = {}  # fields that keep special tokens in what is encoded


class OpenAI:
    """What the API of OpenAI itself offers: text in and out, top-logprobs, no token ids, nothing about its inside."""

    name: ClassVar[str] = "openai"
    ready: ClassVar[str] = "/v1/models"
    prompts: ClassVar[str] = "/v1/completions"  # where prompts go, in a body of the server's own if elsewhere
    counting: ClassVar[Call | None] = None
    configuration: ClassVar[tuple[Call, ...]] = ()
    reset: ClassVar[Call | None] = None
    tokenizing: ClassVar[Tokenizing | None] = None
    switches: ClassVar[tuple[Switch, ...]] = ()
    salted: ClassVar[bool] = False
    drained: ClassVar[bool] = False  # whether reading the counters empties them
    ids_told: ClassVar[bool] = False  # whether answers carry ids
    whole: ClassVar[bool] = False  # whether one request scores a whole answer
    several: ClassVar[bool] = False  # whether a body of the server's own asks for n answers at once
    filters: ClassVar[bool] = False  # whether top_k, min_p and stop ids can be asked for

    def path(self, ask: Ask) -> str:
        """Where an ask goes."""
        return "/v1/chat/completions" if ask.messages else self.prompts

    def body(self, model: str, ask: Ask) -> dict[str, Any]:
        """The document of an ask. Raises Unsupported where the API has no field for what is asked."""
        prompt = {"messages": list(ask.messages)} if ask.messages else {"prompt": ask.prompt}
        body = {"model": model, **prompt, "max_tokens": ask.request.max_tokens, "n": ask.n, "stream": ask.stream}
        body |= {"seed": ask.request.seed} | self.sampling(ask) | self._asked(ask)
        return body | ({"stream_options": {"include_usage": True}} if ask.stream else {})

    def refuse_more(self, ask: Ask) -> None:
        """Raises Unsupported for what has no field where prompts have a body of the server's own."""
        if ask.tools or (ask.n != 1 and not self.several):
            told = f"{self.prompts} takes no {'tools' if ask.tools else f'n {ask.n}'}"
            raise Unsupported(self.name, told, "ask by chat" if ask.tools else "ask one by one, or by chat")
        if ask.response_format and ask.schema is None:
            told = f"{self.prompts} takes no response_format {dict(ask.response_format)} without a schema"
            raise Unsupported(self.name, told, "give a json_schema, or ask by chat")

    def sampling(self, ask: Ask) -> dict[str, Any]:
        """How the next token is chosen: each value is sent, so that no default of the server's stands in for it."""
        sampling = ask.request.sampling
        if not self.filters and (sampling.top_k or sampling.min_p):
            told = f"top_k {sampling.top_k} and min_p {sampling.min_p} cannot be asked of this API"
            raise Unsupported(self.name, told, "use a suite without them, or name the server's own kind")
        plain = {"temperature": sampling.temperature, "top_p": sampling.top_p}
        stop = {"stop": list(ask.request.stop)} if ask.request.stop else {}
        return plain | stop | ({"top_k": sampling.top_k, "min_p": sampling.min_p} if self.filters else {})

    def _asked(self, ask: Ask) -> dict[str, Any]:
        asked: dict[str, Any] = {}
        if ask.logprobs is not None:
            asked |= {"logprobs": True, "top_logprobs": ask.logprobs} if ask.messages else {"logprobs": ask.logprobs}
        if ask.tools:
            asked |= {"tools": list(ask.tools)} | ({"tool_choice": ask.tool_choice} if ask.tool_choice else {})
        if ask.response_format:
            asked["response_format"] = dict(ask.response_format)
        if ask.salt is not None:
            asked |= self.salt(ask.salt)
        return asked

    def salt(self, salt: str) -> dict[str, Any]:
        """The field that keeps cached prefixes apart. Raises Unsupported where there is none."""
        raise Unsupported(self.name, f"cache salt {salt!r} cannot be asked of this API", "reset its cache instead")

    def read(self, document: Document) -> Delta:
        """What an event, or a whole answer, adds."""
        usage = document.get("usage") or None
        emitted = None if usage is None else usage.get("completion_tokens")
        return Delta(tuple(self.piece(choice) for choice in document.get("choices") or ()), emitted, usage)

    def piece(self, choice: Document) -> Piece:
        """What one choice adds."""
        message = choice.get("delta") or choice.get("message") or {}
        return Piece(
            place=choice.get("index", 0),
            text=choice.get("text") or message.get("content") or "",
            ids=self.ids(choice),
            logprobs=self.logprobs(choice),
            finish=choice.get("finish_reason"),
            matched=choice.get("stop_reason"),
            tool_calls=tuple(message.get("tool_calls") or ()),
        )

    def ids(self, choice: Document) -> tuple[int, ...] | None:
        """The token ids of a choice, where the server gives them."""
        ids = choice.get("token_ids")
        return None if ids is None else tuple(map(int, ids))

    def logprobs(self, choice: Document) -> tuple[TokenLogprob, ...] | None:
        """The logprobs of a choice, in the form of chat or of completions."""
        told = choice.get("logprobs")
        if not told:
            return None
        if told.get("content") is not None:
            return tuple(_chat_logprob(entry) for entry in told["content"])
        rows = zip(told["tokens"], told["token_logprobs"], told.get("top_logprobs") or _none(told), strict=True)
        return tuple(TokenLogprob(token_of(t), float(lp), _best(best or {})) for t, lp, best in rows if lp is not None)

    def alike(self, configuration: Mapping[str, Any]) -> dict[str, Any]:
        """Of what the server reports, what must be the same with and without speculation."""
        del configuration
        return {}

    def counters(self, text: str) -> Counters:
        """What the body behind `counting` says."""
        raise NotImplementedError

    def forced(
        self, model: str, prompt: Sequence[int], answer: Sequence[int], best: int
    ) -> tuple[str, dict[str, Any]] | None:
        """Path and body of one request that scores a whole answer; None where it takes one request a token."""
        del model, prompt, answer, best
        return None

    def read_forced(self, document: Document, answer: Sequence[int]) -> tuple[TokenLogprob, ...]:
        """The answer's logprobs from what `forced` was answered with."""
        raise NotImplementedError


def token_of(token: str) -> int | str:
    """A token as an id, where the server was asked to print it as `token_id:281`."""
    number = token.removeprefix("token_id:")
    return int(number) if number != token else token


def _chat_logprob(entry: Document) -> TokenLogprob:
    best = {token_of(row["token"]): float(row["logprob"]) for row in entry.get("top_logprobs") or ()}
    return TokenLogprob(token_of(entry["token"]), float(entry["logprob"]), best)


def _best(best: Mapping[str, float]) -> dict[int | str, float]:
    return {token_of(token): float(logprob) for token, logprob in best.items()}


def _none(told: Document) -> list[None]:
    return [None] * len(told["tokens"])
