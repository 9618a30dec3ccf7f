"""What is observed, in which order."""

from arms import smoke

from draftgate.canaries.observations.context import Context
from draftgate.canaries.plan import plan
from draftgate.suites import loader


def test_timed_pairs_come_before_what_is_read_off_them_and_rows_before_their_law():
    made = list(smoke().record.observations)

    expected = ["greedy-1/pairs", "greedy-1/replays", "topp-8/pairs", "topp-8/replays", "knobs", "synthetic"]
    assert [*expected, "recorded", "topp-8/table", "topp-8/rows"] == made


def test_an_arm_that_does_not_speculate_is_timed_and_replayed_only():
    class Plain:
        kind, draft_length, name = "reference", 0, "plain"

    context = Context(suite=loader.load("smoke"), baseline=Plain(), candidate=Plain(), seed=0)

    expected = ["greedy-1/pairs", "greedy-1/replays", "topp-8/pairs", "topp-8/replays"]
    assert expected == [key for key, _ in plan(context)]
