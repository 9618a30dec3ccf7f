"""A record survives being cut anywhere, and says so when it is not what was written."""

from __future__ import annotations

import hashlib
import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from draftgate.canaries import record
from draftgate.canaries.errors import ExistingRun, OutputUnwritable, RecordBroken, UsageError
from draftgate.canaries.record import Journal

HEADER = {
    "suite": {"name": "core", "version": "v1", "digest": "ab12"},
    "seed": 0,
    "baseline": {"name": "plain", "digest": "b1"},
    "candidate": {"name": "draft:k=4", "digest": "c1"},
    "started": "2026-01-01T00:00:00Z",
}


def write(folder, *, steps=("a", "b"), end=False, header=HEADER):
    journal = Journal.create(folder, header)
    for key in steps:
        journal.step(key, lambda key=key: {"text": f"{key} é\n", "n": [1, 2.5]})
    if end is not None:
        journal.end(interrupted=end)
    journal.close()
    return folder / record.NAME


def never():
    raise AssertionError("computed again")


def lines(path):
    return [json.loads(line) for line in path.read_bytes().splitlines()]


def test_a_record_says_what_was_observed(tmp_path):
    path = write(tmp_path / "run")

    found = record.read(tmp_path / "run")

    assert found.header == HEADER
    assert found.observations == {key: {"text": f"{key} é\n", "n": [1, 2.5]} for key in "ab"}
    assert (found.ended, found.interrupted) == (True, False)
    assert found.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    assert found == record.read(path)


def test_a_record_can_be_read_while_it_is_being_written(tmp_path):
    write(tmp_path, end=None)

    assert record.read(tmp_path).ended is False
    assert set(record.read(tmp_path).observations) == {"a", "b"}


def test_a_step_answers_what_a_later_reader_will_see(tmp_path):
    with Journal.create(tmp_path, HEADER) as journal:
        now = journal.step("a", lambda: {"pairs": ((1, math.nan), (2, math.inf)), 3: None})

    assert now == {"pairs": [[1, None], [2, None]], "3": None}
    assert record.read(tmp_path).observations["a"] == now


def test_a_step_already_made_is_not_made_again(tmp_path):
    with Journal.create(tmp_path, HEADER) as journal:
        first = journal.step("a", lambda: [1])

        assert journal.step("a", never) == first


def test_a_second_record_is_refused_where_one_is(tmp_path):
    path = write(tmp_path)
    before = path.read_bytes()

    with pytest.raises(ExistingRun, match="--resume"):
        Journal.create(tmp_path, HEADER)
    assert path.read_bytes() == before


def test_a_header_without_a_suite_digest_is_refused_before_anything_is_written(tmp_path):
    with pytest.raises(RecordBroken, match="digest"):
        Journal.create(tmp_path / "run", HEADER | {"suite": {"name": "core", "version": "v1"}})
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("name", ["../up", "a/b", "", ".hidden"])
def test_a_suite_name_that_is_no_folder_name_is_refused(tmp_path, name):
    with pytest.raises(RecordBroken):
        Journal.create(tmp_path, HEADER | {"suite": HEADER["suite"] | {"name": name}})


@pytest.mark.parametrize("resume", [False, True])
def test_an_unwritable_folder_is_refused_and_nothing_is_left_behind(tmp_path, resume):
    (tmp_path / "file").write_text("not a folder")
    place = tmp_path / "file" / "deep" / "run"

    with pytest.raises((OutputUnwritable, UsageError, RecordBroken)):
        record.check_folder(place, resume=resume)
    with pytest.raises(OutputUnwritable, match="another --out"):
        Journal.create(place, HEADER)
    assert [entry.name for entry in tmp_path.iterdir()] == ["file"]


def test_a_folder_that_can_be_written_is_not_made_by_the_check(tmp_path):
    record.check_folder(tmp_path / "deep" / "run", resume=False)

    assert list(tmp_path.iterdir()) == []


def test_the_check_asks_for_a_record_exactly_when_resuming(tmp_path):
    with pytest.raises(UsageError, match="leave --resume out"):
        record.check_folder(tmp_path, resume=True)
    write(tmp_path)
    with pytest.raises(ExistingRun, match="--resume"):
        record.check_folder(tmp_path, resume=False)
    record.check_folder(tmp_path, resume=True)


