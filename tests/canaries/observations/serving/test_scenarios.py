"""Every scenario says which labels it has, who answers in them, and what they must have met."""

import pytest
from loads import honest, suite

from draftgate.canaries.observations.serving.scenarios import SCENARIOS, asked_for, edges, labels


@pytest.mark.parametrize("name", SCENARIOS)
def test_what_is_observed_has_the_labels_and_the_names_that_are_stated(name):
    numbers, found = suite().serving, honest(name)

    assert list(labels(numbers, name)) == list(found["variants"])
    assert asked_for(suite(), numbers, name) == [answer["name"] for answer in found["plain"]]


@pytest.mark.parametrize("name", SCENARIOS)
def test_a_label_whose_rounds_must_be_anothers_names_one_of_the_same_scenario(name):
    wanted = labels(suite().serving, name)

    assert {one.as_in for one in wanted.values()} - {None} <= wanted.keys()


def test_rows_give_way_and_prefixes_are_found_where_the_scenario_is_about_that():
    assert honest("preemption")["variants"]["tight"]["met"]["preempted"] > 0
    assert honest("preemption")["variants"]["roomy"]["met"]["preempted"] == 0
    assert honest("traffic")["variants"]["call 2"]["met"]["hits"] > 0
    assert honest("traffic")["variants"]["another tenant"]["met"]["hits"] == 0


def test_prompts_lie_about_the_edge_of_the_window():
    assert (47, 48, 49, 96) == edges(48)
