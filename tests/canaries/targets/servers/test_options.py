"""The two commands, as a user starts them: what they print, and their exit status."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

import pytest

from draftgate import harness
from draftgate.canaries.targets.servers.templates import NAMES, template
from gates import write

PYTHON = sys.executable


@pytest.fixture
def draftgate(capsys, monkeypatch):
    """(status, out, err) of a command in this process, whose signals are as before afterwards."""
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP)}
    monkeypatch.setenv("COLUMNS", "200")

    def run(*words):
        status = harness.main([*map(str, words)])
        return status, *capsys.readouterr()

    yield run
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.parametrize("name", NAMES)
def test_init_prints_a_configuration(draftgate, name):
    assert draftgate("init", name) == (0, template(name), "")


def test_init_prints_one_document_for_a_program(draftgate):
    _, out, _ = draftgate("init", "vllm", "--json")

    assert json.loads(out) == {"configuration": template("vllm")}


def test_init_names_the_choice(draftgate):
    status, out, err = draftgate("init", "vlm")

    assert (status, out) == (2, "")
    assert "vlm" in err
    assert all(name in err for name in NAMES)


def test_doctor_prints_a_table_and_judges_nothing(draftgate, tmp_path):
    status, out, _ = draftgate("doctor", write(tmp_path / "gate.toml"))

    assert status == 0
    assert "teacher forcing" in out
    assert "baseline" in out
    assert not {"PASS", "HOLD"} & set(out.split())


def test_doctor_prints_one_document_for_a_program(draftgate, tmp_path):
    _, out, _ = draftgate("doctor", write(tmp_path / "gate.toml"), "--json")

    assert json.loads(out)[0]["feature"] == "model"


@pytest.mark.parametrize(
    ("argv", "status", "told"),
    [
        (["no-such-server"], 3, "'no-such-server' cannot be started"),
        ([PYTHON, "-c", "print('no such model'); raise SystemExit(1)"], 3, "ends: no such model"),
    ],
)
def test_doctor_says_in_one_line_what_it_cannot_do(draftgate, tmp_path, argv, status, told):
    done, out, err = draftgate("doctor", write(tmp_path / "gate.toml", argv=argv))

    assert (done, out) == (status, "")
    assert err.startswith("draftgate: http://127.0.0.1:")
    assert told in err
    assert err.count("\n") == 1


def test_doctor_refuses_a_file_that_is_not_there(draftgate, tmp_path):
    status, _, err = draftgate("doctor", tmp_path / "gate.toml")

    assert status == 2
    assert "draftgate init" in err


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_doctor_that_is_stopped_stops_what_it_launched(tmp_path, number):
    pid_file = tmp_path / "pid"
    waiting = f"import os, pathlib, time; pathlib.Path({str(pid_file)!r}).write_text(str(os.getpid())); time.sleep(60)"
    path = write(tmp_path / "gate.toml", argv=[PYTHON, "-c", waiting])
    paths = os.pathsep.join(path for path in sys.path if path)
    command = [PYTHON, "-m", "draftgate.harness", "doctor", str(path)]
    process = subprocess.Popen(command, env={**os.environ, "PYTHONPATH": paths}, stderr=subprocess.PIPE, text=True)
    end = time.monotonic() + 20.0
    while not (pid_file.exists() and pid_file.read_text()) and time.monotonic() < end:
        time.sleep(0.02)
    process.send_signal(number)
    _, err = process.communicate(timeout=20.0)

    assert (process.returncode, err) == (3, "draftgate: interrupted\n")
    with pytest.raises(ProcessLookupError):
        os.kill(int(pid_file.read_text()), 0)
