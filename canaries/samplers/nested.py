"""Tensors among the arguments of a call, however deep they lie."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch import Tensor


def tensors(nested: Any) -> list[Tensor]:
    """The tensors among arguments, however deep they lie."""
    if isinstance(nested, Tensor):
        return [nested]
    if isinstance(nested, dict):
        nested = nested.values()
    elif not isinstance(nested, (tuple, list)):
        return []
    return [x for part in nested for x in tensors(part)]


def mapped(nested: Any, change: Callable[[Tensor], Tensor]) -> Any:
    """The same arguments, each tensor changed."""
    if isinstance(nested, Tensor):
        return change(nested)
    return type(nested)(mapped(part, change) for part in nested) if isinstance(nested, (tuple, list)) else nested
