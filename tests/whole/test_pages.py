"""The pages say what is so: tables are the registries', commands exist, links lead somewhere."""

from __future__ import annotations

import re
import shlex
import tomllib
from pathlib import Path

import pytest

from draftgate import harness
from draftgate.canaries.checks.registry import CHECKS
from repository import ROOT, committed, script

README = (ROOT / "README.md").read_text(encoding="utf-8")
PAGES = [path for path in committed() if path.suffix == ".md"]
CONSOLE = re.compile(r"```console\n(.*?)```", re.DOTALL)
INLINE = re.compile(r"`(draftgate(?: [^`]*)?|python [^`]*)`")
LINK = re.compile(r"\]\((?!https?://)([^)#]+)\)")
regenerate = script("regenerate")


def text(page):
    return (ROOT / page).read_text(encoding="utf-8")


def commands(page):
    """Every command that a page shows, one program each."""
    shown = [line[2:] for block in CONSOLE.findall(text(page)) for line in block.splitlines() if line.startswith("$ ")]
    inline = [found for found in INLINE.findall(text(page)) if found not in ("draftgate", "python harness.py")]
    return [words for line in [*shown, *inline] for words in split(line)]


def split(line):
    words = shlex.split(line, comments=True)
    while "&&" in words:
        at = words.index("&&")
        yield words[:at]
        words = words[at + 1 :]
    yield words


def makefile_targets():
    return re.findall(r"^([a-z0-9_]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)


def refused(words):
    """Why a command cannot be given as it stands there; nothing where it can."""
    program, arguments = Path(words[0]).name, words[1 : words.index(">") if ">" in words else None]
    if program == "draftgate":
        return understood(arguments)
    if program == "make":
        return "" if arguments[0] in makefile_targets() else f"no target {arguments[0]}"
    if program == "pip":
        return installable(arguments)
    if program.startswith("python"):
        return startable(arguments)
    return "" if words[0] in ("echo", "$", ".ci/run") else f"what is {program}?"


def understood(arguments):
    if arguments == ["engines"] or "--help" not in arguments:
        try:
            harness._parser().parse_args(arguments)
        except Exception as error:  # noqa: BLE001 - whatever it says, the page is wrong
            return str(error)
    return ""


def installable(arguments):
    extras = tomllib.loads(text("pyproject.toml"))["project"]["optional-dependencies"]
    if arguments[0] != "install":
        return f"pip {arguments[0]}"
    for word in arguments[1:]:
        extra = re.fullmatch(r"\.\[(\w+)\]", word)
        if extra and extra[1] not in extras:
            return f"no extra {extra[1]}"
    return "" if "--constraint" not in arguments or "constraints.txt" in arguments else "which constraints?"


def startable(arguments):
    if arguments[0] != "-m":
        return "" if (ROOT / arguments[0]).is_file() else f"no file {arguments[0]}"
    if not arguments[1].startswith("draftgate."):
        return "" if arguments[1] in ("venv", "pytest") else f"what is {arguments[1]}?"
    return "" if (ROOT / Path(*arguments[1].split(".")[1:])).with_suffix(".py").is_file() else f"no {arguments[1]}"


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_every_command_on_a_page_can_be_given(page):
    assert [f"{shlex.join(words)}: {refused(words)}" for words in commands(page) if refused(words)] == []


@pytest.mark.parametrize("words", ["draftgate runn", "make nothing", "python docs/none.py", "draftgate run --fast"])
def test_a_command_that_does_not_exist_is_seen(words):
    assert refused(words.split())


def test_the_readme_shows_its_commands():
    assert ["make", "run"] in commands("README.md")
    assert ["make", "test"] in commands("README.md")
    assert len(commands("README.md")) > 10


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_every_link_on_a_page_leads_somewhere(page):
    assert [link for link in LINK.findall(text(page)) if not (ROOT / page.parent / link).exists()] == []


@pytest.mark.parametrize("name", list(regenerate.tables()))
def test_a_table_is_what_the_registry_says(name):
    assert f"<!-- {name}: written by docs/regenerate.py -->\n{regenerate.tables()[name]}\n<!-- end -->" in README, (
        "run: python docs/regenerate.py"
    )


def test_every_check_has_its_question():
    assert list(regenerate.QUESTIONS) == list(CHECKS)


@pytest.mark.parametrize(("name", "verdict", "status"), [("honest", "PASS", 0), ("planted", "HOLD", 1)])
def test_the_first_screen_shows_real_output_of_both_runs(name, verdict, status):
    assert_real(regenerate.README, name, verdict, status)


@pytest.mark.parametrize(("name", "verdict", "status"), [("garbled", "HOLD", 1), ("repaired", "PASS", 0)])
def test_the_campaign_shows_real_output_of_both_commands(name, verdict, status):
    block = assert_real(regenerate.CAMPAIGN, name, verdict, status)

    assert all(f" {head}" in block for head in ("TTFT s", "tok/s", "E2E s", "kept"))


def assert_real(page, name, verdict, status):
    """The block of a run, which shows its command, its verdict and its status."""
    (command, _), shown = regenerate.RUNS[page][name], page.read_text(encoding="utf-8")
    begin = shown.index(f"<!-- {name}: written by docs/regenerate.py -->")
    block = shown[begin : shown.index("<!-- end -->", begin)]

    assert f"$ {command}\n" in block
    assert f" {verdict}: " in block
    assert block.rstrip().endswith(f"$ echo $?\n{status}\n```")
    return block


def test_the_campaigns_figures_are_computed_as_it_says():
    page = text("examples/campaign.md")
    decoding = 7.68889 - 0.91961

    assert f"1,024 / (7.68889 - 0.91961) = {1024 / decoding:.2f}" in page
    assert f"1,023 / (7.68889 - 0.91961) = {1023 / decoding:.2f}" in page
    assert f"834 / 3 = {834 // 3}" in page
    assert f"278 + 830 = {278 + 830:,}" in page


def test_decisions_are_numbered_and_say_context_decision_and_price():
    pages = sorted(page for page in PAGES if page.parent.name == "decisions")

    assert [page.name[:4] for page in pages] == [f"{n:04d}" for n in range(1, len(pages) + 1)]
    for page in pages:
        assert [w for w in ("**Context.**", "**Decision.**", "**Price.**") if w not in text(page)] == []


def test_the_changelog_speaks_of_this_version_or_of_what_comes_next():
    version = tomllib.loads(text("pyproject.toml"))["project"]["version"]

    assert re.search(rf"^## \[(Unreleased|{re.escape(version)})\]", text("CHANGELOG.md"), re.MULTILINE)


def test_versions_on_a_page_are_the_tested_ones():
    named = {found for page in PAGES for found in re.findall(r"\b[a-z]+==[0-9.]+[0-9]", text(page))}

    assert named - set(text("constraints.txt").splitlines()) == set()