def test_a_record_cut_at_any_byte_of_its_last_line_is_resumed_with_that_observation_made_again(tmp_path):
    whole = write(tmp_path / "whole", end=None).read_bytes()
    last = whole[:-1].rfind(b"\n") + 1
    for cut in range(last, len(whole) + 1):
        path = tmp_path / f"cut{cut}" / record.NAME
        path.parent.mkdir()
        path.write_bytes(whole[:cut])

        with Journal.resume(path.parent, HEADER) as journal:
            journal.step("a", never)
            again = journal.step("b", lambda: "again")

        assert (again == "again") == (cut < len(whole))
        assert record.read(path).ended


def test_a_record_cut_inside_its_last_line_is_refused_with_the_line_and_what_to_do(tmp_path):
    path = write(tmp_path, end=None)
    whole = path.read_bytes()
    last = whole[:-1].rfind(b"\n") + 1
    for cut in range(last + 1, len(whole)):
        with pytest.raises(RecordBroken, match=r"line 3 is cut short.*--resume"):
            record.parse(whole[:cut])


def test_a_record_cut_inside_its_header_is_begun_again(tmp_path):
    path = write(tmp_path, end=None)
    path.write_bytes(path.read_bytes()[:7])

    with Journal.resume(tmp_path, HEADER) as journal:
        journal.step("a", lambda: 1)

    assert record.read(tmp_path).observations == {"a": 1}


def test_ctrl_c_leaves_a_record_that_is_readable_and_can_be_resumed(tmp_path):
    def ctrl_c():
        raise KeyboardInterrupt

    def first_half():
        with Journal.create(tmp_path, HEADER) as journal:
            journal.step("a", lambda: 1)
            journal.step("b", ctrl_c)

    with pytest.raises(KeyboardInterrupt):
        first_half()
    stopped = record.read(tmp_path)
    with Journal.resume(tmp_path, HEADER) as journal:
        journal.step("a", never)
        journal.step("b", lambda: 2)
    finished = record.read(tmp_path)

    assert (stopped.ended, stopped.interrupted, stopped.observations) == (False, True, {"a": 1})
    assert (finished.ended, finished.interrupted, finished.observations) == (True, False, {"a": 1, "b": 2})
    assert [line["type"] for line in lines(tmp_path / record.NAME)] == [
        "header",
        "observation",
        "end",
        "observation",
        "end",
    ]


class Stutter:
    """A file that writes half a line, then is interrupted."""

    def __init__(self, file, error):
        self.file, self.error, self.armed = file, error, True

    def write(self, data):
        if not self.armed or len(data) < 10:
            return self.file.write(data)
        self.armed = False
        self.file.write(data[: len(data) // 2])
        raise self.error

    def __getattr__(self, name):
        return getattr(self.file, name)


@pytest.mark.parametrize(
    ("error", "seen"), [(KeyboardInterrupt(), KeyboardInterrupt), (OSError(28, "No space left"), OutputUnwritable)]
)
def test_an_interrupt_between_two_bytes_does_not_spoil_the_record(tmp_path, error, seen):
    def stuttering():
        with Journal.create(tmp_path, HEADER) as journal:
            journal._file = Stutter(journal._file, error)
            journal.step("a", lambda: "x" * 100)

    with pytest.raises(seen):
        stuttering()

    assert record.read(tmp_path).observations == {}
    assert record.read(tmp_path).interrupted


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"seed": 1}, "seed: 0, not 1"),
        ({"suite": HEADER["suite"] | {"digest": "ff"}}, "suite.digest: 'ab12', not 'ff'"),
        ({"candidate": {"name": "draft:k=4", "digest": "c2"}}, "candidate.digest"),
        ({"baseline": {"name": "plain", "digest": "b1", "dtype": "f16"}}, "baseline.dtype"),
        ({"claim": 1.5}, "claim"),
    ],
)
def test_another_run_is_not_resumed_and_its_record_stays_as_it_is(tmp_path, change, named):
    path = write(tmp_path, end=None)
    path.write_bytes(path.read_bytes()[:-3])
    before = path.read_bytes()

    with pytest.raises(UsageError, match=r"another ") as refusal:
        Journal.resume(tmp_path, HEADER | change)
    assert named in str(refusal.value)
    assert path.read_bytes() == before


