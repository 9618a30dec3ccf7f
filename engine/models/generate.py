"""Asks transformers' own `generate`, plain or assisted, and writes down how each answer came about.

Nothing of a checkpoint's generation settings takes part: every request brings its own. What is observed is what the
library shows to anyone: the tokens it streams, and the passes through the target (a forward hook). It has one stream
of chance a call and no seed a request: a batch's seeds are mixed into one.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ..drafters.base import Drafter
from ..request import Arrival, Generation, Request, Round
from ..sequences import shared_length
from .injected import injected
from .pretrained import GenerationConfig, Pretrained, left_padded

METHODS = ("plain", "draft", "lookup", "early_exit", "universal")


@dataclass(frozen=True, slots=True, kw_only=True)
class Assistance:
    """How drafts are made: at most `k` tokens a round, always as many; `exit` is the last layer of an early exit.

    Where a `drafter` of this engine is given, it takes the place of the library's own.
    """

    method: str = "plain"
    k: int = 0
    draft: Pretrained | None = None
    exit: int = 0
    drafter: Drafter | None = None

    @property
    def assisted(self) -> bool:
        """Whether anything is drafted."""
        return self.method != "plain"


def generate(model: Pretrained, assistance: Assistance, requests: Sequence[Request]) -> list[Generation]:
    """Answers in the order of the requests: plain ones as one left-padded batch, assisted ones one after another.

    Requests that stand together and differ in limit, sampling or ends are batches of their own: `generate` has one
    setting a call.
    """
    started = time.perf_counter()
    found: list[Generation] = []
    for _, alike in groupby(requests, key=lambda r: (r.max_tokens, r.sampling, r.eos)):
        rows = list(alike)
        for batch in ([row] for row in rows) if assistance.assisted else [rows]:
            found += _call(model, assistance, batch, started)
    return found


def _call(model: Pretrained, assistance: Assistance, rows: Sequence[Request], started: float) -> list[Generation]:
    """One call of `generate`."""
    tokens, mask = left_padded([row.prompt for row in rows], _pad(model, rows[0]))
    watch = _Watch(model.model, len(tokens[0]), started)
    given = _assistants(model, assistance)
    with _settled(model, assistance), _seeded(rows, model.device), watch.watching(), _drafting(model, assistance, rows):
        out = model.model.generate(
            input_ids=tokens.to(model.device),
            attention_mask=mask.to(model.device),
            generation_config=_settings(model, assistance, rows[0]),
            streamer=watch,
            **given,
        )
    answers = out[:, tokens.shape[1] :].tolist()
    return [_generation(model, assistance, row, answer, watch) for row, answer in zip(rows, answers, strict=True)]


def _generation(
    model: Pretrained, assistance: Assistance, request: Request, tokens: list[int], watch: _Watch
) -> Generation:
    """One row as it was answered. Behind the end of a row of a batch stands padding; one alone is not cut at all."""
    if not assistance.assisted:
        ends = [place for place, token in enumerate(tokens) if token in request.eos]
        tokens = tokens[: ends[0] + 1] if ends else tokens
    arrivals = watch.arrivals if assistance.assisted else watch.arrivals[: len(tokens)]
    return Generation(
        name=request.name,
        tokens=tuple(tokens),
        text=model.decode(tokens),
        finish="eos" if tokens and tokens[-1] in request.eos else "length",
        prefill=0 if assistance.assisted else 1,
        arrivals=tuple(arrivals),
        rounds=tuple(watch.rounds) if assistance.assisted else (),
    )


@dataclass
class _Watch:
    """A streamer that notes when tokens came, and a hook that notes what the target was shown before them."""

    model: Any
    prompt: int
    started: float
    arrivals: list[Arrival] = field(default_factory=list)
    rounds: list[Round] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._shown: list[int] = []
        self._begun = False

    @contextmanager
    def watching(self) -> Iterator[None]:
        """While this lasts the hook is in place; it changes nothing."""
        handle = self.model.register_forward_pre_hook(self._saw, with_kwargs=True)
        try:
            yield
        finally:
            handle.remove()

    def put(self, tokens: Tensor) -> None:
        """The prompt first, then what each step added: one token of every row, or the tokens of a round of one row."""
        if not self._begun:
            self._begun = True
            return
        came = tokens.reshape(-1).tolist() if tokens.dim() > 1 else tokens[:1].tolist()
        self.arrivals.append(Arrival(time.perf_counter() - self.started, len(came)))
        kept = shared_length(self._shown, came)
        self.rounds.append(Round(len(self._shown), kept, len(came), kept + 1 - len(came)))

    def end(self) -> None:
        """Nothing more will come."""

    def _saw(self, _: object, __: tuple[object, ...], given: dict[str, Any]) -> None:
        """Notes the drafts of a pass; where the model drafts for itself, the last pass before tokens come counts."""
        self._shown = given["input_ids"][0, 1 if self.rounds else self.prompt :].tolist()


def _settings(model: Pretrained, assistance: Assistance, request: Request) -> Any:
    """Every setting that chooses tokens, stated: what is left open, the library fills in itself (top-k 50)."""
    sampling = request.sampling
    chance = {
        "do_sample": True,
        "temperature": sampling.temperature,
        "top_k": sampling.top_k,
        "top_p": sampling.top_p,
        "min_p": sampling.min_p or None,
    }
    methods = {
        "lookup": {"prompt_lookup_num_tokens": assistance.k},
        "early_exit": {"assistant_early_exit": assistance.exit},
    }
    return GenerationConfig(
        max_new_tokens=request.max_tokens,
        eos_token_id=list(request.eos) or None,
        pad_token_id=_pad(model, request),
        **chance if sampling.temperature else {"do_sample": False},
        **methods.get(assistance.method, {}),
    )


def _drafting(model: Pretrained, assistance: Assistance, rows: Sequence[Request]) -> AbstractContextManager[None]:
    return injected(model.model, assistance.drafter, rows[0]) if assistance.drafter else nullcontext()


def _assistants(model: Pretrained, assistance: Assistance) -> dict[str, Any]:
    if assistance.draft is None:
        return {}
    given = {"assistant_model": assistance.draft.model}
    if assistance.method == "universal":
        given |= {"tokenizer": model.tokenizer, "assistant_tokenizer": assistance.draft.tokenizer}
    return given


@contextmanager
def _settled(model: Pretrained, assistance: Assistance) -> Iterator[None]:
    """The checkpoints' own settings set aside; the drafting model's say how many tokens it drafts, and nothing else."""
    drafting = assistance.draft.model if assistance.draft else model.model
    own = [(each, each.generation_config) for each in (model.model, drafting)]
    model.model.generation_config = GenerationConfig()
    drafting.generation_config = GenerationConfig(
        num_assistant_tokens=assistance.k or None,
        num_assistant_tokens_schedule="constant",
        assistant_confidence_threshold=0.0,
    )
    try:
        yield
    finally:
        for each, settings in own:
            each.generation_config = settings


@contextmanager
def _seeded(rows: Sequence[Request], device: torch.device) -> Iterator[None]:
    """Torch's chance begun anew from the seeds of all rows, and as it was afterwards."""
    mixed = np.random.SeedSequence([row.seed for row in rows]).generate_state(1, np.uint64)[0]
    with torch.random.fork_rng([device] if device.type == "cuda" else [], device_type="cuda"):
        torch.manual_seed(int(mixed))
        yield


