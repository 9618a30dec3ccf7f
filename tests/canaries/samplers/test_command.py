from types import SimpleNamespace

import pytest

from draftgate.canaries.errors import UsageError
from draftgate.canaries.samplers import command, minimal
from draftgate.canaries.samplers.interface import Adapted, Pair

ASKED = {
    "sampler": "draftgate.canaries.samplers.faults.innocent:token",
    "adapter": "batch",
    "rule": "unknown",
    "reference": None,
    "seed": 0,
    "effect": 0.05,
    "budget": None,
    "limit": None,
    "dtype": "float32",
    "device": "cpu",
}


def run(**given):
    return command.run(SimpleNamespace(**{**ASKED, **given}), quiet=False)


def test_the_first_line_states_effect_draws_and_seconds(capsys):
    summary = run(dtype="float64")
    first = capsys.readouterr().out.splitlines()[0]

    assert "finds a total variation of 0.05 with" in first
    assert "PASS" == summary["verdict"]
    assert command.text(summary).startswith("PASS  draftgate.canaries.samplers.faults.innocent:token")
    assert "ledger: 1e-06 a run over" in command.text(summary)
    assert "not looked at: K > 3, V > 4,096, more than 4,096 rows a call, rows of one call" in command.text(summary)
    assert "laws in float32 or half precision" in command.text(summary)
    assert "tokens a round (shown, not judged: no --rule): small/zipf " in command.text(summary)


def test_a_held_sampler_is_shown_with_its_smallest_laws_and_a_test():
    shown = command.text(run(sampler="draftgate.canaries.samplers.faults.rules:accept_everything"))

    assert shown.startswith("HOLD  ")
    assert "DISTRIBUTION (engine)\n  - exact (exact): off by a total variation of 1" in shown
    assert "smallest failing laws" in shown
    assert "K = 1, V = 2" in shown
    assert "def test_accept_everything_follows_the_target():" in shown


def test_no_laws_are_looked_for_where_rounds_share_chance(monkeypatch, tmp_path):
    (tmp_path / "mine.py").write_text(
        "from draftgate.canaries.samplers.faults.chance import repeating, with_uniforms\n"
        "mine = with_uniforms(repeating(1000))\n"
    )
    monkeypatch.setattr(minimal, "minimal", lambda *_: pytest.fail("a search"))
    summary = run(sampler=f"{tmp_path / 'mine.py'}:mine")

    assert ["independence"] == [held.check for held in summary["reasons"]]
    assert "rounds 1000 rows apart share no random numbers" in command.text(summary)


def test_a_device_that_is_not_there_is_refused():
    with pytest.raises(UsageError, match="there is no such device here"):
        run(device="cuda:7")


def test_what_is_adapted_already_stays_as_it_is():
    assert isinstance(command.adapted("draftgate.canaries.samplers.faults.drafts:naive_tree", "batch"), Adapted)
    assert isinstance(command.adapted("draftgate.canaries.samplers.faults.drafts:honest_pair", "batch"), Pair)
    assert isinstance(command.adapted(ASKED["sampler"], "logits"), Adapted)


def test_a_broken_contract_is_told_without_what_was_not_judged(tmp_path):
    file = tmp_path / "mine.py"
    file.write_text("def short(p, q, x, generator):\n    return x\n")
    lines = command.text(run(sampler=f"{file}:short")).splitlines()

    assert ["HOLD", "CORRECTNESS (engine)", "  - contract (contract)"] == [
        lines[0].split()[0],
        lines[1],
        lines[2].split(":")[0],
    ]
    assert 3 == len(lines)


def test_what_cannot_be_called_so_is_refused_by_name(tmp_path):
    file = tmp_path / "mine.py"
    file.write_text("async def later(p, q, x, generator):\n    return x\n")

    with pytest.raises(UsageError, match=r"mine.py:later: later is an async function"):
        run(sampler=f"{file}:later")
