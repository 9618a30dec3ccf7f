"""Speculative decoding against plain decoding: the same tokens when greedy, the same law otherwise."""

from __future__ import annotations

import numpy as np
import pytest

from draftgate.canaries.faults.cache import KeepsRejected
from draftgate.canaries.faults.verification import ResampleFromTarget
from draftgate.engine.cache.contiguous import ContiguousCache
from draftgate.engine.decoding.plain import PlainDecoder
from draftgate.engine.decoding.speculative import SpeculativeDecoder
from draftgate.engine.drafters.draft_model import DraftModel
from draftgate.engine.drafters.ngram import NGram
from draftgate.engine.drafters.synthetic import Adversary, OddEven, Oracle, Uniform
from draftgate.engine.errors import EngineError, LogitsNotFinite, PromptTooLong
from draftgate.engine.models.table import TableModel
from draftgate.engine.request import Request, Sampling
from draftgate.engine.tree import DraftTree
from draftgate.engine.verification.batched import BatchedLossless
from draftgate.engine.verification.block import Block
from draftgate.engine.verification.lossless import Lossless
from draftgate.engine.verification.multi_draft import MultiDraft, chosen
from draftgate.engine.verification.traversal import Traversal
from draftgate.stats.decision import Decision

GREEDY = Sampling()
DRAFTERS = ("draft", "self", "ngram", "uniform", "oracle", "odd-even", "adversary")
ORDERS = (
    "Copy this text: bade mikasonu tave lipo",
    "As JSON: name=kosi, age=41, city=tulane.",
    "Count from 7 to 19.",
    "Repeat exactly: zome",
    "Give a JSON object: size=7.",
    "Say again, word for word: fifo dadudi be k7xq20",
    "Count from 31 to 38.",
    "Copy this text: ra ra ra ra ra ra",
)


def drafter_of(name, model, draft, k, answers):
    vocabulary = model.vocabulary
    return {
        "draft": lambda: DraftModel(draft, k),
        "self": lambda: DraftModel(model, k),
        "ngram": lambda: NGram(vocabulary, k, shortest=1),
        "uniform": lambda: Uniform(vocabulary, k),
        "oracle": lambda: Oracle(vocabulary, k, answers),
        "odd-even": lambda: OddEven(vocabulary, k, answers),
        "adversary": lambda: Adversary(vocabulary, k, answers),
    }[name]()


def essence(answers):
    return [(g.name, g.tokens, g.text, g.finish) for g in answers]


def algebra_holds(answer, k):
    """emitted = prefill + sum over rounds (accepted + 1) - cut, and nobody drafts more than can be used."""
    assert len(answer.tokens) == answer.prefill + sum(r.emitted for r in answer.rounds)
    assert all(r.emitted + r.cut == r.accepted + 1 <= r.drafted + 1 <= k + 1 for r in answer.rounds)
    assert all(r.cut == 0 for r in answer.rounds[:-1])
    assert [answer.prefill, *(r.emitted for r in answer.rounds)] == [a.tokens for a in answer.arrivals]


@pytest.fixture(scope="module")
def asked(target):
    return [
        Request(
            name=f"r{row}",
            prompt=target.encode([{"role": "user", "content": order}]),
            max_tokens=(24, 17, 9, 20, 24, 1, 2, 24)[row],
            eos=target.eos,
        )
        for row, order in enumerate(ORDERS)
    ]


@pytest.fixture(scope="module")
def plainly(target, asked):
    return essence(PlainDecoder(model=target).generate(asked))


def settings():
    return [(name, k) for name in DRAFTERS for k in (range(1, 9) if name in ("draft", "ngram") else (1, 4, 8))]


@pytest.mark.parametrize(("name", "k"), settings())
def test_greedy_tokens_are_those_of_plain_decoding(name, k, target, draft, asked, plainly):
    """On the embedded model, in a batch of eight, whose rows end one after the other."""
    answers = {name: tokens for name, tokens, _, _ in plainly}
    decoder = SpeculativeDecoder(model=target, drafter=drafter_of(name, target, draft, k, answers))
    seen = decoder.generate(asked)

    assert plainly == essence(seen)
    for answer in seen:
        algebra_holds(answer, k)


