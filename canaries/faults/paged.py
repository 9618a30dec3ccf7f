"""Plants in the paged cache of a session under load. Decoding alone, on a contiguous cache, shows none of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from torch import Tensor

from ...engine.cache.base import Entries
from ...engine.cache.paged import PagedCache
from ..targets.strategies import Strategies


class KeepsRejectedEntries(PagedCache):
    """After a rejection the next node's entry stays behind the accepted ones (F43)."""

    def commit(self, paths: Sequence[Sequence[int]]) -> None:
        """Keeps one node too many where some were rejected; a prompt has none."""
        rooms = list(self._room)
        longer = [
            [*path, max(path, default=0) + 1] if max(path, default=0) + 1 < room else path
            for path, room in zip(paths, rooms, strict=True)
        ]
        super().commit(longer)


class RollsBackTooFar(PagedCache):
    """After a rejection the last committed entry is forgotten, too (F44)."""

    def commit(self, paths: Sequence[Sequence[int]]) -> None:
        """Forgets one more where some were rejected."""
        rejected = [len(path) + 1 < room for path, room in zip(paths, self._room, strict=True)]
        super().commit(paths)
        for sequence, one in zip(self.sequences, rejected, strict=True):
            sequence.truncate(sequence.length - one)
        self._counted()


class StepsFromTheRoot(PagedCache):
    """A round without drafts finds, in place of what the round before it accepted, that round's root (F46)."""

    def commit(self, paths: Sequence[Sequence[int]]) -> None:
        """Remembers how many nodes behind the root each sequence kept of a round."""
        super().commit(paths)
        for sequence, path in zip(self.sequences, paths, strict=True):
            sequence.__dict__["accepted"] = len(path)

    def write(self, layer: int, keys: Tensor, values: Tensor) -> Entries:
        """A pass of one node reads the state before the last round's accepted tokens."""
        found = super().write(layer, keys, values)
        if keys.shape[2] > 1:
            return found
        found = Entries(*(part.clone() for part in found))
        for row, sequence in enumerate(self.sequences):
            first = max(1, sequence.length - sequence.__dict__.get("accepted", 0))
            for part in found:
                part[row, :, first : sequence.length] = part[row, :, first - 1 : first]
        return found


class EvictsTooEarly(PagedCache):
    """What leaves the window with a full round is given back before it is known how much is accepted (F47)."""

    def write(self, layer: int, keys: Tensor, values: Tensor) -> Entries:
        """Gives back what the last node of the block will not see."""
        if self.window:
            for sequence, nodes in zip(
                self.sequences, self._room or [keys.shape[2]] * len(self.sequences), strict=True
            ):
                sequence.forget(self.window.first(sequence.length + nodes))
        return super().write(layer, keys, values)


class PadsIntoSlotZero(PagedCache):
    """Padding of rows with shorter drafts is written to the pool's first slot, as if nobody owned that (F50)."""

    def _placed(self, nodes: int) -> None:
        super()._placed(nodes)
        if isinstance(self._slots, Tensor):
            self._slots[self._slots >= self.pool.sink * self.pool.size] = 0


class KeepsTheFirstNodes(PagedCache):
    """Of a tree as many nodes are kept as were accepted, but the first ones (F51)."""

    def _compact(self, paths: Sequence[Sequence[int]]) -> None:
        del paths


class OneLengthForAll(PagedCache):
    """Every row commits as many nodes as the first one accepted (F67)."""

    def commit(self, paths: Sequence[Sequence[int]]) -> None:
        """The first row is right; a batch of one is."""
        most = len(paths[0]) if paths else 0
        super().commit([range(1, min(most, room - 1) + 1) for room in self._room])


def keep_rejected_entries(strategies: Strategies) -> Strategies:
    """F43."""
    return replace(strategies, paged=KeepsRejectedEntries)


def roll_back_too_far(strategies: Strategies) -> Strategies:
    """F44."""
    return replace(strategies, paged=RollsBackTooFar)


def step_from_the_root(strategies: Strategies) -> Strategies:
    """F46."""
    return replace(strategies, paged=StepsFromTheRoot)


def evict_too_early(strategies: Strategies) -> Strategies:
    """F47."""
    return replace(strategies, paged=EvictsTooEarly)


def pad_into_slot_zero(strategies: Strategies) -> Strategies:
    """F50."""
    return replace(strategies, paged=PadsIntoSlotZero)


def keep_the_first_nodes(strategies: Strategies) -> Strategies:
    """F51."""
    return replace(strategies, paged=KeepsTheFirstNodes)


def one_length_for_all(strategies: Strategies) -> Strategies:
    """F67."""
    return replace(strategies, paged=OneLengthForAll)
