import numpy as np
import pytest

from draftgate.engine.decoding.plain import PlainDecoder
from draftgate.engine.decoding.speculative import SpeculativeDecoder
from draftgate.engine.drafters.synthetic import Adversary, Branches, OddEven, Oracle, Uniform
from draftgate.engine.request import Sampling

GREEDY = Sampling()


@pytest.fixture(scope="module")
def world(small):
    """A table model, requests of different lengths, and what plain decoding answers."""
    model = small.table_model(vocabulary=9, seed=3)
    requests = [small.request((0, row % 9), max_tokens=17, name=f"r{row}", sampling=GREEDY) for row in range(4)]
    answers = {g.name: g.tokens for g in PlainDecoder(model=model).generate(requests)}
    return model, requests, answers


def rounds_of(world, kind, k=3):
    model, requests, answers = world
    found = SpeculativeDecoder(model=model, drafter=kind(model.vocabulary, k, answers)).generate(requests)

    assert [answers[g.name] for g in found] == [g.tokens for g in found]
    return [r for g in found for r in g.rounds]


def test_of_the_oracle_everything_is_accepted(world):
    rounds = rounds_of(world, Oracle)

    assert all(r.accepted == r.drafted for r in rounds)
    assert 3 == max(r.drafted for r in rounds)


def test_of_the_adversary_nothing_is_accepted(world):
    rounds = rounds_of(world, Adversary)

    assert {0} == {r.accepted for r in rounds}
    assert 3 == max(r.drafted for r in rounds)


def test_of_branches_the_second_child_is_accepted_at_every_level(world):
    rounds = rounds_of(world, Branches, 4)

    assert all(2 * r.accepted == r.drafted for r in rounds)
    assert 4 == max(r.drafted for r in rounds)


def test_branches_stay_within_their_nodes_and_levels(small):
    asked = [small.request((5, 6), name="a")]
    drafter = Branches(9, 5, {"a": (1, 8, 3, 4)})
    (tree,) = drafter.draft(small.situation([[5, 6]], [9], requests=asked))
    (short,) = drafter.draft(small.situation([[5, 6]], [1], requests=asked))

    assert [6, 2, 1, 0, 8] == tree.tokens.tolist()
    assert (-1, 0, 0, 2, 2) == tree.parents
    assert 2 == short.drafted


def test_odd_even_drafts_on_every_other_round(world):
    model, requests, answers = world
    drafter = OddEven(model.vocabulary, 3, answers)
    for answer in SpeculativeDecoder(model=model, drafter=drafter).generate(requests):
        drafted = [r.drafted > 0 for r in answer.rounds[:-1]]

        assert [turn % 2 == 0 for turn in range(len(drafted))] == drafted
        assert 2 < len(drafted)


def test_a_request_that_the_oracle_does_not_know_gets_no_draft(small):
    drafter = Oracle(9, 3, {"known": (1, 2, 3)})
    trees = drafter.draft(
        small.situation([[5], [5]], [3, 3], requests=[small.request((5,), name=n) for n in ("known", "other")])
    )

    assert [3, 0] == [tree.drafted for tree in trees]


def test_the_oracle_goes_on_where_the_answer_stands(small):
    asked = [small.request((5, 6), name="a")]
    drafter = Oracle(9, 3, {"a": (1, 2, 3, 4, 7)})

    assert [3, 4, 7] == drafter.draft(small.situation([[5, 6, 1, 2]], [9], requests=asked))[0].tokens[1:].tolist()
    assert [7] == drafter.draft(small.situation([[5, 6, 1, 2, 3, 4]], [9], requests=asked))[0].tokens[1:].tolist()
    assert [] == drafter.draft(small.situation([[5, 6, 1, 2, 3, 4, 7]], [9], requests=asked))[0].tokens[1:].tolist()


def test_the_adversary_wraps_around_the_vocabulary(small):
    asked = [small.request((5,), name="a")]
    drafter = Adversary(9, 3, {"a": (8, 0, 3)})

    assert [0, 1, 4] == drafter.draft(small.situation([[5]], [3], requests=asked))[0].tokens[1:].tolist()


def test_uniform_states_that_every_token_was_as_likely(small):
    tree = Uniform(8, 3).draft(small.situation([[5]], [3]))[0]

    assert np.array_equal(np.full((3, 8), 1 / 8), tree.probs[1:])
