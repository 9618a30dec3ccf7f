"""Any order of allocate, verify, accept, reject, fork, preempt, cancel, resume and evict, against lists of tokens.

Keys and values carry the tokens, so that what a sequence shows is compared exactly; after every step the pool's counts
are those of the sequences and of the prefix tree, counted anew.
"""

from collections import Counter

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from caches import LAYERS, block, own_numbers
from draftgate.engine.cache.blocks import BlockPool
from draftgate.engine.cache.paged import PagedCache
from draftgate.engine.cache.radix import RadixTree
from draftgate.engine.errors import OutOfBlocks

EXAMPLES, STEPS = 250, 60  # 15,000 at most; the test counts those that were made
MOST = 6  # sequences at a time
SALTS = ("", "other")
trees = st.lists(st.integers(0, 4), min_size=0, max_size=6)  # of node i + 1 the parent, at most i


class Running:
    """A request: its sequence, what was committed to it, and the prefix that it began from."""

    def __init__(self, sequence, tokens, salt, match):
        self.sequence, self.tokens, self.salt, self.match = sequence, tokens, salt, match


class Machine(RuleBasedStateMachine):
    """The cache under test beside the plain model: `running` and `waiting` hold lists of tokens."""

    steps = 0
    cache_kind = PagedCache
    tree_kind = RadixTree

    @initialize(blocks=st.integers(8, 40), size=st.sampled_from([1, 3, 4]), share=st.floats(0, 1))
    def start(self, blocks, size, share):
        self.pool = BlockPool(blocks, size)
        self.prefixes = self.tree_kind(self.pool, int(blocks * share))
        self.running, self.waiting, self.next = [], [], 1000

    def fresh(self, count):
        """Tokens that nobody ever wrote."""
        self.next += count
        return list(range(self.next - count, self.next))

    def passed(self, cache, rows):
        """One pass over all layers, rows padded to the widest; what each row shows, padding left out."""
        width = max(map(len, rows))
        cache.reserve([len(row) for row in rows])
        padded = [row + [-1] * (width - len(row)) for row in rows]
        seen = [own_numbers(cache.write(layer, *block(padded, layer))) for layer in range(LAYERS)]
        assert seen[0] == seen[-1]
        return [shown[: n + len(row)] for shown, n, row in zip(seen[0], cache.lengths, rows, strict=True)]

    def begin(self, tokens, salt):
        """Matches what is known and feeds the rest; gives up without a trace where there is no room."""
        match = self.prefixes.match(tokens[:-1], salt)
        request = Running(self.prefixes.begin(match), tokens, salt, match)
        cache = self.cache_kind(self.pool, [request.sequence])
        try:
            (seen,) = self.passed(cache, [tokens[match.length :]])
        except OutOfBlocks:
            self.leave(request)
            return False
        assert tokens == seen
        cache.commit([list(range(1, len(tokens) - match.length))])
        self.running.append(request)
        return True

    def leave(self, request):
        request.sequence.release()
        if request.match is not None:
            self.prefixes.unlock(request.match)

    def taken(self, data, of):
        return of.pop(data.draw(st.integers(0, len(of) - 1)))

    @precondition(lambda self: len(self.running) < MOST)
    @rule(start=st.integers(0, 3), shared=st.integers(0, 12), own=st.integers(1, 6), salt=st.sampled_from(SALTS))
    def allocate(self, start, shared, own, salt):
        """A request arrives, its beginning perhaps like another's."""
        self.begin([*range(100 * start, 100 * start + shared), *self.fresh(own)], salt)

    @precondition(lambda self: self.running)
    @rule(data=st.data(), drafts=st.lists(trees, min_size=MOST, max_size=MOST))
    def verify(self, data, drafts):
        """A round of all: ragged trees are written, a path of each is accepted, the rest rejected."""
        cache = self.cache_kind(self.pool, [request.sequence for request in self.running])
        trees = [
            [-1, *(min(parent, node) for node, parent in enumerate(draft))] for draft in drafts[: len(self.running)]
        ]
        nodes = [self.fresh(len(parents)) for parents in trees]
        free, missing = self.pool.free, cache.missing([len(row) for row in nodes])
        try:
            seen = self.passed(cache, nodes)
        except OutOfBlocks:
            assert free < missing
            return
        assert free - missing == self.pool.free
        assert [[*request.tokens, *row] for request, row in zip(self.running, nodes, strict=True)] == seen
        if data.draw(st.integers(0, 9)) == 0:
            self.cancel_while_verifying(data, cache)
            return
        paths = [accepted(parents, data.draw(st.integers(0, len(parents) - 1))) for parents in trees]
        cache.commit(paths)
        for request, row, path in zip(self.running, nodes, paths, strict=True):
            request.tokens = [*request.tokens, row[0], *(row[node] for node in path)]

    def cancel_while_verifying(self, data, cache):
        """One leaves between writing and committing; of the others nothing was accepted."""
        gone = data.draw(st.integers(0, len(self.running) - 1))
        cache.select([row for row in range(len(self.running)) if row != gone])
        cache.rewind(cache.lengths)
        request = self.running.pop(gone)
        self.prefixes.unlock(request.match)

    @precondition(lambda self: self.running)
    @rule(data=st.data(), back=st.integers(1, 5))
    def take_back(self, data, back):
        """A drafter's rejection: committed entries are forgotten."""
        request = self.running[data.draw(st.integers(0, len(self.running) - 1))]
        request.tokens = request.tokens[: max(1, len(request.tokens) - back)]
        cache = self.cache_kind(self.pool, [request.sequence])
        cache.rewind(np.array([len(request.tokens)]))

    @precondition(lambda self: 0 < len(self.running) < MOST)
    @rule(data=st.data())
    def fork(self, data):
        request = self.running[data.draw(st.integers(0, len(self.running) - 1))]
        match = self.prefixes.match([], request.salt)
        self.running.append(Running(request.sequence.fork(), list(request.tokens), request.salt, match))

    @precondition(lambda self: self.running)
    @rule(data=st.data())
    def cancel(self, data):
        self.leave(self.taken(data, self.running))

    @precondition(lambda self: self.running)
    @rule(data=st.data(), cut=st.integers(0, 3), waits=st.booleans())
    def end_or_preempt(self, data, cut, waits):
        """What is committed is kept as a prefix, without what a stop cut off; the rest is freed."""
        request = self.taken(data, self.running)
        tokens = request.tokens[: max(1, len(request.tokens) - cut)]
        self.prefixes.insert(tokens, request.sequence, request.salt)
        self.leave(request)
        if waits:
            self.waiting.append((tokens, request.salt))

    @precondition(lambda self: self.waiting and len(self.running) < MOST)
    @rule(data=st.data())
    def resume(self, data):
        tokens, salt = self.taken(data, self.waiting)
        self.begin(tokens, salt)

    @rule(blocks=st.integers(1, 10))
    def evict(self, blocks):
        free = self.pool.free

        assert free + self.prefixes.evict(blocks) == self.pool.free

    @invariant()
    def every_block_is_accounted_for(self):
        type(self).steps += 1
        if not hasattr(self, "pool"):
            return
        kept = [block for node in self.prefixes._nodes() for block in node.blocks]
        holders = Counter(kept) + Counter(block for request in self.running for block in request.sequence.blocks)

        assert holders == {b: n for b in range(self.pool.blocks) if (n := self.pool.references(b))}
        assert (len(holders), self.pool.blocks - len(holders)) == (self.pool.used, self.pool.free)
        assert len(kept) == len(set(kept)) == self.prefixes.held <= self.prefixes.budget
        for request in self.running:
            assert len(request.tokens) == request.sequence.length
            assert self.pool.blocks_for(len(request.tokens)) == len(request.sequence.blocks)

    @invariant()
    def every_sequence_and_prefix_holds_its_own_tokens(self):
        for request in getattr(self, "running", ()):
            assert request.tokens == shown(self.pool, request.sequence.blocks)[: len(request.tokens)]
        for node in self.prefixes._nodes() if hasattr(self, "pool") else ():
            assert [token for key in node.keys for token in key] == shown(self.pool, node.blocks)

    def teardown(self):
        for request in getattr(self, "running", ()):
            self.leave(request)
        if hasattr(self, "pool"):
            self.prefixes.clear()
            assert 0 == self.pool.used == self.prefixes.held