@pytest.mark.parametrize("name", DRAFTERS)
def test_greedy_tokens_alone_are_those_of_the_batch(name, target, draft, asked, plainly):
    answers = {name: tokens for name, tokens, _, _ in plainly}
    for row in (0, 1, 6):
        decoder = SpeculativeDecoder(model=target, drafter=drafter_of(name, target, draft, 4, answers))

        assert [plainly[row]] == essence(decoder.generate([asked[row]]))


def test_a_cache_that_keeps_a_rejected_entry_changes_greedy_tokens(target, asked, plainly):
    drafter = Uniform(target.vocabulary, 4)
    faulty = SpeculativeDecoder(model=target, drafter=drafter, new_cache=KeepsRejected)

    assert plainly == essence(SpeculativeDecoder(model=target, drafter=drafter).generate(asked))
    assert plainly != essence(faulty.generate(asked))


@pytest.mark.parametrize(
    ("name", "verifier"),
    [
        *((name, Lossless()) for name in ("draft", "self", "ngram", "uniform")),
        *(("draft", verifier) for verifier in (BatchedLossless(), Block(), Traversal())),
        ("ngram", Block()),
    ],
    ids=["draft", "self", "ngram", "uniform", "draft-batched", "draft-block", "draft-traversal", "ngram-block"],
)
def test_sampled_tokens_follow_the_targets_joint_law(name, verifier, ground, small):
    """At these rates right code fails this with chance 1e-6, and a law 0.1 away passes with chance 1e-6."""
    drafter = drafter_of(name, ground.model, small.table_model(seed=21), 2, {})

    assert Decision.PASS == ground.judge(SpeculativeDecoder(model=ground.model, drafter=drafter, verifier=verifier))


@pytest.mark.parametrize("name", ["draft", "ngram", "uniform"])
def test_a_verifier_that_draws_replacements_from_p_is_caught(name, ground, small):
    drafter = drafter_of(name, ground.model, small.table_model(seed=21), 2, {})
    faulty = SpeculativeDecoder(model=ground.model, drafter=drafter, verifier=ResampleFromTarget())

    assert Decision.FAIL == ground.judge(faulty)


def test_where_nothing_is_ever_rejected_that_verifier_is_right(ground):
    """The target drafts for itself: the fault is never exercised, and must not be claimed to be seen."""
    drafter = DraftModel(ground.model, 2)
    faulty = SpeculativeDecoder(model=ground.model, drafter=drafter, verifier=ResampleFromTarget())

    assert Decision.PASS == ground.judge(faulty)


def mixed_requests(small):
    """Rows that differ in prompt, length, seed and sampling."""
    kinds = [
        GREEDY,
        Sampling(temperature=1.0),
        Sampling(temperature=0.7, top_k=3),
        Sampling(temperature=1.3, top_p=0.9),
    ]
    return [
        small.request(
            tuple(np.random.default_rng(row).integers(0, 6, 2 + row)),
            max_tokens=2 + 3 * row,
            seed=row,
            name=f"r{row}",
            sampling=kinds[row % 4],
        )
        for row in range(8)
    ]


@pytest.mark.parametrize("verifier", [Lossless(), BatchedLossless()], ids=["walk", "batched"])
@pytest.mark.parametrize("name", DRAFTERS)
def test_a_requests_tokens_depend_on_neither_neighbours_nor_batch_shape(name, verifier, small):
    model, requests = small.table_model(vocabulary=6), mixed_requests(small)
    answers = {r.name: (1, 2, 3, 4, 5, 0) * 4 for r in requests}

    def decoded(batch):
        drafter = drafter_of(name, model, small.table_model(vocabulary=6, seed=5), 3, answers)
        found = SpeculativeDecoder(model=model, drafter=drafter, verifier=verifier).generate(batch)
        return [(g.tokens, g.rounds) for g in found]

    alone = [decoded([request])[0] for request in requests]

    assert alone == decoded(requests)
    assert alone[::-1] == decoded(requests[::-1])
    assert alone[2:5] == decoded(requests[2:5])
    assert [alone[3]] * 3 == decoded([requests[3]] * 3)


def test_a_decoder_may_be_used_again_and_answers_the_same(small):
    model, requests = small.table_model(vocabulary=6), mixed_requests(small)
    decoder = SpeculativeDecoder(model=model, drafter=DraftModel(small.table_model(vocabulary=6, seed=5), 3))

    assert essence(decoder.generate(requests)) == essence(decoder.generate(requests))


