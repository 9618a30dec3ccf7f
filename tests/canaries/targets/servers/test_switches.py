"""A switch that makes a figure unquotable is seen, in each form in which it can stand."""

from __future__ import annotations

import pytest

from draftgate.canaries.targets.servers.registry import APIS
from draftgate.canaries.targets.servers.switches import Found, find

ON = [
    ("vllm", {"argv": ["--speculative-config", '{"rejection_sample_method": "synthetic"}']}, "synthetic"),
    ("vllm", {"argv": ["--speculative-config.synthetic_acceptance_rates", "[0.8, 0.6]"]}, "synthetic"),
    ("vllm", "SpeculativeConfig(method='ngram', rejection_sample_method='synthetic')", "synthetic"),
    ("vllm", {"argv": ["--spec-decoding-acceptance-method", "typical_acceptance_sampler"]}, "lossy"),
    ("llama_cpp", {"argv": ["llama-server", "--spec-synth-len", "3.4"]}, "synthetic"),
    ("llama_cpp", {"env": {"LLAMA_ARG_SPEC_SYNTH_RATES": "0.8,0.6"}}, "synthetic"),
    ("sglang", {"env": {"SGLANG_SIMULATE_ACC_LEN": "3"}}, "synthetic"),
    ("sglang", {"argv": ["--speculative-accept-threshold-single", "0.5"]}, "lossy"),
    ("sglang", {"speculative_accept_threshold_acc": 0.9}, "lossy"),
    ("tensorrt_llm", {"env": {"TLLM_SPEC_DECODE_FORCE_NUM_ACCEPTED_TOKENS": "3"}}, "synthetic"),
    ("tensorrt_llm", "use_relaxed_acceptance_for_thinking: True", "lossy"),
]
OFF = [
    ("vllm", {"argv": ["--speculative-config", '{"method": "ngram", "rejection_sample_method": "standard"}']}),
    ("vllm", "SpeculativeConfig(rejection_sample_method='standard', synthetic_acceptance_rates=None)"),
    ("llama_cpp", {"argv": ["llama-server", "--spec-type", "draft-simple", "--spec-draft-n-max", "4"]}),
    ("sglang", {"speculative_accept_threshold_single": 1.0, "speculative_accept_threshold_acc": 1.0}),
    ("sglang", {"env": {"SGLANG_SIMULATE_ACC_LEN": "-1"}}),
    ("tensorrt_llm", "use_relaxed_acceptance_for_thinking: False"),
    ("openai", {"argv": ["anything"]}),
]


@pytest.mark.parametrize(("server", "configuration", "kind"), ON)
def test_a_switch_that_is_on_is_seen(server, configuration, kind):
    assert [found.kind for found in find(APIS[server].switches, configuration)] == [kind]


@pytest.mark.parametrize(("server", "configuration"), OFF)
def test_a_switch_that_is_off_is_not_seen(server, configuration):
    assert find(APIS[server].switches, configuration) == []


def test_the_text_that_shows_it_is_told():
    found = find(APIS["llama_cpp"].switches, {}, {"argv": ["--spec-synth-len", "3.4"]})

    assert found == [Found("synthetic", "spec_synth_len 3.4")]
