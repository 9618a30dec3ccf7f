"""The checkout that the tests stand in: its folders, its modules, its committed files."""

from __future__ import annotations

import ast
import shutil
import subprocess
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("engine", "stats", "suites", "canaries")
SINGLE = ("__init__.py", "harness.py", "testing.py", "pytest_plugin.py")


def modules() -> list[Path]:
    """Every production module, relative to the root."""
    inside = [path for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py"))]
    return [path.relative_to(ROOT) for path in [*(ROOT / name for name in SINGLE), *inside]]


def scripts() -> list[Path]:
    """The scripts that write figures and tables into the pages."""
    return [path.relative_to(ROOT) for path in sorted((ROOT / "docs").glob("*.py"))]


def parsed(module: Path) -> ast.Module:
    """The syntax tree of a module named relative to the root."""
    return ast.parse((ROOT / module).read_text(encoding="utf-8"))


def script(name: str):
    """The module in `docs/NAME.py`."""
    spec = spec_from_file_location(f"docs_{name}", ROOT / "docs" / f"{name}.py")
    module = module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def committed() -> list[Path]:
    """What git holds, or would hold, of the checkout; without git, all files outside hidden and built folders."""
    git = shutil.which("git")
    if git and (ROOT / ".git").exists():
        command = [git, "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
        names = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\0")
        return [Path(name) for name in sorted(set(filter(None, names))) if (ROOT / name).is_file()]
    built = {"build", "dist", "runs", "results", "draftgate.egg-info", "__pycache__"}
    files = [path.relative_to(ROOT) for path in ROOT.rglob("*") if path.is_file()]
    return [p for p in files if not built & set(p.parts) and not any(part.startswith(".") for part in p.parts[:-1])]
