from importlib.util import find_spec

import pytest
import torch
from trials import RATES, bundle, look, settings, trial

from draftgate.canaries.contracts import Status
from draftgate.canaries.samplers.adapters import batches
from draftgate.canaries.samplers.checks.base import judge
from draftgate.canaries.samplers.checks.law import planned
from draftgate.canaries.samplers.faults import innocent, rules
from draftgate.canaries.samplers.faults.innocent import resample_until_disagree, token
from draftgate.canaries.samplers.laws import Bundle
from draftgate.canaries.samplers.plan import suited
from draftgate.canaries.samplers.trial import Trial


def passes(sampler, *names):
    seen = look(sampler, *names)
    return all(judge(t, seen, RATES).status == Status.PASS for t in planned(bundle(*names)))


def test_logits_are_natural_logarithms():
    def softmaxed(p, q, x, g):
        return token(p.softmax(-1), q.softmax(-1), x, g)

    assert passes(batches.logits(softmaxed), "zeros")
    assert not passes(batches.logits(lambda p, q, x, g: token((p / 2).softmax(-1), q.softmax(-1), x, g)), "zeros")


def test_chosen_drafts_come_without_a_law():
    def with_one_hot(p, q, x, g):
        assert q is None
        return token(p, torch.nn.functional.one_hot(x, p.shape[2]).to(p.dtype), x, g)

    adapted = batches.chosen(with_one_hot)
    problems = tuple(suited(problem, adapted) for problem in bundle("zipf").problems)
    made = Trial(Bundle("small", problems), adapted, settings())
    made.run(10)

    assert 10 * made.rows == made.seen.joint.sum()


def flat(ids, lengths, longest, ends, draft, target, bonus, metadata):  # noqa: PLR0913, PLR0917 - vLLM's own
    """vLLM's way: flattened drafts, a bonus token that is already drawn."""
    rows = len(lengths)
    assert ends.tolist() == [longest * (i + 1) for i in range(rows)]
    assert metadata.all_random
    x, v = ids.reshape(rows, longest), target.shape[1]
    p = torch.cat([target.reshape(rows, longest, v), torch.nn.functional.one_hot(bonus, v).to(target.dtype)], dim=1)
    return token(p, draft.reshape(rows, longest, v), x, metadata.generators[0])


def test_vllms_signature_is_judged_bonus_and_all():
    assert passes(batches.vllm(flat), "zipf")

    def wrong(*arguments):
        *most, bonus, metadata = arguments
        return flat(*most, torch.zeros_like(bonus), metadata)

    assert not passes(batches.vllm(wrong), "zipf")


def test_jax_is_asked_for_only_where_it_is_used():
    if find_spec("jax") is None:
        with pytest.raises(ImportError, match="jax"):
            batches.jax(resample_until_disagree)
        return
    made = trial(batches.jax(lambda p, q, x, key: p.argmax(axis=-1)), "greedy", batch=8)

    assert (8, 3) == tuple(made.once().tokens.shape)


def test_at_zero_ties_go_to_the_first_and_a_verifier_that_takes_the_last_is_seen():
    for sampler, wrong in ((innocent.greedy_chain, False), (rules.last_of_equals, True)):
        problems = tuple(suited(problem, sampler) for problem in bundle("zipf", "near-ties").problems)
        made = Trial(Bundle("small", problems), sampler, settings())
        made.run(4)
        outside = sum(int(made.seen.joint[i][p.joint() == 0].sum()) for i, p in enumerate(problems))
        assert wrong == (outside > 0)
