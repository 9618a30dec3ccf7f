"""The wheel, built from a copy and installed elsewhere, is the whole program and nothing of the tests."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import zipfile

import pytest

from repository import ROOT, committed

pytestmark = pytest.mark.slow
SECONDS = 600  # far above what anything here takes: it ends what hangs


def done(*words, cwd, **environment):
    """What a finished process printed; fails the test where it failed."""
    kept = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    finished = subprocess.run(
        [sys.executable, *map(str, words)],
        capture_output=True,
        text=True,
        cwd=cwd,
        env={**kept, "OMP_NUM_THREADS": "1", **environment},
        timeout=SECONDS,
        check=False,
    )

    assert finished.returncode == 0, finished.stdout + finished.stderr
    return finished.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """A wheel from a copy of what is committed, in a folder of another name."""
    copy = tmp_path_factory.mktemp("a clone of any name")
    for path in committed():
        (copy / path.parent).mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / path, copy / path)
    out = tmp_path_factory.mktemp("wheel")
    done("-m", "build", "--wheel", "--no-isolation", "--outdir", out, copy, cwd=out)
    (built,) = out.glob("draftgate-*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    """A folder that holds the installed wheel and nothing else."""
    folder = tmp_path_factory.mktemp("installed")
    options = ("--quiet", "--disable-pip-version-check", "--no-deps", "--no-index", "--target", folder)
    done("-m", "pip", "install", *options, wheel, cwd=folder)
    return folder


@pytest.fixture
def draftgate(installed, tmp_path):
    """Runs the installed command from a folder that holds nothing."""
    return lambda *words: done(installed / "bin" / "draftgate", *words, cwd=tmp_path, PYTHONPATH=str(installed))


def test_the_wheel_holds_code_and_data_and_no_tests(wheel):
    names = set(zipfile.ZipFile(wheel).namelist())
    inside = {name.removeprefix("draftgate/") for name in names if name.startswith("draftgate/")}
    shipped = {
        path.as_posix()
        for path in committed()
        if path.parts[0] in ("engine", "stats", "suites", "canaries") and not path.name.startswith(".git")
    }

    assert inside == shipped | {"__init__.py", "__main__.py", "harness.py", "pytest_plugin.py", "testing.py"}
    assert {name.split("/")[0] for name in names} == {"draftgate", f"{wheel.name.split('-py3')[0]}.dist-info"}


def test_what_runs_is_what_was_installed(installed, tmp_path):
    found = done("-c", "import draftgate; print(draftgate.__file__)", cwd=tmp_path, PYTHONPATH=str(installed))

    assert found.strip() == str(installed / "draftgate" / "__init__.py")


@pytest.mark.parametrize("words", ["--help", "--version", "engines", "faults list", "suite list", "suite check core"])
def test_a_command_works_from_any_folder(draftgate, words):
    assert draftgate(*words.split()).strip()


def test_a_run_of_the_smoke_suite_passes_from_any_folder(draftgate):
    summary = json.loads(draftgate("run", "smoke", "--json"))

    assert summary["verdict"] == "PASS"
    assert summary["identity"]["suite"]["name"] == "smoke"