def greedy_world(small):
    """A table model and a long greedy answer with its letters."""
    model = small.table_model(vocabulary=9, period=7, seed=2)
    request = small.request((0, 3), max_tokens=20, sampling=GREEDY)
    return model, PlainDecoder(model=model).generate([request])[0]


def both(model, answer, k, small, **limits):
    request = small.request((0, 3), sampling=GREEDY, **{"max_tokens": 20} | limits)
    drafter = Oracle(model.vocabulary, k, {"r": answer.tokens})
    plain = PlainDecoder(model=model).generate([request])
    seen = SpeculativeDecoder(model=model, drafter=drafter).generate([request])
    algebra_holds(seen[0], k)

    assert essence(plain) == essence(seen)
    return seen[0]


@pytest.mark.parametrize("k", [1, 3, 4, 8])
def test_a_stop_string_at_every_offset_ends_the_answer_as_plainly(k, small):
    """The oracle fills every block, so every string of two or three letters straddles some boundary."""
    model, answer = greedy_world(small)
    for start in range(18):
        for width in (1, 2, 3):
            text = answer.text[start : start + width]
            seen = both(model, answer, k, small, stop=(text,))

            assert "stop" == seen.finish
            assert answer.text[: answer.text.index(text)] == seen.text


@pytest.mark.parametrize("k", [1, 3, 8])
def test_an_end_of_sequence_inside_a_block_is_the_last_token(k, small):
    model, answer = greedy_world(small)
    for token in set(answer.tokens):
        seen = both(model, answer, k, small, eos=(token,))

        assert "eos" == seen.finish
        assert answer.tokens[: answer.tokens.index(token) + 1] == seen.tokens


def test_tokens_behind_the_end_are_counted_as_cut(small):
    """With k = 2 the blocks are tokens 1-3 and 4-6 of the answer: an end at 1, 2 or 3 cuts 2, 1 or none."""
    model, answer = greedy_world(small)
    for place in range(1, 7):
        token = answer.tokens[place]
        if place == answer.tokens.index(token):
            assert (3 - place) % 3 == both(model, answer, 2, small, eos=(token,)).rounds[-1].cut


@pytest.mark.parametrize("k", [1, 3, 8])
@pytest.mark.parametrize("limit", range(1, 13))
def test_the_limit_ends_the_answer_anywhere_in_a_block_and_nothing_is_cut(k, limit, small):
    """A draft is never longer than what may still be emitted."""
    model, answer = greedy_world(small)
    seen = both(model, answer, k, small, max_tokens=limit)

    assert limit == len(seen.tokens)
    assert "length" == seen.finish
    assert all(r.cut == 0 for r in seen.rounds)


def test_one_token_needs_no_round(small):
    model, answer = greedy_world(small)

    assert () == both(model, answer, 3, small, max_tokens=1).rounds


class Watched:
    """A drafter that compares, before each round, what the caches hold with what is committed."""

    def __init__(self, inner, caches):
        self.inner, self.caches, self.length = inner, caches, inner.length
        self.seen, self.full = [], ()

    def begin(self, rows):
        self.inner.begin(rows)

    def draft(self, situation):
        committed = np.array([len(context) for context in situation.contexts])
        self.seen.append((committed - self.caches[0].lengths, committed - self.inner._cache.lengths, self.full))
        trees = self.inner.draft(situation)
        self._drafted = [tree.drafted for tree in trees]
        return trees

    def observe(self, accepted):
        self.inner.observe(accepted)
        self.full = np.array([a == d and d > 0 for a, d in zip(accepted, self._drafted, strict=True)])

    def select(self, rows):
        self.inner.select(rows)
        self.full = self.full[list(rows)] if len(self.full) else ()


def test_after_every_round_the_caches_hold_all_but_the_newest_token(small):
    """In the draft's cache, after a full acceptance, also the last draft token is missing: it was never fed."""
    model, caches = small.table_model(vocabulary=6), []

    def factory(rows):
        caches.append(ContiguousCache(rows))
        return caches[-1]

    watched = Watched(DraftModel(small.table_model(vocabulary=6, seed=5), 3), caches)
    SpeculativeDecoder(model=model, drafter=watched, new_cache=factory).generate(mixed_requests(small))

    assert 5 < len(watched.seen)
    for target_behind, draft_behind, full in watched.seen[1:]:
        assert [1] * len(target_behind) == target_behind.tolist()
        assert (1 + full).tolist() == draft_behind.tolist()


