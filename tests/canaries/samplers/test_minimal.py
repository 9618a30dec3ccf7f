from fractions import Fraction

import pytest

from draftgate.canaries.samplers import minimal
from draftgate.canaries.samplers.faults import chance, innocent, rules
from draftgate.canaries.samplers.faults.registry import BY_NAME
from draftgate.stats.strategies import Chain

HALF = (Fraction(1, 2), Fraction(1, 2))
FIRST = (Fraction(1), Fraction(0))
make = minimal.settings_for(0, 1024, 10.0)


def test_laws_are_refuted_by_a_wrong_sampler_only():
    laws = Chain((HALF, HALF), (FIRST,))

    assert minimal.refuted(innocent.token, laws, make())[0] < minimal.ODDS
    assert minimal.refuted(rules.accept_everything, laws, make())[0] > minimal.ODDS


def test_what_came_out_most_wrongly_is_named_with_its_chance():
    _, found = minimal.refuted(rules.accept_everything, Chain((HALF, FIRST), (FIRST,)), make())

    assert (Fraction(1, 2), 1.0) == (found.chance, found.share) or found.outcome[0] == 1
    assert "its chance is" in found.text()


def test_the_smallest_example_is_small_and_can_be_pasted():
    found = minimal.minimal(rules.accept_everything, make)

    assert 2 == found.laws.vocabulary
    assert 1 == len(found.laws.draft)
    assert "smallest failing laws: K = 1, V = 2" in found.text()
    assert "assert_follows(mine, target=[['" in found.test("mine")
    assert minimal.refuted(rules.accept_everything, found.laws, make())[0] >= minimal.ODDS


@pytest.mark.parametrize("name", ["greedy-draft", "reused-noise", "lenient-1.1", "filtered-draft"])
def test_the_rarest_planted_examples_are_met(name):
    assert minimal.minimal(BY_NAME[name].make(), minimal.settings_for(0, minimal.ROUNDS, 10.0)) is not None


@pytest.mark.parametrize(
    ("target", "draft", "message"),
    [
        ([["1/2", "1/2"], ["1/2", "1/3"]], [["1/2", "1/2"]], r"target\[1\] is \['1/2', '1/3'\]: not a law"),
        ([["1/2", "1/2"]] * 2, [[float("nan"), 0.5]], r"draft\[0\] is \[nan, 0.5\]: cannot convert NaN"),
        ([["1/2", "1/2"]] * 2, [["x", "1"]], r"draft\[0\] is .*Invalid literal"),
        ([["3/2", "-1/2"]] * 2, [["0", "1"]], r"target\[0\] is .*non-negative"),
        ([["1/2", "1/2"]] * 2, [["0", "0", "1"]], r"draft\[0\] has 3 tokens and target\[0\] 2"),
        ([["1/2", "1/2"]], [["0", "1"]], "give K \\+ 1 laws and K"),
    ],
)
def test_laws_that_are_none_are_refused_by_name(target, draft, message):
    with pytest.raises(ValueError, match=message):
        minimal.chain_of(target, draft)


def test_an_honest_sampler_has_no_example(monkeypatch):
    monkeypatch.setattr(minimal, "EXAMPLES", 20)

    assert minimal.minimal(innocent.token, make) is None


def test_a_fault_between_rounds_has_no_example_in_one(monkeypatch):
    monkeypatch.setattr(minimal, "EXAMPLES", 20)

    assert minimal.minimal(chance.with_uniforms(chance.antithetic), make) is None