def exits(model: Pretrained, layer: int) -> bool:
    """Whether the model runs only its first `layer` layers when its configuration says so, as an early exit needs."""
    config = model.model.config.get_text_config()
    most, ran = config.num_hidden_layers, []
    blocks = [part for part in model.model.modules() if isinstance(part, torch.nn.ModuleList) and len(part) == most]
    handles = [block.register_forward_pre_hook(lambda *_: ran.append(1)) for block in (blocks[0] if blocks else ())]
    config.num_hidden_layers = layer
    try:
        with torch.inference_mode():
            model.model(input_ids=torch.zeros((1, 2), dtype=torch.long, device=model.device), use_cache=False)
    finally:
        config.num_hidden_layers = most
        for handle in handles:
            handle.remove()
    return len(ran) == layer


def spread(model: Pretrained, draft: Pretrained) -> int:
    """Most tokens of the model that one token of a draft of another vocabulary becomes."""
    tokenizer = draft.tokenizer
    texts = [tokenizer.decode([token]) for token in sorted(tokenizer.get_vocab().values())]
    return max(map(len, model.tokenizer(texts)["input_ids"]))


def _pad(model: Pretrained, request: Request) -> int:
    """A token to pad with; it is masked."""
    padding = model.tokenizer.pad_token_id
    return int(padding) if padding is not None else next(iter(request.eos), 0)
