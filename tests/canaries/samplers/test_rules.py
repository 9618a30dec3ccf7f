import numpy as np
import pytest
from trials import SMALL, trial

from draftgate.canaries.samplers.faults import innocent
from draftgate.canaries.samplers.laws import problem
from draftgate.canaries.samplers.rules import RULES, Shape, rounds_law
from draftgate.stats.chi_square import goodness_of_fit
from tolerances import ROUNDING, SURE

V, K = SMALL[:2]
TREE = Shape((-1, 0, 0, 1, 1))


def made(name):
    return problem(name, SMALL, np.random.default_rng(3))


def completed(law, found):
    """The law of K + 1 tokens of rounds with this law, shorter ones continued by the target."""
    joint = found.joint().reshape((V,) * (K + 1))
    whole = np.zeros_like(joint)
    for digits in np.ndindex(*(V + 1,) * (K + 1)):
        text = tuple(d for d in digits if d < V)
        rest = joint[text] / joint[text].sum() if joint[text].sum() else joint[text]
        whole[text] += law[int(np.dot(digits, (V + 1) ** np.arange(K, -1, -1)))] * rest
    return whole.reshape(-1)


@pytest.mark.parametrize("name", ["zipf", "zeros", "disjoint", "sure", "chosen", "same", "greedy"])
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("shape", [Shape(), TREE, TREE._replace(distinct=True)])
def test_every_rule_gives_the_targets_law(name, rule, shape):
    if rule == "block" and shape.parents:
        return
    found = made(name)
    if shape.distinct:
        found = problem("near-ties", SMALL, np.random.default_rng(4))

    assert completed(rounds_law(found, rule, shape), found) == pytest.approx(
        found.joint(), rel=1e3 * ROUNDING, abs=1e-12
    )


@pytest.mark.parametrize(("rule", "sampler"), [("token", innocent.token), ("block", innocent.block)])
def test_a_sampler_of_the_rule_gives_its_rounds(rule, sampler):
    drawn = trial(sampler, "zipf", seed=3)
    drawn.run(20)
    law = rounds_law(drawn.bundle.problems[0], rule, Shape())
    counts = drawn.seen.raw[0]

    assert counts[law == 0].sum() == 0
    assert goodness_of_fit(counts, law, hypothesis="", floor=100).p_value > SURE


def test_block_keeps_more_than_token_and_trees_keep_more_than_chains():
    found = made("zipf")
    lengths = np.array([sum(d < V for d in digits) for digits in np.ndindex(*(V + 1,) * (K + 1))])
    token, block, tree = (
        (rounds_law(found, rule, shape) * lengths).sum()
        for rule, shape in (("token", Shape()), ("block", Shape()), ("multi-draft", TREE))
    )

    assert token < block
    assert token < tree
