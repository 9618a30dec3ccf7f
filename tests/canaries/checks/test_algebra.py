"""Each identity holds in the honest record and is broken once."""

import pytest
from observed import EOS, K, candidate, generation, judged, record, spoiled

from draftgate.canaries.checks.algebra import complaint
from draftgate.canaries.contracts import Reason, Status
from draftgate.engine.request import Generation


def with_round(place, value):
    def change(answer):
        answer["rounds"][place] = value

    return change


BROKEN = {
    "a token that no round emitted": lambda a: a["tokens"].insert(3, 9),
    "a token lost": lambda a: a["tokens"].pop(3),
    "no rounds at all": lambda a: a.update(rounds=[]),
    "a prefill of many": lambda a: a.update(prefill=20, rounds=[]),
    "accepted + 1 - cut is not what was emitted": with_round(1, [2, 1, 1, 0]),
    "more accepted than drafted": with_round(0, [1, 2, 3, 0]),
    "fewer than none accepted": with_round(1, [2, -1, 1, -1]),
    "a negative cut": with_round(1, [2, 0, 2, -1]),
    "a round that emitted nothing": lambda a: a["rounds"].append([2, 0, 0, 1]),
    "more drafted than the draft length": with_round(0, [K + 1, 2, 3, 0]),
    "a cut before the end": with_round(0, [2, 2, 2, 1]),
    "a stream that carried less": lambda a: a["arrivals"].pop(),
    "no stream": lambda a: a["arrivals"].clear(),
    "a stream that runs backwards": lambda a: a["arrivals"].reverse(),
    "tokens past the limit": lambda a: a.update(generation(a["name"], (*range(2, 23), EOS))),
    "no tokens": lambda a: a.update(generation(a["name"], ())),
    "tokens after the end": lambda a: a["tokens"].__setitem__(4, EOS),
    "length before the limit": lambda a: a.update(generation(a["name"], (2, 3, 4))),
    "a stop that nobody asked for": lambda a: a.update(generation(a["name"], (2, 3, 4)), finish="stop"),
    "an end that is not the end": lambda a: a["tokens"].__setitem__(-1, 9),
    "an end that was not noticed": lambda a: a.update(finish="length"),
}


def test_counts_that_add_up_pass():
    finding = judged("algebra", record())

    assert (Status.PASS, "8 answers add up") == (finding.status, finding.summary)


@pytest.mark.parametrize("identity", BROKEN)
def test_each_identity_is_seen_when_it_breaks(identity):
    finding = judged("algebra", spoiled(lambda o: BROKEN[identity](candidate(o, canary=3, repeat=1))))

    assert (Status.FAIL, Reason.METRICS) == (finding.status, finding.reason)
    assert finding.reproduce == ("exact-2",)


def test_a_cut_at_the_end_is_right():
    answer = generation("c", kept=(2,))

    assert answer["rounds"][-1] == [2, 2, 1, 2]
    assert complaint(Generation.from_json(answer), K, 20, [EOS]) is None


def test_plain_decoding_needs_no_rounds():
    answer = Generation.from_json(generation("c", kept=None))

    assert complaint(answer, 0, 20, [EOS]) is None
    assert complaint(answer, K, 20, [EOS]) == "20 tokens, but prefill and rounds say 1"
