import numpy as np
import pytest
import torch
from trials import SMALL, WIDE, bundle, trial

from draftgate.canaries.errors import ContractBroken
from draftgate.canaries.samplers.faults import chance, innocent, rules
from draftgate.canaries.samplers.interface import Drafted, Pair
from draftgate.canaries.samplers.trial import few_outcomes, twice


def test_every_round_is_counted_once_in_each_table():
    made = trial(innocent.token)
    made.run(3)
    each = 3 * made.rounds_a_call

    assert [each, each] == made.seen.joint.sum(axis=1).tolist()
    assert [each, each] == made.seen.raw.sum(axis=1).tolist()
    assert [each, each] == made.seen.emitted.sum(axis=1).tolist()


def test_where_outcomes_are_many_tokens_are_counted_by_state():
    made = trial(innocent.token, shape=WIDE)
    made.run(2)

    assert not few_outcomes(bundle(shape=WIDE))
    assert few_outcomes(bundle(shape=SMALL))
    assert [(2, 20), (4, 20), (8, 20)] == [x.shape for x in made.seen.tokens]
    assert {2 * made.rows} == {int(x.sum()) for x in made.seen.tokens}
    assert 2 * made.rows == made.seen.classes.sum()


def test_short_answers_are_completed_with_the_targets_own_law():
    """After `ignore_draft` every token but the first is ours, and the joint law is still the target's support."""
    made = trial(innocent.ignore_draft, "zeros")
    made.run(5)

    assert made.seen.joint[0][made.bundle.problems[0].joint() == 0].sum() == 0
    assert np.flatnonzero(made.seen.emitted[0]).tolist() == [1]


def test_rows_of_all_problems_are_mixed():
    made = trial(innocent.token)

    assert 0 < int((made.which[:20] == 0).sum()) < 20


def test_the_same_chance_gives_the_same_answer_or_is_refused():
    trial(innocent.token).repeated()

    with pytest.raises(ContractBroken, match="same inputs and generator state gave"):
        trial(chance.from_the_clock).repeated()


def test_uniforms_kept_from_the_call_before_are_refused():
    kept = []

    def late(rows, steps, generator):
        kept.append(chance.fresh(rows, steps, generator))
        return kept[-2].roll(1, 0) if len(kept) > 1 else kept[-1]

    made = trial(chance.with_uniforms(late))
    made.run(1)

    with pytest.raises(ContractBroken, match="the same inputs and generator state"):
        made.repeated()


def test_two_samplers_can_be_given_the_same_chance():
    one, other = trial(innocent.token), trial(rules.accept_everything)
    mine, theirs = twice(one, other)

    assert torch.equal(mine.inputs.draft_tokens, theirs.inputs.draft_tokens)
    assert not torch.equal(mine.tokens, theirs.tokens)


def test_a_drafter_that_states_no_law_is_refused():
    pair = Pair(lambda probs, g: Drafted(probs.argmax(dim=1), 2 * probs), innocent.token)

    with pytest.raises(ContractBroken, match=r"drafter's answer: draft_probs\[0, 0\] is no law"):
        trial(pair).run(1)


def test_a_law_that_breaks_late_is_refused_too():
    calls = []

    def late(probs, g):
        calls.append(1)
        tokens = probs.multinomial(1, generator=g)[:, 0]
        return Drafted(tokens, probs if len(calls) < 9 else probs * float("nan"))

    made = trial(Pair(late, innocent.token))
    made.run(2)

    with pytest.raises(ContractBroken, match=r"drafter's answer: draft_probs\[0, 0\] is no law"):
        made.run(3)
