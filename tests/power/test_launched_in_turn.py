"""`launching = "in turn"`: servers that cannot be up side by side are judged as others are, one at a time.

Both arms have one port: a second server that was up at once would end the run. The launched processes only hand on what
comes; the engines that answer live in this one.
"""

from __future__ import annotations

import json
import re
import shutil
import sys
from contextlib import ExitStack

import pytest
import relay
from arms import draft, plain
from plants import KeepsFirstUnseen, strategies
from served_engine import EngineKind

from draftgate import harness
from draftgate.canaries import record
from draftgate.canaries.targets.strategies import Strategies
from draftgate.suites import loader
from gates import write
from servers_loopback import Loopback

SMALL = {  # a suite of seconds
    "prompts = 14 ": "prompts = 7 ",
    "tokens = 72 ": "tokens = 24 ",
    "top_p = 0.9 ": "top_k = 20 ",
    "repeats = 2 ": "repeats = 1 ",
    "token_fault_rate = 0.06 ": "token_fault_rate = 0.1 ",
    "tokens = 48 ": "tokens = 24 ",
    "pit_effect = 0.22 ": "pit_effect = 0.45 ",
    "\nprompts = 2 ": "\nprompts = 1 ",
    "\ntokens = 4 ": "\ntokens = 2 ",
    "\neffect = 0.25 ": "\neffect = 0.5 ",
    "shared_effect = 0.7 ": "shared_effect = 0.9 ",
    "proposed = 4 ": "proposed = 2 ",
    "accepted = 2 ": "accepted = 1 ",
}
REQUIRED = """[required.server]
greedy = ["exact_tokens", "noise", "exercise", "algebra", "configuration", "answered", "speed"]
sampled = ["noise", "pit", "support", "samples", "exercise", "algebra", "configuration", "answered", "speed"]
"""


def frozen(folder, cells):
    """The first cells of smoke, smaller, without what a text must be."""
    shutil.copytree(loader.SHIPPED / "smoke" / "v1", folder)
    settings = folder / "suite.toml"
    text = settings.read_text(encoding="utf-8")
    for old, new in SMALL.items():
        text = text.replace(old, new)
    text = re.sub(r"\[required.server\]\n.*?\n\n", REQUIRED + "\n", text, flags=re.DOTALL)
    settings.write_text("[[cells]]".join(text.split("[[cells]]")[: cells + 1]), encoding="utf-8")
    loader.freeze(folder, unreleased=True)
    return str(folder)


@pytest.fixture
def run(tmp_path, capsys):
    """Judges a candidate in the first cells; gives the status and what was printed."""

    def running(candidate, *, cells):
        engines, config = {"baseline": plain(), "candidate": candidate}, tmp_path / "gate.toml"
        with ExitStack() as stack:
            at = {arm: stack.enter_context(Loopback(EngineKind(engine))).port for arm, engine in engines.items()}
            write(
                config, argv=lambda arm, port: [sys.executable, relay.__file__, str(port), str(at[arm])], in_turn=True
            )
            config.write_text(config.read_text().replace("deadline_s = 20", "deadline_s = 120"), encoding="utf-8")
            suite = frozen(tmp_path / "mine" / "v1", cells)
            status = harness.main(["run", suite, "--config", str(config), "--out", str(tmp_path / "run")])
        return status, " ".join(capsys.readouterr().out.split())

    return running


def findings(folder):
    summary = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
    return {(cell["name"], found["check"]): found for cell in summary["cells"] for found in cell["findings"]}


@pytest.mark.xfail(reason="known: `samples` finds no draws to judge in this small suite, so an honest run is held")
@pytest.mark.slow
def test_an_honest_server_passes_and_its_speed_names_the_launches(run, tmp_path):
    status, told = run(draft(Strategies()), cells=2)

    found, seen = findings(tmp_path / "run"), record.read(tmp_path / "run")
    assert {key: one["summary"] for key, one in found.items() if one["status"] != "PASS"} == {}
    assert status == 0
    assert found["greedy-1", "speed"]["summary"].endswith("over 7 pairs, launched in turn, 2 launches each")
    assert "7 pairs, cell greedy-1, launched in turn, 2 launches each" in told
    blocks = [f"{cell}/block/{block}" for block in range(4) for cell in ("greedy-1", "topp-8")]
    rest = ["greedy-1/replays", "topp-8/replays", "topp-8/samples", "chat"]
    assert ["configuration", *blocks, *rest] == list(seen.observations)
    logs = {path.stem: path.read_text(encoding="utf-8") for path in (tmp_path / "run" / "logs").iterdir()}
    assert {"baseline": 5, "candidate": 6} == {arm: log.count("ready") for arm, log in logs.items()}
    # that is B to be known, A B B A, B A for the sampled answers, and B A B A for chat


def test_a_draft_that_is_kept_unseen_is_held(run, tmp_path):
    status, _ = run(draft(strategies(verifier=KeepsFirstUnseen())).variant("uniform"), cells=1)

    assert (1, "CORRECTNESS") == (status, findings(tmp_path / "run")["greedy-1", "exact_tokens"]["reason"])
