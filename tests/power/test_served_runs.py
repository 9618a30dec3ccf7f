"""`draftgate run --config`: servers are launched, judged and stopped; one that dies leaves a record that goes on."""

from __future__ import annotations

import json
import re
from contextlib import contextmanager
from pathlib import Path

import dialogues
import httpx
import pytest

from draftgate import harness
from draftgate.canaries import record
from draftgate.canaries.report.progress import Silent
from draftgate.suites import loader
from gates import write
from servers_loopback import DROP, Loopback, kind, reply


@pytest.fixture
def suite(tmp_path):
    """A small frozen suite that says what a server must pass."""
    folder = dialogues.folder(tmp_path)
    text = (folder / "suite.toml").read_text(encoding="utf-8")
    checks = '["exact_tokens", "noise", "configuration", "answered", "speed"]'
    required = f'[required.server]\ngreedy = {checks}\nsampled = ["pit"]\n'
    text = re.sub(r"\[required.reference\]\n.*\n.*\n", required, text)
    (folder / "suite.toml").write_text(text.replace("batch = 1\n", "batch = 4\n"), encoding="utf-8")
    loader.freeze(folder, unreleased=True)
    return str(folder)


CHAT = "[chat]\nprompts = 1\ntokens = 8\nbatch = 2\nlogprobs = 2\neffect = 0.9\ntold_effect = 0.9\n\n[required.server]"


@pytest.fixture
def chatty(suite):
    """The same with questions by chat."""
    settings = Path(suite) / "suite.toml"
    text = settings.read_text(encoding="utf-8").replace("[required.server]", CHAT)
    settings.write_text(text.replace('"answered"]', '"answered", "chat", "logprobs"]'), encoding="utf-8")
    loader.freeze(Path(suite), unreleased=True)
    return suite


@pytest.fixture
def run(suite, tmp_path, capsys):
    """Runs the suite on a configuration; gives status, output and errors."""

    def running(config, *words):
        status = harness.main(["run", suite, "--config", str(config), "--out", str(tmp_path / "run"), *words])
        return status, *capsys.readouterr()

    return running


def urls(config):
    return re.findall(r'url = "(.*)"', config.read_text(encoding="utf-8"))


def test_both_arms_are_launched_judged_and_stopped(run, tmp_path):
    config = write(tmp_path / "gate.toml")
    status, out, _ = run(config)

    summary = json.loads((tmp_path / "run" / "summary.json").read_text(encoding="utf-8"))
    assert (status, summary["verdict"]) == (1, "HOLD")  # one logprob a token is too few to judge by
    assert "vllm:k=4 against vllm" in out
    assert {path.name for path in (tmp_path / "run" / "logs").iterdir()} == {"baseline.log", "candidate.log"}
    for url in urls(config):
        with pytest.raises(httpx.ConnectError):
            httpx.get(f"{url}/health")


def test_a_server_that_dies_leaves_its_last_lines_and_a_record_that_goes_on(run, tmp_path):
    config = write(tmp_path / "gate.toml", deadly=("prompt_logprobs", "0", str(tmp_path / "died")))
    status, _, told = run(config)

    assert status == 3
    assert "signal SIGKILL" in told
    assert "ready to serve vllm" in told
    before = record.read(tmp_path / "run")
    assert before.interrupted
    assert set(before.observations) == {"configuration", "greedy-1/pairs", "greedy-1/replays/lost"}

    status, _, _ = run(config, "--resume")
    after = record.read(tmp_path / "run")
    assert (status, after.ended) == (1, True)
    assert before.observations.items() < after.observations.items()
    assert "was lost once, over greedy-1/replays" in (tmp_path / "run" / "summary.json").read_text(encoding="utf-8")


def test_a_server_that_dies_twice_of_the_same_is_held_for_it(run, tmp_path):
    config = write(tmp_path / "gate.toml", deadly=("prompt_logprobs",))

    assert [run(config)[0], run(config, "--resume")[0], run(config, "--resume")[0]] == [3, 3, 1]
    summary = json.loads((tmp_path / "run" / "summary.json").read_text(encoding="utf-8"))
    (answered,) = (f for cell in summary["cells"] for f in cell["findings"] if f["check"] == "answered")
    assert (answered["status"], answered["reason"]) == ("FAIL", "BASELINE_UNSTABLE")
    assert answered["summary"].startswith("baseline: lost over this a second time (http://127.0.0.1")


class Stop(Silent):
    """Ctrl-C before one observation is made."""

    def __init__(self, at):
        self.at = at

    def step(self, name):
        if name == self.at:
            raise KeyboardInterrupt


def launches(folder):
    return {path.stem: path.read_text(encoding="utf-8").count("ready") for path in (folder / "logs").iterdir()}


