"""The table of targets."""

import json

import pytest

from draftgate.canaries.targets import opening, reference, registry, transformers
from draftgate.canaries.targets.servers.registry import APIS
from draftgate.engine.verification.base import Guarantee


def test_every_drafter_has_a_row_and_every_row_a_drafter():
    ours = {row.name for row in registry.ROWS if row.kind == "reference"}

    assert ours == {"plain", *reference.DRAFTERS}
    assert set(registry.TARGETS) - ours == {transformers.NAME, opening.REPLAY, *APIS}


@pytest.mark.parametrize("row", registry.ROWS, ids=lambda row: row.name)
def test_a_row_promises_what_the_engine_knows(row):
    assert row.guarantee in set(Guarantee)
    assert row.summary


def test_the_rows_are_plain_documents():
    assert json.dumps(registry.rows())
    assert [row.name for row in registry.ROWS] == [row["name"] for row in registry.rows()]
