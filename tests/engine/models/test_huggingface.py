"""The one file that knows transformers: the embedded target, and tiny random models of other architectures."""

from __future__ import annotations

import shutil

import numpy as np
import pytest
import torch
import transformers

from draftgate.canaries.targets.reference import EMBEDDED
from draftgate.engine.cache.contiguous import ContiguousCache
from draftgate.engine.errors import ModelMissing, ModelRefused, TemplateUnfit
from draftgate.engine.models.base import Block
from draftgate.engine.models.huggingface import load
from draftgate.engine.models.probe import Scoring, probe
from tolerances import FLOAT32_LOGITS, FLOAT32_TINY_LOGITS

SIZES = {"vocab_size": 512, "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 3}
HEADS = {"num_attention_heads": 4, "num_key_value_heads": 2}
WINDOW = {"sliding_window": 6}
ENDS = {"bos_token_id": None, "eos_token_id": 0, "pad_token_id": 0, "max_position_embeddings": 128}
USUAL = SIZES | HEADS | ENDS
ARCHITECTURES = {
    "llama with grouped queries": lambda: transformers.LlamaConfig(**USUAL),
    "qwen2": lambda: transformers.Qwen2Config(**USUAL),
    "qwen2 with a window in some layers": lambda: transformers.Qwen2Config(
        **USUAL | WINDOW, use_sliding_window=True, max_window_layers=1
    ),
    "qwen3": lambda: transformers.Qwen3Config(**USUAL, head_dim=8),
    "mistral with a window": lambda: transformers.MistralConfig(**USUAL | WINDOW),
    "gemma2 with a window in some layers": lambda: transformers.Gemma2Config(**USUAL | WINDOW, head_dim=8),
    "gemma3 with a window in some layers": lambda: transformers.Gemma3TextConfig(
        **USUAL | WINDOW, head_dim=8, layer_types=["sliding_attention", "sliding_attention", "full_attention"]
    ),
    "phi3 with a window": lambda: transformers.Phi3Config(**USUAL | WINDOW),
    "gpt2": lambda: transformers.GPT2Config(
        vocab_size=512, n_embd=32, n_layer=3, n_head=4, n_positions=128, bos_token_id=0, eos_token_id=0
    ),
    "gpt-neox": lambda: transformers.GPTNeoXConfig(**SIZES, num_attention_heads=4, **ENDS),
}
PROMPT = [int(token) for token in np.random.default_rng(5).integers(1, 512, 20)]
BRANCHES = ([11, 12, 13], [21, 22])
TREE = ([PROMPT[-1], 11, 12, 21, 13, 22], (-1, 0, 1, 0, 2, 3))
BRANCH_NODES = ([0, 1, 2, 4], [0, 3, 5])


def saved(config, folder, dtype=None):
    """A random model of this configuration in a folder, with the embedded tokenizer."""
    torch.manual_seed(0)
    model = transformers.AutoModelForCausalLM.from_config(config)
    for parameter in model.parameters():
        if parameter.ndim > 1:
            parameter.data.mul_(4)  # fresh weights are so small that a wrong mask would hardly show
    (model.to(dtype) if dtype else model).save_pretrained(folder)
    for file in EMBEDDED.glob("target/*token*.json"):
        shutil.copy(file, folder)
    return folder


@pytest.fixture(scope="module", params=[*ARCHITECTURES, "embedded"])
def model(request, tmp_path_factory):
    if request.param == "embedded":
        return load(EMBEDDED / "target")
    return load(saved(ARCHITECTURES[request.param](), tmp_path_factory.mktemp("model")))


def prefilled(model, *prompts):
    cache = ContiguousCache(len(prompts))
    model.score(Block.chains(prompts), cache)
    cache.commit([list(range(1, len(prompt))) for prompt in prompts])
    return cache


def gap(expected, seen):
    """Largest difference of logits, as a share of their spread."""
    return float(np.abs(expected - seen).max() / (expected.max() - expected.min()))


def test_every_architecture_is_scored_as_a_tree(model):
    assert Scoring.TREE == probe(model)


def test_a_tree_scored_at_once_equals_its_branches_scored_by_the_model_itself(model):
    tokens, parents = TREE
    seen = model.score(Block.of([tokens], [parents]), prefilled(model, PROMPT[:-1]))[0]

    for branch, nodes in zip(BRANCHES, BRANCH_NODES, strict=True):
        alone = model.native_logits([*PROMPT, *branch])[len(PROMPT) - 1 :]
        assert gap(alone, seen[nodes]) < FLOAT32_TINY_LOGITS


def test_a_branch_longer_than_the_window_behind_wide_siblings_is_scored_by_its_depth(model):
    """The place in the block is not the position: counted by place, the window would reach too far back."""
    branch = [31, 32, 33, 34, 35, 36, 37, 38]
    tokens, parents = [PROMPT[-1], 11, 12, 13, *branch], (-1, 0, 0, 0, 0, *range(4, 11))
    seen = model.score(Block.of([tokens], [parents]), prefilled(model, PROMPT[:-1]))[0]
    alone = model.native_logits([*PROMPT, *branch])[len(PROMPT) - 1 :]

    assert gap(alone, seen[[0, *range(4, 12)]]) < FLOAT32_TINY_LOGITS


def test_after_a_rejection_the_logits_are_those_of_a_fresh_prefill(model):
    """Commits a path with a gap, then rewinds: neither leaves a trace."""
    tokens, parents = TREE
    cache = prefilled(model, PROMPT[:-1])
    model.score(Block.of([tokens], [parents]), cache)
    cache.commit([[3, 5]])
    after = model.score(Block.chains([[31, 32]]), cache)[0]
    cache.rewind(np.array([len(PROMPT)]))
    rewound = model.score(Block.chains([[41]]), cache)[0]

    assert gap(model.native_logits([*PROMPT, 21, 22, 31, 32])[-2:], after) < FLOAT32_TINY_LOGITS
    assert gap(model.native_logits([*PROMPT, 41])[-1:], rewound) < FLOAT32_TINY_LOGITS


def test_one_stale_entry_would_be_seen(model):
    """The tolerance above is not so wide that a wrong cache fits in."""
    cache = prefilled(model, PROMPT[:-1])
    model.score(Block.chains([[PROMPT[-1], 11]]), cache)
    cache.commit([[1]])
    stale = model.score(Block.chains([[41]]), cache)[0]

    assert gap(model.native_logits([*PROMPT, 41])[-1:], stale) > 100 * FLOAT32_TINY_LOGITS


def test_ragged_rows_in_a_batch_are_scored_as_each_alone(model):
    prompts, blocks = [PROMPT, PROMPT[:3], PROMPT[5:16]], [[7], [8, 9, 10], [11, 12]]
    seen = model.score(Block.chains(blocks), prefilled(model, *prompts))

    for row, (prompt, block) in enumerate(zip(prompts, blocks, strict=True)):
        alone = model.native_logits([*prompt, *block])[len(prompt) :]
        assert gap(alone, seen[row, : len(block)]) < FLOAT32_TINY_LOGITS


def test_the_last_node_of_each_ragged_row_is_scored_alone(model):
    prompts = [PROMPT, PROMPT[:3], PROMPT[5:16]]
    seen = model.score_last(Block.chains(prompts), ContiguousCache(3))
    alone = np.stack([model.native_logits(prompt)[-1] for prompt in prompts])

    assert gap(alone, seen) < FLOAT32_TINY_LOGITS


@pytest.mark.parametrize(
    ("name", "window"),
    [("mistral with a window", 6), ("gemma3 with a window in some layers", None), ("qwen3", None)],
)
def test_a_window_is_stated_only_where_no_layer_sees_everything(name, window, tmp_path):
    assert window == load(saved(ARCHITECTURES[name](), tmp_path)).window


def test_windows_narrower_than_the_text_matter(tmp_path):
    """Otherwise the tests above could not tell a sliding layer from a full one."""
    narrow = load(saved(ARCHITECTURES["mistral with a window"](), tmp_path / "narrow"))
    wide = load(saved(transformers.MistralConfig(**USUAL, sliding_window=None), tmp_path / "wide"))

    assert gap(wide.native_logits(PROMPT)[-1], narrow.native_logits(PROMPT)[-1]) > 100 * FLOAT32_TINY_LOGITS


def test_the_embedded_target_is_steadier_than_random_weights_are(target):
    tokens, parents = TREE
    seen = target.score(Block.of([tokens], [parents]), prefilled(target, PROMPT[:-1]))[0]
    alone = target.native_logits([*PROMPT, *BRANCHES[0]])[len(PROMPT) - 1 :]

    assert gap(alone, seen[BRANCH_NODES[0]]) < FLOAT32_LOGITS


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_a_sixteen_bit_folder_is_computed_in_float32(dtype, tmp_path):
    model = load(saved(ARCHITECTURES["qwen2"](), tmp_path, dtype))

    assert torch.float32 == model.model.dtype
    assert "float32" == model.identity()["dtype"]
    assert Scoring.TREE == probe(model)


def test_a_recurrent_model_is_refused_in_one_line(tmp_path):
    config = transformers.MambaConfig(vocab_size=512, hidden_size=16, num_hidden_layers=2, state_size=4, **ENDS)
    saved(config, tmp_path)

    with pytest.raises(ModelRefused, match="MambaForCausalLM takes no explicit positions") as caught:
        load(tmp_path)
    assert 1 == len(str(caught.value).splitlines())


@pytest.mark.parametrize("stated", [{"sliding_window": 1024}, {"attention_chunk_size": 1024}], ids=str)
def test_a_configuration_that_its_own_code_ignores_is_refused_in_one_line(stated, tmp_path):
    saved(transformers.LlamaConfig(**USUAL, **stated), tmp_path)

    with pytest.raises(ModelRefused, match=rf"LlamaForCausalLM states {next(iter(stated))} 1024 in its") as caught:
        load(tmp_path)
    assert 1 == len(str(caught.value).splitlines())


def test_layers_that_see_chunks_are_refused(tmp_path):
    config = transformers.Llama4TextConfig(
        **USUAL, head_dim=8, intermediate_size_mlp=48, num_local_experts=2, attention_chunk_size=8
    )
    saved(config, tmp_path)

    with pytest.raises(ModelRefused, match="states attention_chunk_size 8"):
        load(tmp_path)


LONG = {"rope_type": "longrope", "rope_theta": 1e4, "short_factor": [1.0] * 4, "long_factor": [2.0] * 4}


@pytest.mark.parametrize(
    ("rope", "reach"),
    [
        ({"rope_type": "default", "rope_theta": 1e4}, 128),
        ({"rope_type": "linear", "rope_theta": 1e4, "factor": 2.0}, 128),
        (LONG | {"original_max_position_embeddings": 32}, 32),
    ],
)
def test_a_context_ends_where_a_longer_neighbour_would_turn_every_position(rope, reach, tmp_path):
    model = load(saved(transformers.LlamaConfig(**USUAL, rope_parameters=rope), tmp_path))

    assert reach == model.positions
    assert Scoring.TREE == probe(model)


def test_a_folder_that_is_not_there_is_missing(tmp_path):
    with pytest.raises(ModelMissing, match=r"no model at .*nowhere: there is no config.json"):
        load(tmp_path / "nowhere")


def test_a_folder_without_weights_is_missing(tmp_path):
    saved(ARCHITECTURES["qwen2"](), tmp_path)
    (tmp_path / "model.safetensors").unlink()

    refused_in_one_line(tmp_path)


@pytest.mark.parametrize("content", [b"", b"nonsense", b"\xff" * 100], ids=["empty", "nonsense", "0xff"])
@pytest.mark.parametrize("file", ["model.safetensors", "pytorch_model.bin"])
def test_weights_that_cannot_be_read_are_missing(tmp_path, file, content):
    saved(ARCHITECTURES["qwen2"](), tmp_path)
    (tmp_path / "model.safetensors").unlink()
    (tmp_path / file).write_bytes(content)

    refused_in_one_line(tmp_path)


def test_weights_cut_short_are_missing(tmp_path):
    saved(ARCHITECTURES["qwen2"](), tmp_path)
    weights = tmp_path / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-1000])

    refused_in_one_line(tmp_path)


