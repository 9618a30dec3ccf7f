"""Finds the callable that `module:name` or `file.py:name` names, as seen from the current folder."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

from ..errors import UsageError


def load(named: str) -> Any:
    """The callable, or a pair of them. Raises UsageError in one line where there is none."""
    place, colon, name = named.rpartition(":")
    if not (colon and place and name):
        raise UsageError(f"{named!r} names no callable; write module:name or file.py:name")
    module = _file(Path(place)) if place.endswith(".py") else _module(place)
    found: Any = module
    for part in name.split("."):
        found = getattr(found, part, None)
    if found is None:
        there = ", ".join(sorted(n for n, x in vars(module).items() if callable(x) and not n.startswith("_"))[:8])
        raise UsageError(f"{place} has no {name!r}; its callables: {there or 'none'}")
    if not (callable(found) or isinstance(found, tuple) or hasattr(found, "verify")):
        raise UsageError(f"{named} is a {type(found).__name__}, not a callable")
    return found


def _file(path: Path) -> ModuleType:
    if not path.is_file():
        raise UsageError(f"there is no file {path}; paths are seen from {Path.cwd().name}/, the current folder")
    spec = spec_from_file_location(path.stem, path)
    assert spec
    assert spec.loader
    module = module_from_spec(spec)
    sys.modules.setdefault(path.stem, module)
    sys.path.insert(0, str(path.resolve().parent))  # its neighbours, as when it is run by itself
    return _run(lambda: spec.loader.exec_module(module) or module, str(path))  # type: ignore[union-attr]


def _module(name: str) -> ModuleType:
    if "" not in sys.path and str(Path.cwd()) not in sys.path:
        sys.path.insert(0, str(Path.cwd()))
    return _run(lambda: import_module(name), name)


def _run(make: Callable[[], ModuleType], name: str) -> ModuleType:
    try:
        return make()
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        text = " ".join(str(error).split())
        raise UsageError(f"{name} cannot be imported: {type(error).__name__}: {text[:300]}") from error
