"""What is observed, in which order."""

from dataclasses import replace

import dialogues
import pytest
import sampled
from arms import context, smoke

from draftgate.canaries import documents
from draftgate.canaries.errors import RecordBroken
from draftgate.canaries.observations.context import Context
from draftgate.canaries.plan import noise_in, plan
from draftgate.canaries.targets.reference import ReferenceTarget
from draftgate.suites import loader


def test_what_is_timed_or_read_comes_first_and_alone():
    steps = list(plan(context()))

    first = ["greedy-1/pairs", "topp-8/pairs", "greedy-1/costs", "topp-8/costs", "recorded"]
    known = [f"topp-8/{law}" for law in ("own_batch", "table", "rows")]
    rest = [*known, "knobs", "synthetic", "conversation", "greedy-1/replays", "topp-8/replays"]
    assert first == [step.key for step in steps if step.alone]
    assert [*first, *rest] == [step.key for step in steps]
    assert set(smoke().record.observations) == {*first, *rest}


def test_what_no_check_rests_on_is_marked():
    assert ["greedy-1/costs", "topp-8/costs"] == [step.key for step in plan(context()) if step.beside]


def test_what_is_made_side_by_side_reads_only_what_was_made_alone():
    made = {step.key: smoke().record.observations[step.key] for step in plan(context()) if step.alone}

    replays = next(step for step in plan(context()) if step.key == "greedy-1/replays")
    assert replays.compute(made).keys() == smoke().record.observations["greedy-1/replays"].keys()


def test_cells_of_one_sampling_share_their_known_laws():
    suite = loader.load("smoke")
    greedy, sampled = suite.cells
    twice = replace(suite, cells=(greedy, sampled, replace(sampled, name="topp-1", batch=1)))
    keys = [step.key for step in plan(context(suite=twice))]

    assert {"topp-8/table", "topp-8/rows"} == {key for key in keys if key.endswith(("/table", "/rows"))}
    assert {"topp-1/pairs", "topp-1/own_batch"} <= set(keys)


def test_an_arm_that_does_not_speculate_is_timed_and_replayed_only():
    class Plain:
        kind, draft_length, name, capabilities = "reference", 0, "plain", ReferenceTarget.capabilities

    context = Context(suite=loader.load("smoke"), baseline=Plain(), candidate=Plain(), seed=0)

    expected = ["greedy-1/pairs", "topp-8/pairs", "greedy-1/replays", "topp-8/replays"]
    assert expected == [step.key for step in plan(context)]


class Served:
    """An arm behind a socket, of which one is up at a time."""

    kind, draft_length, name = "server", 4, "vllm"
    capabilities = frozenset({"counters", "configuration", "launching"})


def test_arms_that_are_launched_in_turn_are_timed_block_by_block_over_all_cells():
    suite = loader.load("smoke")
    keys = [step.key for step in plan(Context(suite=suite, baseline=Served(), candidate=Served(), seed=0))]

    blocks = [f"{cell}/block/{block}" for block in range(4) for cell in ("greedy-1", "topp-8")]
    assert ["configuration", *blocks, "greedy-1/replays", "topp-8/replays", "topp-8/samples"] == keys


def test_replays_are_made_of_the_pairs_that_blocks_make(monkeypatch):
    suite, read = loader.load("smoke"), []
    made = {f"greedy-1/block/{n}": {"launched": n, "runs": []} for n in range(4)}
    monkeypatch.setattr("draftgate.canaries.observations.replays.observe", lambda _, cell, pairs: read.append(pairs))
    steps = {s.key: s for s in plan(Context(suite=suite, baseline=Served(), candidate=Served(), seed=0))}
    steps["greedy-1/replays"].compute(made)
    broken = {"broken": {"arm": "candidate", "told": "half"}}

    assert [14] == [len(pairs["groups"]) for pairs in read]
    assert broken == steps["greedy-1/replays"].compute(made | {"greedy-1/block/1": broken})


def test_dialogues_are_played_where_the_suite_has_numbers_for_them_and_after_all_that_is_timed():
    class Drafting:
        kind, draft_length, name, capabilities = "reference", 4, "draft", ReferenceTarget.capabilities

        def variant(self, *_, **__):
            return self

    planned = [
        [step.key for step in plan(Context(suite=suite, baseline=Drafting(), candidate=Drafting(), seed=0))]
        for suite in (dialogues.suite(), replace(dialogues.suite(), conversation=None))
    ]

    assert "conversation" == planned[0][planned[0].index("synthetic") + 1]
    assert [key for key in planned[0] if key != "conversation"] == planned[1]


def test_sampled_answers_are_asked_for_once_a_sampling_where_the_suite_requires_them_of_that_kind():
    twin = replace(sampled.CELL, name="twin", batch=1)
    of = replace(sampled.suite(), cells=(sampled.CELL, twin))
    made = sampled.context(sampled.plain(), of=of)
    steps = {step.key: step for step in plan(made)}

    assert ["sampled/samples"] == [key for key in steps if key.endswith("/samples")]
    assert not steps["sampled/samples"].alone  # the reference engine may be used in a forked process
    assert sampled.observe(made) == documents.decode(documents.encode(steps["sampled/samples"].compute({})))

    numberless = replace(of, samples=None)
    unasked = replace(of, required=loader.load("smoke").required)
    for other in (numberless, unasked):
        made = sampled.context(sampled.plain(), of=other)
        assert not [step for step in plan(made) if step.key.endswith("/samples")]


def test_chat_is_asked_last_and_alone_of_arms_that_can_be_asked_so():
    class Served:
        kind, draft_length, name, capabilities = "server", 4, "vllm", frozenset({"chat"})

    suite = loader.load("smoke")
    planned = [
        [*plan(Context(suite=of, baseline=Served(), candidate=Served(), seed=0))]
        for of in (suite, replace(suite, chat=None))
    ]

    assert ("chat", True) == (planned[0][-1].key, planned[0][-1].alone)
    assert [step.key for step in planned[0][:-1]] == [step.key for step in planned[1]]


def test_noise_that_was_measured_is_not_measured_again():
    assert 0.5 == noise_in({"sampled/replays": {"noise": {"logits": {"again": 0.5, "alone": 0.1}}}}, sampled.CELL)
    assert noise_in({"sampled/replays": {"broken": {}}}, sampled.CELL) is None
    assert noise_in({}, sampled.CELL) is None
    with pytest.raises(
        RecordBroken, match=r"sampled/replays tells no noise of plain decoding \(alone\); run again with"
    ):
        noise_in({"sampled/replays": {"noise": {"logits": {"again": 0.5, "alone": None}}}}, sampled.CELL)
