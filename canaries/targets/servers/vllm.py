"""vLLM: ids and logprobs on request, prompt logprobs for teacher forcing, counters of Prometheus, a cache salt.

Fields as seen with vLLM 0.32. Its synthetic mode emits what the drafter drew; typical acceptance is its version 0's.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from . import prometheus
from .asking import Ask, TokenLogprob
from .counters import Counters
from .openai import Call, Document, OpenAI, Tokenizing
from .switches import Switch

_PREFIX = "vllm:spec_decode_num_"


class VLLM(OpenAI):
    """vLLM's server, by its OpenAI-compatible end points."""

    name = "vllm"
    ready = "/health"
    counting = Call("GET", "/metrics")
    configuration = (Call("GET", "/server_info"), Call("GET", "/version"))
    reset = Call("POST", "/reset_prefix_cache")
    tokenizing = Tokenizing("/tokenize", "prompt", "/detokenize", "prompt", template="/tokenize")
    salted = True
    ids_told = True
    filters = True
    whole = True
    switches = (
        Switch(r"rejection_sample_method synthetic", "synthetic"),
        Switch(r"synthetic_acceptance_(rates?|length) [0-9.]+", "synthetic"),
        Switch(r"typical_acceptance_sampler(?!_posterior_\w+ none)", "lossy"),
    )

    def body(self, model: str, ask: Ask) -> dict[str, Any]:
        """An ask with ids in the answer; ids of tokens in logprobs too, since different ids can print alike."""
        body = super().body(model, ask) | {"return_token_ids": True}
        return body | ({"return_tokens_as_token_ids": True} if ask.logprobs is not None else {})

    def sampling(self, ask: Ask) -> dict[str, Any]:
        """Every knob, since vLLM else takes those that the model's generation config names."""
        ends = {"stop_token_ids": list(ask.request.eos), "ignore_eos": not ask.request.eos}
        return super().sampling(ask) | ends | {"repetition_penalty": 1.0}

    def salt(self, salt: str) -> dict[str, Any]:
        """Prefixes cached under another salt are not used."""
        return {"cache_salt": salt}

    def counters(self, text: str) -> Counters:
        """Rounds, tokens and accepted tokens by position; absent where speculation is off."""
        return prometheus.speculation(text, _PREFIX, "vllm:generation_tokens_total")

    def forced(
        self, model: str, prompt: Sequence[int], answer: Sequence[int], best: int
    ) -> tuple[str, dict[str, Any]] | None:
        """The answer as the end of a prompt whose logprobs are asked for."""
        ids = [*prompt, *answer]
        return "/v1/completions", {
            "model": model, "prompt": ids, "max_tokens": 1, "temperature": 0, "prompt_logprobs": best
        }  # fmt: skip

    def read_forced(self, document: Document, answer: Sequence[int]) -> tuple[TokenLogprob, ...]:
        """The last entries of `prompt_logprobs`, one a token of the answer."""
        rows = document["choices"][0]["prompt_logprobs"][-len(answer) :]
        found = [{int(token): float(entry["logprob"]) for token, entry in row.items()} for row in rows]
        return tuple(TokenLogprob(t, best[t], best) for t, best in zip(answer, found, strict=True))
