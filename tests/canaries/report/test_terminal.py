"""The first screen says what may be done with the number, at any width and without colour."""

from __future__ import annotations

import io
from dataclasses import replace

import pytest
from rich.console import Console

from cases import HEADER, failing, held_case, honest_case, honest_findings
from draftgate.canaries.contracts import Finding, Reason, Status
from draftgate.canaries.reasons import REASONS
from draftgate.canaries.report.terminal import show, show_choices
from draftgate.canaries.summary import summarise


def screen(case, width=100, **options):
    stream = io.StringIO()
    show(summarise(case), Console(file=stream, width=width, highlight=False, **options))
    return stream.getvalue()


def words(text):
    """The text without line breaks and borders, so that a sentence is found at every width."""
    return " ".join(text.replace("│", " ").split())


@pytest.mark.parametrize("width", [60, 100])
def test_a_pass_is_said_first_with_the_figure_its_interval_and_plain_against_plain(width):
    text = words(screen(honest_case(), width))

    assert "PASS: this speed result may be quoted, within its scope." in text
    assert "1.72x [1.65, 1.79] at 95% confidence, 24 pairs, cell b1" in text
    assert "Plain against plain [0.98, 1.02]" in text
    assert "NOT PUBLISHABLE" not in text
    assert "at fault" not in text
    assert text.index("PASS") < text.index("1.72x") < text.index("Not looked at") < text.index("Checks by cell")


@pytest.mark.parametrize("width", [60, 100])
def test_a_hold_names_the_culprit_the_meaning_the_next_step_and_what_reproduces_it(width):
    text = words(screen(held_case(), width))

    assert "HOLD: this speed result is not publishable." in text
    assert "The ENGINE is at fault." in text
    assert "1.72x NOT PUBLISHABLE" in text
    assert "exact_tokens (b8): exact_tokens failed" in text
    assert f"means: {REASONS[Reason.CORRECTNESS].means}" in text
    assert f"next: {REASONS[Reason.CORRECTNESS].next}" in text
    assert "to reproduce: json-03, json-07" in text


@pytest.mark.parametrize("width", [60, 100])
def test_both_say_what_was_not_looked_at_and_what_would_have_been_seen(width):
    for case in (honest_case(), held_case()):
        text = words(screen(case, width))

        assert "law (b1, b8): greedy decoding has no law to test" in text
        assert "- servers under load" in text
        assert "exact_tokens (b1, b8): one wrong token in 500" in text
        assert "held by chance at most once in 1,000,000 runs" in text


@pytest.mark.parametrize("width", [60, 100])
def test_the_details_show_both_arms_and_acceptance_by_position(width):
    text = words(screen(honest_case(), width))

    assert "b1 baseline 0.100 20.00 50.0 2.50" in text
    assert "b1 candidate 0.100 11.60 86.2 2.50" in text
    assert "b1 1: 82% 2: 71% 732 of 1,200 drafted tokens kept, 3.44 tokens a round" in text


@pytest.mark.parametrize("width", [60, 100])
def test_no_line_is_wider_than_the_terminal(width):
    wide = Finding(check="c" * 70, cell="b1", status=Status.PASS, summary="")
    for case in (honest_case(), held_case(), honest_case(findings=[*honest_findings(), wide])):
        assert max(len(line) for line in screen(case, width).splitlines()) <= width


def test_the_matrix_tells_a_missing_check_from_one_that_failed():
    findings = [finding for finding in held_case().findings if (finding.check, finding.cell) != ("speed", "b1")]

    text = words(screen(honest_case(findings=findings)))

    assert "exact_tokens* pass FAIL" in text
    assert "speed* miss pass" in text


@pytest.mark.parametrize(
    ("reason", "sentence"),
    [
        (Reason.BASELINE_UNSTABLE, "The BASELINE is at fault: nothing was shown against speculation."),
        (Reason.INCOMPLETE, "The EVIDENCE is at fault: nothing was shown against the engine."),
        (Reason.DISTRIBUTION, "The ENGINE is at fault."),
    ],
)
def test_who_is_at_fault_is_said_in_the_banner(reason, sentence):
    assert sentence in words(screen(honest_case(findings=[*honest_findings(), failing("extra", "b1", reason)])))


def test_the_engine_is_explained_before_the_evidence():
    findings = [failing("exact_tokens", "b8")]

    text = words(screen(honest_case(findings=findings)))

    assert text.index("CORRECTNESS (engine)") < text.index("INCOMPLETE (evidence)")


