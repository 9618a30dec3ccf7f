"""The verdict on a record: recomputed by anyone who holds it and the suite, without any target."""

import json
import shutil
from dataclasses import replace

import pytest
from arms import smoke

from draftgate.canaries import judge, record
from draftgate.canaries import summary as summaries
from draftgate.canaries.errors import RecordBroken
from draftgate.canaries.judge import judge_record
from draftgate.canaries.targets import reference


def unreachable(*args, **kwargs):
    raise AssertionError("judging called a target")


def test_a_record_is_judged_without_any_target(monkeypatch):
    made = smoke()
    for name in ("load_target", "build", "load_draft", "teacher_forced"):
        monkeypatch.setattr(reference, name, unreachable)
    monkeypatch.setattr(reference.ReferenceTarget, "generate", unreachable)
    monkeypatch.setattr(reference.ReferenceTarget, "score", unreachable)

    again = judge_record(made.record)

    assert made.summary == again
    assert again == judge_record(record.read(made.folder))


def test_a_record_with_a_number_beyond_floats_is_no_evidence():
    made = smoke().record
    pairs = json.loads(json.dumps(made.observations["greedy-1/pairs"]))
    pairs["groups"][0]["runs"][0]["wall"] = 10**400

    summary = judge_record(replace(made, observations=made.observations | {"greedy-1/pairs": pairs}))

    assert summary["verdict"] == "HOLD"
    assert "greedy-1/pairs cannot have been observed (pairs.groups[0].runs[0].wall is 1000" in json.dumps(summary)


def test_a_record_without_a_part_of_its_header_is_broken():
    header = {key: value for key, value in smoke().record.header.items() if key != "eos"}

    with pytest.raises(RecordBroken, match="does not hold together"):
        judge.sound(judge_record, replace(smoke().record, header=header))


def test_a_record_of_an_edited_suite_cannot_be_judged():
    header = smoke().record.header
    edited = replace(smoke().record, header=header | {"suite": header["suite"] | {"digest": "0" * 64}})

    with pytest.raises(RecordBroken, match="was made with smoke/v1 of digest 000000000000"):
        judge_record(edited)


def test_a_record_of_a_suite_that_is_not_here_cannot_be_judged():
    header = smoke().record.header
    gone = replace(smoke().record, header=header | {"suite": header["suite"] | {"name": "gone"}})

    with pytest.raises(RecordBroken, match="cannot be loaded"):
        judge_record(gone)


def with_isolation(summary, words):
    """The summary of a suite in which one finding tells how programs were isolated."""
    changed = json.loads(json.dumps(summary))
    changed["cells"][0]["findings"][0]["figures"]["isolation"] = words
    return changed


@pytest.mark.parametrize("words", ["no network", "none"])
def test_a_machine_that_isolates_otherwise_judges_the_same_record(words, tmp_path, monkeypatch):
    folder = tmp_path / "run"
    shutil.copytree(smoke().folder, folder)
    summaries.write(with_isolation(smoke().summary, "network not forbidden"), folder)
    again = with_isolation(smoke().summary, words)
    monkeypatch.setattr(judge, "judge_record", lambda _: again)

    shown = judge.judged(folder)["cells"][0]["findings"][0]["figures"]["isolation"]
    assert shown == (words if words == "none" else "network not forbidden")


@pytest.mark.parametrize(
    "key", ["greedy-1/pairs", "greedy-1/replays", "knobs", "synthetic", "recorded", "topp-8/table"]
)
def test_a_record_that_lacks_one_observation_holds(key):
    observations = {name: value for name, value in smoke().record.observations.items() if name != key}

    summary = judge_record(replace(smoke().record, observations=observations))

    assert summary["verdict"] == "HOLD"


def test_arms_with_different_caches_cannot_be_judged():
    header = smoke().record.header
    other = header | {"candidate": header["candidate"] | {"cache_type": "int4"}}

    with pytest.raises(RecordBroken, match=r"differ in more than speculation .cache_type: 'float', not 'int4'"):
        judge_record(replace(smoke().record, header=other))


def test_arms_on_different_models_cannot_be_judged():
    header = smoke().record.header
    other = header | {
        "candidate": header["candidate"] | {"model": header["candidate"]["model"] | {"dtype": "bfloat16"}}
    }

    with pytest.raises(RecordBroken, match="the arms differ in more than speculation"):
        judge_record(replace(smoke().record, header=other))
