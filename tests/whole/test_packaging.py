"""What is declared is what there is: packages, data, versions."""

from __future__ import annotations

import ast
import re
import sys
import tomllib

import pytest

from repository import PACKAGES, ROOT, committed, modules, parsed

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
IF_THERE = {"jax", "pytest"}  # imported where a user has them: an adapter, and the plugin that pytest itself loads
PLACES = re.compile(r"/(work|root|home|Users)/[a-z]|localhost:[0-9]|file:[/]{3}|index-url[ ](?!URL)")
TEXTS = {".py", ".md", ".toml", ".txt", ".json", ".jsonl", ".jinja", ""}
PINNED = re.compile(r"[A-Za-z0-9._-]+==[0-9][A-Za-z0-9.]*")


def name_of(requirement):
    return re.match(r"[A-Za-z0-9._-]+", requirement)[0].lower().replace("_", "-")


def test_every_folder_of_the_package_is_in_the_list_of_packages():
    folders = {module.parent for module in modules() if module.parts[0] in PACKAGES}
    expected = {"draftgate", *(".".join(("draftgate", *folder.parts)) for folder in folders)}

    assert set(PROJECT["tool"]["setuptools"]["packages"]) == expected


def test_every_folder_of_the_package_is_a_regular_package():
    assert [str(module.parent) for module in modules() if not (ROOT / module.parent / "__init__.py").exists()] == []


def test_every_data_file_of_the_package_is_declared():
    data = PROJECT["tool"]["setuptools"]["package-data"]
    declared = {
        path.relative_to(ROOT)
        for package, patterns in data.items()
        for pattern in patterns
        for path in ROOT.joinpath(*package.split(".")[1:]).glob(pattern)
    }
    there = {path for path in committed() if path.parts[0] in PACKAGES and path.suffix != ".py"}

    assert there - declared == {path for path in there if path.name.startswith(".git")}


def test_what_is_imported_is_required_and_nothing_else_is():
    names = {name for module in modules() for node in ast.walk(parsed(module)) for name in top_names(node)}
    imported = names - sys.stdlib_module_names - {"draftgate"} - IF_THERE
    required = {name_of(requirement) for requirement in PROJECT["project"]["dependencies"]}

    assert required == imported


def top_names(node):
    if isinstance(node, ast.Import):
        return {alias.name.split(".")[0] for alias in node.names}
    if isinstance(node, ast.ImportFrom) and node.level == 0:
        return {node.module.split(".")[0]}
    return set()


def pins():
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def test_constraints_are_exact_and_name_each_package_once():
    assert [line for line in pins() if not PINNED.fullmatch(line)] == []
    assert len({name_of(line) for line in pins()}) == len(pins())


@pytest.mark.parametrize("group", ["run", "test"])
def test_everything_that_is_required_has_a_tested_version(group):
    project = PROJECT["project"]
    wanted = project["dependencies"] if group == "run" else project["optional-dependencies"]["test"]

    assert {name_of(r) for r in wanted} - {name_of(line) for line in pins()} == set()


def test_no_committed_file_names_a_place_on_somebodys_machine():
    found = [
        f"{path}:{number}"
        for path in committed()
        if path.suffix in TEXTS
        for number, line in enumerate((ROOT / path).read_text(encoding="utf-8").splitlines(), 1)
        if PLACES.search(line)
    ]

    assert found == []
