"""Counters are read by name and label, and nothing else is taken for one."""

from __future__ import annotations

import pytest

from draftgate.canaries.targets.servers.prometheus import by_label, samples, total

TEXT = r"""# HELP a_total Things.
# TYPE a_total counter
a_total{engine="0",model_name="x, \"y\"} z"} 3.0
a_total{engine="1"} 4 1700000000
a_created{engine="0"} 1.7e+09
pos_total{position="1",engine="0"} 2.0
pos_total{position="0",engine="0"} 5.0
pos_total{position="0",engine="1"} 1.0
plain 7
"""


def test_a_counter_is_summed_over_its_labels_and_its_twins_are_not_it():
    assert total(samples(TEXT), "a_total") == 7
    assert total(samples(TEXT), "plain") == 7


def test_an_absent_counter_is_none_and_not_zero():
    assert total(samples(TEXT), "b_total") is None
    assert by_label(samples(TEXT), "b_total", "position") == ()


def test_positions_come_in_order():
    assert by_label(samples(TEXT), "pos_total", "position") == (6, 2)


def test_another_text_is_refused_by_its_line():
    with pytest.raises(ValueError, match="<html>"):
        samples("plain 7\n<html> hello\n")
