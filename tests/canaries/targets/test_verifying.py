"""Verifiers by name; what is planted is not replaced unseen; trees go to a rule that takes them."""

import pytest
from arms import draft
from plants import Walk, strategies

from draftgate.canaries.errors import UsageError
from draftgate.canaries.targets import verifying
from draftgate.canaries.targets.spec import TargetSpec
from draftgate.canaries.targets.strategies import Strategies
from draftgate.engine.request import Request
from draftgate.engine.verification.base import Guarantee
from draftgate.engine.verification.block import Block
from draftgate.engine.verification.lossless import Lossless
from draftgate.engine.verification.traversal import Traversal


def chosen(text, parts=None):
    return verifying.chosen(TargetSpec.parse(text), parts or Strategies()).verifier


@pytest.mark.parametrize(("name", "kind"), verifying.VERIFIERS.items(), ids=verifying.VERIFIERS)
def test_a_verifier_is_chosen_by_its_name_and_told_by_it(name, kind):
    verifier = chosen(f"draft:verify={name}")

    assert type(verifier) is kind
    assert verifying.name_of(verifier) == (None if name == verifying.WALK else name)
    assert Guarantee.SAME_LAW is verifier.guarantee


def test_without_a_name_it_is_the_walk_and_a_planted_walk_stays():
    planted = Walk()

    assert type(chosen("draft:k=3")) is Lossless
    assert chosen("draft:k=3", strategies(verifier=planted)) is planted


def test_a_planted_verifier_is_not_replaced_by_an_honest_one():
    """It would be judged as planted, and pass."""
    with pytest.raises(UsageError, match="planted in the verifier walk; it cannot be shown with verify=block"):
        chosen("draft:verify=block", strategies(verifier=Walk()))


def test_an_unknown_name_is_refused_and_all_are_named():
    with pytest.raises(UsageError, match="draft:verify=loose is not known; use walk, batched, block or traversal"):
        chosen("draft:verify=loose")


def test_trees_are_judged_by_the_same_rule_where_it_takes_them():
    of_trees = {
        name: type(verifying.for_trees(Strategies(verifier=kind())).verifier)
        for name, kind in verifying.VERIFIERS.items()
    }

    assert {"walk": Lossless, "batched": Lossless, "block": Traversal, "traversal": Traversal} == of_trees


def test_an_arm_of_block_verification_drafts_branches_when_its_drafter_is_exchanged():
    """The gate drives every engine with trees, whatever the candidate drafts."""
    arm = draft(Strategies(verifier=Block()))
    request = Request(name="r", prompt=(5, 6, 7), max_tokens=6)
    right = draft().variant("branches", k=4, answers={"r": (1, 2, 3)}).generate([request])
    found = arm.variant("branches", k=4, answers={"r": (1, 2, 3)}).generate([request])

    assert "draft:k=4,verify=block" == arm.label
    assert right[0].tokens == found[0].tokens
    assert max(one.drafted for one in found[0].rounds) > 2
