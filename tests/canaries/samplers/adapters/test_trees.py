import math

import pytest
from trials import RATES, bundle, look, settings

from draftgate.canaries.contracts import Status
from draftgate.canaries.samplers.adapters.trees import BRANCHED, engine, tree
from draftgate.canaries.samplers.checks.base import judge
from draftgate.canaries.samplers.checks.law import planned
from draftgate.canaries.samplers.checks.wager import Wager
from draftgate.canaries.samplers.faults import drafts, innocent
from draftgate.canaries.samplers.laws import Bundle
from draftgate.canaries.samplers.plan import suited
from draftgate.canaries.samplers.proofs.custom import prove_sampler
from draftgate.canaries.samplers.trial import Trial
from draftgate.engine.verification.batched import BatchedLossless
from draftgate.engine.verification.block import Block
from draftgate.engine.verification.lossless import Lossless
from draftgate.engine.verification.traversal import Traversal
from tolerances import SURE

COARSE = RATES._replace(effect=0.2)


def statuses(sampler, name="zipf"):
    seen = look(sampler, name, calls=6)
    return {judge(t, seen, COARSE).status for t in planned(bundle(name))}


@pytest.mark.parametrize(
    "sampler", [innocent.multi_draft, engine(Lossless()), engine(BatchedLossless()), drafts.honest_tree]
)
def test_lossless_verifiers_pass_on_trees_and_on_chains(sampler):
    assert {Status.PASS} == statuses(sampler)


def wealth(sampler, *names):
    """The log of what a wager makes of some calls, drafts being such as the sampler takes."""
    laws = Bundle("small", tuple(suited(problem, sampler) for problem in bundle(*names).problems))
    made = Trial(laws, sampler, settings())
    made.run(32)
    bet = Wager(laws, (30.0, 300.0))
    bet.look(made.seen)
    return bet.worst()[1].statistic


def test_siblings_without_replacement_pass_and_a_forgotten_renormalisation_does_not():
    assert wealth(innocent.multi_draft_distinct, "zeros") < math.log(1 / SURE)
    assert wealth(drafts.not_renormalised, "zeros") > math.log(1 / SURE)


def test_siblings_tested_against_the_whole_target_are_seen():
    assert wealth(drafts.honest_tree, "chosen") < math.log(1 / SURE)
    assert wealth(drafts.naive_tree, "chosen") > math.log(1 / SURE)


def test_a_tree_says_its_shape():
    made = tree(drafts.Walk(), distinct=True)

    assert (BRANCHED, True, True) == (made.parents, made.distinct, made.per_sequence)


@pytest.mark.parametrize("verifier", [Lossless(), BatchedLossless(), Block(), Traversal()])
def test_the_verifiers_of_the_engine_are_enumerated(verifier):
    assert prove_sampler(engine(verifier), cases=16, seed=0).proved


def test_a_verifier_that_keeps_too_much_is_broken_by_a_small_case():
    class Lenient:
        def verify(self, trees, target, chances):
            halved = [c._replace(accept=[u * 0.9 for u in c.accept]) for c in chances]
            return Lossless().verify(trees, target, halved)

    assert prove_sampler(engine(Lenient()), cases=16, seed=0).broken
