from hashlib import sha256

import pytest

from draftgate.suites import digests
from draftgate.suites.errors import SuiteEdited, SuiteMalformed
from draftgate.suites.loader import SHIPPED


def test_untouched_files_are_verified(folder):
    assert set(digests.verified(folder)) == {"suite.toml", "exact.jsonl", "json.jsonl", "prose.jsonl"}


def test_one_flipped_byte_is_seen(folder):
    path = folder / "prose.jsonl"
    content = bytearray(path.read_bytes())
    content[-2] ^= 1
    path.write_bytes(content)

    with pytest.raises(SuiteEdited, match=r"prose\.jsonl changed after it was frozen"):
        digests.verified(folder)


def test_the_identity_is_the_digest_of_the_digests_file(folder):
    expected = sha256((folder / "DIGESTS").read_bytes()).hexdigest()

    assert digests.digest(folder) == expected


def test_the_identity_does_not_depend_on_the_order_of_lines(folder):
    before = digests.digest(folder)
    lines = (folder / "DIGESTS").read_text("utf-8").splitlines(keepends=True)
    (folder / "DIGESTS").write_text("".join(reversed(lines)), "utf-8")

    assert digests.digest(folder) == before


def test_the_identity_changes_with_a_file_name():
    assert digests.identity(digests.sums({"a": b"x"})) != digests.identity(digests.sums({"b": b"x"}))


@pytest.mark.parametrize("line", ["3f2a  exact.jsonl", "0" * 64 + "  ../exact.jsonl", "0" * 64 + "  suite.toml"])
def test_a_broken_or_repeated_line_of_digests_is_refused_with_its_number(folder, line):
    with (folder / "DIGESTS").open("a", encoding="utf-8") as file:
        file.write(line + "\n")

    with pytest.raises(SuiteEdited, match=r"DIGESTS:5: not a new `sha256  filename`: .*; copy the suite to v2/"):
        digests.digest(folder)


def test_a_subfolder_is_refused(folder):
    (folder / "drafts").mkdir()

    with pytest.raises(SuiteMalformed, match="drafts is a folder, and a suite is flat; move it elsewhere"):
        digests.verified(folder)


def test_shipped_files_are_shown_from_the_package_on_and_others_as_given(folder):
    assert digests.shown(SHIPPED / "core" / "v1" / "exact.jsonl") == "suites/core/v1/exact.jsonl"
    assert digests.shown(folder) == str(folder)


def test_outside_a_version_folder_the_advice_names_no_version(tmp_path):
    assert digests.advice(tmp_path / "v9") == "copy the suite to v10/ and freeze that"
    assert digests.advice(tmp_path / "mine") == "copy the suite to a new folder and freeze that"
