"""Both arms' parts are timed behind the same text, by the parts that the decoders have."""

import numpy as np

from draftgate.engine.costs.rounds import Parts
from draftgate.engine.drafters.draft_model import DraftModel
from draftgate.engine.drafters.ngram import NGram
from draftgate.engine.models.table import TableModel, peaked_table
from draftgate.engine.request import Request
from draftgate.engine.verification.lossless import Lossless

TURNS = 5


class Watching(TableModel):
    """A table that notes what it is asked."""

    def __init__(self):
        super().__init__(peaked_table(6, 4, np.random.default_rng(1)))
        self.seen = []

    def score(self, block, cache):
        self.seen.append((block.tokens.shape[1], cache.lengths.tolist(), block.tokens[:, 0].tolist()))
        return super().score(block, cache)


class Counting(Lossless):
    """Notes how many drafts it was given."""

    def __init__(self):
        self.seen = []

    def verify(self, trees, probs, chances):
        self.seen.append(sum(tree.drafted for tree in trees))
        return super().verify(trees, probs, chances)


def requests():
    return [Request(name=name, prompt=prompt, max_tokens=20) for name, prompt in (("a", (1, 2, 3)), ("b", (4, 5)))]


def test_a_turn_is_a_plain_step_and_a_round_behind_the_same_tokens():
    target, answers = Watching(), [[1, 2], [3, 4, 5]]
    counting = Counting()
    parts = Parts(model=target, drafter=DraftModel(Watching(), 3), verifier=counting)

    spent = parts.spend(requests(), answers, TURNS)

    asked = target.seen[-2 * (TURNS + 1) :]
    plain, verified = asked[::2], asked[1::2]
    assert [1] * (TURNS + 1) == [width for width, *_ in plain]
    assert [4] * (TURNS + 1) == [width for width, *_ in verified]
    assert [one[1:] for one in plain] == [one[1:] for one in verified]
    assert [[3 + turn, 2 + turn] for turn in range(TURNS + 1)] == [lengths for _, lengths, _ in plain]
    assert [[1, 3], [2, 4], [1, 5], [2, 3], [1, 4], [2, 5]] == [roots for *_, roots in plain]
    assert [6] * (TURNS + 1) == counting.seen
    assert TURNS + 1 == len(spent)
    assert all(turn.drafted == 3 and min(turn[:3]) >= 0 for turn in spent)


def test_a_draft_is_fed_no_more_than_it_has_not_seen():
    draft = Watching()
    Parts(model=Watching(), drafter=DraftModel(draft, 2)).spend(requests(), [[1], [2]], TURNS)

    first, second, *rest = draft.seen
    assert (4, 1) == (first[0], second[0])  # the prompt with a token of the answer; the second draft
    assert {1} == {width for width, *_ in rest}


def test_a_drafter_that_proposes_nothing_is_seen_to():
    spent = Parts(model=Watching(), drafter=NGram(6, 3, longest=3, shortest=3)).spend(requests(), [[1], [2]], 1)

    assert 0.0 == spent[1].drafted
