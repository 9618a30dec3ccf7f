"""Rows of mixed batches have parameters of their own."""

from loads import honest, suite

from draftgate.canaries.observations.serving.mixed import expected, rows


def test_rows_differ_in_all_that_a_request_may_say():
    listed = rows(suite(), suite().serving, 4)

    assert {True, False} == {one.greedy for one in listed}
    assert {None, 0, 1, 2, 3, 4} == {one.draft_length for one in listed}
    assert 2 == len({one.tokens for one in listed})
    assert any(one.stop for one in listed)
    assert all(one.greedy for one in listed if one.stop)


def test_who_answers_is_stated():
    names = expected(suite(), suite().serving, 4)

    found = honest("parameters")
    assert names.greedy == [answer["name"] for answer in found["plain"]]
    assert names.sampled == [one["generation"]["name"] for one in found["sampled"]]


def test_a_stop_string_ends_an_answer():
    assert all(variant["met"]["stopped"] for variant in honest("parameters")["variants"].values())