def test_the_same_run_started_later_is_resumed(tmp_path):
    write(tmp_path, end=True)

    with Journal.resume(tmp_path, HEADER | {"started": "2027-01-01T00:00:00Z"}) as journal:
        assert journal.step("a", never)["n"] == [1, 2.5]


def test_resuming_a_complete_record_changes_nothing(tmp_path):
    path = write(tmp_path)
    before = path.read_bytes()

    with Journal.resume(tmp_path, HEADER) as journal:
        journal.step("a", never)

    assert path.read_bytes() == before


def test_a_complete_record_takes_no_further_observation(tmp_path):
    write(tmp_path)

    with pytest.raises(RecordBroken, match="lacks c"), Journal.resume(tmp_path, HEADER) as journal:
        journal.step("c", lambda: 1)


def test_nothing_to_resume_is_said_in_one_line(tmp_path):
    with pytest.raises(RecordBroken, match="no record"):
        Journal.resume(tmp_path, HEADER)


def edited(tmp_path, change):
    path = write(tmp_path)
    documents = lines(path)
    return path, b"".join(json.dumps(line).encode() + b"\n" for line in change(documents))


@pytest.mark.parametrize(
    ("change", "wrong"),
    [
        (lambda d: [], "empty"),
        (lambda d: d[1:], "line 1 is out of place"),
        (lambda d: [d[0], *d], "line 2 is out of place"),
        (lambda d: [*d, d[1]], "line 5"),
        (lambda d: [*d, d[-1]], "line 5 is out of place"),
        (lambda d: [*d[:2], d[1], *d[2:]], "line 3 repeats a"),
        (lambda d: [d[0] | {"schema": 2}, *d[1:]], "schema 2.*upgrade"),
        (lambda d: [d[0] | {"schema": 0}, *d[1:]], "schema"),
        (lambda d: [*d[:1], {"type": "observation", "key": "a", "data": 1}, *d[2:]], "line 2.*seconds"),
        (lambda d: [*d[:1], {"type": "note"}, *d[1:]], "line 2"),
        (lambda d: [*d[:1], "text", *d[1:]], "line 2"),
        (lambda d: [*d[:1], d[1] | {"data": math.nan}, *d[2:]], "line 2 is not JSON"),
        (lambda d: [*d[:1], d[1] | {"data": -math.inf}, *d[2:]], "line 2 is not JSON"),
        (lambda d: [*d[:1], d[1] | {"seconds": "1"}, *d[2:]], "line 2"),
    ],
)
def test_a_record_that_is_not_as_it_was_written_is_refused_with_its_line(tmp_path, change, wrong):
    _, data = edited(tmp_path, change)

    with pytest.raises(RecordBroken, match=wrong):
        record.parse(data)


def test_a_record_written_back_unchanged_is_accepted(tmp_path):
    path, data = edited(tmp_path, lambda documents: documents)

    assert record.parse(data).observations == record.read(path).observations


@given(st.binary(max_size=200))
def test_arbitrary_bytes_are_refused_and_never_crash(data):
    with pytest.raises(RecordBroken):
        record.parse(data)


def test_the_seconds_of_all_observations_add_up(tmp_path):
    path = write(tmp_path)

    assert record.read(path).seconds == sum(line.get("seconds", 0) for line in lines(path))


def test_a_record_is_written_by_one_run_at_a_time(tmp_path):
    first = Journal.create(tmp_path / "run", HEADER)

    with pytest.raises(ExistingRun, match="being written by another run"):
        Journal.resume(tmp_path / "run", HEADER)
    first.end(interrupted=True)
    Journal.resume(tmp_path / "run", HEADER).close()


def test_what_a_finished_record_lacks_is_told_from_what_is_still_to_be_made(tmp_path):
    write(tmp_path, steps=("a",), end=None)
    with Journal.resume(tmp_path, HEADER) as journal:
        assert not journal.finished_without("b")
    with Journal.resume(tmp_path, HEADER) as journal:
        assert journal.finished_without("b")
        assert not journal.finished_without("a")
