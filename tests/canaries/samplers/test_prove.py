"""The command that proves the rules: what it prints, what it keeps, and how it ends."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import partial

import pytest

from draftgate.canaries import record
from draftgate.canaries.report.progress import Silent
from draftgate.canaries.samplers import prove
from draftgate.canaries.samplers.proofs.rules import RULES
from wrong_rules import WRONG_BLOCKS, block


@pytest.fixture
def wrong(monkeypatch):
    """Block verification with a slip in its place."""
    slip = partial(block, slip=WRONG_BLOCKS["the last token from p"])
    monkeypatch.setitem(prove.RULES, "block", replace(RULES["block"], accept=slip))


def test_a_rule_is_proved_and_its_acceptance_shown(capsys):
    assert 0 == prove.main(["token", "block", "--cases", "20"])
    token, blocks = capsys.readouterr().out.splitlines()

    assert token.startswith("token  proved on 20 cases; accepts ")
    assert "of at most" in blocks
    assert "token rule" in blocks


def test_a_slip_is_refuted_with_the_smallest_case(wrong, capsys):
    assert 1 == prove.main(["block", "--cases", "20"])
    lines = capsys.readouterr().out.splitlines()

    assert lines[0].startswith("block  REFUTED on 20 cases")
    assert "cases: not the target's law, by up to " in lines[1]
    assert ["  smallest failing case:", "  K = 1, V = 2"] == lines[-4:-2]


def test_json_is_one_document_with_the_same_figures(capsys):
    assert 0 == prove.main(["token", "--cases", "5", "--json"])
    (proof,) = json.loads(capsys.readouterr().out)

    assert ("token", 5, [], "0", []) == tuple(proof[key] for key in ("rule", "cases", "wrong", "worst", "example"))
    assert proof["seconds"] > 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["blocks"], "there is no rule 'blocks'; take from 'token', 'block'"),
        (["--cases", "0"], "'0' is no number of cases"),
        (["--cases", "many"], "'many' is no number of cases"),
        (["--resume"], "add --out"),
        (["--fast"], "unrecognized arguments"),
    ],
)
def test_a_mistake_is_one_line(words, message, capsys):
    assert 2 == prove.main(words)
    said = capsys.readouterr().err

    assert message in said
    assert said.count("\n") == 1


def test_what_was_proved_before_it_was_stopped_is_not_proved_again(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(prove, "PART", 5)
    made = []

    def part(rule, indices, seed):
        made.append(indices)
        if len(made) == 3:
            raise KeyboardInterrupt
        return real(rule, indices, seed)

    real = prove.prove_part
    monkeypatch.setattr(prove, "prove_part", part)
    words = ["token", "--cases", "15", "--out", str(tmp_path / "proof")]

    assert 3 == prove.main(words)
    assert f"--out {tmp_path / 'proof'} --resume" in capsys.readouterr().err
    assert 2 == prove.main(words)
    assert 0 == prove.main([*words, "--resume"])
    assert [range(5), range(5, 10), range(10, 15), range(10, 15)] == made
    assert "proved on 15 cases" in capsys.readouterr().out
    assert record.read(tmp_path / "proof").ended


def test_a_record_of_other_code_or_another_seed_is_no_proof_of_this(tmp_path, monkeypatch, capsys):
    words = ["token", "--cases", "2", "--out", str(tmp_path)]
    assert 0 == prove.main(words)
    assert 2 == prove.main([*words, "--seed", "1", "--resume"])
    monkeypatch.setattr(prove, "digest", lambda: "of other code")
    assert 2 == prove.main([*words, "--resume"])

    assert "recorded with another suite.digest" in capsys.readouterr().err


def test_the_digest_is_that_of_the_files_a_proof_rests_on(monkeypatch):
    before = prove.digest()
    monkeypatch.setattr(prove, "PROVED", prove.PROVED[1:])

    assert before != prove.digest()
    assert 64 == len(before)


def test_every_part_is_announced():
    seen = []

    class Shown(Silent):
        def total(self, n):
            seen.append(n)

        def step(self, name):
            seen.append(name)

    prove.prove([RULES["token"]], cases=3, seed=0, step=lambda _, compute: compute(), shown=Shown())

    assert [1, "token"] == seen
