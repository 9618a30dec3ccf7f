"""Both arms are asked, and what each offers stands side by side."""

from __future__ import annotations

import sys

import pytest

from draftgate.canaries.targets.servers import doctor
from draftgate.canaries.targets.servers.errors import Died, DiedOf
from draftgate.canaries.targets.servers.probe import QUESTIONS
from gates import write


def test_each_feature_is_a_row_with_a_cell_an_arm(tmp_path):
    rows = doctor.rows(write(tmp_path / "gate.toml"))

    assert [row["feature"] for row in rows] == ["model", *QUESTIONS]
    assert {*rows[0]} == {"feature", "baseline", "candidate"}
    assert rows[0] == {"feature": "model", "baseline": "yes: tiny", "candidate": "yes: tiny"}


def test_what_is_not_offered_says_why(tmp_path):
    rows = {row["feature"]: row for row in doctor.rows(write(tmp_path / "gate.toml", "openai"))}

    assert rows["ids in answers"]["candidate"].startswith("no: tokens are counted by")


def test_a_server_that_dies_while_starting_ends_the_visit(tmp_path):
    path = write(tmp_path / "gate.toml", argv=[sys.executable, "-c", "print('no such model'); raise SystemExit(1)"])

    with pytest.raises(Died, match=r"exit status 1.*no such model"):
        doctor.rows(path)


def test_a_server_that_dies_of_a_question_is_a_finding_with_its_last_lines(tmp_path):
    path = write(tmp_path / "gate.toml", deadly=("response_format",))

    with pytest.raises(DiedOf, match=r"signal SIGKILL .*died of 'json_schema'.*ready to serve vllm"):
        doctor.rows(path)
