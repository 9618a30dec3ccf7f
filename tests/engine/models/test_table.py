import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from draftgate.engine.cache.contiguous import ContiguousCache
from draftgate.engine.models.base import Block
from draftgate.engine.models.table import TableModel, joint_law, peaked_table
from draftgate.engine.request import Sampling
from draftgate.engine.sampling import next_token_probs
from tolerances import ROUNDING

MODEL = TableModel(peaked_table(5, 3, np.random.default_rng(4)))
texts = st.lists(st.integers(0, 4), min_size=1, max_size=7)


def committed(rows):
    cache = ContiguousCache(len(rows))
    MODEL.score(Block.chains(rows), cache)
    cache.commit([list(range(1, len(row))) for row in rows])
    return cache


@given(st.lists(texts, min_size=1, max_size=3), st.data())
@settings(deadline=None)
def test_what_is_scored_through_a_cache_is_what_the_table_says(contexts, data):
    blocks = [data.draw(texts) for _ in contexts]
    seen = MODEL.score(Block.chains(blocks), committed(contexts))

    for row, (context, block) in enumerate(zip(contexts, blocks, strict=True)):
        for place in range(len(block)):
            assert np.array_equal(MODEL.law([*context, *block[: place + 1]]), seen[row, place])


@given(texts, st.data())
@settings(deadline=None)
def test_every_branch_of_a_tree_is_scored_as_if_it_were_alone(context, data):
    size = data.draw(st.integers(2, 7))
    parents = (-1, *(data.draw(st.integers(0, node - 1)) for node in range(1, size)))
    tokens = [data.draw(st.integers(0, 4)) for _ in range(size)]
    seen = MODEL.score(Block.of([tokens], [parents]), committed([context]))[0]

    for node in range(size):
        path, at = [], node
        while at >= 0:
            path.insert(0, tokens[at])
            at = parents[at]
        assert np.array_equal(MODEL.law([*context, *path]), seen[node])


def test_the_last_node_of_each_row_is_scored_alone():
    blocks = [[1, 2, 3], [4]]
    seen = MODEL.score_last(Block.chains(blocks), committed([[0, 1], [2]]))

    assert np.array_equal([MODEL.law([0, 1, 1, 2, 3]), MODEL.law([2, 4])], seen)


def test_the_law_depends_on_position_and_on_two_tokens():
    base = MODEL.law([0, 1, 2])

    assert not np.array_equal(base, MODEL.law([0, 0, 1, 2]))
    assert not np.array_equal(base, MODEL.law([0, 2, 2]))
    assert not np.array_equal(base, MODEL.law([0, 1, 3]))
    assert np.array_equal(base, MODEL.law([3, 1, 2]))


def laws_after(prompt, length):
    warm = Sampling(temperature=1.0)
    histories = [()]
    for _ in range(length - 1):
        histories += [(*h, token) for h in histories if len(h) == len(histories[-1]) for token in range(5)]
    return {h: next_token_probs(MODEL.law([*prompt, *h])[None, None], [warm])[0, 0] for h in histories}


def test_a_joint_law_sums_to_one_and_begins_with_the_first_law():
    laws = laws_after([0, 1], 3)
    joint = joint_law(laws, 3)

    assert (125,) == joint.shape
    assert 1 == pytest.approx(joint.sum(), rel=ROUNDING)
    assert laws[()] == pytest.approx(joint.reshape(5, 25).sum(axis=1), rel=ROUNDING)


def test_in_a_joint_law_the_last_token_runs_fastest():
    laws = laws_after([0, 1], 2)

    assert laws[()][1] * laws[(1,)][3] == pytest.approx(joint_law(laws, 2)[1 * 5 + 3], rel=ROUNDING)


def test_tables_are_peaked_and_the_same_for_the_same_seed():
    table = peaked_table(8, 2, np.random.default_rng(1))
    laws = np.exp(table) / np.exp(table).sum(axis=-1, keepdims=True)

    assert np.array_equal(table, peaked_table(8, 2, np.random.default_rng(1)))
    assert (2, 8, 8, 8) == table.shape
    assert laws.max(axis=-1).mean() > 2 / 8
    assert len(set(laws.argmax(axis=-1).ravel().tolist())) == 8


def test_letters_stand_for_tokens_both_ways():
    assert "abe" == MODEL.decode([0, 1, 4])
    assert (0, 1, 4) == MODEL.encode([{"role": "user", "content": "abe"}])


def test_another_table_is_another_model():
    other = TableModel(peaked_table(5, 3, np.random.default_rng(5)))

    assert MODEL.identity() == TableModel(MODEL.table).identity()
    assert MODEL.identity() != other.identity()
