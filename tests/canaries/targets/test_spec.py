"""How a target is named."""

import pytest

from draftgate.canaries.errors import UsageError
from draftgate.canaries.targets.spec import TargetSpec


@pytest.mark.parametrize(
    ("text", "name", "options"),
    [
        ("plain", "plain", {}),
        ("draft:k=4", "draft", {"k": "4"}),
        ("draft:k=4,model=/a/b=c", "draft", {"k": "4", "model": "/a/b=c"}),
        (" ngram : k = 2 ", "ngram", {"k": "2"}),
        ("draft:", "draft", {}),
    ],
)
def test_a_name_and_its_options_are_read(text, name, options):
    spec = TargetSpec.parse(text)

    assert (name, options) == (spec.name, spec.options)


def test_an_option_without_a_value_is_refused_in_one_line():
    with pytest.raises(UsageError, match="'k' in 'draft:k' has no value; write draft:k=VALUE") as caught:
        TargetSpec.parse("draft:k")

    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("text", ["draft:k=1,k=2", "draft:k=1, k =1"])
def test_an_option_given_twice_is_refused(text):
    with pytest.raises(UsageError, match="has two values; give 'k' once"):
        TargetSpec.parse(text)


def test_a_whole_number_is_read_and_a_missing_one_is_the_default():
    assert TargetSpec("draft", {"k": "7"}).whole("k", 4, least=1) == 7
    assert TargetSpec("draft").whole("k", 4) == 4


@pytest.mark.parametrize("text", ["0", "-1", "1.5", "", "four", "--3", "+2", "1e3", "-"])
def test_what_is_no_whole_number_of_at_least_one_is_refused_in_one_line(text):
    with pytest.raises(UsageError, match="is not a whole number from 1 to 64") as caught:
        TargetSpec("draft", {"k": text}).whole("k", 4, least=1)

    assert "\n" not in str(caught.value)


def test_an_unknown_option_is_refused_and_the_known_ones_are_named():
    TargetSpec("draft", {"k": "1"}).refuse_unknown(("k", "model"))

    with pytest.raises(UsageError, match="target 'draft' has no option 'depth'; options: k, model"):
        TargetSpec("draft", {"depth": "1"}).refuse_unknown(("k", "model"))
    with pytest.raises(UsageError, match="it takes none"):
        TargetSpec("plain", {"k": "1"}).refuse_unknown(())


def test_a_share_lies_between_0_and_1():
    assert [0.4, 0.25] == [TargetSpec("draft", {"confidence": text}).share("confidence") for text in ("0.4", ".25")]


@pytest.mark.parametrize("text", ["0", "0.0", "1", "1.5", "-0.4", "0.4x", "nan", "1e-3", ""])
def test_what_is_no_share_is_refused_in_one_line(text):
    with pytest.raises(UsageError, match=r"is not a number between 0 and 1, such as 0\.4") as caught:
        TargetSpec("draft", {"confidence": text}).share("confidence")

    assert "\n" not in str(caught.value)
