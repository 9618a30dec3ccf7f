"""The plugin in a run of pytest of its own, and the examples as a user would run them."""

import os
import subprocess
import sys

from repository import ROOT, committed

TESTS = """
import pytest
from draftgate.canaries.samplers.faults import innocent, rules

@pytest.mark.lossless(effect=0.05)
def test_right(assert_lossless):
    assert assert_lossless(innocent.token)["effect"] == 0.05

def test_wrong(assert_lossless):
    with pytest.raises(AssertionError):
        assert_lossless(rules.accept_everything, minimal=False)
"""


def pytest_in(folder, *arguments):
    """What a user's own pytest says there; the plugin is named, whether it is installed or not."""
    package = os.pathsep.join(path for path in sys.path if path)
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "draftgate.pytest_plugin",
        "-p",
        "no:cacheprovider",
        *arguments,
    ]
    return subprocess.run(
        command,
        cwd=folder,
        env=os.environ | {"PYTHONPATH": package, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True,
        text=True,
        check=False,
    )


def test_fixture_and_marker_work_where_markers_are_strict(tmp_path):
    (tmp_path / "test_mine.py").write_text(TESTS)
    done = pytest_in(tmp_path, "--strict-markers")

    assert "2 passed" in done.stdout, done.stdout + done.stderr


def test_loading_the_plugin_imports_nothing_heavy():
    code = "import sys, draftgate.pytest_plugin; print({'torch', 'scipy', 'numpy'} & set(sys.modules))"
    package = os.pathsep.join(path for path in sys.path if path)
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"PYTHONPATH": package},
        capture_output=True,
        text=True,
        check=True,
    )

    assert "set()" == done.stdout.strip()


def test_the_examples_pass(tmp_path):
    for path in committed():
        if path.parts[0] == "examples":
            (tmp_path / path.name).write_text((ROOT / path).read_text(encoding="utf-8"))
    done = pytest_in(tmp_path)

    assert done.returncode == 0, done.stdout + done.stderr
    assert "passed" in done.stdout
