"""The embedded family as GGUF: every weight, the tokenizer's ids, the template; other makes are refused."""

from __future__ import annotations

import json
import shutil
import sys
from importlib.util import module_from_spec, spec_from_file_location

import numpy as np
import pytest
from gguf import GGUFReader, TokenType
from safetensors.numpy import load_file

from repository import ROOT

FOLDER = ROOT / "engine/models/embedded/draft"


@pytest.fixture(scope="module")
def script():
    spec = spec_from_file_location("convert_to_gguf", ROOT / "examples/recipes/convert_to_gguf.py")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def written(script, tmp_path):
    """Reads what was written of the draft model."""

    def writing(kind="f32"):
        script.convert(FOLDER, tmp_path / "out.gguf", kind)
        return GGUFReader(tmp_path / "out.gguf")

    return writing


def field(reader, name):
    return reader.fields[name].contents()


def test_every_weight_is_there_unchanged(written):
    found = {tensor.name: tensor.data for tensor in written().tensors}
    weights = load_file(FOLDER / "model.safetensors")

    assert len(found) == len(weights)
    for name, ours in {
        "token_embd.weight": "model.embed_tokens.weight",
        "output_norm.weight": "model.norm.weight",
        "blk.1.attn_v.weight": "model.layers.1.self_attn.v_proj.weight",
        "blk.1.ffn_down.weight": "model.layers.1.mlp.down_proj.weight",
    }.items():
        assert np.array_equal(weights[ours].astype(np.float32), found[name]), name


def test_queries_and_keys_are_turned_by_pairs(written):
    found = {tensor.name: tensor.data for tensor in written().tensors}
    ours = load_file(FOLDER / "model.safetensors")["model.layers.0.self_attn.q_proj.weight"].astype(np.float32)
    heads = found["blk.0.attn_q.weight"].reshape(3, 32, 96)

    assert np.array_equal(ours.reshape(3, 32, 96)[:, :16], heads[:, 0::2])
    assert np.array_equal(ours.reshape(3, 32, 96)[:, 16:], heads[:, 1::2])


def test_halves_are_for_matrices_alone(written):
    kinds = {tensor.data.ndim: tensor.data.dtype for tensor in written("f16").tensors}

    assert kinds == {1: np.float32, 2: np.float16}


def test_the_tokenizer_and_its_template_are_there(written):
    reader = written()
    tokenizer = json.loads((FOLDER / "tokenizer.json").read_text(encoding="utf-8"))

    assert {token: i for i, token in enumerate(field(reader, "tokenizer.ggml.tokens"))} == tokenizer["model"]["vocab"]
    assert [m.split(" ") for m in field(reader, "tokenizer.ggml.merges")] == tokenizer["model"]["merges"]
    kinds = field(reader, "tokenizer.ggml.token_type")
    assert [i for i, kind in enumerate(kinds) if kind == TokenType.CONTROL] == [0, 1, 2, 3, 4]
    assert field(reader, "tokenizer.ggml.eos_token_id") == 0
    assert not field(reader, "tokenizer.ggml.add_bos_token")
    assert field(reader, "tokenizer.chat_template") == (FOLDER / "chat_template.jinja").read_text(encoding="utf-8")


def changed(tmp_path, name, change):
    """A copy of the folder with one document changed."""
    folder = tmp_path / "copy"
    shutil.copytree(FOLDER, folder)
    document = json.loads((folder / name).read_text(encoding="utf-8"))
    change(document)
    (folder / name).write_text(json.dumps(document), encoding="utf-8")
    return folder


@pytest.mark.parametrize(
    ("name", "change", "told"),
    [
        ("config.json", lambda d: d.update(model_type="qwen2"), "no llama with tied embeddings"),
        ("config.json", lambda d: d.update(tie_word_embeddings=False), "no llama with tied embeddings"),
        ("tokenizer.json", lambda d: d.update(normalizer={"type": "NFC"}), "is not split by"),
        ("tokenizer.json", lambda d: d["pre_tokenizer"]["pretokenizers"].pop(0), "is not split by"),
        ("tokenizer.json", lambda d: d["model"]["merges"].append(["a", ","]), "merges 'a' and ',' across a split"),
        ("tokenizer.json", lambda d: d["model"]["merges"].append(["1", "2"]), "merges '1' and '2' across a split"),
        ("tokenizer.json", lambda d: d["model"]["merges"].append(["Ġ", "Ã"]), "across a split"),
    ],
)
def test_what_would_be_written_wrongly_is_refused(script, tmp_path, name, change, told):
    with pytest.raises(ValueError, match=told):
        script.convert(changed(tmp_path, name, change), tmp_path / "out.gguf", "f32")
    assert not (tmp_path / "out.gguf").exists()


def test_a_folder_that_is_not_there_is_one_line(script, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["convert_to_gguf", str(tmp_path / "none"), str(tmp_path / "out.gguf")])

    assert script.main() == 2
    assert capsys.readouterr().err.startswith("convert_to_gguf: ")
