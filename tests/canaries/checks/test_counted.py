"""Counts are read answer by answer where all are told so, else window by window; what one lacks, none has."""

from observed import served

from draftgate.canaries.checks.counted import total, windows


def test_answers_that_are_counted_singly_are_windows_of_their_own():
    listed = list(windows(served()["greedy/pairs"], "candidate"))

    assert [window.canaries for window in listed[:2]] == [("exact-1",), ("json-1",)]
    assert {window.tokens for window in listed} == {window.emitted for window in listed} == {20}
    assert total(listed, "accepted") == sum(window.accepted for window in listed) > 0


def test_one_answer_that_tells_nothing_leaves_the_window_of_its_run():
    observed = served()["greedy/pairs"]
    for run in observed["groups"][0]["runs"]:
        run["counters"]["each"][1] = None
    first = next(windows(observed, "candidate"))

    assert (first.canaries, first.tokens) == (("exact-1", "json-1"), 40)


def test_a_count_that_one_window_lacks_is_not_added_up():
    observed = served()["greedy/pairs"]
    listed = list(windows(observed, "candidate"))

    assert total([*listed, listed[0]._replace(drafted=None)], "drafted") is None
    assert total([], "drafted") is None
    assert not list(windows({"groups": [{"canaries": ["a"], "runs": [{"arm": "candidate"}]}]}, "candidate"))
