"""The contract that every drafter honours, run over each of them on a table model."""

from __future__ import annotations

import numpy as np
import pytest

from draftgate.engine.drafters.draft_model import DraftModel
from draftgate.engine.drafters.ngram import NGram
from draftgate.engine.drafters.synthetic import Adversary, Branches, OddEven, Oracle, Uniform
from draftgate.engine.models.table import TableModel, peaked_table
from draftgate.engine.request import Sampling
from draftgate.engine.tree import DraftTree, depths
from draftgate.stats.decision import Decision, decide
from draftgate.stats.design import ks_draws
from draftgate.stats.kolmogorov_smirnov import design, randomised_pit, uniform_ks
from tolerances import ROUNDING, SURE

VOCABULARY, LENGTH, EFFECT = 5, 3, 0.1
N = ks_draws(EFFECT, false_alarm=SURE, miss=SURE)
PLAN = design(N, false_alarm=SURE, miss=SURE)
ANSWER = (3, 1, 4, 1, 2, 0, 3, 2)
CONTEXTS = [[0, 1, 2, 0, 1], [4], [2, 3, 2, 3, 2], [1, 1, 1, 1, 1, 1]]
FILTERED = Sampling(temperature=0.8, top_k=4)


def table(seed):
    return TableModel(peaked_table(VOCABULARY, 3, np.random.default_rng(seed)))


MAKERS = {
    "draft": lambda: DraftModel(table(1), LENGTH),
    "confident": lambda: DraftModel(table(1), LENGTH, confidence=0.5),
    "self": lambda: DraftModel(table(0), LENGTH),
    "ngram": lambda: NGram(VOCABULARY, LENGTH, shortest=1),
    "uniform": lambda: Uniform(VOCABULARY, LENGTH),
    "oracle": lambda: Oracle(VOCABULARY, LENGTH, {"r": ANSWER}),
    "branches": lambda: Branches(VOCABULARY, LENGTH, {"r": ANSWER}),
    "odd-even": lambda: OddEven(VOCABULARY, LENGTH, {"r": ANSWER}),
    "adversary": lambda: Adversary(VOCABULARY, LENGTH, {"r": ANSWER}),
}


def asked(small, contexts, limits, seed=0, sampling=FILTERED):
    requests = [
        small.request(context, seed=seed + row, sampling=sampling, max_tokens=20)
        for row, context in enumerate(contexts)
    ]
    return small.situation(contexts, limits, requests=requests, seed=seed)


def levels(tree):
    """How many drafted tokens stand below one another."""
    return int(max(depths(tree.parents)))


def same(a, b):
    return a.parents == b.parents and np.array_equal(a.tokens, b.tokens) and np.array_equal(a.probs[1:], b.probs[1:])


def transformed(trees, rng):
    """Every drafted token as a number that is uniform where the token was drawn from the law it states."""
    laws = np.concatenate([tree.probs[1:] for tree in trees])
    tokens = np.concatenate([tree.tokens[1:] for tree in trees])
    order = np.argsort(-laws, axis=1, kind="stable")
    place = (order == tokens[:, None]).argmax(axis=1)
    ordered = np.take_along_axis(laws, order, axis=1)
    rows = np.arange(len(tokens))
    below = ordered.cumsum(axis=1)[rows, place] - ordered[rows, place]
    return randomised_pit(below, ordered[rows, place], rng.random(len(tokens)))


def judge(values):
    return decide(uniform_ks(values[:N], hypothesis="drafts follow the laws they state"), PLAN, effect=EFFECT)


@pytest.fixture(params=MAKERS)
def make(request):
    return MAKERS[request.param]


