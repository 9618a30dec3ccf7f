from draftgate.engine.cache.blocks import BlockPool
from draftgate.engine.cache.sequence import Sequence
from draftgate.engine.decoding.answer import Answer
from draftgate.engine.scheduling.row import Place, Row


def row(world, **more):
    job = world.job(1, (3, 1, 4), 8, **more)
    return Row(job, Place(0, 0), Answer(job.request, str, 0.0))


def test_before_its_first_token_a_row_is_fed_its_prompt(world):
    waiting = row(world)

    assert [3, 1, 4] == waiting.fed == waiting.missing


def test_the_newest_token_is_fed_by_the_round_that_it_is_the_root_of(world):
    running = row(world)
    running.answer.begin(5)
    running.answer.step(2)
    pool = BlockPool(4, 2)
    running.sequence = Sequence(pool, pool.allocate(1), 2)

    assert [3, 1, 4, 5] == running.fed
    assert [4, 5] == running.missing


def test_a_row_drafts_no_more_than_it_asks_for(world):
    assert [4, 2, 1] == [row(world, draft_length=n).draft_length(k) for n, k in ((None, 4), (2, 4), (2, 1))]


def test_who_came_first_has_the_lesser_place():
    assert Place(0, 5) < Place(1, 0) < Place(1, 2)
