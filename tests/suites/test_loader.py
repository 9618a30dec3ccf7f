import shutil
import subprocess
import sys

import pytest

from draftgate.suites import loader
from draftgate.suites.errors import SuiteEdited, SuiteMalformed, SuiteUnknown
from draftgate.suites.loader import available, check, digest, freeze, load, verified
from draftgate.suites.suite import KINDS

FLAG = "import sys, draftgate.suites.loader; print(sorted({'jsonschema', 'torch', 'numpy'} & sys.modules.keys()))"


def refusal(error, folder) -> str:
    """The one line with which the loader refuses a folder."""
    with pytest.raises(error) as caught:
        load(str(folder))
    assert "\n" not in str(caught.value)
    return str(caught.value).removeprefix(f"{folder}/")


def test_the_shipped_suites_are_as_they_were_frozen():
    rows = [(row.name, row.version, row.canaries, row.cells) for row in available()]

    assert rows == [
        (
            "core",
            "v1",
            dict.fromkeys(KINDS, 12),
            ("greedy-1", "greedy-8", "topk-8", "topp-8", "topk-1", "topp-1"),
        ),
        ("fewshot", "v1", dict.fromkeys(KINDS, 6), ("greedy-1", "greedy-4", "topk-4")),
        (
            "serving",
            "v1",
            dict.fromkeys(KINDS, 4) | {"identifiers": 12, "multi_turn": 7},
            ("greedy-1", "greedy-8", "topp-8"),
        ),
        ("smoke", "v1", dict.fromkeys(KINDS, 3), ("greedy-1", "topp-8")),
        ("sampler", "v1", {"laws": 13}, ("small", "middle", "large")),
    ]


@pytest.mark.parametrize("name", ["sampler", "sampler/v1", str(loader.SHIPPED / "sampler" / "v1"), "core"])
def test_suites_of_either_sort_are_checked(name):
    assert verified(name).name in ("sampler", "core")


def test_an_edited_suite_for_samplers_is_refused(tmp_path):
    shutil.copytree(loader.SHIPPED / "sampler" / "v1", tmp_path / "v1")
    (tmp_path / "v1" / "suite.toml").write_text("effect = 1", "utf-8")

    with pytest.raises(SuiteEdited):
        verified(str(tmp_path / "v1"))


@pytest.mark.parametrize("name", ["core", "core/v1", str(loader.SHIPPED / "core" / "v1")])
def test_a_suite_is_found_by_name_version_or_path(name):
    suite = load(name)

    assert (suite.name, suite.version) == ("core", "v1")
    assert suite.digest == digest(loader.SHIPPED / "core" / "v1")


def test_a_bare_name_means_the_newest_version_by_number(tmp_path, monkeypatch):
    for version in ("v1", "v9", "v10"):
        copy = tmp_path / "smoke" / version
        shutil.copytree(loader.SHIPPED / "smoke" / "v1", copy)
        settings = (copy / "suite.toml").read_text("utf-8")
        (copy / "suite.toml").write_text(settings.replace('"v1"', f'"{version}"'), "utf-8")
        freeze(copy, unreleased=True)
    monkeypatch.setattr(loader, "SHIPPED", tmp_path)

    assert load("smoke").version == "v10"
    assert [row.version for row in available()] == ["v1", "v9", "v10"]


@pytest.mark.parametrize("name", ["cores", "core/v9", "./nowhere"])
def test_an_unknown_name_is_refused_with_those_that_exist(name):
    with pytest.raises(SuiteUnknown) as caught:
        load(name)

    known = "core/v1, fewshot/v1, serving/v1, smoke/v1"
    expected = f"no suite is called '{name}'; there are {known}, or give the path of a folder"
    assert str(caught.value) == expected


def test_an_edited_file_is_refused_with_both_digests(folder, rewrite):
    rewrite("suite.toml", "miss = 1e-3", "miss = 1e-1")
    said = next(line[:4] for line in (folder / "DIGESTS").read_text("utf-8").splitlines() if "suite.toml" in line)

    line = refusal(SuiteEdited, folder)
    assert line.startswith("suite.toml changed after it was frozen (sha256 ")
    assert line.endswith(f"…, DIGESTS says {said}…); copy the suite to v2/ and freeze that")


def test_a_missing_file_is_refused(folder):
    (folder / "prose.jsonl").unlink()

    expected = "prose.jsonl is missing, but DIGESTS lists it; restore it, or copy the suite to v2/ and freeze that"
    assert refusal(SuiteEdited, folder) == expected


def test_an_added_file_is_refused(folder):
    (folder / "notes.txt").write_text("hello", "utf-8")

    expected = "notes.txt was added after the suite was frozen; remove it, or copy the suite to v2/ and freeze that"
    assert refusal(SuiteEdited, folder) == expected


def test_a_folder_that_was_never_frozen_is_refused(folder):
    (folder / "DIGESTS").unlink()

    expected = f"{folder} has no DIGESTS: it was never frozen; freeze it first"
    assert refusal(SuiteMalformed, folder) == expected


def test_an_edit_is_reported_before_what_it_broke(folder):
    (folder / "suite.toml").write_text("not TOML at all", "utf-8")

    assert refusal(SuiteEdited, folder).startswith("suite.toml changed after it was frozen")


def test_freezing_what_is_frozen_changes_nothing(folder):
    before = (folder / "DIGESTS").read_bytes()

    assert freeze(folder) == digest(folder) == check(folder).digest
    assert (folder / "DIGESTS").read_bytes() == before


def test_a_frozen_suite_is_not_frozen_anew(folder, rewrite):
    rewrite("suite.toml", "miss = 1e-3", "miss = 1e-1")
    before = (folder / "DIGESTS").read_bytes()

    with pytest.raises(SuiteEdited, match="is frozen with other content; copy the suite to v2/ and freeze that"):
        freeze(folder)
    assert (folder / "DIGESTS").read_bytes() == before


def test_an_unreleased_suite_is_frozen_anew(folder, rewrite):
    before = digest(folder)
    rewrite("suite.toml", "miss = 1e-3", "miss = 1e-1")

    assert freeze(folder, unreleased=True) != before
    assert check(folder).design.miss == 0.1


def test_numbers_arrive_as_they_were_written():
    suite = load("core")

    assert suite.design.false_alarm == 1e-6
    assert suite.noise.widths == (2, 5, 9)
    assert suite.knobs.draft_lengths == tuple(range(1, 9))
    assert suite.cells[3].top_p == 0.9
    assert suite.cells[3].top_k == 0
    assert suite.cells[2].top_k == 20


def test_importing_the_loader_loads_nothing_heavy():
    done = subprocess.run([sys.executable, "-c", FLAG], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "[]"


def test_new_files_are_written_with_the_digests_or_not_at_all(folder):
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    with pytest.raises(SuiteEdited):
        freeze(folder, new={"more.txt": b"x"})

    assert before == {path.name: path.read_bytes() for path in folder.iterdir()}
    freeze(folder, unreleased=True, new={"more.txt": b"x"})
    assert b"x" == (folder / "more.txt").read_bytes()
    check(folder)
