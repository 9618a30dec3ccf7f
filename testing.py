"""For your own tests of samplers.

```python
from draftgate.testing import assert_lossless


def test_my_sampler():
    assert_lossless(my_sampler)
```

`assert_lossless` runs what `draftgate sampler` runs. Functions with another signature are made samplers by an adapter
of this module: `per_sequence`, `numpy_per_sequence`, `numpy_batch`, `logits`, `greedy`, `chosen`, `vllm`, `jax`,
`tree`, `engine`; a drafter with its sampler is a `Pair`. Nothing heavy is imported before one of these is used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence
    from fractions import Fraction

__all__ = ["assert_follows", "assert_invariants", "assert_lossless"]  # and the names of _HOMES, fetched when used

_ADAPTERS = "draftgate.canaries.samplers.adapters"
_HOMES = {
    **dict.fromkeys(("per_sequence", "numpy_per_sequence", "numpy_batch"), f"{_ADAPTERS}.sequences"),
    **dict.fromkeys(("logits", "greedy", "chosen", "vllm", "jax"), f"{_ADAPTERS}.batches"),
    **dict.fromkeys(("tree", "engine"), f"{_ADAPTERS}.trees"),
    "Pair": "draftgate.canaries.samplers.interface",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'draftgate.testing' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def assert_lossless(sampler: Any, **options: Any) -> dict[str, Any]:
    """The summary of a PASS; AssertionError with the reasons, and the smallest failing laws, for anything else.

    `sampler` has the signature of `draftgate.canaries.samplers.interface.Sampler`, or comes from one of its adapters.
    Options are those of `draftgate sampler`: rule, effect, budget, seed, reference, limit; `minimal=False` skips the
    search for the smallest failing laws.
    """
    from draftgate.canaries.report.progress import Silent
    from draftgate.canaries.samplers import command, run
    from draftgate.canaries.samplers.adapters import registry

    show = options.pop("minimal", True)
    name = getattr(sampler, "__name__", type(sampler).__name__)
    summary = command.examined(
        registry.adapt(sampler), run.Options(name=name, **options), Silent(), lambda _: None, minimal=show
    )
    if summary["verdict"] != "PASS":
        raise AssertionError(command.text(summary))
    return summary


def assert_follows(
    sampler: Any,
    *,
    target: Sequence[Sequence[str | float | Fraction]],
    draft: Sequence[Sequence[str | float | Fraction]],
    seed: int = 0,
) -> None:
    """AssertionError unless rounds on these laws follow the target: a regression test for one example.

    `target` has K + 1 laws and `draft` K, as numbers or text such as "1/3". A wager decides: honest samplers fail it
    once in a billion, and faults of a total variation above 0.05 do not get past it. Where the sampler can be
    enumerated, no fault does.
    """
    from draftgate.canaries.samplers import exact, minimal
    from draftgate.canaries.samplers.proofs.custom import chain_case

    laws = minimal.chain_of(target, draft)
    wealth, found = minimal.refuted(sampler, laws, minimal.settings_for(seed, 4096, 10.0)(), rounds=65536)
    if wealth >= minimal.ODDS:
        raise AssertionError(found.text())
    if off := exact.off_by(sampler, chain_case(laws.target, laws.draft)):
        raise AssertionError(f"the law of {len(target)} tokens is off by a total variation of {off} on these laws")


def assert_invariants(sampler: Any, *, seed: int = 0, examples: int = 20) -> None:
    """AssertionError, with the smallest laws that were found, where an invariant of lossless samplers does not hold.

    Tokens may be renamed, drafts may be empty (K = 0), and a row alone has the law that it has in a batch. The contract
    (shapes, ids, inputs left alone) is held to on the way.
    """
    from draftgate.canaries.samplers import minimal, properties
    from draftgate.stats.strategies import smallest

    def settings(batch: int) -> Any:
        return minimal.settings_for(seed, batch, 10.0)()

    for name, invariant in properties.INVARIANTS.items():
        found = smallest(
            lambda laws, holds=invariant: holds(sampler, laws, settings)[0] >= minimal.ODDS,  # type: ignore[misc]
            most_examples=examples,
        )
        if found is not None:
            raise AssertionError(f"{name}: {invariant(sampler, found, settings)[1].text()}")
