"""Reading recorded answers back, and finding where they differ."""

import pytest
from observed import candidate, generation, record

from draftgate.canaries.observations.answers import Fork, answers, by_arm, fork, forks


def test_every_answer_is_read_with_its_arm_repeat_and_group():
    found = list(answers(record()["greedy/pairs"]))

    assert 16 == len(found)
    assert ("exact-1", "baseline", 0, 0) == found[0][:4]
    assert ("exact-2", "candidate", 1, 1) == found[-1][:4]
    assert 8 == len(by_arm(record()["greedy/pairs"], "candidate"))


def test_an_answer_too_few_is_refused():
    observations = record()
    observations["greedy/pairs"]["groups"][0]["runs"][0]["generations"].pop()

    with pytest.raises(ValueError, match="zip"):
        list(answers(observations["greedy/pairs"]))


@pytest.mark.parametrize(("seen", "at"), [((1, 9, 3), 1), ((9, 2, 3), 0), ((1, 2), 2), ((1, 2, 3, 4), 3), ((), 0)])
def test_a_fork_is_the_first_difference_an_end_included(seen, at):
    assert Fork("c", "l", at, seen) == fork("c", "l", (1, 2, 3), seen)


def test_equal_answers_do_not_fork():
    assert fork("c", "l", (1, 2, 3), (1, 2, 3)) is None
    assert forks(record()["greedy/pairs"]) == []


def test_each_repeat_is_compared_with_the_baselines_first_answer():
    observations = record()
    answer = candidate(observations, canary=2, repeat=1)
    answer |= generation(answer["name"], (2, 3, 99))

    assert [Fork("prose-1", "repeat 1", 2, (2, 3, 99))] == forks(observations["greedy/pairs"])
