"""What was measured is kept whole, read back or refused, and gives intervals that hold what made it."""

import json

import numpy as np
import pytest
from measured import TURNS, document, made

from draftgate.canaries import documents
from draftgate.canaries.errors import OutputUnwritable, UsageError
from draftgate.canaries.roofline import machine
from draftgate.canaries.roofline.device import Drafting
from draftgate.canaries.roofline.machine import Asked
from draftgate.engine.costs import measuring
from draftgate.engine.costs.measuring import Pass
from draftgate.engine.costs.speedup import break_even
from draftgate.engine.models.table import TableModel, peaked_table
from tolerances import ROUNDING

DRAFTING = Drafting(acceptance=0.8, k=4, longest=4, most=64)


class Sized(TableModel):
    """A table that says how large it is, as models with weights do."""

    def identity(self):
        return super().identity() | {"parameters": self.table.size, "dtype": "float32"}


@pytest.fixture
def small(monkeypatch):
    """Little is read and multiplied: how much is not what these tests are about."""
    monkeypatch.setattr(measuring, "BYTES", 1 << 20)
    monkeypatch.setattr(measuring, "SIDE", 32)


def test_all_is_measured_that_was_asked_and_read_back_as_it_was(tmp_path, small):
    models = {name: Sized(peaked_table(5, 4, np.random.default_rng(1))) for name in ("target", "draft")}

    found = documents.plain(machine.measure(models, Asked((1, 2), (2, 3), 4, 6)))
    machine.save(found, tmp_path / "costs.json")

    asked = {(one["model"], one["rows"], one["width"]) for one in found["passes"]}
    assert asked == {("target", rows, width) for rows in (1, 2) for width in (1, 2, 3)} | {
        ("draft", r, 1) for r in (1, 2)
    }
    assert {4} == {len(one["seconds"]) for one in found["passes"]}
    assert found == machine.read(tmp_path / "costs.json")


def test_intervals_hold_the_ratio_that_made_the_times():
    (row,) = (row for row in machine.table(made()) if (row["model"], row["rows"], row["width"]) == ("target", 16, 5))

    assert row["wider_low"] < 5 < row["wider_high"]
    assert row["ms_low"] < 5 < row["ms_high"]
    assert row["wider_high"] / row["wider_low"] < 1.2


def test_the_crossover_is_that_of_the_costs_and_its_interval_holds_it():
    exact = made(noise=0.0)
    truth = break_even(machine.costs(exact, np.arange(TURNS)), 0.8, 4, 64)

    assert {"batch": truth, "low": truth, "high": truth} == machine.crossover(exact, DRAFTING)
    found = machine.crossover(made(), DRAFTING)
    assert found["low"] <= truth <= found["high"]
    assert found["low"] < found["high"]


def test_costs_are_the_geometric_mean_of_their_turns():
    costs = machine.costs({Pass("target", 1, 1): np.array([1.0, 4.0, 100.0])}, [0, 1])

    assert 2.0 == pytest.approx(costs.step(1, 1), rel=ROUNDING)
    assert 0.0 == costs.draft(1, 3)


SPOILED = {
    "no passes": lambda d: d.update(passes=[]),
    "no target": lambda d: d["models"].pop("target"),
    "a pass of another model": lambda d: d["passes"][0].update(model="other"),
    "no time": lambda d: d["passes"][0].update(seconds=[]),
    "a time less": lambda d: d["passes"][0]["seconds"].pop(),
    "a time of nothing": lambda d: d["passes"][0]["seconds"].__setitem__(0, 0.0),
    "a time that is a word": lambda d: d["passes"][0]["seconds"].__setitem__(0, "x"),
    "no width": lambda d: d["passes"][0].pop("width"),
    "no bandwidth": lambda d: d.update(bandwidth=[]),
    "no machine": lambda d: d.pop("machine"),
    "another schema": lambda d: d.update(schema=2),
}


@pytest.mark.parametrize("spoil", SPOILED.values(), ids=SPOILED.keys())
def test_what_holds_no_times_is_refused_in_one_line(tmp_path, spoil):
    spoiled = document()
    spoil(spoiled)
    file = tmp_path / "costs.json"
    file.write_text(json.dumps(spoiled), encoding="utf-8")

    with pytest.raises(UsageError, match="holds no times of passes; name a file that roofline --save kept"):
        machine.read(file)


@pytest.mark.parametrize("text", ["", "{", "[]", "3", "null"])
def test_what_is_no_document_is_refused_in_one_line(tmp_path, text):
    file = tmp_path / "costs.json"
    file.write_text(text, encoding="utf-8")

    with pytest.raises(UsageError, match="name a file that roofline --save kept"):
        machine.read(file)


def test_a_place_that_takes_no_file_is_refused(tmp_path):
    for place in (tmp_path, tmp_path / "nowhere" / "costs.json"):
        with pytest.raises(OutputUnwritable, match="choose another --save"):
            machine.refuse_file(place)
    machine.refuse_file(tmp_path / "costs.json")
