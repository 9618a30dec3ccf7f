"""Places in the law: even ones pass, shifted ones fail, and a number that is missing says nothing."""

from dataclasses import replace

import pytest
from observed import judged, record, spoiled, suite

from draftgate.canaries.contracts import Reason, Status


def places(field, value):
    def change(observations):
        for one in observations["sampled/replays"]["candidate"]:
            one[field] = [value] * len(one[field])

    return change


def test_even_places_pass():
    assert judged("pit", record(), "sampled").status is Status.PASS


@pytest.mark.parametrize("place", [0.0, 0.999])
def test_tokens_at_one_end_of_the_law_fail(place):
    finding = judged("pit", spoiled(places("below", place)), "sampled")

    assert (Status.FAIL, Reason.DISTRIBUTION) == (finding.status, finding.reason)


@pytest.mark.parametrize("field", ["below", "prob"])
def test_places_that_are_no_numbers_are_incomplete(field):
    finding = judged("pit", spoiled(places(field, None)), "sampled")

    assert (Status.INCONCLUSIVE, Reason.INCOMPLETE) == (finding.status, finding.reason)
    assert finding.figures["gap"] is None


def test_one_place_that_is_no_number_is_incomplete():
    observations = spoiled(lambda o: o["sampled/replays"]["candidate"][0]["below"].__setitem__(3, None))

    assert judged("pit", observations, "sampled").status is Status.INCONCLUSIVE


def test_too_few_tokens_are_incomplete_and_say_how_many_are_missing():
    of = replace(suite(), design=replace(suite().design, pit_effect=0.4))

    finding = judged("pit", record(), "sampled", of=of)

    assert (Status.INCONCLUSIVE, Reason.INCOMPLETE) == (finding.status, finding.reason)
    assert "more are needed" in finding.summary


def test_the_same_record_gives_the_same_evidence():
    assert judged("pit", record(), "sampled") == judged("pit", record(), "sampled")
