"""Writes a folder of the embedded family as one GGUF file: weights, tokenizer and chat template.

    python examples/recipes/convert_to_gguf.py FOLDER OUT.gguf [--type f32|f16]

Needs `gguf`, `numpy` and `safetensors`. Llama architecture, byte-level BPE. llama.cpp knows pre-tokenizers by name only
and none is called as this family's; `superbpe` splits at digits alone. That gives the ids of splitting into letters,
single digits and all else, since no merge crosses these: what is checked here, merge by merge, and refused otherwise.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from unicodedata import category

import gguf
import numpy as np
from gguf.vocab import bytes_to_unicode
from safetensors.numpy import load_file

SPLIT = r"\p{L}+|\p{N}|[^\p{L}\p{N}]+"  # of the folder's tokenizer
TYPES = {"f32": (np.float32, gguf.LlamaFileType.ALL_F32), "f16": (np.float16, gguf.LlamaFileType.MOSTLY_F16)}


def convert(folder: Path, out: Path, kind: str) -> None:
    """`out` holds the model. Raises ValueError for a folder of another make, OSError for one that cannot be read."""
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    tokenizer = json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))
    if config["model_type"] != "llama" or not config["tie_word_embeddings"]:
        raise ValueError(f"{folder} is no llama with tied embeddings; use llama.cpp's own converter")
    refuse_other_splits(folder, tokenizer)
    dtype, file_type = TYPES[kind]
    writer = gguf.GGUFWriter(None, "llama")
    writer.add_name(folder.name)
    writer.add_file_type(file_type)
    add_config(writer, config)
    add_tokenizer(writer, tokenizer, config["eos_token_id"], (folder / "chat_template.jinja").read_text("utf-8"))
    add_weights(writer, config, load_file(folder / "model.safetensors"), dtype)
    writer.write_header_to_file(out)
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def refuse_other_splits(folder: Path, tokenizer: dict) -> None:
    """Raises ValueError where `superbpe` could give other ids than the folder's tokenizer."""
    split, last = (*tokenizer["pre_tokenizer"].get("pretokenizers", ()), {}, {})[:2]
    plain = (
        tokenizer["model"]["type"] == "BPE" and not tokenizer["model"]["ignore_merges"] and not tokenizer["normalizer"]
    )
    if not plain or split.get("pattern") != {"Regex": SPLIT} or last.get("type") != "ByteLevel":
        raise ValueError(f"{folder}/tokenizer.json is not split by {SPLIT}; use llama.cpp's own converter")
    for first, second in tokenizer["model"]["merges"]:
        if len(kinds(first + second)) != 1:
            raise ValueError(f"{folder}/tokenizer.json merges {first!r} and {second!r} across a split")


def kinds(token: str) -> set[str]:
    """What the characters of a token are split into: letters, each number by itself, all else; halves of one too."""
    byte_of = {character: byte for byte, character in bytes_to_unicode().items()}
    try:
        text = bytes(byte_of[character] for character in token).decode()
    except UnicodeDecodeError:
        return {"half", token}
    categories = [category(character)[0] for character in text]
    return {f"N{i}" if kind == "N" else "L" if kind == "L" else "" for i, kind in enumerate(categories)}


def add_config(writer: gguf.GGUFWriter, config: dict) -> None:
    """The architecture's numbers."""
    writer.add_context_length(config["max_position_embeddings"])
    writer.add_vocab_size(config["vocab_size"])
    writer.add_embedding_length(config["hidden_size"])
    writer.add_block_count(config["num_hidden_layers"])
    writer.add_feed_forward_length(config["intermediate_size"])
    writer.add_head_count(config["num_attention_heads"])
    writer.add_head_count_kv(config["num_key_value_heads"])
    writer.add_key_length(config["head_dim"])
    writer.add_value_length(config["head_dim"])
    writer.add_rope_dimension_count(config["head_dim"])
    writer.add_rope_freq_base(config["rope_parameters"]["rope_theta"])
    writer.add_layer_norm_rms_eps(config["rms_norm_eps"])


def add_tokenizer(writer: gguf.GGUFWriter, tokenizer: dict, eos: int, template: str) -> None:
    """Tokens, merges, special tokens and the chat template; nothing is added before or after a text."""
    tokens = sorted(tokenizer["model"]["vocab"], key=tokenizer["model"]["vocab"].get)
    special = {token["content"] for token in tokenizer["added_tokens"]}
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("superbpe")
    writer.add_token_list(tokens)
    writer.add_token_types([gguf.TokenType.CONTROL if t in special else gguf.TokenType.NORMAL for t in tokens])
    writer.add_token_merges([" ".join(pair) for pair in tokenizer["model"]["merges"]])
    writer.add_bos_token_id(eos)  # the format's own default would be token 11
    writer.add_eos_token_id(eos)
    writer.add_pad_token_id(eos)
    writer.add_add_bos_token(value=False)
    writer.add_add_eos_token(value=False)
    writer.add_add_space_prefix(value=False)
    writer.add_chat_template(template)


def add_weights(writer: gguf.GGUFWriter, config: dict, weights: dict, dtype: type) -> None:
    """Every tensor under GGUF's name: matrices as `dtype`, vectors as float32, queries and keys by pairs for rope."""
    names = gguf.get_tensor_name_map(gguf.MODEL_ARCH.LLAMA, config["num_hidden_layers"])
    heads = {"q_proj": config["num_attention_heads"], "k_proj": config["num_key_value_heads"]}
    for name, tensor in weights.items():
        part = name.split(".")[-2]
        ordered = by_pairs(tensor, heads[part]) if part in heads else tensor
        writer.add_tensor(
            names.get_name(name, try_suffixes=(".weight",)), ordered.astype(dtype if ordered.ndim > 1 else np.float32)
        )


def by_pairs(tensor: np.ndarray, heads: int) -> np.ndarray:
    """Rows of each head from halves (i, i + half) to pairs (2 i, 2 i + 1): how llama.cpp turns them for positions."""
    rows, columns = tensor.shape
    return tensor.reshape(heads, 2, rows // heads // 2, columns).swapaxes(1, 2).reshape(rows, columns)


def main() -> int:
    """Exit status 0, or 2 with one line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--type", choices=TYPES, default="f32", dest="kind")
    options = parser.parse_args()
    try:
        convert(options.folder, options.out, options.kind)
    except (OSError, ValueError, KeyError) as error:
        print(f"convert_to_gguf: {error}", file=sys.stderr)  # noqa: T201
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
