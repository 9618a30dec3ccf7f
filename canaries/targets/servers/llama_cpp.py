"""llama.cpp's server: its own `/completion` for ids, logprobs and drafts per request; chat by the shared API.

Fields as seen with build 11434. Its sampler chain has defaults of its own (top-k 40, top-p 0.95, min-p 0.05), and an
order of its own: it filters before it applies the temperature, which keeps other tokens. So every knob is sent, and the
chain itself. Tokens of a round of speculation come without logprobs. Synthetic acceptance is a switch of the command
line; the text is then wrong by design.
"""

from __future__ import annotations

import math
from typing import Any

from . import prometheus
from .asking import Ask, Delta, Piece, TokenLogprob
from .counters import Counters
from .openai import Call, Document, OpenAI, Tokenizing
from .switches import Switch

_FINISH = {"limit": "length", "eos": "stop", "word": "stop"}
_CHAIN = (
    "temperature",
    "top_k",
    "top_p",
    "min_p",
)  # the order of transformers' `generate`; nothing else changes the law
_PREFIX = "llamacpp:spec_decode_num_"


class LlamaCpp(OpenAI):
    """One server a setting: speculation cannot be switched per request."""

    name = "llama_cpp"
    ready = "/health"
    prompts = "/completion"
    counting = Call("GET", "/metrics")
    configuration = (Call("GET", "/props"),)
    salted = True
    several = True
    ids_told = True
    filters = True
    tokenizing = Tokenizing(
        "/tokenize",
        "content",
        "/detokenize",
        "content",
        template="/apply-template",
        special={"add_special": True, "parse_special": True},
    )
    switches = (Switch(r"spec_synth_(len|rates) [0-9.]+", "synthetic"),)

    def body(self, model: str, ask: Ask) -> dict[str, Any]:
        """An ask in the server's own fields. Raises Unsupported for what the end point cannot do."""
        if ask.messages:
            return super().body(model, ask)
        self.refuse_more(ask)
        body: dict[str, Any] = {"prompt": ask.prompt, "n_predict": ask.request.max_tokens, "stream": ask.stream}
        body |= {"n": ask.n, "seed": ask.request.seed, "return_tokens": True, "cache_prompt": ask.salt is None}
        body |= self.sampling(ask)
        body |= {"n_probs": max(ask.logprobs, 1)} if ask.logprobs is not None else {}  # 0 would switch them off
        return body | ({"json_schema": ask.schema} if ask.schema else {})

    def sampling(self, ask: Ask) -> dict[str, Any]:
        """The chain and every knob of it, and what could stand in its place."""
        alone = {"samplers": list(_CHAIN), "dynatemp_range": 0.0, "mirostat": 0, "min_keep": 0, "logit_bias": []}
        return super().sampling(ask) | alone | {"ignore_eos": not ask.request.eos}

    def salt(self, salt: str) -> dict[str, Any]:
        """The server has no salt; a salted ask does not use the cache at all."""
        del salt
        return {"cache_prompt": False}

    def read(self, document: Document) -> Delta:
        """An event of `/completion`, or of chat; both carry the timings of their own request."""
        timings = document.get("timings") or {}
        counted = Counters(  # drafts are left out where there were none
            drafted=timings.get("draft_n", 0),
            accepted=timings.get("draft_n_accepted", 0),
            emitted=timings.get("predicted_n"),
        )
        counters = counted if timings else None
        if "choices" in document:
            return super().read(document)._replace(counters=counters)
        emitted = document.get("tokens_predicted")
        usage = None if emitted is None else {"completion_tokens": emitted, "timings": timings}
        return Delta((self.piece(document),), emitted, usage, counters)

    def piece(self, choice: Document) -> Piece:
        """What an event of `/completion` adds; its last one repeats neither text nor ids in a stream."""
        if "content" not in choice:
            return super().piece(choice)
        probs = choice.get("completion_probabilities")
        return Piece(
            place=choice.get("index", 0),
            text=choice["content"],
            ids=tuple(map(int, choice["tokens"])) if "tokens" in choice else None,
            logprobs=tuple(_logprob(entry) for entry in probs) if probs else None,
            finish=_FINISH.get(choice.get("stop_type", "none")),
            matched=choice.get("stopping_word") or None,
        )

    def logprobs(self, choice: Document) -> tuple[TokenLogprob, ...] | None:
        """The logprobs of chat, which has the entries of `/completion`."""
        content = (choice.get("logprobs") or {}).get("content")
        return tuple(_logprob(entry) for entry in content) if content else None

    def counters(self, text: str) -> Counters:
        """Rounds, tokens and accepted tokens by position; 0 where speculation is off."""
        return prometheus.speculation(text, _PREFIX, "llamacpp:tokens_predicted_total")


def _logprob(entry: Document) -> TokenLogprob:
    """What is told of a token; nan where nothing is: a token of a round has logprob 0 and no best ones beside it."""
    best = {int(row["id"]): float(row["logprob"]) for row in entry["top_logprobs"]}
    return TokenLogprob(int(entry["id"]), float(entry["logprob"]) if best else math.nan, best)
