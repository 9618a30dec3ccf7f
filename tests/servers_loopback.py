"""Servers on a real loopback socket: the documented shapes of each kind, and each way to misbehave.

An answer is a generator of bytes to send, seconds to wait, DROP and CLOSE. Run as a program it
serves one kind on one port until it is told to stop: what a launched server is in the tests.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import struct
import sys
import threading
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace

DROP = object()  # a reset, as from a process that was killed
CLOSE = object()  # an orderly end of the connection
EOS = 0
MODEL = "tiny"


@dataclass
class Asked:
    """One request as it came."""

    method: str
    path: str
    headers: dict[str, str]
    body: dict = field(default_factory=dict)


class Loopback:
    """Answers requests by `answer`, a function from what was asked to a generator; keeps all that was asked."""

    def __init__(self, answer, *, port=0, ssl=None):
        self.answer, self.asked, self.port, self._ssl = answer, [], port, ssl
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)

    def __enter__(self):
        self._thread.start()
        self._server = self._done(asyncio.start_server(self._serve, "127.0.0.1", self.port, ssl=self._ssl))
        self.port = self._server.sockets[0].getsockname()[1]
        self.url = f"http{'s' if self._ssl else ''}://127.0.0.1:{self.port}"
        return self

    def __exit__(self, *_):
        self._done(self._stop())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def bodies(self, path):
        """What was sent to one path, in order."""
        return [asked.body for asked in self.asked if asked.path == path]

    def _done(self, work):
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    async def _stop(self):
        self._server.close()
        others = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)

    async def _serve(self, reader, writer):
        with suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            while True:
                asked = await _read(reader)
                if asked is None:  # TLS where none is spoken
                    writer.write(b"".join(reply("no HTTP", status=400)))
                    break
                self.asked.append(asked)
                for part in self.answer(asked):
                    if part is DROP:
                        linger = struct.pack("ii", 1, 0)  # closing sends a reset, as the end of a killed process does
                        writer.get_extra_info("socket").setsockopt(1, 13, linger)
                        writer.transport.abort()
                        return
                    if part is CLOSE:
                        writer.close()
                        return
                    if isinstance(part, bytes):
                        writer.write(part)
                        await writer.drain()
                    else:
                        await asyncio.sleep(part)
        writer.close()


async def _read(reader):
    first = await reader.readexactly(1)
    if not first.isalpha():
        return None
    head = (first + await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
    method, path, _ = head[0].split()
    headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in head[1:] if line)}
    data = await reader.readexactly(int(headers.get("content-length", 0)))
    return Asked(method, path, headers, json.loads(data) if data else {})


def reply(document, status=200, kind="application/json", **headers):
    """A whole answer; a str or bytes document is sent as it is."""
    data = (
        document
        if isinstance(document, bytes)
        else document.encode()
        if isinstance(document, str)
        else json.dumps(document).encode()
    )
    lines = [f"HTTP/1.1 {status} X", f"Content-Type: {kind}", f"Content-Length: {len(data)}"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    yield ("\r\n".join(lines) + "\r\n\r\n").encode() + data


def stream(*parts, kind="text/event-stream", ends=True):
    """A chunked answer: documents become events, bytes are sent as they are, numbers wait, DROP resets."""
    yield f"HTTP/1.1 200 X\r\nContent-Type: {kind}\r\nTransfer-Encoding: chunked\r\n\r\n".encode()
    for part in map(event, parts):
        yield b"%x\r\n%s\r\n" % (len(part), part) if isinstance(part, bytes) else part
    if ends:
        yield b"0\r\n\r\n"


def event(part):
    """A document or a text as the bytes of one event; anything else as it is."""
    text = json.dumps(part) if isinstance(part, dict) else part
    return f"data: {text}\n\n".encode() if isinstance(text, str) else part


def tokens_of(prompt, n, seed=0):
    """The answer of the engine behind every kind: ids from 3 to 40, by the last one, the length, the seed."""
    ids = list(prompt) if isinstance(prompt, list) else list(map(ord, str(prompt)))
    for _ in range(n):
        ids.append(3 + (5 * ids[-1] + len(ids) + seed) % 38)
    return ids[len(ids) - n :]


def word(token):
    return f" w{token}."


def seed_of(body):
    """The seed, where it decides anything: not where only the best token is left."""
    drawn = body.get("temperature") and body.get("top_k") != 1 and body.get("min_p") != 1
    return body.get("seed", 0) if drawn else 0


def said(messages):
    """A conversation by the template of every kind."""
    return "".join(f"<{message['role']}>{message['content']}" for message in messages) + "<assistant>"


def encoded(body):
    """Ids of what is to be encoded, one a character."""
    text = said(body["messages"]) if "messages" in body else body.get("prompt", body.get("content"))
    return list(map(ord, text))


def bursts(tokens, most=3):
    """Tokens as rounds emit them: one, then several at a time."""
    return [tokens[:1], *(tokens[i : i + most] for i in range(1, len(tokens), most))]


def cut(tokens, stops):
    """(tokens, text, stopped at) with the text ended before the first stop string."""
    text = ""
    for i, token in enumerate(tokens):
        text += word(token)
        for stop in stops or ():
            if stop in text:
                return tokens[: i + 1], text.split(stop)[0], stop
    return tokens, text, None


def _completion(body, *, ids):
    """The events of a completion in the shared API; `ids` gives token ids."""
    got = tokens_of(body["prompt"], body["max_tokens"], seed_of(body))
    got, text, stopped = cut(got, body.get("stop"))
    usage = {"prompt_tokens": 3, "completion_tokens": len(got)}
    for index in range(body.get("n", 1)):
        parts = bursts(got) if body.get("stream") else [got]
        sent = ""
        for i, part in enumerate(parts):
            last = i == len(parts) - 1
            said = text[len(sent) :] if last else "".join(map(word, part))
            sent += said
            choice = {"index": index, "text": said, "finish_reason": None}
            if last:
                choice |= {"finish_reason": "stop" if stopped else "length", "stop_reason": stopped}
            if ids:
                choice["token_ids"] = part
            if body.get("logprobs") is not None:
                names = [f"token_id:{t}" if ids else word(t) for t in part]
                choice["logprobs"] = _logprobs(names, "token_id:1" if ids else " no")
            yield {"choices": [choice], "usage": None if body.get("stream") else usage}
    if body.get("stream"):
        yield {"choices": [], "usage": usage}


def _logprobs(names, other):
    best = [{name: -0.5, other: -1.5} for name in names]
    return {"tokens": names, "token_logprobs": [-0.5] * len(names), "text_offset": [], "top_logprobs": best}


def _chat(body):
    message = {"role": "assistant", "content": "{}" if body.get("response_format") else "hello"}
    if body.get("tools"):
        function = {"name": body["tools"][0]["function"]["name"], "arguments": '{"a": 1}'}
        message = {"content": None, "tool_calls": [{"id": "1", "type": "function", "function": function}]}
    yield {"choices": [{"index": 0, "message": message, "finish_reason": "stop"}], "usage": {"completion_tokens": 2}}


def _answer(asked, documents):
    documents = list(documents)
    if asked.body.get("stream"):
        return stream(*documents, "[DONE]")
    whole = (
        documents[0] | {"choices": [choice for d in documents for choice in d["choices"]]}
        if "choices" in documents[0]
        else documents[0]
    )
    return reply(whole)


def _refused():
    return reply({"error": {"message": "unknown path", "code": 404}}, status=404)


class Kind:
    """One kind of server; `rounds` counts what it claims to have drafted."""

    ids = False

    def __init__(self):
        self.rounds = 0

    def __call__(self, asked):
        self.rounds += asked.method == "POST"
        path = {"/v1/models": self.models, "/health": self.health, "/v1/completions": self.completions}
        path |= {"/v1/chat/completions": lambda a: _answer(a, _chat(a.body))} | self.paths()
        return path[asked.path](asked) if asked.path in path else _refused()

    def paths(self):
        return {}

    def models(self, asked):
        return reply({"object": "list", "data": [{"id": MODEL}]})

    def health(self, asked):
        return reply("")

    def completions(self, asked):
        return _answer(asked, _completion(asked.body, ids=self.ids))


class OpenAIKind(Kind):
    """No ids, no inside."""


class VLLMKind(Kind):
    ids = True

    def paths(self):
        return {
            "/metrics": self.metrics,
            "/server_info": lambda _: reply({"vllm_config": "SpeculativeConfig(method='ngram', num_spec_tokens=4)"}),
            "/version": lambda _: reply({"version": "0.32.0"}),
            "/reset_prefix_cache": lambda _: reply(""),
            "/tokenize": lambda asked: reply({"tokens": encoded(asked.body)}),
            "/detokenize": lambda asked: reply({"prompt": "".join(map(word, asked.body["tokens"]))}),
        }

    def completions(self, asked):
        if "prompt_logprobs" in asked.body:
            rows = [
                None,
                *({str(t): {"logprob": -0.25, "rank": 1, "decoded_token": word(t)}} for t in asked.body["prompt"][1:]),
            ]
            choice = {"index": 0, "text": word(5), "finish_reason": "length", "prompt_logprobs": rows}
            return reply({"choices": [choice], "usage": {"completion_tokens": 1}})
        return super().completions(asked)

    def metrics(self, asked):
        lines = [
            "# TYPE vllm:spec_decode_num_drafts_total counter",
            f'vllm:spec_decode_num_drafts_total{{engine="0",model_name="a,}}b"}} {self.rounds}.0',
            'vllm:spec_decode_num_drafts_created{engine="0"} 1.7e+09',
            f'vllm:spec_decode_num_draft_tokens_total{{engine="0"}} {4 * self.rounds}.0',
            f'vllm:spec_decode_num_accepted_tokens_total{{engine="0"}} {2 * self.rounds}.0',
            f'vllm:spec_decode_num_accepted_tokens_per_pos_total{{engine="0",position="0"}} {2 * self.rounds}.0',
            'vllm:spec_decode_num_accepted_tokens_per_pos_total{engine="0",position="1"} 0.0',
            f'vllm:generation_tokens_total{{engine="0"}} {3 * self.rounds}.0',
        ]
        return reply("\n".join(lines) + "\n", kind="text/plain; version=0.0.4")


class LlamaCppKind(Kind):
    """Speculating: only the first token of an answer, which no round emits, comes with its logprobs."""

    def paths(self):
        return {
            "/completion": self.completion,
            "/metrics": self.metrics,
            "/apply-template": lambda asked: reply({"prompt": said(asked.body["messages"])}),
            "/tokenize": lambda asked: reply({"tokens": encoded(asked.body)}),
            "/detokenize": lambda asked: reply({"content": "".join(map(word, asked.body["tokens"]))}),
            "/props": lambda _: reply({"default_generation_settings": {"n_ctx": 512}, "total_slots": 1}),
        }

    def metrics(self, asked):
        lines = [
            f"llamacpp:tokens_predicted_total {3 * self.rounds}",
            f"llamacpp:spec_decode_num_draft_tokens_total {4 * self.rounds}",
            f"llamacpp:spec_decode_num_accepted_tokens_total {2 * self.rounds}",
            f"llamacpp:spec_decode_num_drafts_total {self.rounds}",
            f'llamacpp:spec_decode_num_accepted_tokens_per_pos_total{{position="0"}} {2 * self.rounds}',
            'llamacpp:spec_decode_num_accepted_tokens_per_pos_total{position="1"} 0',
        ]
        return reply("\n".join(lines) + "\n", kind="text/plain; version=0.0.4")

    def completion(self, asked):
        body, n = asked.body, asked.body.get("n", 1)
        parts = [self.answer(body, index) for index in range(n)]
        if body["stream"]:
            return stream(*(event for part in parts for event in part))
        whole = []
        for part in parts:
            joined = {"content": "".join(e["content"] for e in part), "tokens": [t for e in part for t in e["tokens"]]}
            probs = [row for e in part for row in e.get("completion_probabilities", ())]
            whole.append(part[-1] | joined | ({"completion_probabilities": probs} if probs else {}))
        return reply(whole if n > 1 else whole[0])

    def answer(self, body, index):
        """The events of one of n answers: a token each, then one that repeats none and tells how it ended."""
        got = tokens_of(body["prompt"], body["n_predict"], seed_of(body) + index)
        got, text, stopped = cut(got, body.get("stop"))
        events, sent = [], ""
        for i, token in enumerate(got):
            said = text[len(sent) :] if i == len(got) - 1 else word(token)
            sent += said
            event = {"index": index, "content": said, "tokens": [token], "stop": False}
            if body.get("n_probs"):
                best = [] if i else [{"id": token, "token": word(token), "logprob": -0.5}]
                row = {"id": token, "logprob": 0.0 if i else -0.5, "top_logprobs": best}
                event["completion_probabilities"] = [row]
            events.append(event)
        last = {"index": index, "content": "", "tokens": [], "stop": True, "tokens_predicted": len(got)}
        last |= {"stop_type": "word" if stopped else "limit", "stopping_word": stopped or ""}
        return [*events, last | {"timings": {"predicted_n": len(got), "draft_n": 4, "draft_n_accepted": 2}}]


class SGLangKind(Kind):
    cumulative = True

    def paths(self):
        thresholds = {"speculative_algorithm": "NGRAM", "speculative_accept_threshold_single": 1.0}
        return {
            "/generate": self.generate,
            "/metrics": self.metrics,
            "/v1/tokenize": lambda asked: reply({"tokens": encoded(asked.body)}),
            "/v1/detokenize": lambda asked: reply({"text": "".join(map(word, asked.body["tokens"]))}),
            "/get_server_info": lambda _: reply(thresholds),
            "/flush_cache": lambda _: reply("Cache flushed.", kind="text/plain"),
        }

    def metrics(self, asked):
        text = f"sglang:spec_verify_calls_total {self.rounds}\nsglang:spec_accept_length 2.5\n"
        return reply(text, kind="text/plain")

    def generate(self, asked):
        body, params = asked.body, asked.body["sampling_params"]
        seed = seed_of(params | {"seed": params.get("sampling_seed", 0)})
        prompt = body.get("input_ids", body.get("text"))
        got = cut(tokens_of(prompt, params["max_new_tokens"], seed), params.get("stop"))
        n = len(got[0])
        if not body.get("stream"):
            return reply(self.document(body, got, 0, n))
        parts = bursts(got[0])
        ends = [sum(map(len, parts[: i + 1])) for i in range(len(parts))]
        begins = [0] * len(ends) if self.cumulative else [0, *ends[:-1]]
        return stream(*(self.document(body, got, *at) for at in zip(begins, ends, strict=True)), "[DONE]")

    def document(self, body, got, begin, end):
        """What the runtime says of tokens `begin` to `end` of its answer."""
        tokens, text, stopped = got
        finish = {"type": "stop", "matched": stopped} if stopped else {"type": "length", "length": len(tokens)}
        meta = {"completion_tokens": end, "prompt_tokens": 3, "finish_reason": finish if end == len(tokens) else None}
        meta |= {"spec_verify_ct": 2, "spec_draft_token_num": 8, "spec_accept_token_num": 3}
        if body.get("return_logprob"):
            given = body.get("input_ids", [])
            meta["output_token_logprobs"] = [[-0.5, t, None] for t in tokens[begin:end]]
            meta["output_top_logprobs"] = [[[-0.5, t, None]] for t in tokens[begin:end]]
            meta["input_token_logprobs"] = [[-0.25 if i else None, t, None] for i, t in enumerate(given)]
            meta["input_top_logprobs"] = [[[-0.25, t, None]] if i else None for i, t in enumerate(given)]
        said = text if end == len(tokens) else "".join(map(word, tokens[:end]))
        sent = "".join(map(word, tokens[:begin]))
        return {"text": said[len(sent) :], "output_ids": tokens[begin:end], "meta_info": meta}


TENSORRT_LLM_FIELDS = (
    "model prompt max_tokens n stream seed temperature top_p top_k min_p stop stop_token_ids ignore_eos logprobs "
    "stream_options detokenize response_format"
)


class TensorRTLLMKind(Kind):
    """Refuses what its schema does not have; gives ids only in place of text."""

    def paths(self):
        return {"/metrics": self.metrics, "/version": lambda _: reply({"version": "1.2.0"})}

    def metrics(self, asked):
        rounds, self.rounds = self.rounds, 0
        stats = {"numDraftTokens": 4, "numAcceptedTokens": 2, "numRequestsWithDraftTokens": 1}
        return reply([{"iter": i, "specDecodingStats": stats} for i in range(rounds)])

    def completions(self, asked):
        unknown = set(asked.body) - set(TENSORRT_LLM_FIELDS.split())
        if unknown:
            return reply({"object": "error", "message": f"extra fields {sorted(unknown)}", "code": 400}, status=400)
        by_ids = asked.body.get("detokenize") is False
        documents = list(_completion(asked.body, ids=by_ids))
        for choice in (choice for document in documents for choice in document["choices"] if by_ids):
            choice["text"] = ""
        return _answer(asked, documents)


KINDS = {
    "openai": OpenAIKind,
    "vllm": VLLMKind,
    "llama_cpp": LlamaCppKind,
    "sglang": SGLangKind,
    "tensorrt_llm": TensorRTLLMKind,
}


def kind(name, **changes):
    """A server of a kind, with attributes changed: `kind("sglang", cumulative=False)`."""
    made = KINDS[name]()
    vars(made).update(SimpleNamespace(**changes).__dict__)
    return made


def mortal(engine, deadly, marker=None):
    """An engine whose process is killed by a request that has the field `deadly`; once, if it can leave a marker."""

    def answer(asked):
        if deadly in asked.body and not (marker and Path(marker).exists()):
            if marker:
                Path(marker).touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return engine(asked)

    return answer


def paced(engine, seconds):
    """An engine that waits after each part of an answer."""
    return lambda asked: (sent for part in engine(asked) for sent in (part, seconds))


if __name__ == "__main__":  # KIND PORT [DEADLY [SECONDS [MARKER]]]
    sys.stdout.write(f"ready to serve {sys.argv[1]}\n")
    sys.stdout.flush()
    deadly, seconds, marker = (sys.argv[3:] + ["", "0", ""][len(sys.argv) - 3 :])[:3]
    engine = mortal(kind(sys.argv[1]), deadly, marker) if deadly else kind(sys.argv[1])
    with Loopback(paced(engine, float(seconds)) if float(seconds) else engine, port=int(sys.argv[2])):
        threading.Event().wait()
