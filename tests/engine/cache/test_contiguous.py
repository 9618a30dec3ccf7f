import numpy as np

from caches import block, filled, held
from draftgate.canaries.faults.cache import KeepsRejected
from draftgate.engine.cache.contiguous import ContiguousCache
from draftgate.engine.models.base import Block


def test_rows_of_one_length_are_read_where_they_lie():
    """No copy: the fast path of the decoders."""
    cache = filled(ContiguousCache, [[1, 2], [3, 4]])
    entries = [cache.write(0, *block([[5], [6]])) for _ in range(2)]

    assert entries[0].keys.data_ptr() == entries[1].keys.data_ptr()


def test_a_cache_that_keeps_rejected_entries_is_not_taken_for_the_honest_one(small):
    """The contract's test of rejected entries can fail."""
    model, cache = small.table_model(), KeepsRejected(1)
    model.score(Block.chains([[0, 1, 2]]), cache)
    cache.commit([[1, 2]])
    model.score(Block.chains([[3, 1, 2]]), cache)
    cache.commit([[]])
    seen = model.score(Block.chains([[2]]), cache)[0, 0]

    assert not np.array_equal(model.law([0, 1, 2, 3, 2]), seen)


def test_a_row_that_joins_does_not_move_the_others():
    cache = filled(ContiguousCache, [[1, 2]])
    cache.join(1)

    assert [[1, 2], []] == held(cache)
