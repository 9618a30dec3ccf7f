"""A window is a difference, and a counter that goes down is a finding."""

from __future__ import annotations

import pytest

from draftgate.canaries.targets.servers.counters import Counters, summed, window
from draftgate.canaries.targets.servers.errors import RanBackwards

FIRST = Counters(rounds=10, drafted=40, accepted=20, by_position=(15, 5))
LAST = Counters(rounds=12, drafted=48, accepted=23, by_position=(17, 6, 0))


def test_a_window_is_what_was_counted_in_it():
    assert window(FIRST, LAST, "here") == Counters(rounds=2, drafted=8, accepted=3, by_position=(2, 1, 0))


def test_a_counter_that_appears_within_the_window_began_at_nothing():
    assert window(Counters(), Counters(rounds=2), "here") == Counters(rounds=2)


@pytest.mark.parametrize(
    ("after", "told"),
    [
        (Counters(rounds=9, drafted=48, accepted=23, by_position=(17, 6)), "rounds went down from 10 to 9"),
        (Counters(drafted=48, accepted=23, by_position=(17, 6)), "rounds is gone"),
        (Counters(rounds=12, drafted=48, accepted=23, by_position=(17, 4)), "accepted at position 1 went down"),
    ],
)
def test_a_counter_that_runs_backwards_is_a_finding(after, told):
    with pytest.raises(RanBackwards, match=told) as caught:
        window(FIRST, after, "here")
    assert caught.value.finding


def test_replicas_are_summed_and_what_all_lack_is_unknown():
    both = summed([FIRST, Counters(), Counters(rounds=1, drafted=4, by_position=(1,))])

    assert both == Counters(rounds=11, drafted=44, accepted=20, by_position=(16, 5))
    assert both.emitted is None


def test_a_record_holds_what_is_known():
    assert Counters(rounds=2, accepted=0).to_json() == {"rounds": 2, "accepted": 0}
    assert Counters(by_position=(1, 0)).to_json() == {"by_position": [1, 0]}
