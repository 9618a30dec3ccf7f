import pytest

from draftgate.suites import samplers
from draftgate.suites.errors import SuiteEdited, SuiteMalformed
from tolerances import ROUNDING

TEXT = (samplers.SHIPPED / "suite.toml").read_bytes()


def test_the_suite_that_ships_is_frozen_and_complete():
    suite = samplers.load()

    assert ("sampler", "v1") == (suite.name, suite.version)
    assert (1e-6, 1e-6, 0.01, 0.02) == (
        suite.design.false_alarm, suite.design.miss, suite.design.effect, suite.design.effect_per_sequence,
    )  # fmt: skip
    assert {"small", "middle", "large"} == {bundle.name for bundle in suite.bundles}
    assert all(abs(sum(law) - 1) < ROUNDING for row in suite.rows for law in row)
    assert {32} == {len(law) for row in suite.rows for law in row}


def test_an_edited_suite_is_refused(tmp_path):
    (tmp_path / "suite.toml").write_bytes(TEXT.replace(b"1e-6", b"1e-2", 1))
    (tmp_path / "rows.json").write_bytes((samplers.SHIPPED / "rows.json").read_bytes())
    (tmp_path / "DIGESTS").write_bytes((samplers.SHIPPED / "DIGESTS").read_bytes())

    with pytest.raises(SuiteEdited, match="changed after it was frozen"):
        samplers.load(tmp_path)


@pytest.mark.parametrize("wrong", [TEXT + b"\nmore = 1\n", TEXT.replace(b"[wager]", b"[bets]"), b"not toml"])
def test_what_is_no_suite_is_refused_in_one_line(wrong):
    with pytest.raises(SuiteMalformed, match="not a suite for samplers"):
        samplers.parsed(wrong, b"[]", "", where="suite.toml")


def test_a_prompt_suite_is_none():
    with pytest.raises(SuiteMalformed):
        samplers.load(samplers.SHIPPED.parents[1] / "smoke" / "v1")
