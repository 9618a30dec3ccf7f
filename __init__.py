"""draftgate: a correctness gate for speculative decoding. PASS or HOLD, from the tokens that were timed.

Importing this imports nothing else; the names below are fetched when first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from draftgate.canaries.contracts import Finding, Reason, Status, Verdict

    __version__: str

__all__ = ["Finding", "Reason", "Status", "Verdict", "__version__"]

_HOMES = dict.fromkeys(["Finding", "Reason", "Status", "Verdict"], "draftgate.canaries.contracts")


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return _version()
    if name not in _HOMES:
        raise AttributeError(f"module 'draftgate' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def _version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("draftgate")
    except PackageNotFoundError:
        return "0+source"
