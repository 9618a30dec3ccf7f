from draftgate.engine.scheduling.records import Blocks, Log


def test_a_log_is_closed_into_a_record_of_its_step(world):
    log = Log(rows=2, length=3, filled=7, admitted=["a"], cached=[4], preempted=["b"])
    record = log.closed(5, 1, Blocks(3, 2, 1))

    assert (5, 2, 1, 3, 7) == record[:5]
    assert (("a",), ("b",), (), (), (4,), (3, 2, 1)) == record[5:]


def test_the_steps_tell_who_came_and_went(world):
    jobs = world.jobs()
    served = world.Plan(blocks=14).built().serve(jobs)
    names = {job.request.name for job in jobs}
    told = {what: [n for step in served.steps for n in getattr(step, what)] for what in ("admitted", "preempted")}

    assert names == {name for step in served.steps for name in step.finished}
    assert len(told["admitted"]) == len(jobs) + len(told["preempted"])
    assert sum(step.filled for step in served.steps) + sum(sum(step.cached) for step in served.steps) >= sum(
        len(job.request.prompt) for job in jobs
    )
