import numpy as np
import pytest

from draftgate.canaries.samplers.proofs.proof import case_of
from draftgate.canaries.samplers.proofs.rounds import one_round
from draftgate.canaries.samplers.proofs.rules import DRAWN, RULES
from draftgate.engine.cache.contiguous import ContiguousCache
from draftgate.engine.drafters.draft_model import DraftModel
from draftgate.engine.request import Sampling
from draftgate.engine.sampling import next_token_probs, softmax
from draftgate.engine.verification.block import accept_block
from draftgate.engine.verification.lossless import accept
from draftgate.engine.verification.traversal import accept_traversal
from tolerances import FLOAT32_LOGITS, ROUNDING
from wrong_rules import ended_before_the_unsure, ended_behind_the_unsure, tampered

WARM = Sampling(temperature=1.0)
K = 3


class NeverRewinds(DraftModel):
    """Believes that all it drafted was accepted."""

    def observe(self, accepted):
        super().observe([self.length] * len(accepted))


def played(kind, model, small, plan, vocabulary):
    """Rounds with the accepted lengths of `plan` (rounds, rows); the drafter, and the contexts after the last."""
    rng = np.random.default_rng(7)
    contexts = [[1, 2, 3], [2, 0]]
    drafter = kind(model, K)
    drafter.begin(2)
    for turn, accepted in enumerate(plan):
        trees = drafter.draft(small.situation(contexts, [K, K], seed=2 * turn))
        drafter.observe(accepted)
        contexts = [
            [*context, *tree.tokens[1 : kept + 1].tolist(), int(rng.integers(vocabulary))]
            for context, tree, kept in zip(contexts, trees, accepted, strict=True)
        ]
    return drafter, contexts


def drafts(drafter, contexts, small):
    return drafter.draft(small.situation(contexts, [K, K], seed=99))


def fresh(model):
    drafter = DraftModel(model, K)
    drafter.begin(2)
    return drafter


PLANS = {
    "all accepted": [(K, K)] * 3,
    "all rejected": [(0, 0)] * 3,
    "one row ahead": [(K, 0), (1, K), (2, 1)],
    "every length": [(0, 3), (1, 2), (2, 1), (3, 0)],
}


@pytest.mark.parametrize("plan", PLANS.values(), ids=PLANS)
def test_after_any_rounds_it_drafts_like_a_fresh_one(plan, small):
    model = small.table_model(vocabulary=6)
    drafter, contexts = played(DraftModel, model, small, plan, 6)

    for a, b in zip(drafts(fresh(model), contexts, small), drafts(drafter, contexts, small), strict=True):
        assert np.array_equal(a.tokens, b.tokens)
        assert np.array_equal(a.probs, b.probs)


@pytest.mark.parametrize("plan", PLANS.values(), ids=PLANS)
def test_after_any_rounds_a_real_models_cache_gives_the_logits_of_a_fresh_one(plan, small, draft):
    drafter, contexts = played(DraftModel, draft, small, plan, 512)
    wanted, seen = drafts(fresh(draft), contexts, small), drafts(drafter, contexts, small)

    for context, a, b in zip(contexts, wanted, seen, strict=True):
        native = next_token_probs(draft.native_logits(context)[None, -1:], [WARM])[0, 0]
        assert native == pytest.approx(b.probs[1], abs=FLOAT32_LOGITS)
        assert a.probs[1] == pytest.approx(b.probs[1], abs=FLOAT32_LOGITS)


def test_a_drafter_that_does_not_forget_rejected_tokens_is_caught(small):
    """One row accepts all but the last token, where nothing needs forgetting; the other shows the fault."""
    model = small.table_model(vocabulary=6)
    drafter, contexts = played(NeverRewinds, model, small, [(K - 1, 0)], 6)
    wanted, seen = drafts(fresh(model), contexts, small), drafts(drafter, contexts, small)

    assert np.array_equal(wanted[0].probs, seen[0].probs)
    assert not np.array_equal(wanted[1].probs, seen[1].probs)


def test_after_each_round_its_cache_holds_what_is_accepted_and_was_fed(small):
    """All but the newest token; after a full acceptance the last draft token too was never fed."""
    model = small.table_model(vocabulary=6)
    for accepted, unfed in [((0, 1), (1, 1)), ((2, K), (1, 2)), ((K, K), (2, 2))]:
        drafter, contexts = played(DraftModel, model, small, [accepted], 6)

        assert [len(c) - n for c, n in zip(contexts, unfed, strict=True)] == drafter._cache.lengths.tolist()


