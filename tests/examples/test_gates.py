"""The examples' configurations are read, and their arms differ in speculation and port alone."""

from __future__ import annotations

import pytest

from draftgate.canaries.errors import UsageError
from draftgate.canaries.targets.servers import config
from repository import ROOT

GATES = sorted((ROOT / "examples").glob("*.toml"))


@pytest.fixture(params=GATES, ids=lambda path: path.stem)
def gate(request, monkeypatch):
    monkeypatch.setenv("DRAFTGATE_SERVERS", "/opt/servers")
    monkeypatch.setenv("SMOLLM2_TYPE", "BF16")
    return request.param


def port(arm):
    return arm.connection.endpoints[0].url.rpartition(":")[2]


def words(arm):
    """The command without its port."""
    return [word for word in arm.launch.argv if word != port(arm)]


def test_both_arms_are_launched_alike_but_for_speculation(gate):
    baseline, candidate = config.read(gate).values()

    assert words(baseline) == words(candidate)[: len(words(baseline))]
    assert words(candidate)[len(words(baseline))].startswith("--spec")
    assert not any(word.startswith("--spec") for word in words(baseline))
    assert baseline.launch.env == candidate.launch.env
    assert port(baseline) != port(candidate)
    assert all(port(arm) in arm.launch.argv for arm in (baseline, candidate))


def test_each_says_how_it_is_run(gate):
    suite = "fewshot" if gate.stem == "smollm2" else "core"
    assert f"draftgate run {suite} --config examples/{gate.name}\n" in gate.read_text(encoding="utf-8")


def test_without_the_folder_it_is_one_line(gate, monkeypatch):
    monkeypatch.delenv("DRAFTGATE_SERVERS")
    with pytest.raises(UsageError, match=r"names \$\{DRAFTGATE_SERVERS\}, which is not set; export it"):
        config.read(gate)
