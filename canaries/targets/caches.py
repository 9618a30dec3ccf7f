"""Types of key-value cache by name: what `cache=` of the reference engine takes, and what its arms keep entries in."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ...engine.cache.blocks import BlockPool
from ...engine.cache.contiguous import ContiguousCache
from ...engine.cache.paged import PagedCache
from ...engine.cache.quantised import Codes, QuantisedCache, QuantisedStore
from ...engine.cache.store import FloatStore, StoreFactory
from ...engine.models.base import CacheFactory
from ...engine.request import Request
from ..errors import UsageError
from .spec import TargetSpec

FLOAT = "float"
# Smaller groups of 4 bits are nearer to floats, and rounding moves them less: `docs/decisions/0023-*` has the figures.
CODES = {"int8": Codes(bits=8, group=32), "int4": Codes(bits=4, group=8)}
BLOCK = 16  # tokens of a block: what servers use
STORES: Mapping[str, StoreFactory] = {
    FLOAT: FloatStore,
    **{name: QuantisedStore.of(codes) for name, codes in CODES.items()},
}
PAGED = "paged"
PAGES: Mapping[str, StoreFactory] = {PAGED if name == FLOAT else f"{PAGED}-{name}": s for name, s in STORES.items()}
TYPES = (FLOAT, *CODES, *PAGES)


def named(spec: TargetSpec) -> str:
    """The type that a target asks for. Raises UsageError for one that there is not."""
    name = spec.options.get("cache", FLOAT)
    if name not in TYPES:
        raise UsageError(f"{spec.name}:cache={name} is not known; use {', '.join(TYPES[:-1])} or {TYPES[-1]}")
    return name


def alike(baseline: TargetSpec, candidate: TargetSpec, *, said: bool) -> TargetSpec:
    """The baseline on the candidate's type of cache. Raises UsageError where it was `said` and is on another."""
    one, other = named(baseline), named(candidate)
    if one == other:
        return baseline
    if said:
        told = f"the baseline's cache is {one}, the candidate's {other}"
        raise UsageError(
            f"the arms differ in more than speculation ({told}); write cache={other} for both, or attribute"
        )
    return TargetSpec(baseline.name, {**baseline.options, "cache": other})


def reach(requests: Iterable[Request]) -> int:
    """Most tokens that a row of these may commit."""
    return max((len(request.prompt) + request.max_tokens for request in requests), default=1)


def factory(name: str, new_cache: CacheFactory, tokens: int) -> CacheFactory:
    """Makes caches of the type, with room for `tokens` a row at least; what a planted `new_cache` holds is packed."""
    if name in CODES:
        return QuantisedCache.around(new_cache, CODES[name])
    if name in PAGES:
        if new_cache is not ContiguousCache:
            raise UsageError(f"the fault is planted in a contiguous cache; it cannot be shown with cache={name}")
        return _paged(PAGES[name], tokens)
    return new_cache


def store(name: str) -> StoreFactory:
    """What a pool of blocks keeps entries of the type in: a session is always paged."""
    return {**STORES, **PAGES}[name]


def contiguous(name: str) -> CacheFactory:
    """Makes caches whose rows are no blocks, and whose entries are those of the type."""
    codes = CODES.get(name.removeprefix(f"{PAGED}-"))
    return QuantisedCache.around(ContiguousCache, codes) if codes else ContiguousCache


def _paged(store: StoreFactory, tokens: int) -> CacheFactory:
    """Each cache has a pool of its own: blocks for all its rows, and one a row that a write may copy."""
    blocks = -(-tokens // BLOCK) + 1
    return lambda rows: PagedCache.factory(BlockPool(max(rows, 1) * blocks, BLOCK, store))(rows)