@pytest.mark.parametrize("content", ["{", '{"model_type": "no-such-model"}', "{}"])
def test_a_configuration_that_means_nothing_is_missing(tmp_path, content):
    (tmp_path / "config.json").write_text(content)
    (tmp_path / "tokenizer.json").write_text("{}")

    refused_in_one_line(tmp_path)


def test_weights_of_another_shape_are_missing(tmp_path):
    """Loading must not fill gaps with random numbers."""
    saved(ARCHITECTURES["qwen2"](), tmp_path)
    config = transformers.Qwen2Config(**USUAL | {"hidden_size": 64})
    config.architectures = ["Qwen2ForCausalLM"]
    config.save_pretrained(tmp_path)

    refused_in_one_line(tmp_path)


def test_weights_with_a_layer_missing_are_missing(tmp_path):
    """A checkpoint of three layers under a configuration of four is no model."""
    saved(ARCHITECTURES["qwen2"](), tmp_path)
    config = transformers.Qwen2Config(**USUAL | {"num_hidden_layers": 4})
    config.architectures = ["Qwen2ForCausalLM"]
    config.save_pretrained(tmp_path)

    refused_in_one_line(tmp_path)


def test_a_folder_without_a_tokenizer_is_missing(tmp_path):
    saved(ARCHITECTURES["qwen2"](), tmp_path)
    for file in tmp_path.glob("*token*"):
        file.unlink()

    refused_in_one_line(tmp_path)