def test_a_lossy_candidate_is_a_measurement():
    text = words(screen(honest_case(guarantee="NONE"), 60))

    assert "LOSSY: the candidate declares another distribution; this is a measurement, not a result." in text
    assert "NOT PUBLISHABLE" in text


def test_a_run_without_speed_or_findings_can_be_shown():
    text = words(screen(honest_case(findings=[], cells=(), ledger=[])))

    assert "No speed was measured." in text
    assert "HOLD" in text


def test_figures_that_are_missing_are_dashes():
    bare = [replace(f, figures={"ratio": None}) if f.figures else f for f in honest_findings()]

    text = words(screen(honest_case(findings=bare)))

    assert "-x [-, -]" in text
    assert "b1 baseline - - - -" in text


def test_what_a_model_wrote_neither_styles_the_report_nor_moves_the_cursor():
    nasty = "[bold red]PASS[/] \x1b[2J\x07\r\u202e\ud800\n:smile:"
    text = screen(honest_case(findings=[failing("exact_tokens", "b1", reproduce=(nasty,))]))

    assert "[bold red]PASS[/]" in text
    assert ":smile:" in text
    assert r"\x1b[2J\x07\r\u202e\ud800\n" in text
    assert not set(text) & set("\x1b\x07\r\u202e\ud800")


def test_no_colour_where_none_is_wanted_and_colour_where_it_is(monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")
    plain = screen(held_case(), force_terminal=True)
    monkeypatch.delenv("NO_COLOR")
    coloured = screen(held_case(), force_terminal=True, color_system="standard")

    assert "\x1b[1;31m" not in plain
    assert "\x1b[1;31m" in coloured
    assert words(screen(held_case())).startswith("╭")


def test_a_planted_fault_is_said_in_the_banner():
    assert "Planted on purpose: F06." in words(screen(held_case(header=HEADER | {"fault": "F06"})))
    assert "planted" not in words(screen(held_case()))


def test_choices_are_a_table_with_items_by_name_and_digests_shortened():
    stream = io.StringIO()

    rows = [
        {"name": "plain", "options": ["k", "model"], "digest": "0" * 64},
        {"name": "x", "items": [{"id": "json-1"}]},
    ]
    show_choices(rows, Console(file=stream, width=100))

    text = words(stream.getvalue())
    assert "plain k, model 000000000000" in text
    assert "0" * 13 not in text
    assert "x json-1" in text


KEPT = HEADER | {"baseline": HEADER["baseline"] | {"kept": {"recorded": "then", "sha256": "ab"}}}


@pytest.mark.parametrize(
    ("case", "sentence"),
    [
        (honest_case, "PASS: correctness only; no speed ratio is claimed."),
        (held_case, "HOLD: this candidate is not shown to be right."),
    ],
)
def test_beside_a_kept_baseline_no_figure_is_shown(case, sentence):
    text = words(screen(case(header=KEPT)))

    assert sentence in text
    assert "Speed not claimed: the baseline was kept from another hour." in text
    assert "1.72x" not in text
    assert "speed result" not in text


FORETOLD = {"ratio": 1.5, "low": 1.45, "high": 1.55, "tokens_a_round": 3.4, "wider": 1.3, "width": 4.0, "c": 0.25}


def foretold(*, exceeded):
    more = {"predicted": FORETOLD | {"ideal": 1.7, "exceeded": exceeded}}
    return [replace(one, figures={**one.figures, **more}) if one.check == "speed" else one for one in honest_findings()]


@pytest.mark.parametrize("width", [60, 100])
def test_what_was_predicted_stands_beside_what_was_measured(width):
    text = words(screen(honest_case(findings=foretold(exceeded=False)), width))

    assert "Predicted 1.50x [1.45, 1.55] from 3.40 tokens a round that costs 1.30 + 4 x 0.25 plain steps" in text
    assert "Predicted beside measured" in text
    assert "lies above" not in text
    assert "Predicted" not in words(screen(honest_case(), width))


def test_a_speed_or_a_claim_above_its_bound_is_said_to_be():
    beyond, claimed = (
        words(screen(honest_case(findings=foretold(exceeded=exceeded), claim=claim)))
        for exceeded, claim in ((True, None), (False, 1.6))
    )

    assert "The measured speed lies above what these rounds and their costs allow." in beyond
    assert "The claim lies above what these rounds and their costs allow, 1.55x." in claimed
