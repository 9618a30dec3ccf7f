import pytest

from draftgate import testing
from draftgate.canaries.samplers.faults import innocent, rules
from draftgate.testing import assert_follows, assert_invariants, assert_lossless


def test_a_lossless_sampler_passes_and_the_summary_comes_back():
    assert "PASS" == assert_lossless(innocent.token, effect=0.05)["verdict"]


def test_a_wrong_one_fails_with_its_reason_and_its_smallest_laws():
    with pytest.raises(AssertionError, match=r"(?s)HOLD  accept_everything.*DISTRIBUTION.*smallest failing laws"):
        assert_lossless(rules.accept_everything)


def test_a_broken_contract_fails_without_a_search():
    with pytest.raises(AssertionError, match="wrote to target_probs"):
        assert_lossless(rules.writes_to_target)


@pytest.mark.parametrize("name", testing._HOMES)
def test_every_adapter_is_at_hand(name):
    assert callable(getattr(testing, name))


def test_what_is_not_there_is_missed():
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = testing.nothing


def test_one_example_can_be_pasted_as_a_test():
    laws = {"target": [["1/2", "1/2"], [0.25, 0.75]], "draft": [["1", "0"]]}
    assert_follows(innocent.token, **laws)

    with pytest.raises(AssertionError, match="its chance is"):
        assert_follows(rules.accept_everything, **laws)


@pytest.mark.parametrize(
    "laws", [{"target": [["1/2", "1/3"]] * 2, "draft": [["1", "0"]]}, {"target": [["1", "0"]], "draft": [["1", "0"]]}]
)
def test_laws_that_are_none_are_refused(laws):
    with pytest.raises(ValueError, match="law"):
        assert_follows(innocent.token, **laws)


def test_invariants_hold_for_a_lossless_sampler():
    assert_invariants(innocent.token, examples=5)


def test_a_broken_invariant_is_named_with_its_laws():
    with pytest.raises(AssertionError, match=r"(?s)^relabelling: smallest failing laws.*its chance is"):
        assert_invariants(rules.accept_everything)
