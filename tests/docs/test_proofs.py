"""The table says what was proved, and stands where it stood."""

from __future__ import annotations

import pytest

from draftgate.canaries.errors import RecordBroken
from draftgate.canaries.samplers import prove
from repository import ROOT, script


@pytest.fixture
def proofs(tmp_path, monkeypatch):
    """The script, writing somewhere else."""
    module = script("proofs")
    monkeypatch.setattr(module, "RESULTS", tmp_path / "results.md")
    module.RESULTS.write_text("# Results\n\nbefore\n", encoding="utf-8")
    return module


def proved(folder, *words):
    assert prove.main([*words, "--cases", "4", "--out", str(folder)]) == 0
    return str(folder)


def test_each_rule_has_its_row_and_the_rest_of_the_page_stays(proofs, tmp_path, capsys):
    folder = proved(tmp_path / "proof", "token", "block")
    for _ in range(2):
        assert proofs.main([folder]) == 0
    page = proofs.RESULTS.read_text(encoding="utf-8")

    assert page.startswith("# Results\n\nbefore\n\n<!-- proofs")
    assert 1 == page.count("| token | 4 | 0 | 0 |") == page.count("| block | 4 | 0 | 0 |") == page.count("## Proofs")
    assert f"digest `{prove.digest()[:12]}`" in page


def test_half_a_proof_is_none(proofs, tmp_path, monkeypatch):
    folder = tmp_path / "proof"

    def stopped(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(prove, "prove_part", stopped)

    assert prove.main(["token", "--cases", "4", "--out", str(folder)]) == 3
    with pytest.raises(RecordBroken, match="no whole proof"):
        proofs.main([str(folder)])


def test_it_says_how_to_call_it(proofs, capsys):
    assert 2 == proofs.main([])
    assert "usage" in capsys.readouterr().err


def test_the_page_proves_every_rule_on_ten_thousand_cases():
    page = (ROOT / "docs" / "results.md").read_text(encoding="utf-8")

    assert [name for name in prove.RULES if f"| {name} | 10,000 | 0 | 0 |" not in page] == []
