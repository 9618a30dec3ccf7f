"""Any transformers causal LM, scored under a tree mask at explicit positions.

The argument that carries the cache changed its name within transformers 5.x, so it is looked up in the model's
signature.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from ..cache.base import Cache
from ..errors import ModelRefused
from .attention import additive, positions, visible
from .base import Block, Logits
from .library_cache import PassCache
from .llama import flat
from .pretrained import Pretrained, read, read_windowed


class HuggingFaceModel(Pretrained):
    """A causal LM that scores nodes at explicit positions under a tree mask, on the CPU."""

    def __init__(self, model: Any, tokenizer: Any, source: Mapping[str, Any]) -> None:
        super().__init__(model, tokenizer, source)
        parameters = inspect.signature(model.forward).parameters
        self._flat = flat(model)
        self._window = _window(model.config)
        self._cache_argument = "cache" if "cache" in parameters else "past_key_values"
        if "position_ids" not in parameters:
            raise ModelRefused(
                f"{type(model).__name__} takes no explicit positions; draftgate cannot verify drafts on it"
            )
        if unheard := _unheard(model):
            raise ModelRefused(
                f"{type(model).__name__} states {unheard} in its config.json, which is not kept when it is scored "
                "here; take it out of there if the model was trained without it, or name another model"
            )

    @property
    def window(self) -> int | None:
        """How many entries every layer sees at most, its own included; None where a layer sees all."""
        mixed = "full_attention" in (getattr(self.model.config, "layer_types", None) or ())
        return None if mixed else self._window

    def score(self, block: Block, cache: Cache) -> Logits:
        """Logits (rows, nodes, vocabulary) after every node. Writes the cache; does not commit."""
        return self._forward(block, cache, 0)

    def score_last(self, block: Block, cache: Cache) -> Logits:
        """Logits (rows, vocabulary) after each row's last node."""
        if block.tokens.shape[1] == 1:
            return self.score(block, cache)[:, 0]
        ends = [len(parents) - 1 for parents in block.parents]
        wanted = sorted(set(ends))
        logits = self._forward(block, cache, torch.tensor(wanted))
        return logits[np.arange(len(ends)), [wanted.index(end) for end in ends]]

    def native_logits(self, tokens: Sequence[int]) -> Logits:
        """Logits (tokens, vocabulary) by the model's own mask and no cache: what the mask probe compares with."""
        with torch.inference_mode():
            out = self.model(input_ids=torch.tensor([list(tokens)]), use_cache=False).logits[0]
        return _numpy(out)

    def _forward(self, block: Block, cache: Cache, keep: int | Tensor) -> Logits:
        seen = visible(block, cache.lengths)
        places = positions(block, cache.lengths)
        tokens, masks = torch.from_numpy(block.tokens), self._masks(seen, places, cache)
        with torch.inference_mode():
            if self._flat and isinstance(masks, Tensor):
                kept = keep if isinstance(keep, Tensor) else slice(None)
                return _numpy(self._flat.logits(tokens, masks, places, cache, kept))
            out = self.model(
                input_ids=tokens,
                attention_mask=masks,
                position_ids=places,
                use_cache=True,
                logits_to_keep=keep,
                **{self._cache_argument: PassCache(cache)},
            ).logits
        return _numpy(out)

    def _masks(self, seen: npt.NDArray[np.bool_], places: Tensor, cache: Cache) -> Tensor | dict[str, Tensor]:
        """One mask, or one for each type of layer where the model mixes full and sliding attention."""
        full = additive(seen, self.dtype)
        if self._window is None:
            return full
        near = additive(seen & _within(self._window, seen.shape[-1], places, cache), self.dtype)
        kinds = set(getattr(self.model.config, "layer_types", None) or ())
        if len(kinds) > 1:
            return {"full_attention": full, "sliding_attention": near}
        return near


def load(folder: str | Path, dtype: torch.dtype = torch.float32) -> HuggingFaceModel:
    """Loads a local transformers folder or GGUF file. Raises ModelMissing with one line where that cannot be done."""
    return HuggingFaceModel(*read(folder, dtype))


def load_windowed(folder: str | Path, window: int, dtype: torch.dtype = torch.float32) -> HuggingFaceModel:
    """A Llama's folder as a model whose layers see `window` entries, their own included. Raises ModelMissing."""
    return HuggingFaceModel(*read_windowed(folder, window, dtype))


def _unheard(model: Any) -> str | None:
    """What the configuration says of how far a layer sees, and either the library's code for it or ours ignores.

    The mask probe cannot tell: its texts are shorter than any window in use.
    """
    config, code = model.config, sys.modules[type(model).__module__]
    if _window(config) is not None and not hasattr(code, "create_sliding_window_causal_mask"):
        return f"sliding_window {config.sliding_window}"
    if chunk := getattr(config, "attention_chunk_size", None):
        return f"attention_chunk_size {chunk}"
    return None


def _window(config: Any) -> int | None:
    """Width of the sliding window, None where every layer sees everything."""
    kinds = getattr(config, "layer_types", None)
    if kinds is not None and "sliding_attention" not in kinds:
        return None
    if getattr(config, "use_sliding_window", True) is False:
        return None
    width = getattr(config, "sliding_window", None)
    return int(width) if width else None


def _within(window: int, reach: int, places: Tensor, cache: Cache) -> npt.NDArray[np.bool_]:
    """(rows, nodes, entries): whether an entry lies within the window behind the node."""
    rows, nodes = places.shape
    entry = np.broadcast_to(np.arange(reach), (rows, reach)).copy()
    for row, start in enumerate(cache.lengths):
        block = entry[row, start : start + nodes]
        block[:] = places[row, : len(block)].numpy()
    near: npt.NDArray[np.bool_] = places.numpy()[:, :, None] - entry[:, None, :] < window
    return near


def _numpy(logits: Tensor) -> Logits:
    return logits.float().numpy()
