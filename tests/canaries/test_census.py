"""The census of margins: taken from plain decoding, frozen with the suite, and nothing lost where that is refused."""

import json
import shutil
from dataclasses import replace

import pytest
from arms import context, embedded, plain

from draftgate.canaries import census
from draftgate.canaries.observations.context import GREEDY
from draftgate.canaries.targets import reference
from draftgate.suites import loader
from draftgate.suites.errors import SuiteMalformed


@pytest.fixture
def folder(tmp_path):
    """A copy of the smoke suite with three canaries, which answer in few tokens."""
    copy = tmp_path / "v1"
    shutil.copytree(loader.SHIPPED / "smoke" / "v1", copy)
    return copy


@pytest.fixture
def small(monkeypatch):
    """Two canaries, at most four tokens each."""
    taken = census.take

    def few(suite, arm):
        made = taken(replace(suite, canaries=suite.canaries[:2], cells=(replace(suite.cells[0], tokens=4),)), arm)
        return made | {"gaps": dict.fromkeys([c.id for c in suite.canaries], 1.0) | made["gaps"]}

    monkeypatch.setattr(census, "take", few)


def test_gaps_are_the_smallest_of_each_answer_by_teacher_forcing():
    suite = loader.load("smoke")
    suite = replace(suite, canaries=suite.canaries[:3], cells=(replace(suite.cells[0], tokens=12),))
    found, arm = census.take(suite, plain()), plain()
    for canary in suite.canaries:
        (request,) = context(suite=suite).requests([canary], tokens=12, sampling=GREEDY, label="x")
        (answer,) = arm.generate([request])
        (replay,) = arm.score([request], [answer.tokens], width=0, slack=0.0)

        assert found["gaps"][canary.id] == pytest.approx(min(replay.gap), abs=1e-4)
    assert sorted(found["gaps"].values()) == list(found["gaps"].values())
    assert found["quantiles"]["0"] == min(found["gaps"].values())
    assert (12, "float32") == (found["tokens"], found["dtype"])
    assert found["weights_sha256"] == embedded().identity()["weights_sha256"]


def test_a_suite_is_frozen_with_its_census(folder, small):
    digest = census.write(folder, plain(), unreleased=True)
    suite = loader.check(folder)

    assert digest == suite.digest
    assert suite.census.tokens == 4
    assert suite.census.gaps.keys() == {canary.id for canary in suite.canaries}


def test_a_frozen_suite_that_would_change_keeps_its_census(folder, small, capsys):
    before = {path.name: path.read_bytes() for path in folder.iterdir()}

    assert 2 == census.main([str(folder)])
    assert "is frozen with other content" in capsys.readouterr().err
    assert before == {path.name: path.read_bytes() for path in folder.iterdir()}


def test_a_folder_that_cannot_be_frozen_is_refused_in_one_line(tmp_path, capsys):
    assert 2 == census.main([str(tmp_path)])
    assert 1 == len(capsys.readouterr().err.strip().splitlines())


def test_a_suite_without_a_greedy_cell_has_no_margins_to_take():
    suite = loader.load("smoke")

    with pytest.raises(SuiteMalformed, match="no cell is greedy"):
        census.take(replace(suite, cells=tuple(cell for cell in suite.cells if not cell.greedy)), plain())


def test_the_shipped_census_is_of_the_embedded_target():
    digest = reference.load_target(reference.EMBEDDED / "target").identity()["weights_sha256"]
    for name in ("core", "smoke"):
        suite = loader.load(name)

        assert suite.census.weights_sha256 == digest
        assert suite.census.tokens == max(cell.tokens for cell in suite.cells if cell.greedy)
        assert json.dumps(dict(suite.census.gaps))