def speed(folder):
    summary = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
    return next(found for cell in summary["cells"] for found in cell["findings"] if found["check"] == "speed")


def test_a_run_in_turn_that_is_stopped_between_blocks_goes_on_there(run, tmp_path, monkeypatch):
    config, folder = write(tmp_path / "gate.toml", in_turn=True), tmp_path / "run"
    with monkeypatch.context() as stopping:
        stopping.setattr("draftgate.canaries.report.progress.progress", lambda: Stop("greedy-1/block/2"))
        status, _, told = run(config)
    before = record.read(folder)
    assert (3, True) == (status, before.interrupted)
    assert "--resume" in told
    assert ["configuration", "greedy-1/block/0", "greedy-1/block/1"] == list(before.observations)
    assert {"baseline": 1, "candidate": 2} == launches(folder)

    run(config, "--resume")
    after = record.read(folder)
    assert after.ended
    assert before.observations.items() < after.observations.items()
    assert "greedy-1/pairs" not in after.observations
    assert 4 == len({after.observations[f"greedy-1/block/{block}"]["launched"] for block in range(4)})
    assert {"baseline": 3, "candidate": 4} == launches(folder)  # on resuming B, A to be known, then B A
    assert "launched in turn, 2 launches each" in speed(folder)["summary"]
    with pytest.raises(httpx.ConnectError):
        httpx.get(urls(config)[0])


def test_a_server_that_dies_in_its_block_is_noted_and_held_when_it_dies_again(run, tmp_path):
    config = write(tmp_path / "gate.toml", deadly=("stream",), in_turn=True)
    status, _, told = run(config)

    assert status == 3
    assert "signal SIGKILL" in told
    assert ["configuration", "greedy-1/block/0/lost"] == list(record.read(tmp_path / "run").observations)
    assert 3 == run(config, "--resume")[0]
    assert {"broken"} == record.read(tmp_path / "run").observations["greedy-1/block/0"].keys()


def test_a_run_is_not_resumed_with_its_arms_launched_otherwise(run, tmp_path):
    config = write(tmp_path / "gate.toml")
    run(config)
    config.write_text('launching = "in turn"\n' + config.read_text(encoding="utf-8"), encoding="utf-8")
    status, _, told = run(config, "--resume")

    assert status == 2
    assert "was recorded with another launching: 'together', not 'in turn'" in told


def relaunching(config, often):
    """Both arms may be launched anew so often."""
    text = config.read_text(encoding="utf-8").replace("grace_s = 5\n", f"grace_s = 5\nrelaunches = {often}\n")
    config.write_text(text, encoding="utf-8")
    return config


def test_a_server_that_dies_is_launched_anew_as_often_as_is_allowed_and_held_for_it(run, tmp_path):
    config = write(tmp_path / "gate.toml", deadly=("prompt_logprobs",))

    assert 3 == run(relaunching(config, 1))[0]  # it dies again, and what follows takes another launch
    assert {"baseline": 2, "candidate": 2} == launches(tmp_path / "run")
    assert 1 == run(config, "--resume")[0]
    by_hand = record.read(tmp_path / "run").observations
    assert "BASELINE_UNSTABLE" in (tmp_path / "run" / "summary.json").read_text(encoding="utf-8")

    (tmp_path / "run").rename(tmp_path / "by hand")
    config.write_text(config.read_text(encoding="utf-8").replace("relaunches = 1", "relaunches = 2"), encoding="utf-8")
    assert 1 == run(config)[0]  # twice in one run
    assert {"baseline": 3, "candidate": 3} == launches(tmp_path / "run")
    assert by_hand.keys() == record.read(tmp_path / "run").observations.keys()
    assert {"broken"} == record.read(tmp_path / "run").observations["greedy-1/replays"].keys()
    assert "BASELINE_UNSTABLE" in (tmp_path / "run" / "summary.json").read_text(encoding="utf-8")


def test_a_server_that_dies_once_is_launched_anew_in_the_same_run_and_its_death_is_told(run, tmp_path):
    config = write(tmp_path / "gate.toml", deadly=("prompt_logprobs", "0", str(tmp_path / "died")))
    status, _, _ = run(relaunching(config, 1))
    after = record.read(tmp_path / "run")

    assert (status, after.ended) == (1, True)  # as one that was resumed by hand
    assert {"baseline": 2, "candidate": 2} == launches(tmp_path / "run")
    assert "was lost once, over greedy-1/replays" in (tmp_path / "run" / "summary.json").read_text(encoding="utf-8")


