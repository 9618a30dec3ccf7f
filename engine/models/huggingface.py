"""Any transformers causal LM, scored under a tree mask at explicit positions. The one file that knows the library.

Written against transformers 5.x. The argument that carries the cache changed its name within that series, so it is
looked up in the model's signature.
"""

from __future__ import annotations

import hashlib
import inspect
import json
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from pickle import UnpicklingError
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from jinja2 import TemplateError
from safetensors import SafetensorError
from torch import Tensor

from ..cache.base import Cache
from ..errors import ModelMissing, ModelRefused, TemplateUnfit
from .attention import additive, positions, visible
from .base import Block, Logits
from .llama import flat

os.environ.setdefault("HF_HUB_OFFLINE", "1")  # a gate must not fetch other weights than those it names
os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")
os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")

import transformers

transformers.utils.logging.disable_progress_bar()


class _Bridge(transformers.Cache):  # type: ignore[misc]  # transformers is untyped here
    """Hands transformers' `update` calls to the engine's cache."""

    def __init__(self, inner: Cache) -> None:
        super().__init__(layers=[])
        self.inner = inner

    def update(
        self, key_states: Tensor, value_states: Tensor, layer_idx: int, *_: object, **__: object
    ) -> tuple[Tensor, Tensor]:
        """Writes the block and returns all entries of the layer."""
        return self.inner.write(layer_idx, key_states, value_states)

    def get_seq_length(self, layer_idx: int = 0) -> int:
        """Longest committed row; only read by code that our explicit masks and positions make idle."""
        del layer_idx
        return int(self.inner.lengths.max(initial=0))


class HuggingFaceModel:
    """A causal LM and its tokenizer, loaded from a folder, in evaluation mode on the CPU unless told otherwise."""

    def __init__(self, model: Any, tokenizer: Any, source: Mapping[str, Any]) -> None:
        self.model = model.eval()
        self.tokenizer = tokenizer
        self.vocabulary = int(model.config.vocab_size)
        self.positions = _reach(model.config)
        self._source = dict(source)
        parameters = inspect.signature(model.forward).parameters
        self._flat = flat(model)
        self._window = _window(model.config)
        self.dtype: torch.dtype = model.dtype  # what the model computes in
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
                **{self._cache_argument: _Bridge(cache)},
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

    def decode(self, tokens: Sequence[int]) -> str:
        """The text of some tokens, special tokens left out."""
        return str(self.tokenizer.decode(list(tokens), skip_special_tokens=True))

    def encode(self, messages: Sequence[Mapping[str, str]]) -> tuple[int, ...]:
        """Prompt ids by the model's chat template; without a template, the text of one user turn as it is.

        Raises TemplateUnfit where the template loses what was asked, or where none is there to tell turns apart.
        """
        if self.tokenizer.chat_template is None:
            if [m["role"] for m in messages] != ["user"]:
                raise self._unfit("has no chat template", messages)
            return tuple(self.tokenizer(messages[0]["content"] + "\n")["input_ids"])
        try:
            text = self.tokenizer.apply_chat_template(list(messages), tokenize=False, add_generation_prompt=True)
        except (TemplateError, TypeError, ValueError, LookupError) as error:  # a template is a program of its own
            raise self._unfit(f"has a chat template that refuses it ({error})", messages) from error
        if not all(_said(m["content"].strip(), text) for m in messages if m["role"] != "assistant"):
            raise self._unfit("has a chat template that leaves out or changes what was said", messages)
        return tuple(self.tokenizer(text, add_special_tokens=False)["input_ids"])

    def _unfit(self, why: str, messages: Sequence[Mapping[str, str]]) -> TemplateUnfit:
        roles = ", ".join(m["role"] for m in messages)
        name = self._source.get("model", type(self.model).__name__)
        return TemplateUnfit(
            f"the model {name} {why}: a conversation of {roles} cannot be asked of it; choose a suite of single user "
            "turns, or give the folder a chat template for these"
        )

    @property
    def eos(self) -> tuple[int, ...]:
        """Ids that end an answer: the generation settings' and the tokenizer's."""
        stated = getattr(self.model.generation_config, "eos_token_id", None)
        ids = stated if isinstance(stated, list) else [stated]
        return tuple(sorted({int(i) for i in [*ids, self.tokenizer.eos_token_id] if i is not None}))

    def speaks_like(self, other: HuggingFaceModel) -> bool:
        """Whether both number their tokens alike."""
        same_size = self.vocabulary == other.vocabulary
        return same_size and bool(self.tokenizer.get_vocab() == other.tokenizer.get_vocab())

    @property
    def parameters(self) -> int:
        """How many weights, shared ones counted once."""
        return sum(p.numel() for p in self.model.parameters())

    def identity(self) -> dict[str, Any]:
        """Weights digest, architecture, dtype, library versions."""
        return self._source | {
            "architecture": type(self.model).__name__,
            "dtype": str(self.dtype).removeprefix("torch."),
            "parameters": self.parameters,
            "vocabulary": self.vocabulary,
            "chat_template": self.tokenizer.chat_template is not None,
            "torch": torch.__version__,
            "transformers": transformers.__version__,
        }


