"""A baseline of fixed answers, and what is recorded of it."""

from __future__ import annotations

import itertools

from draftgate.canaries import documents
from draftgate.canaries.contracts import Replay, Shape, Watched
from draftgate.canaries.targets.kept import Kept
from draftgate.canaries.targets.recording import Recorder
from draftgate.canaries.targets.tape import Tape
from draftgate.engine.request import Arrival, Generation, Request, Sampling

NAN = float("nan")


class Plain:
    """Answers each call with its own number; two tokens that it is told of come 1.5 logits apart."""

    name, kind, guarantee, unseen, eos, draft_length = "vllm", "server", "SAME_LAW", ("spellings",), (0,), 0
    capabilities = frozenset({"counters", "configuration", "forks"})

    def __init__(self):
        self.calls = itertools.count(1)

    def identity(self):
        return {"name": "vllm", "kind": "server", "model": {"server": "vllm"}}

    def encode(self, messages):
        return 5, len(messages)

    def check(self, request):
        raise ValueError(request.name)

    def generate(self, requests):
        tokens = (7, next(self.calls))
        return [
            Generation(name=r.name, tokens=tokens, text="a", finish="length", prefill=0, arrivals=(Arrival(0.5, 2),))
            for r in requests
        ]

    def watch(self, requests):
        return Watched(0.75, self.generate(requests), {"window": {"drafted": 0}, "each": [None] * len(requests)})

    def score(self, requests, answers, *, width, slack):
        assert all(answers)
        gap = 1.5 + next(self.calls) / 8
        return [
            Replay((0.0,) * len(a), (gap,) * len(a), (0.25,) * len(a), (NAN, *(0.5,) * (len(a) - 1)), (0,) * len(a))
            for a in answers
        ]

    def shapes(self, widths):
        return Shape("", 0, alone=False), Shape("alone", 0, alone=True)

    def next_law(self, requests):
        return [None if r.prompt == (9,) else {3: 0.25, 4: 0.75} for r in requests]

    def configuration(self):
        return {"reported": {}, "switches": []}


def request(*prompt, seed=0, **sampling):
    return Request(name="r", prompt=prompt, max_tokens=4, sampling=Sampling(**sampling), eos=(0,), seed=seed)


def recorder():
    return Recorder(inner=Plain())


def played(made):
    """What was recorded, from a file."""
    tape = Tape(made={"draftgate": "0.1", "recorded": "then"}, arm=made.document(), calls=made.calls, sha256="ab")
    copy = {name: documents.decode(documents.encode(getattr(tape, name))) for name in ("made", "arm", "calls")}
    return Kept.on(Tape(**copy, sha256="ab"))
