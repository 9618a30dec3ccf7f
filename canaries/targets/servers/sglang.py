"""SGLang: its own `/generate` for ids, logprobs and verification counts; chat by the shared API.

Fields as its documentation and sources state them; not run here. Streams carry all text so far, or only what is new
(`--incremental-streaming-output`): an event whose ids are as many as `completion_tokens` carries all. A threshold below
1 is a lossy rule; simulated acceptance is an environment variable of the server.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from . import prometheus
from .asking import Ask, Delta, Piece, TokenLogprob
from .counters import Counters
from .openai import Call, Document, OpenAI, Tokenizing
from .switches import Switch

_DRAFTED = ("spec_num_proposed_drafts", "spec_draft_token_num")  # newest name first
_ACCEPTED = ("spec_num_correct_drafts", "spec_accept_token_num")


class SGLang(OpenAI):
    """SGLang's runtime."""

    name = "sglang"
    ready = "/health"
    prompts = "/generate"
    counting = Call("GET", "/metrics")
    configuration = (Call("GET", "/get_server_info"),)
    reset = Call("POST", "/flush_cache")
    tokenizing = Tokenizing("/v1/tokenize", "prompt", "/v1/detokenize", "text")
    ids_told = True
    filters = True
    whole = True
    switches = (
        Switch(r"simulate_acc_len (?!_?1\b|none|0\b)[0-9.]+", "synthetic"),
        Switch(r"speculative_accept_threshold_(single|acc) 0?\.[0-9]+", "lossy"),
    )

    def body(self, model: str, ask: Ask) -> dict[str, Any]:
        """An ask in the runtime's own fields. Raises Unsupported for what the end point cannot do."""
        if ask.messages:
            return super().body(model, ask)
        self.refuse_more(ask)
        prompt = {"input_ids": list(ask.request.prompt)} if ask.text is None else {"text": ask.text}
        params = self.sampling(ask) | {"max_new_tokens": ask.request.max_tokens, "sampling_seed": ask.request.seed}
        params |= {"json_schema": json.dumps(ask.schema)} if ask.schema else {}
        scores = {"return_logprob": True, "top_logprobs_num": ask.logprobs} if ask.logprobs is not None else {}
        salt = self.salt(ask.salt) if ask.salt is not None else {}
        return prompt | {"sampling_params": params, "stream": ask.stream} | scores | salt

    def sampling(self, ask: Ask) -> dict[str, Any]:
        """Every knob; -1 keeps every token."""
        ends = {"stop_token_ids": list(ask.request.eos), "ignore_eos": not ask.request.eos}
        return super().sampling(ask) | {"top_k": ask.request.sampling.top_k or -1} | ends

    def read(self, document: Document) -> Delta:
        """An event of `/generate`, or of chat."""
        if "meta_info" not in document:
            return super().read(document)
        meta = document["meta_info"]
        emitted, rounds = meta.get("completion_tokens"), meta.get("spec_verify_ct")
        counted = Counters(
            rounds=rounds,
            drafted=next((meta[key] for key in _DRAFTED if key in meta), None),
            accepted=next((meta[key] for key in _ACCEPTED if key in meta), None),
            emitted=emitted,
        )
        usage = {key: meta[key] for key in ("prompt_tokens", "completion_tokens", "cached_tokens") if key in meta}
        return Delta((self._piece(document, meta),), emitted, usage, counted if rounds is not None else None)

    def _piece(self, document: Document, meta: Document) -> Piece:
        ids = document.get("output_ids")
        finish = meta.get("finish_reason") or {}
        rows, tops = meta.get("output_token_logprobs"), meta.get("output_top_logprobs")
        return Piece(
            text=document.get("text") or "",
            ids=None if ids is None else tuple(map(int, ids)),
            logprobs=_logprobs(rows, tops) if rows else None,
            finish=finish.get("type"),
            matched=finish.get("matched"),
            cumulative=ids is not None and len(ids) == meta.get("completion_tokens"),
        )

    def counters(self, text: str) -> Counters:
        """Verification passes and emitted tokens; drafted tokens are gauges there, so they are not counted."""
        found = prometheus.samples(text)
        return Counters(
            rounds=prometheus.total(found, "sglang:spec_verify_calls_total"),
            emitted=prometheus.total(found, "sglang:generation_tokens_total"),
        )

    def forced(
        self, model: str, prompt: Sequence[int], answer: Sequence[int], best: int
    ) -> tuple[str, dict[str, Any]] | None:
        """The answer as the end of a prompt whose logprobs are asked for."""
        del model
        asked = {"return_logprob": True, "logprob_start_len": 0, "top_logprobs_num": best}
        return "/generate", asked | {
            "input_ids": [*prompt, *answer], "sampling_params": {"max_new_tokens": 1, "temperature": 0}
        }  # fmt: skip

    def read_forced(self, document: Document, answer: Sequence[int]) -> tuple[TokenLogprob, ...]:
        """The last entries of `input_token_logprobs`, one a token of the answer. Raises ValueError for other tokens."""
        meta, n = document["meta_info"], len(answer)
        found = _logprobs(meta["input_token_logprobs"][-n:], (meta.get("input_top_logprobs") or [])[-n:])
        if [row.token for row in found] != list(answer):
            raise ValueError("input_token_logprobs are of other tokens than the answer's")
        return found


def _logprobs(rows: Sequence[Any], tops: Sequence[Any] | None) -> tuple[TokenLogprob, ...]:
    listed = tops or [None] * len(rows)
    return tuple(
        TokenLogprob(int(row[1]), float(row[0]), {int(other[1]): float(other[0]) for other in best or ()})
        for row, best in zip(rows, listed, strict=True)
    )
