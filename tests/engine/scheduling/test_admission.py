from draftgate.engine.scheduling.admission import Queue
from draftgate.engine.scheduling.row import Row


def waiting(queue, now):
    for place, job in queue.arrived(now):
        queue.wait(Row(job, place, None))
    return [row.job.request.name for row in queue.waiting]


def test_who_comes_first_is_first_and_of_those_who_come_together_who_was_submitted_first(world):
    queue = Queue()
    for number, arrives in ((0, 3), (1, 0), (2, 3), (3, 0)):
        queue.submit(world.job(number, arrives=arrives), now=0)

    assert ["r1", "r3"] == waiting(queue, 0)
    assert 3 == queue.next_arrival
    assert ["r1", "r3"] == waiting(queue, 2)
    assert ["r1", "r3", "r0", "r2"] == waiting(queue, 3)
    assert 0 == queue.next_arrival


def test_a_row_that_waits_again_has_the_place_it_came_at(world):
    queue = Queue()
    for number in range(3):
        queue.submit(world.job(number), now=0)
    waiting(queue, 0)
    first = queue.waiting.pop(0)
    queue.submit(world.job(9), now=1)
    queue.wait(first)

    assert ["r0", "r1", "r2", "r9"] == waiting(queue, 1)


def test_what_is_submitted_late_does_not_pass_those_who_wait(world):
    queue = Queue()
    queue.submit(world.job(0, arrives=4), now=0)
    waiting(queue, 4)
    queue.submit(world.job(1, arrives=0), now=5)

    assert ["r0", "r1"] == waiting(queue, 5)


def test_names_are_those_of_all_who_are_here(world):
    queue = Queue()
    queue.submit(world.job(0), now=0)
    queue.submit(world.job(1, arrives=2), now=0)
    waiting(queue, 0)

    assert {"r0", "r1"} == set(queue.names)
