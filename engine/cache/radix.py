"""A tree of prefixes whose entries are kept for requests to come (RadixAttention: Zheng et al. 2024, section 3).

An edge is a run of whole blocks with the tokens that they hold. The tree holds one reference to each of its blocks; a
sequence that begins with them shares them and copies before it writes. Only committed tokens come in: what was drafted
lives in a sequence's own temporary blocks and never gets here. Knows nothing of requests or models.
"""

from __future__ import annotations

import heapq
from collections.abc import Hashable, Iterator
from collections.abc import Sequence as Many
from itertools import count
from typing import NamedTuple

from ..errors import EngineError
from ..sequences import shared_length
from .blocks import BlockPool
from .sequence import HOLE, Sequence

Key = tuple[int, ...]  # the tokens of one block


class Node:
    """A run of blocks behind its parent's; `locks` counts the matches that end here or further down."""

    def __init__(self, keys: list[Key], blocks: list[int], parent: Node | None) -> None:
        self.keys, self.blocks, self.parent = keys, blocks, parent
        self.children: dict[Key, Node] = {}
        self.locks = 0
        self.used = 0

    def path(self) -> Iterator[Node]:
        """This node and those above it, the root not among them."""
        node = self
        while node.parent is not None:
            yield node
            node = node.parent


class Match(NamedTuple):
    """The blocks of a known prefix of `length` tokens, the last one perhaps used in part. Locked until unlocked."""

    blocks: tuple[int, ...]
    length: int
    end: Node


class RadixTree:
    """Prefixes by their tokens, and a salt for each of those who must not see another's. At most `budget` blocks."""

    def __init__(self, pool: BlockPool, budget: int) -> None:
        if not 0 <= budget <= pool.blocks:
            raise EngineError(f"a prefix tree of {budget} blocks does not fit a pool of {pool.blocks}; give it fewer")
        self.pool, self.budget = pool, budget
        self.held = 0
        self._roots: dict[Hashable, Node] = {}
        self._clock = count(1)

    def match(self, tokens: Many[int], salt: Hashable = "") -> Match:
        """The longest known prefix. Whoever must score the last token anew leaves it out of `tokens`."""
        node, whole = self._descend(self._root(salt), self._keys(tokens))
        length = whole * self.pool.size
        best = max(node.children, key=lambda key: shared_length(key, tokens[length:]), default=())
        if more := shared_length(best, tokens[length:]):
            node, length = self._split(node.children[best], 1), length + more
        for above in self._touched(node):
            above.locks += 1
        path = list(node.path())[::-1]
        return Match(tuple(block for part in path for block in part.blocks), length, node)

    def unlock(self, match: Match) -> None:
        """The blocks of the match may go, once nobody else holds them. Raises ValueError for a match not locked."""
        if any(not node.locks for node in match.end.path()):
            raise ValueError(f"a match of {match.length} tokens was unlocked twice")
        for node in match.end.path():
            node.locks -= 1

    def begin(self, match: Match) -> Sequence:
        """A sequence that begins with the match, sharing its blocks."""
        self.pool.share(match.blocks)
        return Sequence(self.pool, match.blocks, match.length)

    def insert(self, tokens: Many[int], sequence: Sequence, salt: Hashable = "") -> int:
        """Keeps the whole blocks of `sequence` that hold the first of the committed `tokens`; how many are new.

        What is known already is not taken again. Older prefixes go where the budget asks for it; what does not fit even
        then is left out.
        """
        keys = self._keys(tokens[: self._committed(tokens, sequence)])
        root = self._root(salt)
        node, known = self._descend(root, keys)
        for above in self._touched(node):
            above.locks += 1
        self.evict(self.held + len(keys) - known - self.budget)
        for above in node.path():
            above.locks -= 1
        fitting = slice(known, min(len(keys), known + self.budget - self.held))
        if new := sequence.blocks[fitting]:
            self.pool.share(new)
            self.held += len(new)
            self._roots[salt] = root
            node.children[keys[known]] = Node(keys[fitting], new, node)
            self._touched(node.children[keys[known]])
        return len(new)

    def evict(self, blocks: int) -> int:
        """Frees up to so many blocks, ends of the least recently used prefixes first; how many it freed.

        What is locked, or held by a sequence, stays.
        """
        freed = 0
        leaves = [(node.used, id(node), node) for node in self._nodes() if not node.children]
        heapq.heapify(leaves)
        while leaves and freed < blocks:
            *_, node = heapq.heappop(leaves)
            freed += self._trim(node, blocks - freed)
            if node.blocks or node.parent is None:
                continue
            parent = node.parent
            if not parent.children and parent.parent is not None:
                heapq.heappush(leaves, (parent.used, id(parent), parent))
        self._roots = {salt: root for salt, root in self._roots.items() if root.children}
        return freed

    def clear(self) -> int:
        """Forgets all that nobody uses; how many blocks that freed."""
        return self.evict(self.held)

    def _committed(self, tokens: Many[int], sequence: Sequence) -> int:
        """How many of the committed tokens the sequence holds: none that was rejected, cut off, or never fed."""
        whole = sequence.blocks.index(HOLE) if HOLE in sequence.blocks else len(sequence.blocks)
        return min(len(tokens), sequence.length, whole * self.pool.size)

    def _root(self, salt: Hashable) -> Node:
        return self._roots.get(salt) or Node([], [], None)

    def _keys(self, tokens: Many[int]) -> list[Key]:
        size = self.pool.size
        return [tuple(tokens[at : at + size]) for at in range(0, len(tokens) - size + 1, size)]

    def _descend(self, node: Node, keys: list[Key]) -> tuple[Node, int]:
        """The node that ends where the tree leaves the keys, and how many of them it knows."""
        at = 0
        while at < len(keys) and keys[at] in node.children:
            child = node.children[keys[at]]
            agreeing = shared_length(child.keys, keys[at:])
            node, at = self._split(child, agreeing), at + agreeing
        return node, at

    def _split(self, node: Node, at: int) -> Node:
        """A node that ends with this one's first `at` blocks; the rest becomes its child."""
        if at == len(node.keys):
            return node
        parent = node.parent
        assert parent is not None
        upper = Node(node.keys[:at], node.blocks[:at], parent)
        upper.locks, upper.used = node.locks, node.used
        parent.children[upper.keys[0]] = upper
        node.keys, node.blocks, node.parent = node.keys[at:], node.blocks[at:], upper
        upper.children[node.keys[0]] = node
        return upper

    def _touched(self, node: Node) -> list[Node]:
        """The node and those above it, used just now."""
        path, now = list(node.path()), next(self._clock)
        for above in path:
            above.used = now
        return path

    def _trim(self, leaf: Node, blocks: int) -> int:
        """Takes up to so many blocks off a leaf's end; how many."""
        freed = 0
        while leaf.blocks and freed < blocks and not leaf.locks and self.pool.references(leaf.blocks[-1]) == 1:
            first = leaf.keys[0]
            leaf.keys.pop()
            self.pool.release([leaf.blocks.pop()])
            freed += 1
            if not leaf.blocks and leaf.parent is not None:
                del leaf.parent.children[first]
        self.held -= freed
        return freed

    def _nodes(self) -> Iterator[Node]:
        waiting = [child for root in self._roots.values() for child in root.children.values()]
        while waiting:
            node = waiting.pop()
            waiting.extend(node.children.values())
            yield node
