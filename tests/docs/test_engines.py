"""The table says what servers showed, why something is missing, and where a server died."""

from __future__ import annotations

from dataclasses import replace

import overhead
import pytest

from draftgate.canaries.targets.servers.probe import QUESTIONS, Feature
from repository import ROOT, script

NAMES = ["model", *QUESTIONS]


@pytest.fixture
def engines(monkeypatch, tmp_path):
    """The script, writing somewhere else."""
    module = script("engines")
    monkeypatch.setattr(module, "PAGE", tmp_path / "engines.md")
    return module


def offered(*missing):
    return [Feature(name, name not in missing, f"http://127.0.0.1:8101/x: no {name} | here") for name in NAMES]


def test_every_feature_is_a_row_and_what_is_missing_has_its_reason(engines):
    text = engines.page({"A": offered(), "B": offered("seed")}, {"C": offered("chat")})
    rows = [line for line in text.splitlines() if line.startswith("|")]

    assert rows[0] == "| feature | A | B | C (documented) |"
    assert [row.split(" | ")[0] for row in rows[2:]] == [f"| {name}" for name in NAMES]
    assert "| seed | yes | no | yes |" in rows
    assert [line for line in text.splitlines() if line.startswith("- ")] == ["- B, seed: /x: no seed / here"]


def test_a_server_that_dies_of_a_question_is_not_asked_the_next(engines):
    deadly = overhead.loopback("vllm", 0.0)
    argv = [*deadly.launch.argv]
    argv[4] = "response_format"
    features = engines.asked(replace(deadly, launch=replace(deadly.launch, argv=tuple(argv))))
    died = NAMES.index("json_schema")

    assert [feature.name for feature in features] == NAMES
    assert features[died] == ("json_schema", False, "the server died of it")
    assert {engines.cell(feature) for feature in features[died + 1 :]} == {"-"}
    assert features[died - 1].shown != engines.NOT_ASKED


def test_every_column_is_an_arm_of_an_example(engines):
    same = {"smollm2"}  # llama.cpp with another model: it offers what the others do
    examples = {path.stem for path in (ROOT / "examples").glob("*.toml")}
    assert {example for example, _ in engines.REAL.values()} == examples - same
    assert {arm for _, arm in engines.REAL.values()} == {"baseline", "candidate"}


def test_without_the_servers_it_is_one_line(engines, monkeypatch, capsys):
    monkeypatch.delenv("DRAFTGATE_SERVERS", raising=False)

    assert engines.main([]) == 2
    assert capsys.readouterr().err.startswith("engines: ")
    assert not engines.PAGE.exists()
