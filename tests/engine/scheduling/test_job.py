import pytest

from draftgate.engine.errors import EngineError
from draftgate.engine.scheduling.job import Limits


@pytest.mark.parametrize(
    ("bad", "says"),
    [
        ({"arrives": -1}, "arrives at step -1"),
        ({"arrives": 4, "cancels": 3}, "arrives at step 4 and is cancelled at step 3"),
        ({"draft_length": -1}, "drafts of -1 tokens"),
    ],
)
def test_a_job_that_cannot_be_is_refused_in_one_line(bad, says, world):
    with pytest.raises(EngineError, match=f"request r1 .*{says}") as refused:
        world.job(1, **bad)
    assert "\n" not in str(refused.value)


def test_a_job_may_be_cancelled_as_it_arrives(world):
    assert 4 == world.job(1, arrives=4, cancels=4).cancels


@pytest.mark.parametrize("name", ["batch", "chunk", "tokens"])
def test_limits_that_let_nothing_through_are_refused(name):
    with pytest.raises(EngineError, match=f"with {name} 0 serves nothing"):
        Limits(**{"batch": 1, "chunk": 1, "tokens": 1} | {name: 0})
