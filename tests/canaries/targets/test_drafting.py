"""Every method has its drafter."""

import pytest
from arms import draft, plain

from draftgate.canaries.errors import UsageError
from draftgate.canaries.targets.drafting import DRAFTERS


@pytest.mark.parametrize("method", DRAFTERS)
def test_a_drafter_proposes_as_many_tokens_as_the_arm_is_told(method):
    assert 3 == DRAFTERS[method](draft().variant(method, k=3)).length


def test_a_draft_model_must_be_named():
    with pytest.raises(UsageError, match="has no draft model here"):
        DRAFTERS["draft"](plain())


def test_a_confidence_reaches_the_draft_model_and_the_name_of_the_arm():
    arm = draft().variant("draft", k=3, confidence=0.4)

    assert (0.4, 0.0) == (DRAFTERS["draft"](arm).confidence, DRAFTERS["draft"](draft()).confidence)
    assert arm.label == "draft:k=3,confidence=0.4"
    assert arm.identity()["options"] == {"k": 3, "confidence": 0.4}