class TestContract:
    """Every drafter must honour this; a new one is a line in MAKERS."""

    def test_each_node_states_the_law_it_was_drawn_from(self, make, small):
        drafter, trees = make(), []
        while sum(tree.drafted for tree in trees) < N:
            drafter.begin(400)
            contexts = [CONTEXTS[row % 4] for row in range(400)]
            trees += drafter.draft(asked(small, contexts, [LENGTH] * 400, seed=len(trees)))
        inside = [tree.probs[node, tree.tokens[node]] > 0 for tree in trees for node in range(1, tree.drafted + 1)]

        assert all(inside)
        assert Decision.PASS == judge(transformed(trees, np.random.default_rng(2)))

    def test_every_stated_law_sums_to_one(self, make, small):
        drafter = make()
        drafter.begin(4)

        for tree in drafter.draft(asked(small, CONTEXTS, [LENGTH] * 4)):
            assert np.ones(tree.drafted) == pytest.approx(tree.probs[1:].sum(axis=1), rel=ROUNDING)

    def test_the_root_is_the_last_context_token(self, make, small):
        drafter = make()
        drafter.begin(4)

        assert [1, 4, 2, 1] == [tree.tokens[0] for tree in drafter.draft(asked(small, CONTEXTS, [LENGTH] * 4))]

    @pytest.mark.parametrize("limits", [[0, 0, 0, 0], [0, 1, 2, 3], [9, 9, 9, 9]])
    def test_a_branch_never_exceeds_the_length_or_the_rows_limit(self, make, small, limits):
        drafter = make()
        drafter.begin(4)
        trees = drafter.draft(asked(small, CONTEXTS, limits))

        for tree, limit in zip(trees, limits, strict=True):
            assert tree.drafted <= LENGTH
            assert levels(tree) <= limit
            assert len(tree.tokens) == len(tree.probs) == tree.drafted + 1
            assert (len(tree.parents), VOCABULARY) == tree.probs.shape

    def test_a_shorter_limit_cuts_the_draft_and_changes_nothing_else(self, make, small):
        whole, cut = make(), make()
        whole.begin(4)
        cut.begin(4)
        long = whole.draft(asked(small, CONTEXTS, [LENGTH] * 4))
        short = cut.draft(asked(small, CONTEXTS, [1, LENGTH, LENGTH, 2]))

        assert [min(1, levels(long[0])), levels(long[1])] == [levels(short[0]), levels(short[1])]
        for a, b in zip(long, short, strict=True):
            assert np.array_equal(a.tokens[: b.drafted + 1], b.tokens)

    def test_a_rows_draft_does_not_depend_on_its_neighbours(self, make, small):
        together = make()
        together.begin(4)
        trees = together.draft(asked(small, CONTEXTS, [LENGTH] * 4))

        for row, context in enumerate(CONTEXTS):
            alone = make()
            alone.begin(1)
            assert same(trees[row], alone.draft(asked(small, [context], [LENGTH], seed=row))[0])

    def test_begin_forgets_the_batch_before(self, make, small):
        used, fresh = make(), make()
        used.begin(4)
        used.draft(asked(small, CONTEXTS, [LENGTH] * 4))
        used.begin(2)
        fresh.begin(2)
        other = [[3, 3, 0, 3], [2, 4]]

        for a, b in zip(*(d.draft(asked(small, other, [LENGTH] * 2)) for d in (used, fresh)), strict=True):
            assert same(a, b)

    def test_selected_rows_go_on_as_if_they_had_always_been_alone(self, make, small):
        """One round for four rows, then two of them in another order: the same as the two from the start."""
        many, few = make(), make()
        many.begin(4)
        trees = many.draft(asked(small, CONTEXTS, [LENGTH] * 4))
        accepted = [min(row, tree.drafted) for row, tree in enumerate(trees)]
        many.observe(accepted)
        many.select([2, 0])
        few.begin(2)
        grown = [[*CONTEXTS[row], *trees[row].tokens[1 : accepted[row] + 1].tolist(), 4] for row in (2, 0)]

        for a, b in zip(*(d.draft(asked(small, grown, [LENGTH] * 2, seed=50)) for d in (many, few)), strict=True):
            assert same(a, b)

    def test_a_row_that_joins_drafts_as_if_it_had_been_there_from_the_start(self, make, small):
        """Before the others, or after rounds in which nobody drafted."""
        for idle in (0, 2):
            late, early = make(), make()
            late.begin(0)
            late.join(3)
            contexts = CONTEXTS[:3]
            for _ in range(idle):
                late.draft(asked(small, contexts, [0] * 3))
                late.observe([0] * 3)
                contexts = [[*context, 1] for context in contexts]
            trees = late.draft(asked(small, contexts, [LENGTH] * 3))
            late.observe([0] * 3)
            late.select([0, 2])
            late.join(1)
            early.begin(3)
            grown = [[*contexts[0], 4], [*contexts[2], 0], CONTEXTS[3]]

            assert len(trees) == 3
            for a, b in zip(*(d.draft(asked(small, grown, [LENGTH] * 3, seed=50)) for d in (late, early)), strict=True):
                assert same(a, b)

    def test_a_row_that_joined_and_left_before_a_draft_leaves_no_trace(self, make, small):
        many, few = make(), make()
        many.begin(2)
        many.draft(asked(small, CONTEXTS[:2], [LENGTH] * 2))
        many.observe([0, 0])
        many.join(2)
        many.select([0, 1, 3])
        few.begin(3)
        grown = [[*CONTEXTS[0], 4], [*CONTEXTS[1], 0], CONTEXTS[3]]

        for a, b in zip(*(d.draft(asked(small, grown, [LENGTH] * 3, seed=50)) for d in (many, few)), strict=True):
            assert same(a, b)


class StatesAnotherLaw(Uniform):
    """Draws evenly and says it drew from a law a quarter away: what `each node states its law` must catch."""

    def draft(self, situation):
        trees = super().draft(situation)
        said = np.array([0.45, 0.1375, 0.1375, 0.1375, 0.1375])
        return [DraftTree(t.tokens, t.parents, np.tile(said, (len(t.parents), 1))) for t in trees]


def test_a_drafter_that_states_another_law_is_caught(small):
    drafter = StatesAnotherLaw(VOCABULARY, LENGTH)
    rows = N // LENGTH + 1
    trees = drafter.draft(asked(small, [CONTEXTS[0]] * rows, [LENGTH] * rows))

    assert Decision.FAIL == judge(transformed(trees, np.random.default_rng(2)))


def test_a_draft_model_that_leaves_the_filters_out_of_its_law_is_caught(small):
    """Drawn at temperature 0.5, stated at 1: the commonest lie about q."""
    cold, warm = Sampling(temperature=0.5), Sampling(temperature=1.0)
    rows = N // LENGTH + 1
    drafter = MAKERS["draft"]()
    drafter.begin(rows)
    contexts = [CONTEXTS[row % 4] for row in range(rows)]
    drawn = drafter.draft(asked(small, contexts, [LENGTH] * rows, sampling=cold))
    model = table(1)
    said = []
    for context, tree in zip(contexts, drawn, strict=True):
        logits = [model.law([*context, *tree.tokens[1 : node + 1].tolist()]) for node in range(tree.drafted)]
        weights = np.exp(np.array(logits, np.float64) / warm.temperature)
        laws = weights / weights.sum(axis=1, keepdims=True)
        said.append(DraftTree(tree.tokens, tree.parents, np.concatenate((laws[:1], laws))))

    assert Decision.PASS == judge(transformed(drawn, np.random.default_rng(2)))
    assert Decision.FAIL == judge(transformed(said, np.random.default_rng(2)))
