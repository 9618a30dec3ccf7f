"""A plot is well-formed SVG whose points stand where they should."""

from xml.etree import ElementTree as ET

import pytest

from draftgate.canaries.report.dots import LEFT, RIGHT, WIDTH, Dot, Row, plot

SVG = "{http://www.w3.org/2000/svg}"


def drawn(*rows, **more):
    return ET.fromstring(plot("Kept & lost", rows, **{"least": 0.0, "most": 1.0, "step": 0.5} | more))


def test_points_stand_between_the_ends_of_the_axis():
    tree = drawn(Row("a", [Dot("one", 0.0, 0.0, 0.0), Dot("two", 1.0, 1.0, 1.0)]), Row("b", [Dot("one", 0.5, 0, 1)]))
    circles = [float(circle.get("cx")) for circle in tree.iter(f"{SVG}circle")]

    assert [LEFT, WIDTH - RIGHT, (LEFT + WIDTH - RIGHT) / 2] == circles


def test_every_series_has_its_colour_and_its_name():
    tree = drawn(Row("a", [Dot("one", 0, 0, 0), Dot("two <", 1, 1, 1)]))
    colours = [circle.get("fill") for circle in tree.iter(f"{SVG}circle")]

    assert 2 == len(set(colours))
    assert colours == [span.get("fill") for span in tree.iter(f"{SVG}tspan")]
    assert ["● one", "● two <"] == [span.text for span in tree.iter(f"{SVG}tspan")]


def test_an_interval_goes_from_its_low_to_its_high_end():
    text = plot("x", [Row("a", [Dot("one", 0.5, 0.0, 1.0)])], least=0.0, most=1.0, step=0.5)

    assert f'd="M{LEFT:.1f} 47.0H{WIDTH - RIGHT:.1f}"' in text


def test_the_axis_is_labelled_at_every_step_both_ends_included():
    tree = drawn(Row("a", [Dot("one", 0.5, 0.5, 0.5)]), step=0.2)

    assert ["0", "0.2", "0.4", "0.6", "0.8", "1"] == [
        t.text for t in tree.iter(f"{SVG}text") if "middle" in t.get("style")
    ]


@pytest.mark.parametrize("value", [-0.1, 1.1, float("nan")])
def test_a_point_beyond_the_axis_is_refused(value):
    with pytest.raises(ValueError, match="points must lie between"):
        drawn(Row("a", [Dot("one", value, value, value)]))


def test_a_plot_of_nothing_is_refused():
    with pytest.raises(ValueError, match="points must lie between"):
        drawn()
