"""Look-alikes change what they say, and neither tokens nor laws."""

import numpy as np
import pytest

from draftgate.canaries.checks.algebra import complaint
from draftgate.canaries.faults.innocent import CoarseChunks, OtherOrder, ShorterDrafts, other_order
from draftgate.canaries.targets.strategies import Strategies
from draftgate.engine.decoding.answer import Answer
from draftgate.engine.decoding.speculative import SpeculativeDecoder
from draftgate.engine.drafters.draft_model import DraftModel
from draftgate.engine.models.table import TableModel, peaked_table
from draftgate.engine.randomness import CounterRandomness, Purpose
from draftgate.engine.request import Arrival, Request, Sampling

SEEDS, ROUNDS = np.array([3, 4]), np.array([0, 7])


def uniforms(randomness):
    return {purpose: randomness.uniforms(SEEDS, ROUNDS, purpose, 4) for purpose in Purpose}


def test_the_same_uniforms_come_in_another_order():
    own, other = uniforms(CounterRandomness()), uniforms(OtherOrder())

    assert np.array_equal(np.sort(list(own.values()), axis=None), np.sort(list(other.values()), axis=None))
    assert not any(np.array_equal(own[purpose], other[purpose]) for purpose in Purpose)


@pytest.mark.parametrize("purpose", Purpose)
def test_no_two_uses_share_a_uniform(purpose):
    found = uniforms(OtherOrder())

    others = np.concatenate([found[other].ravel() for other in Purpose if other is not purpose])
    assert not set(found[purpose].ravel()) & set(others)
    assert len(set(found[purpose].ravel())) == found[purpose].size


def test_only_the_chance_is_exchanged():
    own = Strategies()
    planted = other_order(own)

    assert isinstance(planted.randomness, OtherOrder)
    assert (own.new_cache, own.verifier) == (planted.new_cache, planted.verifier)


TABLE = TableModel(peaked_table(5, 3, np.random.default_rng(0)))
FLAT = TableModel(peaked_table(5, 3, np.random.default_rng(1)))
K, TOKENS = 4, 30


def generated(number=6, temperature=0.0, drafter=DraftModel, answer=Answer):
    """What the engine makes of some requests on tables."""
    decoder = SpeculativeDecoder(model=TABLE, drafter=drafter(FLAT, K), new_answer=answer)
    sampling = Sampling(temperature=temperature)
    return decoder.generate(
        [
            Request(name=f"{seed}", prompt=(seed % 5, 1), max_tokens=TOKENS - seed % 3, sampling=sampling, seed=seed)
            for seed in range(number)
        ]
    )


def test_coarse_chunks_tell_the_same_tokens_later_and_their_counts_add_up():
    own, coarse = generated(), generated(answer=CoarseChunks)

    assert [(g.tokens, g.rounds, g.finish) for g in own] == [(g.tokens, g.rounds, g.finish) for g in coarse]
    assert all(2 * len(c.arrivals) < len(o.arrivals) for o, c in zip(own, coarse, strict=True))
    assert [None] * 6 == [complaint(g, K, len(g.tokens), ()) for g in coarse]


class LosesAChunk(CoarseChunks):
    """The guilty twin: what waited when the answer ended is never told."""

    def _take(self, tokens):
        emitted = super()._take(tokens)
        if self.finish is not None:
            last = self._arrivals.pop()
            self._arrivals.append(Arrival(last.seconds, emitted))
        return emitted


def test_chunks_that_lose_tokens_do_not_add_up():
    assert any(
        "the stream carried" in (complaint(g, K, len(g.tokens), ()) or "") for g in generated(answer=LosesAChunk)
    )


def test_shorter_drafts_give_the_same_greedy_tokens_in_more_rounds():
    own, shorter = generated(), generated(drafter=ShorterDrafts)

    assert [g.tokens for g in own] == [g.tokens for g in shorter]
    assert {1, 2, 3, 4} <= {r.drafted for g in shorter for r in g.rounds}
    assert [1] * 6 == [g.rounds[0].drafted for g in shorter]
    assert [None] * 6 == [complaint(g, K, len(g.tokens), ()) for g in shorter]
