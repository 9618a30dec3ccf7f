"""A campaign plants everything on every seed, keeps what is finished, and shows only runs that came to a verdict."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from cases import write_run
from draftgate.canaries.faults.registry import PLANTS
from repository import script


@pytest.fixture
def campaign(monkeypatch):
    """The script; no run is really made, and the page is only told which runs it would show."""
    module = script("campaign")
    module.shown, module.commands, module.status = [], [], 1

    def run(command, **_):
        module.commands.append(command)
        return SimpleNamespace(returncode=module.status, stdout="said", stderr="")

    monkeypatch.setattr(module, "subprocess", SimpleNamespace(run=run))
    monkeypatch.setattr(module, "write", lambda folders: module.shown.extend(folders) or 0)
    return module


def test_every_plant_is_run_on_every_seed_and_shown(campaign, tmp_path):
    assert campaign.main([str(tmp_path), "--suite", "smoke", "--seeds", "4", "5"]) == 0

    planted = [(c[c.index("--fault") + 1], c[c.index("--seed") + 1]) for c in campaign.commands if "--fault" in c]
    assert {(plant.code, seed) for plant in PLANTS for seed in "45"} == set(planted)
    suites = {
        command[command.index("--fault") + 1]: command[3] for command in campaign.commands if "--fault" in command
    }
    assert {plant.code: plant.suite or "smoke" for plant in PLANTS} == suites
    assert len(campaign.commands) == len(set(campaign.shown)) == len(campaign.shown)


def test_honest_runs_and_coarse_numbers_are_among_them(campaign, tmp_path):
    names = {run.folder.name for run in campaign.planned(tmp_path, "core", [0])}

    assert {"honest-0", "honest-bfloat16-0", "F43-bfloat16-0"} <= names


def test_a_finished_run_is_kept_and_a_begun_one_resumed(campaign, tmp_path):
    write_run(tmp_path / "F06-0")
    write_run(tmp_path / "F43-0")
    (tmp_path / "F43-0" / "summary.json").unlink()

    campaign.main([str(tmp_path), "--seeds", "0"])

    named = {command[command.index("--out") + 1].rpartition("/")[2]: command for command in campaign.commands}
    assert "F06-0" not in named
    assert "--resume" in named["F43-0"]
    assert "--resume" not in named["N06-0"]
    assert tmp_path / "F06-0" in campaign.shown


def test_a_run_without_a_verdict_is_told_and_nothing_is_written(campaign, tmp_path, capsys):
    campaign.status = 3

    assert campaign.main([str(tmp_path), "--seeds", "0"]) == 3
    assert "no verdict in" in capsys.readouterr().err
    assert campaign.shown == []
    assert (tmp_path / "N06-0" / "log.txt").read_text(encoding="utf-8") == "said"


def test_the_page_is_written_by_the_script_that_reads_runs():
    """Without runs that script only says how it is used."""
    assert script("campaign").write([]) == 2
