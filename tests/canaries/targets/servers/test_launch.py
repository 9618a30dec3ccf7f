"""A launched server is ready when entered, gone when left, and tells its last words when it dies."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

import servers_loopback
from draftgate.canaries.errors import OutputUnwritable
from draftgate.canaries.targets.servers.errors import Died, DiedOf, Dropped, Hung, PortTaken, Unreachable
from draftgate.canaries.targets.servers.launch import _TELLING, Launch, Launched
from draftgate.canaries.targets.servers.secrets import REDACTED, Secret

SCRIPT = servers_loopback.__file__
DEAF = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); "
CHILD = f"""
import subprocess, sys
deaf = "{DEAF} print('deaf', flush=True); time.sleep(60)"
process = subprocess.Popen([sys.executable, "-c", deaf])
print("child", process.pid, flush=True)
"""


@pytest.fixture
def port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


@pytest.fixture
def launched(port, tmp_path):
    """Makes a `Launched` of a command, with limits that are far above what it takes."""

    def make(*argv, **changes):
        secret = changes.pop("secret", None)
        launch = Launch(argv=argv, **{"limit_s": 20.0, "grace_s": 5.0, "ready": "/health"} | changes)
        return Launched(launch, f"http://127.0.0.1:{port}", tmp_path / "log", secret)

    return make


def python(text):
    return sys.executable, "-c", text


def gone(pid):
    """Whether a process has ended, within a second; one that nobody has waited for yet has ended too."""
    end = time.monotonic() + 5.0
    while time.monotonic() < end:
        try:
            state = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()[0]
        except OSError:
            return True
        if state == "Z":
            return True
        time.sleep(0.02)
    return False


def child(log):
    return int(log.read_text(encoding="utf-8").split("child ")[1].split()[0])


def test_a_server_is_ready_inside_and_gone_outside(launched, port, tmp_path):
    with launched(sys.executable, SCRIPT, "vllm", str(port)) as running:
        running.check()
        pid = running._process.pid
        assert os.getpgid(pid) == pid != os.getpgid(0)

    assert gone(pid)
    assert (tmp_path / "log").read_text(encoding="utf-8") == "ready to serve vllm\n"


def interrupted_at(word, log, monkeypatch):
    """Ctrl-C as soon as a server that is starting has printed `word`."""

    def sleep(seconds):
        if log.exists() and word in log.read_text(encoding="utf-8"):
            monkeypatch.undo()
            raise KeyboardInterrupt

    monkeypatch.setattr("draftgate.canaries.targets.servers.launch.time.sleep", sleep)


@pytest.mark.parametrize("leader", [DEAF + "time.sleep(60)", "import time; time.sleep(60)"], ids=["deaf", "willing"])
def test_what_it_started_ends_with_it_also_where_it_is_deaf_to_the_signal(launched, tmp_path, monkeypatch, leader):
    log = tmp_path / "log"
    interrupted_at("deaf", log, monkeypatch)
    with pytest.raises(KeyboardInterrupt):
        launched(*python(CHILD + leader), grace_s=0.3).__enter__()

    assert gone(child(log))


def test_a_server_that_is_not_ready_in_time_ends_with_its_last_words(launched, tmp_path):
    with pytest.raises(Hung, match=r"not ready within 1 s; raise limit_s; its log .* ends: "):
        launched(*python("import time; time.sleep(60)"), limit_s=1.0, grace_s=5.0).__enter__()


def test_an_interruption_while_a_process_is_made_leaves_no_process(launched, monkeypatch):
    made, popen = [], subprocess.Popen

    def interrupting(*words, **options):
        made.append(popen(*words, **options))
        signal.raise_signal(signal.SIGINT)
        return made[0]

    monkeypatch.setattr(subprocess, "Popen", interrupting)
    with pytest.raises(KeyboardInterrupt):
        launched(*python("import time; time.sleep(60)")).__enter__()

    assert gone(made[0].pid)


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError])
def test_an_interruption_or_an_error_ends_the_group(launched, port, error):
    running = launched(sys.executable, SCRIPT, "vllm", str(port))
    with pytest.raises(error), running:
        raise error
    assert gone(running._process.pid)


def test_a_server_that_dies_while_starting_tells_its_last_words(launched, tmp_path):
    dying = python(CHILD + "print('out of memory'); sys.exit(3)")
    with pytest.raises(Died, match=r"exit status 3; its log .* ends: child \d+ \| out of memory") as caught:
        launched(*dying).__enter__()

    assert caught.value.exit_status == 3
    assert gone(child(tmp_path / "log"))


def test_a_server_that_dies_later_is_told_with_what_was_seen(launched, port):
    with launched(sys.executable, SCRIPT, "vllm", str(port)) as running:
        os.kill(running._process.pid, signal.SIGKILL)
        with pytest.raises(Died, match=r"signal SIGKILL \(seen as: .*bytes.*\).*ready to serve"):
            running.check(Dropped("http://a", "ended after 3 bytes", "look"))


def test_a_server_that_died_of_a_question_is_a_finding(launched, port):
    with launched(sys.executable, SCRIPT, "vllm", str(port)) as running:
        os.kill(running._process.pid, signal.SIGKILL)
        with pytest.raises(DiedOf, match="logprobs") as caught:
            running.check(DiedOf("http://a", "the server died of 'logprobs'", "report it"))
    assert caught.value.finding


def test_a_port_that_is_taken_is_refused_before_anything_is_started(launched, port, tmp_path):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", port))
        taken.listen()
        with pytest.raises(PortTaken, match="leave out the launch table to use it"):
            launched(*python("raise SystemExit(1)")).__enter__()
    assert not (tmp_path / "log").exists()


def test_a_program_that_is_not_there_is_named(launched):
    with pytest.raises(Unreachable, match=r"'no-such-server' cannot be started .*; correct argv"):
        launched("no-such-server").__enter__()


def test_a_log_that_cannot_be_written_is_named(launched, tmp_path):
    (tmp_path / "log").mkdir()
    with pytest.raises(OutputUnwritable, match="cannot be written"):
        launched(*python("pass")).__enter__()


def test_a_key_in_its_output_reaches_no_log_and_no_message(launched, tmp_path, monkeypatch):
    monkeypatch.setenv("A_KEY", "sk-very-secret")
    printing = python("import os; print('key', os.environ['A_KEY']); raise SystemExit(1)")
    with pytest.raises(Died, match=r"ends: key \$A_KEY") as caught:
        launched(*printing, secret=Secret.read("A_KEY")).__enter__()

    assert "sk-very-secret" not in str(caught.value) + (tmp_path / "log").read_text(encoding="utf-8")


def test_an_older_log_is_kept(launched, tmp_path):
    (tmp_path / "log").write_text("older\n", encoding="utf-8")
    with pytest.raises(Died):
        launched(*python("print('newer')")).__enter__()

    assert (tmp_path / "log").read_text(encoding="utf-8") == "older\nnewer\n"


def test_a_secret_that_it_prints_with_its_command_reaches_no_log(launched, tmp_path, monkeypatch):
    monkeypatch.setenv("OTHER_TOKEN", "hub-very-secret")
    printing = python(
        "print('run', '--api-key', 'sk-' + 'very-secret', 'as hub-' + 'very-secret'); raise SystemExit(1)"
    )
    with pytest.raises(Died, match=r"ends: run --api-key \(not recorded\) as \$OTHER_TOKEN") as caught:
        launched(*printing).__enter__()

    assert "very-secret" not in str(caught.value) + (tmp_path / "log").read_text(encoding="utf-8")


def test_an_identity_holds_what_was_launched_and_what_it_inherits_that_it_may_read(monkeypatch):
    for name in [name for name in os.environ if name.startswith(_TELLING)]:
        monkeypatch.delenv(name)
    inherited = {"SGLANG_SIMULATE_ACC_LEN": "3", "VLLM_API_KEY": "sk-a", "UNRELATED": "x"}
    for name, value in inherited.items():
        monkeypatch.setenv(name, value)
    told = Launch(argv=("a", "b"), limit_s=1.0, grace_s=1.0, ready="/", env={"C": "d"}).to_json()

    assert told["argv"] == ["a", "b"]
    assert told["env"] == {"C": "d", "SGLANG_SIMULATE_ACC_LEN": "3", "VLLM_API_KEY": REDACTED}