class Breaks(TableModel):
    """Answers NaN at the third node behind any prompt."""

    def score(self, block, cache):
        logits = super().score(block, cache).copy()
        logits[:, 3:] = np.nan
        return logits


def test_logits_that_are_not_finite_end_the_run(small):
    model = Breaks(small.table_model().table)
    decoder = SpeculativeDecoder(model=model, drafter=Uniform(4, 3))

    with pytest.raises(LogitsNotFinite, match="position 3"):
        decoder.generate([small.request((1, 2))])


@pytest.mark.parametrize(
    ("bad", "kind"),
    [
        ({"prompt": ()}, EngineError),
        ({"max_tokens": 0}, EngineError),
        ({"max_tokens": 1 << 30}, PromptTooLong),
    ],
)
@pytest.mark.parametrize("arm", ["plain", "speculative"])
def test_what_cannot_be_served_is_refused_by_both_arms(bad, kind, arm, small):
    model = small.table_model()
    decoder = {
        "plain": lambda: PlainDecoder(model=model),
        "speculative": lambda: SpeculativeDecoder(model=model, drafter=Uniform(4, 3)),
    }[arm]()

    with pytest.raises(kind, match="request r"):
        decoder.generate([small.request(), small.request(**bad)])


class Branches:
    """Proposes two chosen tokens at the root, and under each its successor in number."""

    length = 2

    def __init__(self, vocabulary):
        self.vocabulary = vocabulary

    def begin(self, rows):
        del rows

    def observe(self, accepted):
        del accepted

    def select(self, rows):
        del rows

    def draft(self, situation):
        return [self._tree(c, limit) for c, limit in zip(situation.contexts, situation.limits, strict=True)]

    def _tree(self, context, limit):
        a, b, v = (context[-1] + 1) % self.vocabulary, (context[-1] + 2) % self.vocabulary, self.vocabulary
        tokens, parents = [context[-1], a, b, (a + 1) % v, (b + 1) % v], (-1, 0, 0, 1, 2)
        shown = {0: 1, 1: 3}.get(limit, 5)
        return DraftTree(np.array(tokens[:shown]), parents[:shown], np.eye(v)[tokens[:shown]])


def test_trees_that_branch_follow_the_targets_joint_law(ground):
    """The second branch's path leaves a gap in the block, so the cache must move entries up."""
    drafter = Branches(ground.vocabulary)

    for verifier in (Lossless(), Traversal(), MultiDraft(chosen)):
        decoder = SpeculativeDecoder(model=ground.model, drafter=drafter, verifier=verifier)
        assert Decision.PASS == ground.judge(decoder)
    assert Decision.FAIL == ground.judge(
        SpeculativeDecoder(model=ground.model, drafter=drafter, verifier=ResampleFromTarget())
    )


@pytest.mark.parametrize("verifier", [Block(), Traversal()], ids=["block", "traversal"])
def test_greedy_tokens_are_those_of_plain_decoding_under_other_rules(verifier, target, draft, asked, plainly):
    decoder = SpeculativeDecoder(model=target, drafter=DraftModel(draft, 4), verifier=verifier)

    assert plainly == essence(decoder.generate(asked))


def test_trees_that_branch_give_the_greedy_tokens_of_plain_decoding(target, asked, plainly):
    """On a real model too: accepted second branches are moved within its own tensors."""

    class SecondIsRight(Branches):
        """A wrong token first, then the right one with its successor under it."""

        def draft(self, situation):
            rows = zip(situation.requests, situation.contexts, situation.limits, strict=True)
            return [self._behind_a_wrong_one(answers[r.name][len(c) - len(r.prompt) :], c[-1], n) for r, c, n in rows]

        def _behind_a_wrong_one(self, ahead, root, limit):
            if limit < 2 or len(ahead) < 2:
                return DraftTree.bare(root, self.vocabulary)
            tokens = [root, (ahead[0] + 1) % self.vocabulary, *ahead[:2]]
            return DraftTree(np.array(tokens), (-1, 0, 0, 2), np.eye(self.vocabulary)[tokens])

    answers = {name: tokens for name, tokens, _, _ in plainly}
    seen = SpeculativeDecoder(model=target, drafter=SecondIsRight(target.vocabulary)).generate(asked)

    assert plainly == essence(seen)
    assert 2 in {r.accepted for g in seen for r in g.rounds}
