"""What is observed, in which order."""

from dataclasses import replace

import dialogues
from arms import context, smoke

from draftgate.canaries.observations.context import Context
from draftgate.canaries.plan import plan
from draftgate.suites import loader


def test_timed_pairs_come_before_what_is_read_off_them_and_rows_before_their_law():
    made = list(smoke().record.observations)

    expected = ["greedy-1/pairs", "greedy-1/replays", "topp-8/pairs", "topp-8/replays", "knobs", "synthetic"]
    assert [*expected, "conversation", "topp-8/own_batch", "recorded", "topp-8/table", "topp-8/rows"] == made


def test_cells_of_one_sampling_share_their_known_laws():
    suite = loader.load("smoke")
    greedy, sampled = suite.cells
    twice = replace(suite, cells=(greedy, sampled, replace(sampled, name="topp-1", batch=1)))
    keys = [key for key, _ in plan(context(suite=twice))]

    assert {"topp-8/table", "topp-8/rows"} == {key for key in keys if key.endswith(("/table", "/rows"))}
    assert {"topp-1/pairs", "topp-1/own_batch"} <= set(keys)


def test_an_arm_that_does_not_speculate_is_timed_and_replayed_only():
    class Plain:
        kind, draft_length, name = "reference", 0, "plain"

    context = Context(suite=loader.load("smoke"), baseline=Plain(), candidate=Plain(), seed=0)

    expected = ["greedy-1/pairs", "greedy-1/replays", "topp-8/pairs", "topp-8/replays"]
    assert expected == [key for key, _ in plan(context)]


def test_dialogues_are_played_where_the_suite_has_numbers_for_them_and_after_all_that_is_timed():
    class Drafting:
        kind, draft_length, name = "reference", 4, "draft"

        def variant(self, *_, **__):
            return self

    planned = [
        [key for key, _ in plan(Context(suite=suite, baseline=Drafting(), candidate=Drafting(), seed=0))]
        for suite in (dialogues.suite(), replace(dialogues.suite(), conversation=None))
    ]

    assert "conversation" == planned[0][planned[0].index("synthetic") + 1]
    assert [key for key in planned[0] if key != "conversation"] == planned[1]
