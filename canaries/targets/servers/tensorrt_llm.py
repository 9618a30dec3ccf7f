"""TensorRT-LLM's `trtllm-serve`: the shared API with token ids or text, and iteration statistics instead of counters.

Fields as its documentation and sources state them; not run here. It refuses unknown fields, and gives ids only instead
of text. Its statistics are handed out once: each reading takes what came since the last one. Relaxed acceptance is a
lossy rule.
"""

from __future__ import annotations

import json
from typing import Any

from .asking import Ask
from .counters import Counters
from .openai import Call, OpenAI
from .switches import Switch

_STATS = "specDecodingStats"


class TensorRTLLM(OpenAI):
    """TensorRT-LLM's server."""

    name = "tensorrt_llm"
    ready = "/health"
    counting = Call("GET", "/metrics")
    configuration = (Call("GET", "/version"),)
    ids_told = True
    filters = True
    drained = True
    switches = (
        Switch(r"spec_decode_force_num_accepted_tokens [1-9]", "synthetic"),
        Switch(r"use_relaxed_acceptance_for_thinking true", "lossy"),
    )

    def body(self, model: str, ask: Ask) -> dict[str, Any]:
        """An ask by ids is answered in ids, one by text or with stop strings in text."""
        by_ids = not (ask.messages or ask.text is not None or ask.request.stop)
        body = super().body(model, ask) | ({"detokenize": False} if by_ids else {})
        return body | ({"logprobs": 1} if body.get("logprobs") == 0 else {})  # 0 would switch them off

    def sampling(self, ask: Ask) -> dict[str, Any]:
        """Every knob of the law."""
        ends = {"stop_token_ids": list(ask.request.eos), "ignore_eos": not ask.request.eos}
        return super().sampling(ask) | ends

    def counters(self, text: str) -> Counters:
        """What the iterations since the last reading drafted and accepted; None where none of them speculated."""
        rows = [row[_STATS] for row in json.loads(text) if row.get(_STATS)]
        if not rows:
            return Counters()
        return Counters(
            rounds=sum(row["numRequestsWithDraftTokens"] for row in rows),
            drafted=sum(row["numDraftTokens"] for row in rows),
            accepted=sum(row["numAcceptedTokens"] for row in rows),
        )
