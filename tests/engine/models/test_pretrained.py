"""What is loaded is what was named, on its device, and anything else is refused in one line."""

from __future__ import annotations

import shutil

import pytest
import torch
import transformers

from draftgate.canaries.targets.reference import EMBEDDED
from draftgate.engine.errors import ModelMissing
from draftgate.engine.models import huggingface, pretrained
from draftgate.engine.models.pretrained import left_padded, load, read, read_windowed, read_words


def test_a_llama_is_read_as_a_model_that_sees_a_window():
    whole, near = read(EMBEDDED / "target"), read_windowed(EMBEDDED / "target", 24)

    assert 24 == near.model.config.sliding_window == near.source["window"]
    assert sorted(whole.model.state_dict()) == sorted(near.model.state_dict())
    assert all(torch.equal(a, near.model.state_dict()[name]) for name, a in whole.model.state_dict().items())


def recurrent(folder):
    """A tiny model without attention, with the embedded tokenizer."""
    sizes = {"vocab_size": 1024, "hidden_size": 16, "state_size": 4, "num_hidden_layers": 1}
    transformers.MambaForCausalLM(transformers.MambaConfig(**sizes)).save_pretrained(folder)
    for file in EMBEDDED.glob("target/*token*.json"):
        shutil.copy(file, folder)
    return folder


def test_the_same_folder_is_the_same_model_whether_scored_or_only_asked():
    asked, scored = load(EMBEDDED / "target"), huggingface.load(EMBEDDED / "target")

    assert scored.identity() == asked.identity()
    assert scored.eos == asked.eos == (0,)
    assert torch.device("cpu") == asked.device


def test_a_model_that_cannot_be_scored_at_explicit_positions_can_still_be_asked(tmp_path):
    assert load(recurrent(tmp_path)).vocabulary == 1024


def test_where_answers_end_outlives_settings_that_are_set_aside():
    model = load(EMBEDDED / "target")
    model.model.generation_config = transformers.GenerationConfig()

    assert model.eos == (0,)


@pytest.mark.parametrize("content", [b"", b"GGUF\x03\x00\x00\x00"])
def test_a_quantised_file_that_cannot_be_read_is_missing(content, tmp_path):
    """Where the library that reads such files is not installed, that is said in one line too."""
    file = tmp_path / "model.gguf"
    file.write_bytes(content)

    with pytest.raises(ModelMissing, match=r"the model at .*model\.gguf cannot be loaded") as caught:
        load(file)

    assert "\n" not in str(caught.value)


def test_a_quantised_file_that_is_not_there_is_missing(tmp_path):
    with pytest.raises(ModelMissing, match="no model at"):
        load(tmp_path / "model.gguf")


def test_a_file_is_told_apart_by_what_is_in_it(tmp_path):
    one, other = tmp_path / "a.gguf", tmp_path / "b.gguf"
    one.write_bytes(b"one")
    other.write_bytes(b"other")

    assert pretrained._digest(one) != pretrained._digest(other)


def test_rows_are_padded_so_that_they_end_together():
    tokens, mask = left_padded([(5, 6, 7), (8,)], 0)

    assert [[5, 6, 7], [0, 0, 8]] == tokens.tolist()
    assert [[1, 1, 1], [0, 0, 1]] == mask.tolist()


def test_a_tokenizer_is_read_without_weights(tmp_path):
    for name in ("tokenizer.json", "tokenizer_config.json", "chat_template.jinja"):
        shutil.copy(EMBEDDED / "target" / name, tmp_path / name)
    words, whole = read_words(tmp_path), load(EMBEDDED / "target")
    messages = [{"role": "user", "content": "Say hello."}]

    assert words.encode(messages) == whole.encode(messages)
    assert words.decode(words.tokens("Say hello.")) == "Say hello."


def test_a_folder_without_a_tokenizer_is_named(tmp_path):
    with pytest.raises(ModelMissing, match=r"no tokenizer at .*; name a folder that holds tokenizer.json"):
        read_words(tmp_path)
    (tmp_path / "tokenizer.json").write_text("{")
    with pytest.raises(ModelMissing, match=r"the tokenizer at .* cannot be loaded"):
        read_words(tmp_path)
