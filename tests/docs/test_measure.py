"""Figures on the page are those of the runs, and of nothing else."""

from __future__ import annotations

from dataclasses import replace

import observed
import pytest

from cases import HEADER, write_run
from draftgate.canaries import record
from draftgate.canaries.errors import CannotJudge, RecordBroken
from repository import script


@pytest.fixture
def measure(tmp_path, monkeypatch):
    """The script, writing somewhere else."""
    module = script("measure")
    monkeypatch.setattr(module, "RESULTS", tmp_path / "results.md")
    return module


def written(measure, *folders):
    assert measure.main(list(map(str, folders))) == 0
    return measure.RESULTS.read_text(encoding="utf-8")


def test_an_honest_run_is_shown_with_its_interval_and_its_cells(measure, tmp_path):
    page = written(measure, write_run(tmp_path / "run"))

    assert "| core v1 | draft:k=4 | 0 | PASS |  | 1.72 [1.65, 1.79] | [0.98, 1.02] |" in page
    assert "| b8 | PASS | 1.72 [1.65, 1.79] | [0.98, 1.02] | 24 | 3.44 | 82%, 71% |" in page
    assert "Planted" not in page


def test_a_planted_run_is_shown_with_what_became_of_it_and_no_speed(measure, tmp_path):
    page = written(measure, write_run(tmp_path / "run", verdict="HOLD", header=HEADER | {"fault": "F43"}))

    assert "| HOLD CORRECTNESS | HOLD CORRECTNESS | yes | exact_tokens | json |" in page
    assert "1 of 1 faults were held for the reason expected; 0 of 0 look-alikes were held." in page
    assert "1.72" not in page


@pytest.mark.parametrize(
    ("fault", "verdict", "score"),
    [
        ("F43", "PASS", "0 of 1 faults were held for the reason expected; 0 of 0 look-alikes"),
        ("F06", "HOLD", "0 of 1 faults were held for the reason expected; 0 of 0 look-alikes"),
        ("N06", "HOLD", "0 of 0 faults were held for the reason expected; 1 of 1 look-alikes"),
        ("N06", "PASS", "0 of 0 faults were held for the reason expected; 0 of 1 look-alikes"),
    ],
    ids=["missed", "held for another reason", "false alarm", "innocent"],
)
def test_a_wrong_answer_to_a_plant_is_counted_as_one(measure, tmp_path, fault, verdict, score):
    page = written(measure, write_run(tmp_path / "run", verdict=verdict, header=HEADER | {"fault": fault}))

    assert score in page
    assert ("| NO |" in page) != ((fault, verdict) == ("N06", "PASS"))


def test_a_run_in_another_dtype_is_told_apart(measure, tmp_path):
    baseline = {"name": "plain", "model": {"dtype": "bfloat16"}}

    assert "| draft:k=4 in bfloat16 |" in written(
        measure, write_run(tmp_path / "run", header=HEADER | {"baseline": baseline})
    )


def test_a_held_run_without_a_plant_stays_among_the_honest_ones(measure, tmp_path):
    page = written(measure, write_run(tmp_path / "a"), write_run(tmp_path / "b", verdict="HOLD"))

    assert "| 0 | PASS |  |" in page
    assert "| 0 | HOLD | CORRECTNESS |" in page


def test_the_candidate_is_named_with_its_options(measure, tmp_path):
    candidate = {"name": "ngram:k=4", "options": {"k": 4, "longest": 5}}
    page = written(measure, write_run(tmp_path / "run", header=HEADER | {"candidate": candidate}))

    assert "| ngram:k=4,longest=5 |" in page


def test_what_a_run_was_made_on_stands_beside_its_figures(measure, tmp_path):
    page = written(measure, write_run(tmp_path / "run", header=HEADER | {"machine": {"cores": 2}}))

    assert "; cores 2." in page


def test_an_edited_record_is_not_quoted(measure, tmp_path):
    path = write_run(tmp_path / "run") / record.NAME
    path.write_bytes(path.read_bytes().replace(b'"seed": 0', b'"seed": 1'))

    with pytest.raises(RecordBroken):
        measure.main([str(path.parent)])
    assert not measure.RESULTS.exists()


def test_a_run_that_did_not_finish_is_not_quoted(measure, tmp_path):
    with pytest.raises(CannotJudge):
        measure.main([str(tmp_path)])


def test_without_runs_nothing_is_written(measure, capsys):
    assert measure.main([]) == 2
    assert "usage" in capsys.readouterr().err
    assert not measure.RESULTS.exists()


@pytest.fixture
def tasks(measure, monkeypatch):
    """The script, on runs that recorded a greedy cell of the small suite."""
    cell = replace(observed.GREEDY, name="greedy-1", batch=1)
    monkeypatch.setattr(
        measure.judge, "suite_of", lambda _: replace(observed.suite(), cells=(cell,), canaries=observed.CANARIES)
    )
    made = measure.record.read
    monkeypatch.setattr(
        measure.record,
        "read",
        lambda place: replace(
            (found := made(place)), observations=found.observations | {"greedy-1/pairs": observed.pairs(cell)}
        ),
    )
    return measure


def test_acceptance_and_speed_stand_by_task_with_a_plot_of_each(tasks, tmp_path):
    page = written(tasks, write_run(tmp_path / "a"), write_run(tmp_path / "b"))

    assert "### By task: draft:k=4 on core v1" in page
    assert "2 runs together of draft:k=4 on core v1" in page
    assert "| **structured** | - | 55% | 1.82 [-, -] |" in page
    assert "| **copying** | - | 55% | 1.82 [1.82, 1.82] |" in page
    for name in ("acceptance.svg", "speed.svg"):
        assert f"({name})" in page
        assert (tasks.RESULTS.with_name(name)).read_text(encoding="utf-8").startswith("<svg ")


def test_planted_runs_say_nothing_by_task(tasks, tmp_path):
    page = written(tasks, write_run(tmp_path / "a", verdict="HOLD", header=HEADER | {"fault": "F43"}))

    assert "By task" not in page
    assert not tasks.RESULTS.with_name("speed.svg").exists()


def test_the_block_of_another_script_stays(measure, tmp_path):
    block = "<!-- samplers: written by docs/samplers.py -->\n## Samplers\n<!-- end -->"
    measure.RESULTS.write_text(f"old\n\n{block}\n", encoding="utf-8")
    page = written(measure, write_run(tmp_path / "run"))

    assert page.endswith(f"\n{block}\n")
    assert "old" not in page
