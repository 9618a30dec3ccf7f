"""The reference engine behind a real socket, speaking vLLM's shapes: what a server arm can be held against."""

from __future__ import annotations

import numpy as np

from draftgate.canaries.targets.reference import ReferenceTarget, teacher_forced
from draftgate.engine.request import Request, Sampling
from draftgate.engine.sampling import softmax
from servers_loopback import VLLMKind, _answer, bursts, reply


class EngineKind(VLLMKind):
    """Serves one arm of the reference engine; counts what its rounds did. One request at a time."""

    def __init__(self, arm: ReferenceTarget) -> None:
        super().__init__()
        self.arm, self.drafts, self.drafted, self.accepted, self.emitted = arm, 0, 0, 0, 0

    def paths(self):
        return super().paths() | {
            "/tokenize": lambda asked: reply({"tokens": list(self.arm.encode(asked.body["messages"]))}),
            "/detokenize": lambda asked: reply({"prompt": self.arm.model.decode(asked.body["tokens"])}),
            "/server_info": lambda _: reply({"vllm_config": "none"}),
        }

    def completions(self, asked):
        body = asked.body
        if "prompt_logprobs" in body:
            choice = {"index": 0, "text": "", "finish_reason": "length", "prompt_logprobs": self._scored(body)}
            return reply({"choices": [choice], "usage": {"completion_tokens": 1}})
        (answer,) = self.arm.generate([self.asked(body)])
        self._count(answer)
        return _answer(asked, self._events(body, answer))

    def asked(self, body):
        """What vLLM's body asks of the engine."""
        return Request(
            name="",
            prompt=tuple(body["prompt"]),
            max_tokens=body["max_tokens"],
            sampling=Sampling(**{key: body[key] for key in ("temperature", "top_k", "top_p", "min_p")}),
            eos=self.arm.eos,
            seed=body["seed"],
        )

    def _events(self, body, answer):
        parts = bursts(list(answer.tokens)) if body.get("stream") else [list(answer.tokens)]
        usage = {"completion_tokens": len(answer.tokens)}
        text = answer.text
        for i, part in enumerate(parts):
            last = i == len(parts) - 1
            choice = {"index": 0, "text": text if last else "", "token_ids": part, "finish_reason": None}
            if last:
                choice["finish_reason"] = {"eos": "stop"}.get(answer.finish, answer.finish)
            if body.get("logprobs") is not None:
                choice["logprobs"] = self._told(body)
            yield {"choices": [choice], "usage": usage if last else None}

    def _told(self, body):
        """The best tokens right after the prompt."""
        (row,) = self._best([*body["prompt"], 1], 1, body["logprobs"])
        names = {f"token_id:{token}": value for token, value in row.items()}
        first = next(iter(names))
        return {"tokens": [first], "token_logprobs": [names[first]], "top_logprobs": [names], "text_offset": []}

    def _scored(self, body):
        ids = body["prompt"]
        rows = self._best(ids, len(ids) - 1, body["prompt_logprobs"])
        return [None, *({str(t): {"logprob": v} for t, v in row.items()} for row in rows)]

    def _best(self, ids, last, most):
        """For each of the `last` tokens of `ids` the `most` best log probabilities before it, and its own."""
        prompt, answer = ids[: len(ids) - last], ids[len(ids) - last :]
        asked = Request(name="", prompt=tuple(prompt), max_tokens=last)
        (logits,) = teacher_forced(self.arm.model, [asked], [answer], 0)
        for row, token in zip(np.log(softmax(logits.astype(np.float64))), answer, strict=True):
            best = [int(t) for t in np.argsort(-row, kind="stable")[:most]]
            yield {t: float(row[t]) for t in dict.fromkeys([*best, token])}

    def _count(self, answer):
        self.drafts += len(answer.rounds)
        self.drafted += sum(r.drafted for r in answer.rounds)
        self.accepted += sum(r.accepted for r in answer.rounds)
        self.emitted += len(answer.tokens)

    def metrics(self, asked):
        lines = [
            f"vllm:spec_decode_num_drafts_total {self.drafts}.0",
            f"vllm:spec_decode_num_draft_tokens_total {self.drafted}.0",
            f"vllm:spec_decode_num_accepted_tokens_total {self.accepted}.0",
            f"vllm:generation_tokens_total {self.emitted}.0",
        ]
        return reply("\n".join(lines if self.arm.draft_length else lines[-1:]) + "\n", kind="text/plain")
