"""What cannot be meant is refused in one line."""

import argparse

import pytest

from draftgate import harness
from draftgate.canaries.roofline import options
from draftgate.canaries.roofline.options import amount, count, counts, roofline, share


def test_without_arguments_it_is_the_example_of_the_seeds():
    parser = argparse.ArgumentParser()
    roofline(parser)
    asked = parser.parse_args([])

    assert ("h100-sxm5", 70e9, 2.0, 0.8, 4) == (asked.device, asked.parameters, asked.bytes, asked.acceptance, asked.k)
    assert not asked.measure
    assert asked.save is None


def test_lists_are_in_order_and_hold_nothing_twice():
    assert (1, 4, 16) == counts("16,1,4,1")


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        (count, "0"),
        (count, "1.5"),
        (count, "99999999"),
        (share, "1.1"),
        (share, "nan"),
        (counts, "1,,2"),
        (counts, ""),
        (amount, "-1"),
        (amount, "inf"),
    ],
)
def test_numbers_that_are_none_are_refused(kind, text):
    with pytest.raises(argparse.ArgumentTypeError, match=r"whole number|from 0 to 1|above 0"):
        kind(text)


def test_ends_of_their_range_are_taken():
    assert [1, options.LARGEST] == [count("1"), count(str(options.LARGEST))]
    assert [0.0, 1.0] == [share("0"), share("1")]
    assert [0.0, 0.5] == [amount("0"), amount("0.5")]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["tpu"], "no device 'tpu' is known; name one of h100-sxm5"),
        (["--k", "0"], "argument --k: 0 is not a whole number from 1"),
        (["--acceptance", "2"], "argument --acceptance: 2 does not lie from 0 to 1"),
        (["--parameters", "-1"], "argument --parameters: -1 is not above 0"),
        (["--save", "x.json"], "--save is about this machine; add --measure"),
        (["--model", "x"], "--model is about this machine; add --measure"),
        (["--measured", "nowhere.json"], "nowhere.json cannot be read"),
        (["--measure", "--measured", "x"], "not allowed with argument"),
        (["--measure", "--model", "nowhere"], "no model at nowhere"),
        (["--measure", "--save", "."], ". cannot be written; choose another --save"),
        (["--measure", "--context", "16000"], "--context and --widths reach 16009 tokens, the target takes"),
    ],
)
def test_bad_input_is_one_line_and_status_2(arguments, told, capsys):
    status = harness.main(["roofline", *arguments])

    line = capsys.readouterr().err
    assert told in line
    assert 1 == line.count("\n")
    assert (3 if "written" in told else 2) == status