@contextmanager
def up(path, candidate):
    """A configuration of two servers that run already, the candidate's answering as given."""
    with Loopback(kind("vllm")) as plain, Loopback(candidate) as other:
        write(path)
        text = re.sub(r"\[\w+\.launch\]\n(argv|limit_s|grace_s).*\n(.*\n){2}", "", path.read_text(encoding="utf-8"))
        for url, place in zip(urls(path), (plain, other), strict=True):
            text = text.replace(url, place.url)
        path.write_text(text, encoding="utf-8")
        yield path


UNANSWERED = {
    "dropped": lambda: iter([DROP]),
    "a web page": lambda: reply("<html>sorry</html>", kind="text/html"),
    "an error": lambda: reply({"error": "oh"}, status=500),
}


@pytest.mark.parametrize("name", UNANSWERED)
def test_what_a_living_server_leaves_unanswered_twice_is_a_finding(run, tmp_path, name):
    engine = kind("vllm")

    def unanswering(asked):
        return UNANSWERED[name]() if asked.body.get("stream") else engine(asked)

    with up(tmp_path / "gate.toml", unanswering) as config:
        assert [run(config)[0], run(config, "--resume")[0], run(config, "--resume")[0]] == [3, 3, 1]
    summary = json.loads((tmp_path / "run" / "summary.json").read_text(encoding="utf-8"))
    (answered,) = (f for cell in summary["cells"] for f in cell["findings"] if f["check"] == "answered")
    assert (answered["status"], answered["reason"]) == ("FAIL", "CORRECTNESS")
    assert answered["summary"].startswith("candidate: lost over this a second time (http://127.0.0.1")


@pytest.mark.usefixtures("chatty")
@pytest.mark.parametrize("name", ["dropped", "a web page"])
def test_chat_that_is_left_unanswered_twice_is_a_finding(run, tmp_path, name):
    engine = kind("vllm")

    def unanswering(asked):
        return UNANSWERED[name]() if "top_logprobs" in asked.body else engine(asked)

    with up(tmp_path / "gate.toml", unanswering) as config:
        assert [run(config)[0], run(config, "--resume")[0], run(config, "--resume")[0]] == [3, 3, 1]
    broken = record.read(tmp_path / "run").observations["chat"]["broken"]
    assert "candidate" == broken["arm"]
    assert broken["told"].startswith("lost over this a second time (http://127.0.0.1")


def test_a_server_that_cannot_be_reached_is_no_finding_however_often(run, tmp_path):
    engine = kind("vllm")

    def limited(asked):
        return reply({"error": "later"}, status=429) if asked.body.get("stream") else engine(asked)

    with up(tmp_path / "gate.toml", limited) as config:
        assert [run(config)[0], *(run(config, "--resume")[0] for _ in range(3))] == [3] * 4
    assert ["configuration"] == list(record.read(tmp_path / "run").observations)


@pytest.mark.usefixtures("chatty")
def test_a_server_that_dies_of_chat_is_noted_and_the_record_goes_on(run, tmp_path):
    config = write(tmp_path / "gate.toml", deadly=("top_logprobs", "0", str(tmp_path / "died")))
    status, _, _ = run(config)
    before = record.read(tmp_path / "run").observations

    assert (status, run(config, "--resume")[0]) == (3, 1)
    after = record.read(tmp_path / "run").observations
    assert ("chat/lost" in before, "chat" in before, "chat" in after) == (True, False, True)
    assert "was lost once, over chat" in (tmp_path / "run" / "summary.json").read_text(encoding="utf-8")


def test_what_cannot_be_reached_writes_no_record(run, tmp_path):
    config = write(tmp_path / "gate.toml")
    told = config.read_text(encoding="utf-8")
    config.write_text(re.sub(r"\[\w+.launch\]\n(.+\n){3}", "", told), encoding="utf-8")
    status, _, told = run(config)

    assert status == 3
    assert re.search(r"http://127.0.0.1:\d+/\S+: no connection .*; start the server, or correct url", told)
    assert not (tmp_path / "run" / "record.jsonl").exists()


def test_a_suite_that_does_not_know_servers_is_refused(tmp_path, capsys):
    config = write(tmp_path / "gate.toml")
    words = ["run", str(dialogues.folder(tmp_path)), "--config", str(config), "--out", str(tmp_path / "run")]

    assert harness.main(words) == 2
    assert "the suite mine says what a reference must pass, not a server" in capsys.readouterr().err


def test_a_key_reaches_no_file_of_a_run(run, tmp_path, monkeypatch):
    monkeypatch.setenv("GATE_KEY", "sk-very-secret")
    _, out, told = run(write(tmp_path / "gate.toml", more='key_env = "GATE_KEY"'))

    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert {"record.jsonl", "summary.json", "baseline.log"} <= {path.name for path in files}
    assert [path for path in files if b"very-secret" in path.read_bytes()] == []
    assert "very-secret" not in out + told
