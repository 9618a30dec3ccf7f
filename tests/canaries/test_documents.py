"""What is written is strict JSON, and only strict JSON is read."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from draftgate.canaries.contracts import Status
from draftgate.canaries.documents import complaint, decode, difference, encode, plain, write
from draftgate.canaries.errors import OutputUnwritable

finite = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


@given(finite)
def test_a_finite_document_comes_back_as_it_was(document):
    assert decode(encode(document)) == document


@given(finite)
def test_a_document_is_one_line_of_ascii(document):
    data = encode(document)

    assert data.count(b"\n") == 1
    assert data.isascii()


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf, np.float64("nan")])
def test_a_number_that_is_not_finite_is_written_as_null(number):
    assert decode(encode({"a": [number, (number, 1.0)]})) == {"a": [None, [None, 1.0]]}


@pytest.mark.parametrize(
    "text", [b"NaN", b"[Infinity]", b'{"a": -Infinity}', b"1e999", b"\xff", b"{", b"[" * 100_000, b"9" * 5000]
)
def test_what_is_not_strict_finite_json_is_refused(text):
    with pytest.raises(ValueError):
        decode(text)


def test_dataclasses_sets_enums_paths_and_numpy_numbers_become_plain():
    @dataclass(frozen=True, slots=True)
    class Pair:
        one: object
        two: object

    document = plain(Pair(one=frozenset({"b", "a"}), two=(Status.PASS, np.int64(3), np.float32(0.5), True, Path("a"))))

    assert decode(encode(document)) == {"one": ["a", "b"], "two": ["PASS", 3, 0.5, True, "a"]}


def test_a_line_that_fits_has_no_complaint_and_one_that_does_not_is_told_where():
    good = {"type": "end", "interrupted": False}

    assert complaint(good, "record") is None
    assert "interrupted" in complaint({"type": "end", "interrupted": "no"}, "record")


def test_a_complaint_is_short_even_about_a_long_document():
    assert len(complaint({"type": "x" * 10_000}, "record")) < 200


def test_a_file_is_replaced_whole_and_no_partial_file_stays(tmp_path):
    path = tmp_path / "a.json"
    path.write_bytes(b"old")

    write(path, b"new")

    assert path.read_bytes() == b"new"
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_that_cannot_be_written_is_refused_in_one_line(tmp_path):
    with pytest.raises(OutputUnwritable, match="choose another folder"):
        write(tmp_path / "none" / "a.json", b"new")


def test_the_first_difference_is_named_and_equals_have_none():
    assert difference({"a": [1, {"b": 2}]}, {"a": [1, {"b": 2}]}) is None
    assert difference({"a": [1, {"b": 2}]}, {"a": [1, {"b": 3}]}) == "a.1.b: 2, not 3"
    assert difference({"x": 1}, {"x": 2}, ignore=frozenset({"x"})) is None
    assert difference({"x": [{"y": 1}]}, {"x": [{"y": 2}]}, ignore=frozenset({"y"})) is None
