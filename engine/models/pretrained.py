"""A causal LM of transformers and its tokenizer: what it is, and how it puts text into tokens.

The one file that imports the library, once it is told to fetch nothing. Written against transformers 5.x. Knows nothing
about how tokens are scored or chosen.
"""

from __future__ import annotations

import hashlib
import json
import os
import struct
from collections.abc import Mapping, Sequence
from pathlib import Path
from pickle import UnpicklingError
from typing import Any, NamedTuple

import torch
from jinja2 import TemplateError
from safetensors import SafetensorError
from torch import Tensor

from ..errors import ModelMissing, TemplateUnfit

os.environ.setdefault("HF_HUB_OFFLINE", "1")  # a gate must not fetch other weights than those it names
os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")
os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")

import transformers

transformers.utils.logging.disable_progress_bar()
TheirCache: Any = transformers.Cache
GenerationConfig: Any = transformers.GenerationConfig


class Parts(NamedTuple):
    """What was read: the model, its tokenizer, and which files they came from."""

    model: Any
    tokenizer: Any
    source: Mapping[str, Any]


class Words:
    """A tokenizer and its chat template; `name` stands in messages."""

    def __init__(self, tokenizer: Any, name: str) -> None:
        self.tokenizer = tokenizer
        self.name = name

    def decode(self, tokens: Sequence[int]) -> str:
        """The text of some tokens, special tokens left out."""
        return str(self.tokenizer.decode(list(tokens), skip_special_tokens=True))

    def tokens(self, text: str) -> tuple[int, ...]:
        """The ids of a text as it is."""
        return tuple(self.tokenizer(text, add_special_tokens=False)["input_ids"])

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
        return self.tokens(text)

    def _unfit(self, why: str, messages: Sequence[Mapping[str, str]]) -> TemplateUnfit:
        roles = ", ".join(m["role"] for m in messages)
        return TemplateUnfit(
            f"the model {self.name} {why}: a conversation of {roles} cannot be asked of it; choose a suite of single "
            "user turns, or give the folder a chat template for these"
        )


class Pretrained(Words):
    """A causal LM and its tokenizer, in evaluation mode; nothing is asked of its architecture."""

    def __init__(self, model: Any, tokenizer: Any, source: Mapping[str, Any]) -> None:
        super().__init__(tokenizer, str(source.get("model", type(model).__name__)))
        self.model = model.eval()
        self.vocabulary = int(model.config.vocab_size)
        self.positions = _reach(model.config)
        self.dtype: torch.dtype = model.dtype  # what the model computes in
        self.device: torch.device = model.device
        self._source = dict(source)
        self._ends = getattr(model.generation_config, "eos_token_id", None)

    @property
    def eos(self) -> tuple[int, ...]:
        """Ids that end an answer: the generation settings' and the tokenizer's."""
        ids = self._ends if isinstance(self._ends, list) else [self._ends]
        return tuple(sorted({int(i) for i in [*ids, self.tokenizer.eos_token_id] if i is not None}))

    def speaks_like(self, other: Pretrained) -> bool:
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
_UNREADABLE = (  # what the library says of files that it cannot read
    OSError,
    ValueError,
    LookupError,
    RuntimeError,
    EOFError,
    ImportError,
    UnpicklingError,
    SafetensorError,
    struct.error,
)


def load(path: str | Path, dtype: torch.dtype = torch.float32, device: str = "cpu") -> Pretrained:
    """What `read` reads, on a device of torch's."""
    model, tokenizer, source = read(path, dtype)
    return Pretrained(model.to(device), tokenizer, source)


def read(path: str | Path, dtype: torch.dtype = torch.float32) -> Parts:
    """A local transformers folder, or a GGUF file in one, dequantised. Raises ModelMissing with one line."""
    path = Path(path)
    quantised = path.suffix == ".gguf" and path.is_file()
    if not quantised:
        _complete(path)
    folder, named = (path.parent, {"gguf_file": path.name}) if quantised else (path, {})
    given = {"local_files_only": True, "trust_remote_code": False} | named
    try:
        model, report = transformers.AutoModelForCausalLM.from_pretrained(
            folder, dtype=dtype, output_loading_info=True, **given
        )
        tokenizer = transformers.AutoTokenizer.from_pretrained(folder, **given)
    except _UNREADABLE as error:
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
        raise ModelMissing(f"the model at {path} cannot be loaded: {reason}") from error
    if report["missing_keys"]:  # transformers would fill them with random numbers
        raise ModelMissing(f"the model at {path} cannot be loaded: its weights lack {min(report['missing_keys'])}")
    if not tokenizer("a", add_special_tokens=False)["input_ids"]:  # what transformers makes up where no file is
        raise ModelMissing(f"the model at {path} cannot be loaded: its tokenizer knows no text")
    return Parts(model, tokenizer, {"model": path.name, "weights_sha256": _digest(path)})


def read_windowed(path: str | Path, window: int, dtype: torch.dtype = torch.float32) -> Parts:
    """A local folder of a Llama, as a Mistral whose layers see `window` entries: the same weights, one mask apart."""
    told = json.loads((Path(path) / "config.json").read_text("utf-8"))
    stated = told | {"model_type": "mistral", "architectures": ["MistralForCausalLM"], "sliding_window": window}
    parts = read(path, dtype)
    config = transformers.MistralConfig(**stated)
    model = transformers.MistralForCausalLM.from_pretrained(path, config=config, dtype=dtype, local_files_only=True)
    return Parts(model, parts.tokenizer, {**parts.source, "window": window})


def read_words(path: str | Path) -> Words:
    """The tokenizer in a local folder, without weights. Raises ModelMissing with one line."""
    path = Path(path)
    if not any((path / name).is_file() for name in TOKENIZER_FILES):
        raise ModelMissing(f"no tokenizer at {path}; name a folder that holds tokenizer.json")
    try:
        tokenizer = transformers.AutoTokenizer.from_pretrained(path, local_files_only=True, trust_remote_code=False)
    except _UNREADABLE as error:
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
        raise ModelMissing(f"the tokenizer at {path} cannot be loaded: {reason}") from error
    return Words(tokenizer, path.name)


def _complete(path: Path) -> None:
    """Raises ModelMissing where a file is not there without which transformers would make something up."""
    if not (path / "config.json").is_file():
        raise ModelMissing(f"no model at {path}: there is no config.json; name a folder written by save_pretrained")
    if not any((path / name).is_file() for name in TOKENIZER_FILES):
        raise ModelMissing(f"the model at {path} cannot be loaded: no tokenizer there; save it into the same folder")


def _digest(path: Path) -> str:
    """SHA-256 over names and contents of the folder's weight and tokenizer files, or of the one file that is both."""
    if path.is_file():
        return hashlib.sha256(path.read_bytes()).hexdigest()
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


def _said(content: str, text: str) -> bool:
    """Whether the text has the content, as it is or as JSON puts it."""
    return content in text or json.dumps(content, ensure_ascii=False)[1:-1] in text


def left_padded(prompts: Sequence[Sequence[int]], pad: int) -> tuple[Tensor, Tensor]:
    """Token ids and mask, both (rows, longest prompt): the prompts end together."""
    longest = max(map(len, prompts))
    tokens = torch.tensor([[pad] * (longest - len(prompt)) + list(prompt) for prompt in prompts])
    mask = torch.tensor([[0] * (longest - len(prompt)) + [1] * len(prompt) for prompt in prompts])
    return tokens, mask