def test_laws_are_the_models_own_under_the_requests_filters(small):
    model, sampling = small.table_model(vocabulary=6), Sampling(temperature=0.7, top_k=3)
    asked = [small.request((1, 2, 3), sampling=sampling)]
    drafter = DraftModel(model, K)
    drafter.begin(1)
    tree = drafter.draft(small.situation([[1, 2, 3]], [K], requests=asked))[0]

    for node in range(1, K + 1):
        logits = model.law([1, 2, 3, *tree.tokens[1:node].tolist()])
        assert next_token_probs(logits[None, None], [sampling])[0, 0] == pytest.approx(tree.probs[node], rel=ROUNDING)


def test_where_nothing_is_worth_drafting_the_model_is_not_asked(small):
    class Untouchable:
        vocabulary = 6

    drafter = DraftModel(Untouchable(), K)
    drafter.begin(2)

    assert [0, 0] == [tree.drafted for tree in drafter.draft(small.situation([[1, 2], [3]], [0, 0]))]


def test_a_round_without_a_draft_leaves_the_next_one_right(small):
    model = small.table_model(vocabulary=6)
    drafter = DraftModel(model, K)
    drafter.begin(2)
    drafter.draft(small.situation([[1, 2], [3]], [K, K]))
    drafter.observe([0, 0])
    drafter.draft(small.situation([[1, 2, 4], [3, 5]], [0, 0]))
    drafter.observe([0, 0])
    contexts = [[1, 2, 4, 0], [3, 5, 1]]

    for a, b in zip(drafts(fresh(model), contexts, small), drafts(drafter, contexts, small), strict=True):
        assert np.array_equal(a.probs, b.probs)


def test_the_cache_is_the_one_it_was_given(small):
    made = []

    def factory(rows):
        made.append(rows)
        return ContiguousCache(rows)

    DraftModel(small.table_model(), K, factory).begin(5)

    assert 5 == made[-1]


@pytest.mark.parametrize("judge", [accept, accept_block, accept_traversal], ids=["token", "block", "traversal"])
@pytest.mark.parametrize(
    ("change", "right"), [(ended_behind_the_unsure, True), (ended_before_the_unsure, False)], ids=["behind", "before"]
)
def test_a_draft_may_end_behind_a_weak_token_and_not_before_it(change, right, judge):
    """Enumerated: the token that stops a draft must be proposed."""
    cases = [case_of(RULES["block"], 0, index) for index in range(60)]
    wrong = sum(one_round(case, DRAWN, tampered(change, judge)).distance(case) > 0 for case in cases)

    assert wrong == 0 if right else wrong > 5


def confident(model, least, small, rows=60, sampling=WARM, length=K):
    drafter = DraftModel(model, length, confidence=least)
    drafter.begin(rows)
    contexts = [[1, 2, 3]] * rows
    requests = [small.request((1, 2, 3), seed=row, sampling=sampling) for row in range(rows)]
    return drafter.draft(small.situation(contexts, [length] * rows, requests=requests))


@pytest.mark.parametrize("sampling", [WARM, Sampling()], ids=["sampled", "greedy"])
def test_a_chain_ends_behind_the_first_token_that_the_model_was_not_sure_of(sampling, small):
    """Sure by its own law at temperature 1, whatever is asked for: greedy laws are all sure."""
    model = small.table_model(vocabulary=6)
    whole, ended = confident(model, 0.0, small, sampling=sampling), confident(model, 0.3, small, sampling=sampling)

    for full, short in zip(whole, ended, strict=True):
        before = [[1, 2, 3, *full.tokens[1:node].tolist()] for node in range(1, K + 1)]
        own = [softmax(model.law(b).astype(np.float64))[t] for b, t in zip(before, full.tokens[1:], strict=True)]
        first = int(np.argmax(np.array([*own, 0.0]) < 0.3))
        assert full.tokens[: min(first + 1, K) + 1].tolist() == short.tokens.tolist()
        assert np.array_equal(full.probs[: len(short.tokens)], short.probs)
    assert len({tree.drafted for tree in ended}) > 1 or sampling.temperature == 0


def test_where_every_row_has_ended_the_model_is_not_asked_again(small):
    passes = []

    class Counting(type(small.table_model())):
        def score_last(self, block, cache):
            passes.append(block.tokens.shape[1])
            return super().score_last(block, cache)

    model = Counting(small.table_model(vocabulary=6).table)

    assert {1} == {tree.drafted for tree in confident(model, 1.0, small)}
    assert passes == [3]  # the context, from which the token that ends the draft was drawn