def refused_in_one_line(folder):
    with pytest.raises(ModelMissing, match="cannot be loaded") as caught:
        load(folder)
    assert 1 == len(str(caught.value).splitlines())
    assert str(folder) in str(caught.value)


def test_a_conversation_is_encoded_by_the_template_with_the_assistants_turn_opened(target):
    text = target.tokenizer.decode(target.encode([{"role": "user", "content": "Count"}]))

    assert "<|user|>Count<|end|><|assistant|>" == text


USER = {"role": "user", "content": "Count"}
TALK = [USER, {"role": "assistant", "content": "1, 2"}, {"role": "user", "content": "Go on"}]


def test_without_a_template_the_text_of_a_user_turn_is_encoded(tmp_path):
    model = load(saved(ARCHITECTURES["qwen2"](), tmp_path))

    assert model.tokenizer.chat_template is None
    assert "Count\n" == model.decode(model.encode([USER]))


@pytest.mark.parametrize(
    "messages", [TALK, [{"role": "system", "content": "be bold"}, USER], [USER, {"role": "tool", "content": "3"}], []]
)
def test_without_a_template_no_other_conversation_is_glued_together(messages, tmp_path):
    model = load(saved(ARCHITECTURES["qwen2"](), tmp_path))

    with pytest.raises(TemplateUnfit, match="has no chat template") as caught:
        model.encode(messages)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("template", "words"),
    [
        ("{{ 1 + messages[0].content }}", "refuses it .unsupported operand"),
        ({"other": "x"}, "refuses it"),
        ("{{ raise_exception('System role not supported') }}", r"refuses it \(System role not supported\)"),
        ("{{ messages[-1]['content'] }}", "leaves out or changes what was said"),
        ("{% for m in messages %}{{ m['content'] | upper }}{% endfor %}", "leaves out or changes what was said"),
    ],
)
def test_a_template_that_loses_what_was_asked_is_refused(template, words, tmp_path):
    model = load(saved(ARCHITECTURES["qwen2"](), tmp_path))
    model.tokenizer.chat_template = template

    with pytest.raises(TemplateUnfit, match=words):
        model.encode(TALK)


