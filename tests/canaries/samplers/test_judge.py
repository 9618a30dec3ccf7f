"""The verdict, from the sampler to the summary. Honest runs are planned for an effect of 0.05: seconds."""

import pytest
import torch

from draftgate.canaries.errors import SamplerFailed
from draftgate.canaries.report.progress import Silent
from draftgate.canaries.samplers.faults import chance, drafts, innocent, rules
from draftgate.canaries.samplers.judge import failed, judge
from draftgate.canaries.samplers.run import Options


def judged(sampler, **options):
    said = []
    summary = judge(sampler, Options(name="mine", **{"effect": 0.05, **options}), Silent(), said.append)
    return summary, said


def test_an_honest_sampler_passes_with_every_designed_draw():
    summary, said = judged(innocent.token, rule="token", reference=innocent.token)

    assert "PASS" == summary["verdict"]
    assert [] == failed(summary["findings"])
    assert 1 == len(said)
    assert {"joint", "support", "classes", "marginal", "pit", "temperature", "bound", "rule", "independence"} <= {
        finding.check for finding in summary["findings"]
    }
    assert summary["tokens_a_round"]["small/disjoint"] == 1


def test_an_honest_pair_passes():
    assert "PASS" == judged(drafts.honest_pair)[0]["verdict"]


def test_shared_chance_is_held_before_all_draws_are_made():
    summary, _ = judged(chance.with_uniforms(chance.antithetic))

    assert summary["stopped_early"]
    assert {"independence"} == {held.check for held in summary["reasons"]}


def test_a_wrong_law_is_held_with_its_reason():
    summary, _ = judged(rules.accept_everything)

    assert "HOLD" == summary["verdict"]
    assert {"DISTRIBUTION"} == {str(held.reason) for held in summary["reasons"]}
    assert summary["stopped_early"]


@pytest.mark.parametrize(
    ("sampler", "message"),
    [
        (rules.writes_to_target, "wrote to target_probs"),
        (chance.from_the_global_generator, "global generator"),
        (chance.from_the_clock, "same inputs and generator state"),
        (lambda p, q, x, g: x, "must be"),
        (lambda p, q, x, g: torch.full((len(p), p.shape[1]), 7), "ids lie in"),
        (lambda p, q, x, g: torch.full((len(p), p.shape[1]), -1), "emits nothing"),
        (lambda p, q, x, g: p[..., 0], "torch.float32"),
    ],
)
def test_a_broken_contract_is_held_with_its_first_case(sampler, message):
    summary, said = judged(sampler)

    assert "HOLD" == summary["verdict"]
    assert ["CORRECTNESS"] == [str(held.reason) for held in summary["reasons"]]
    assert message in summary["reasons"][0].summary
    assert [] == said


def test_a_contract_broken_late_is_held_too():
    calls = []

    def late(p, q, x, g):
        calls.append(1)
        return innocent.token(p, q, x, g) if len(calls) < 30 else x

    summary, said = judged(late)

    assert "HOLD" == summary["verdict"]
    assert ["contract"] == [held.check for held in summary["reasons"]]
    assert 1 == len(said)


def test_a_bias_too_small_to_count_is_seen_beside_a_reference():
    summary, _ = judged(drafts.rounded_pair, reference=drafts.honest_pair)

    assert ["reference"] == [finding.check for finding in failed(summary["findings"])]


def test_a_sampler_that_raises_is_not_judged():
    def raising(p, q, x, g):
        raise RuntimeError("there is no device")

    with pytest.raises(SamplerFailed, match="RuntimeError: there is no device at"):
        judged(raising)


def test_a_sampler_that_hangs_is_not_judged():
    def hanging(p, q, x, g):
        while True:
            pass

    with pytest.raises(SamplerFailed, match=r"did not return within 0\.3 s"):
        judged(hanging, limit=0.3)
