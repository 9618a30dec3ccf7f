"""Imports go down only, and each library stands behind the folder that may know it."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest

from repository import modules, parsed

MAY_IMPORT = {
    "engine": {"engine"},
    "stats": {"stats"},
    "suites": {"suites"},
    "canaries": {"canaries", "engine", "stats", "suites", "__init__"},
    "harness": {"canaries", "engine", "stats", "suites", "__init__", "harness"},
    "__init__": {"canaries"},
    "testing": {"canaries", "stats"},
    "pytest_plugin": {"testing", "__init__"},
}
MAY_KNOW = {
    "engine": {"numpy", "torch", "transformers", "tokenizers", "safetensors", "jinja2"},
    "stats": {"numpy", "scipy", "hypothesis"},
    "suites": {"jsonschema", "referencing"},
    "canaries": {"numpy", "scipy", "torch", "jsonschema", "rich", "jax", "httpx"},
    "harness": set(),
    "__init__": set(),
    "testing": set(),
    "pytest_plugin": {"pytest"},
}


def part(module):
    return Path(module.parts[0]).stem


def imports(module):
    """(parts of this package, other libraries) that a module imports anywhere in it."""
    ours, others = set(), set()
    for node in ast.walk(parsed(module)):
        if isinstance(node, ast.Import):
            others |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            top, *rest = node.module.split(".")
            ours |= {rest[0] if rest else "__init__"} if top == "draftgate" else set()
            others |= {top} - {"draftgate"}
        elif isinstance(node, ast.ImportFrom):
            base = module.parent.parts[: len(module.parent.parts) - node.level + 1]
            named = (*base, *(node.module.split(".") if node.module else ()))
            ours |= {named[0]} if named else {alias.name for alias in node.names}
    return {"__init__" if name == "__version__" else name for name in ours}, others


@pytest.mark.parametrize("module", modules(), ids=str)
def test_a_module_imports_downwards_only(module):
    ours, _ = imports(module)

    assert ours - MAY_IMPORT[part(module)] == set()


@pytest.mark.parametrize("module", modules(), ids=str)
def test_a_module_knows_only_the_libraries_of_its_folder(module):
    _, others = imports(module)

    assert others - sys.stdlib_module_names - MAY_KNOW[part(module)] == set()


def test_one_file_of_the_engine_knows_transformers_beside_training():
    knowing = [module for module in modules() if "transformers" in imports(module)[1]]

    assert [m.as_posix() for m in knowing if "training" not in m.parts] == ["engine/models/pretrained.py"]


def test_an_import_upwards_would_be_seen(monkeypatch):
    source = "def f():\n    from ...canaries.gate import judge\n"
    monkeypatch.setattr(sys.modules[__name__], "parsed", lambda module: ast.parse(source))

    assert imports(Path("engine/models/table.py"))[0] == {"canaries"}