TOKENIZER_FILES = ("tokenizer.json", "tokenizer.model", "vocab.json", "vocab.txt", "spiece.model", "tekken.json")


def load(folder: str | Path, dtype: torch.dtype = torch.float32) -> HuggingFaceModel:
    """Loads a local transformers folder. Raises ModelMissing with one line where that cannot be done."""
    path = Path(folder)
    if not (path / "config.json").is_file():
        raise ModelMissing(f"no model at {path}: there is no config.json; name a folder written by save_pretrained")
    if not any((path / name).is_file() for name in TOKENIZER_FILES):
        raise ModelMissing(f"the model at {path} cannot be loaded: no tokenizer there; save it into the same folder")
    try:
        model, report = transformers.AutoModelForCausalLM.from_pretrained(
            path, dtype=dtype, local_files_only=True, trust_remote_code=False, output_loading_info=True
        )
        tokenizer = transformers.AutoTokenizer.from_pretrained(path, local_files_only=True, trust_remote_code=False)
    except (OSError, ValueError, KeyError, RuntimeError, EOFError, UnpicklingError, SafetensorError) as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise ModelMissing(f"the model at {path} cannot be loaded: {reason}") from error
    if report["missing_keys"]:  # transformers would fill them with random numbers
        raise ModelMissing(f"the model at {path} cannot be loaded: its weights lack {min(report['missing_keys'])}")
    if not tokenizer("a", add_special_tokens=False)["input_ids"]:  # what transformers makes up where no file is
        raise ModelMissing(f"the model at {path} cannot be loaded: its tokenizer knows no text")
    return HuggingFaceModel(model, tokenizer, {"model": path.name, "weights_sha256": _digest(path)})


def _digest(path: Path) -> str:
    """SHA-256 over names and contents of the folder's weight and tokenizer files."""
    total = hashlib.sha256()
    for file in sorted(path.iterdir()):
        if file.suffix in {".safetensors", ".bin", ".json", ".model", ".jinja"}:
            total.update(file.name.encode())
            total.update(hashlib.sha256(file.read_bytes()).digest())
    return total.hexdigest()


def _reach(config: Any) -> int:
    """Positions at which a token is scored alike whatever else is in its pass: longrope turns all beyond a length."""
    most = int(getattr(config, "max_position_embeddings", None) or 1 << 30)
    stated = getattr(config, "rope_parameters", None) or {}
    ropes = [stated, *(part for part in stated.values() if isinstance(part, dict))]  # one, or one a type of layer
    long = [rope for rope in ropes if rope.get("rope_type") == "longrope"]
    return min([most, *(int(rope["original_max_position_embeddings"]) for rope in long)])


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


def _said(content: str, text: str) -> bool:
    """Whether the text has the content, as it is or as JSON puts it."""
    return content in text or json.dumps(content, ensure_ascii=False)[1:-1] in text


def _numpy(logits: Tensor) -> Logits:
    return logits.float().numpy()
