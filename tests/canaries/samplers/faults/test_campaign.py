import json
from collections import Counter

import pytest

from draftgate.canaries.errors import UsageError
from draftgate.canaries.report.progress import Silent
from draftgate.canaries.samplers.faults import campaign
from draftgate.canaries.samplers.faults.registry import FAULTS, INNOCENT

JOBS = [campaign.Job("accept-everything", 0, None), campaign.Job("writes-to-target", 0, None)]


def test_a_campaign_goes_on_where_its_file_ends(tmp_path):
    path = tmp_path / "campaign.jsonl"

    assert 1 == campaign.go_on(path, JOBS[:1], Silent())
    with path.open("a") as file:
        file.write('{"name": "cut')
    assert 1 == campaign.go_on(path, JOBS, Silent())
    assert 0 == campaign.go_on(path, JOBS, Silent())
    assert ["HOLD", "HOLD"] == [line["verdict"] for line in campaign.read(path)]


def test_another_file_is_refused(tmp_path):
    (tmp_path / "notes").write_text("not json\n")

    with pytest.raises(UsageError, match="no file of a campaign"):
        campaign.read(tmp_path / "notes")


def test_every_fault_is_repeated_and_honest_runs_are_spread():
    wanted = list(campaign.jobs(3, 2 * len(campaign.rota())))
    runs = Counter(job.name for job in wanted)

    assert 3 * len(FAULTS) + 2 * len(campaign.rota()) == len({job.key for job in wanted})
    assert {row.name: 2 if row.name in campaign.WALKS else 2 * campaign.TURNS for row in INNOCENT} == {
        row.name: runs[row.name] for row in INNOCENT
    }


def test_the_tally_counts_what_was_held():
    line = {"name": "argmax", "verdict": "HOLD", "checks": ["wager"], "seconds": 1.0, "draws": 9, "seed": 0}
    passed = line | {"verdict": "PASS", "checks": [], "draws": 0, "seed": 1}
    (row,) = campaign.tally([line, passed])

    assert (2, 1, "wager", 9) == (row["runs"], row["held"], row["by"], row["draws"])


def test_a_line_is_plain_json():
    assert "HOLD" == json.loads(json.dumps(campaign.run(JOBS[1])))["verdict"]


def test_what_could_not_be_judged_is_run_again_and_the_last_line_counts(tmp_path):
    path = tmp_path / "campaign.jsonl"
    failed = {
        "name": "writes-to-target",
        "seed": 0,
        "verdict": campaign.UNJUDGED,
        "checks": ["slow"],
        "seconds": 0.0,
        "draws": 0,
    }
    path.write_text(json.dumps(failed) + "\n")

    assert 1 == campaign.go_on(path, JOBS[1:], Silent())
    (row,) = campaign.tally(campaign.read(path))
    assert (1, 1) == (row["runs"], row["held"])


def test_a_sampler_that_cannot_be_judged_is_no_hold(monkeypatch):
    def broken(*_):
        raise campaign.SamplerFailed("it raised")

    monkeypatch.setattr(campaign, "judge", broken)

    assert "ERROR" == campaign.run(JOBS[0])["verdict"]
