"""Every reason is explained, once, in one line each."""

from __future__ import annotations

import pytest

from draftgate.canaries.contracts import Reason
from draftgate.canaries.reasons import CULPRITS, REASONS


def test_every_reason_has_a_row_and_no_row_is_left_over():
    assert set(REASONS) == set(Reason)


@pytest.mark.parametrize("reason", Reason)
def test_a_row_names_a_culprit_and_says_in_one_line_each_what_it_means_and_what_to_do(reason):
    row = REASONS[reason]

    assert row.culprit in CULPRITS
    for text in (row.means, row.next):
        assert text.endswith(".")
        assert "\n" not in text
        assert len(text) <= 120


def test_every_culprit_is_somebodys():
    assert {row.culprit for row in REASONS.values()} == set(CULPRITS)