def accepted(parents, end):
    """The nodes from below the root down to `end`."""
    path = []
    while end > 0:
        path.append(end)
        end = parents[end]
    return path[::-1]


def shown(pool, blocks):
    """The tokens that blocks carry, in all layers alike."""
    if not blocks:
        return []
    seen = [own_numbers(pool.store.take(layer, torch.tensor([blocks])))[0] for layer in range(LAYERS)]
    assert seen[0] == seen[-1]
    return seen[0]


def driven(machine, examples=EXAMPLES, phases=tuple(Phase)):
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=examples,
            stateful_step_count=STEPS,
            deadline=None,
            database=None,
            phases=phases,
            suppress_health_check=list(HealthCheck),
        ),
    )


def test_ten_thousand_steps_leave_no_block_and_mix_up_no_token():
    class Counted(Machine):
        steps = 0

    driven(Counted)

    assert Counted.steps >= 10_000


class KeepsTheFirstNodes(PagedCache):
    """F51: as many nodes as were accepted, but the first ones."""

    def _compact(self, paths):
        pass


class WritesIntoSharedBlocks(PagedCache):
    """No copy on write."""

    def _make_room(self, nodes):
        for sequence in self.sequences:
            sequence.to_copy = list
        super()._make_room(nodes)


class PadsIntoSlotZero(PagedCache):
    """F50: the sink of padding is somebody's block."""

    def _placed(self, nodes):
        sink, self.pool.sink = self.pool.sink, 0
        super()._placed(nodes)
        self.pool.sink = sink


class ForgetsToRelease(PagedCache):
    """Blocks of rejected nodes stay."""

    def commit(self, paths):
        super().commit(paths)
        self.pool.share([0] if self.pool.references(0) else [])


class TrustsBlocks(RadixTree):
    """F54: what a block holds is kept as if it were committed."""

    def _committed(self, tokens, sequence):
        return len(sequence.blocks) * self.pool.size if len(tokens) > sequence.length - 3 else 0

    def _keys(self, tokens):
        return super()._keys([*tokens, *[0] * (-len(tokens) % self.pool.size)])


@pytest.mark.parametrize(
    "plant", [KeepsTheFirstNodes, WritesIntoSharedBlocks, PadsIntoSlotZero, ForgetsToRelease, TrustsBlocks]
)
def test_a_cache_with_a_fault_does_not_get_through(plant):
    class Wrong(Machine):
        cache_kind = plant if issubclass(plant, PagedCache) else PagedCache
        tree_kind = plant if issubclass(plant, RadixTree) else RadixTree

    with pytest.raises((AssertionError, ValueError, BaseExceptionGroup)):
        driven(Wrong, examples=60, phases=[Phase.generate])