def test_a_template_may_put_what_was_said_as_json_and_forget_what_the_assistant_thought(tmp_path):
    model = load(saved(ARCHITECTURES["qwen2"](), tmp_path))
    model.tokenizer.chat_template = (
        "{% for m in messages if m['role'] != 'assistant' %}{{ m['content'] | tojson }}{% endfor %}"
    )

    assert '"a \\"b\\""' == model.decode(model.encode([{"role": "user", "content": 'a "b"'}]))


def test_special_tokens_are_left_out_of_the_text(target):
    tokens = target.encode([{"role": "user", "content": "Count"}])

    assert "Count" == target.decode(tokens)


def test_generation_ends_where_settings_and_tokenizer_say(target):
    assert (target.tokenizer.eos_token_id,) == target.eos


def test_models_speak_alike_only_with_the_same_tokens_in_the_same_places(target, draft, tmp_path):
    other = load(saved(transformers.Qwen2Config(**USUAL | {"vocab_size": 600}), tmp_path))

    assert target.speaks_like(draft)
    assert not target.speaks_like(other)


def test_the_identity_tells_weights_apart(target, draft, tmp_path):
    copied = shutil.copytree(EMBEDDED / "target", tmp_path / "copy")

    assert target.identity()["weights_sha256"] == load(copied).identity()["weights_sha256"]
    assert target.identity()["weights_sha256"] != draft.identity()["weights_sha256"]
    assert sum(p.numel() for p in target.model.parameters()) == target.identity()["parameters"]
