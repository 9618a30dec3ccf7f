"""Blocks are exchanged where they stand, and only there."""

from __future__ import annotations

import pytest

from repository import script

regenerate = script("regenerate")
BEGIN = "<!-- faults: written by docs/regenerate.py -->"


def test_a_block_is_exchanged_and_the_rest_stays():
    text = f"before\n{BEGIN}\nold\nolder\n<!-- end -->\nafter\n"

    assert regenerate.replaced(text, {"faults": r"new \1"}) == f"before\n{BEGIN}\nnew \\1\n<!-- end -->\nafter\n"


def test_writing_twice_changes_nothing():
    text = f"{BEGIN}\n<!-- end -->\n"
    once = regenerate.replaced(text, {"faults": "new"})

    assert regenerate.replaced(once, {"faults": "new"}) == once


def test_a_block_that_the_page_does_not_have_is_told():
    with pytest.raises(SystemExit, match="no block"):
        regenerate.replaced("", {"faults": "new"})


def test_a_command_is_shown_with_its_output_up_to_a_heading_and_its_status():
    first, *shown, fold, asked, status, last = regenerate.shown("draftgate suite list", "smoke").splitlines()

    assert (first, shown[0]) == ("```console", "$ draftgate suite list")
    assert any(line.startswith("core ") for line in shown)
    assert (fold, asked, status, last) == ("[...]", "$ echo $?", "0", "```")


def test_a_command_that_failed_is_not_shown():
    with pytest.raises(SystemExit, match="status 2 and no report"):
        regenerate.shown("draftgate suite check nothing", "smoke")
