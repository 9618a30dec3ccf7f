from types import SimpleNamespace

import pytest

from draftgate.canaries.samplers.planning import rows

NOTHING = {"effect": None, "draws": None, "budget": None, "cells": 32, "rate": 1e6, "false_alarm": None, "miss": None}


def asked(**given):
    return {row["test"]: row for row in rows(SimpleNamespace(**{**NOTHING, **given}))}


def test_an_effect_takes_draws_and_these_show_it():
    n = asked(effect=0.02)["chi_square"]["draws"]

    assert 98_000 < n < 103_000
    assert asked(draws=n)["chi_square"]["effect"].startswith("0.02 ")


def test_a_budget_is_draws_at_a_rate():
    assert 500_000 == asked(budget=0.5)["support"]["draws"]


def test_without_a_question_the_suites_effect_is_planned():
    assert asked()["kolmogorov_smirnov"]["draws"] == 290_174


@pytest.mark.parametrize("draws", [2, 50])
def test_too_few_draws_show_nothing(draws):
    assert asked(draws=draws)["chi_square"]["effect"].startswith("none: too few draws")
