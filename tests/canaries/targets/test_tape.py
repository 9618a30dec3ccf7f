"""A tape is whole, as it was recorded and of this run, or it is refused in one line."""

import pytest

from draftgate.canaries import documents
from draftgate.canaries.errors import ExistingRun, OutputUnwritable, UsageError
from draftgate.canaries.record import digest
from draftgate.canaries.targets import tape
from draftgate.suites import loader

SMOKE = loader.load("smoke")
NAMED = {"name": "smoke", "version": "v1", "digest": SMOKE.digest}
MADE = {"draftgate": "0", "recorded": "then", "suite": NAMED, "seed": 3}
ARM = dict.fromkeys(("name", "kind", "guarantee"), "x") | {"capabilities": [], "unseen": [], "eos": [0]}
ARM |= {"identity": {"model": {}}}


def made(**changes):
    return tape.Tape(made=MADE | changes, arm=ARM, calls={"a": [[1], None]})


@pytest.fixture
def path(tmp_path):
    tape.write(tmp_path / "a.tape", made())
    return tmp_path / "a.tape"


def test_what_is_written_is_read(path):
    found = tape.read(path)

    assert (found.made, found.arm, found.calls) == (MADE, ARM, {"a": [[1], None]})
    assert found.sha256 == digest(path.read_bytes().splitlines(keepends=True)[0])


def test_nothing_is_overwritten(path):
    before = path.read_bytes()
    with pytest.raises(ExistingRun, match="is never overwritten; name another file"):
        tape.write(path, made(seed=4))

    assert path.read_bytes() == before


def test_a_folder_that_is_not_there_is_found_before_anything_is_asked(tmp_path):
    with pytest.raises(OutputUnwritable, match="cannot be written"):
        tape.check(tmp_path / "none" / "a.tape")


def test_a_name_that_is_too_long_is_found_before_anything_is_asked(tmp_path):
    with pytest.raises(OutputUnwritable, match="cannot be written"):
        tape.check(tmp_path / ("a" * 245))
    tape.check(tmp_path / "a.tape")

    assert not [*tmp_path.iterdir()]


def resealed(document):
    data = documents.encode(document)
    return data + documents.encode({"sha256": digest(data)})


def document(**changes):
    return {"tape": 1, "made": MADE, "arm": ARM, "calls": {}} | changes


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda data: data[:-1][:-80], "is no kept baseline, or was cut short"),
        (lambda data: data.splitlines()[0], "is no kept baseline, or was cut short"),
        (lambda data: b"", "is no kept baseline, or was cut short"),
        (lambda data: b"\xff\n[]\n", "is no kept baseline, or was cut short"),
        (lambda data: data.replace(b'"seed": 3', b'"seed": 4'), "was changed after it was recorded"),
        (lambda data: resealed({"tape": 2}), "is a tape of schema 2, this version reads 1"),
        (
            lambda data: resealed({"tape": 1}),
            r"is no kept baseline \(\$: '\w+' is a required property\); record it again",
        ),
        (
            lambda data: resealed(document(arm=ARM | {"eos": "0"})),
            r"is no kept baseline \(\$.arm.eos: '0' is not of type",
        ),
        (lambda data: resealed(document(arm={})), r"is no kept baseline \(\$.arm: '\w+' is a required property"),
        (lambda data: resealed(document(made=MADE | {"suite": {}})), r"is no kept baseline \(\$.made.suite: "),
        (lambda data: resealed(document(calls=[])), r"is no kept baseline \(\$.calls: \[\] is not of type"),
        (lambda data: resealed([]), "is no kept baseline; record it again"),
    ],
)
def test_what_is_not_as_it_was_recorded_is_refused(path, change, told):
    path.write_bytes(change(path.read_bytes()))
    with pytest.raises(UsageError, match=told) as caught:
        tape.read(path)

    assert "\n" not in str(caught.value)


def test_a_file_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(UsageError, match="no kept baseline can be read"):
        tape.read(tmp_path / "none")


def test_the_run_that_was_recorded_is_taken_and_another_refused():
    made().refuse_other(SMOKE, 3)
    with pytest.raises(UsageError, match="was asked with --seed 3, not 4; give that one"):
        made().refuse_other(SMOKE, 4)
    with pytest.raises(UsageError, match=r"was asked the suite smoke/v1 of digest .*, not core/v1 of"):
        made().refuse_other(loader.load("core"), 3)


def test_a_key_differs_where_anything_asked_differs():
    asked = [("law", [1], {"t": 0.5}), ("law", [1], {"t": 0.6}), ("law", [2], {"t": 0.5}), ("score", [1], {"t": 0.5})]

    assert len({tape.key(*one) for one in asked}) == 4
    assert tape.key("law", [1], {"t": 0.5}) == tape.key("law", (1,), {"t": 0.5})
