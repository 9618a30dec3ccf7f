"""The reference engine behind a real socket, speaking vLLM's shapes: what a server arm can be held against.

Chat reads tools from the canary's own words, as the embedded family was taught; a schema is kept by what a grammar
would have forced around the model's own object.
"""

from __future__ import annotations

import json
from contextlib import contextmanager

import numpy as np

from draftgate.canaries.targets.reference import ReferenceTarget, teacher_forced
from draftgate.canaries.targets.servers.config import ArmConfig
from draftgate.canaries.targets.servers.registry import APIS
from draftgate.canaries.targets.servers.server import Server
from draftgate.canaries.targets.servers.target import ServerTarget
from draftgate.engine.cache.contiguous import ContiguousCache
from draftgate.engine.request import Request, Sampling
from draftgate.engine.sampling import softmax
from served import connection
from servers_loopback import Loopback, VLLMKind, _answer, bursts, reply

OPEN, CLOSE = "<tool_call>", "</tool_call>"
K = 4


class EngineKind(VLLMKind):
    """Serves one arm of the reference engine; counts what its rounds did. One request at a time."""

    def __init__(self, arm: ReferenceTarget) -> None:
        super().__init__()
        self.arm, self.drafts, self.drafted, self.accepted, self.emitted = arm, 0, 0, 0, 0

    def paths(self):
        return super().paths() | {
            "/v1/chat/completions": self.chat,
            "/tokenize": lambda asked: reply({"tokens": list(self.arm.encode(asked.body["messages"]))}),
            "/detokenize": lambda asked: reply({"prompt": self.arm.model.decode(asked.body["tokens"])}),
            "/server_info": lambda _: reply({"vllm_config": "none"}),
        }

    def completions(self, asked):
        body = asked.body
        if "prompt_logprobs" in body:
            choice = {"index": 0, "text": "", "finish_reason": "length", "prompt_logprobs": self._scored(body)}
            return reply({"choices": [choice], "usage": {"completion_tokens": 1}})
        answer = self.generated(body)
        return _answer(asked, self._events(body, answer))

    def generated(self, body):
        """The engine's answer, counted."""
        (answer,) = self.arm.generate([self.asked(body)])
        self._count(answer)
        return answer

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
        rows = iter(self.rows(body["prompt"], answer.tokens, body["logprobs"]) if body.get("logprobs") else ())
        for i, part in enumerate(parts):
            last = i == len(parts) - 1
            choice = {"index": 0, "text": answer.text if last else "", "token_ids": part, "finish_reason": None}
            if last:
                choice["finish_reason"] = self.ended(answer)
            if body.get("logprobs") is not None:
                told = [next(rows) for _ in part]
                choice["logprobs"] = {
                    "tokens": [_named(token) for token, _ in told],
                    "token_logprobs": [row[token] for token, row in told],
                    "top_logprobs": [{_named(t): value for t, value in row.items()} for _, row in told],
                    "text_offset": [],
                }
            yield {"choices": [choice], "usage": usage if last else None}

    def ended(self, answer):
        """The finish reason in the API's words."""
        return {"eos": "stop"}.get(answer.finish, answer.finish)

    def chat(self, asked):
        body = asked.body | {"prompt": list(self.arm.encode(asked.body["messages"]))}
        answers = [self.generated(body) for _ in range(body["n"])]
        if not body.get("stream"):
            choices = [self.choice(body, answer) | {"index": i} for i, answer in enumerate(answers)]
            return reply({"choices": choices, "usage": self.usage(body, answers)})
        return _answer(asked, self.streamed(body, answers[0]))

    def choice(self, body, answer):
        """A whole answer by chat."""
        text, calls = self.said(body, answer)
        message = {"role": "assistant", "content": text or None}
        message |= {"tool_calls": [call | {"id": str(i)} for i, call in enumerate(calls)]} if calls else {}
        choice = {"message": message, "finish_reason": self.finish(body, answer, calls)}
        choice["token_ids"] = list(answer.tokens)
        if body.get("logprobs"):
            rows = self.rows(body["prompt"], answer.tokens, body["top_logprobs"])
            choice["logprobs"] = {"content": [_entry(token, row) for token, row in rows]}
        return choice

    def streamed(self, body, answer):
        """The same in events: a burst of tokens each, text and calls cut where they happen to be."""
        whole = self.choice(body, answer)
        parts, message = bursts(list(answer.tokens)), whole["message"]
        text, calls = message["content"] or "", message.get("tool_calls", [])
        step, row = -(-len(text) // len(parts)), 0
        for i, part in enumerate(parts):
            delta = {"content": text[i * step : (i + 1) * step]}
            if i < len(calls):
                call = calls[i]
                cut = len(call["function"]["arguments"]) // 2
                pieces = (
                    {"name": call["function"]["name"], "arguments": call["function"]["arguments"][:cut]},
                    {"arguments": call["function"]["arguments"][cut:]},
                )
                delta["tool_calls"] = [{"index": i, "function": piece} for piece in pieces]
            choice = {"index": 0, "delta": delta, "token_ids": part, "finish_reason": None}
            if i == len(parts) - 1:
                choice["finish_reason"] = whole["finish_reason"]
            if "logprobs" in whole:
                choice["logprobs"] = {"content": whole["logprobs"]["content"][row : row + len(part)]}
            row += len(part)
            yield {"choices": [choice]}
        yield {"choices": [], "usage": self.usage(body, [answer])}

    def usage(self, body, answers):
        """What was read and written."""
        written = sum(len(answer.tokens) for answer in answers)
        return {"prompt_tokens": len(body["prompt"]), "completion_tokens": written}

    def said(self, body, answer):
        """(text, calls) of an answer: its lines of calls where tools were offered, the schema kept where one was."""
        lines = answer.text.split("\n")
        if body.get("tools") and all(line.startswith(OPEN) and line.endswith(CLOSE) for line in lines):
            made = [json.loads(line[len(OPEN) : -len(CLOSE)]) for line in lines]
            functions = [{"name": call["name"], "arguments": json.dumps(call["arguments"])} for call in made]
            return "", [{"type": "function", "function": function} for function in functions]
        return (f'{{"answer": {answer.text}}}' if body.get("response_format") else answer.text), []

    def finish(self, body, answer, calls):
        """As vLLM says it: calls that were left to the model are a reason of their own."""
        return "tool_calls" if calls and not body.get("tool_choice") else self.ended(answer)

    def rows(self, prompt, tokens, most):
        """(token, best log probabilities and its own) of each token of an answer."""
        return list(zip(tokens, self._best([*prompt, *tokens], len(tokens), most), strict=True))

    def _scored(self, body):
        ids = body["prompt"]
        rows = self._best(ids, len(ids) - 1, body["prompt_logprobs"])
        return [None, *({str(t): {"logprob": v} for t, v in row.items()} for row in rows)]

    def _best(self, ids, last, most):
        """For each of the `last` tokens of `ids` the `most` best log probabilities before it, and its own."""
        prompt, answer = ids[: len(ids) - last], ids[len(ids) - last :]
        asked = Request(name="", prompt=tuple(prompt), max_tokens=last)
        (logits,) = teacher_forced(self.arm.model, ContiguousCache, [asked], [answer], 0)
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


def _named(token):
    return f"token_id:{token}"


def _entry(token, row):
    best = [{"token": _named(t), "logprob": value} for t, value in row.items()]
    return {"token": _named(token), "logprob": row[token], "top_logprobs": best}


@contextmanager
def opened(role, kind):
    """A server arm on loopback."""
    with Loopback(kind) as loopback:
        config = ArmConfig(
            server="vllm",
            connection=connection(loopback.url, deadline_s=120.0),
            model="tiny",
            launch=None,
            eos=tuple(kind.arm.eos),
            logprobs=32,
            draft_length=K if role == "candidate" else 0,
        )
        with Server(APIS["vllm"], config.connection, "tiny") as server:
            yield ServerTarget(role=role, server=server, config=config)
