"""Times are taken in turn, in an order that changes, and nothing that was written stays."""

import numpy as np
import torch

from draftgate.engine.cache.contiguous import ContiguousCache
from draftgate.engine.costs import measuring
from draftgate.engine.costs.measuring import Pass
from draftgate.engine.models.table import TableModel, peaked_table


def rng():
    return np.random.default_rng(3)


def test_all_are_done_once_a_turn_and_once_before():
    done = []
    found = measuring.in_turn({name: lambda name=name: done.append(name) for name in "abc"}, 20, rng())

    turns = [tuple(done[start : start + 3]) for start in range(3, len(done), 3)]
    assert ("a", "b", "c") == tuple(done[:3])
    assert 20 == len(turns)
    assert all(sorted(turn) == ["a", "b", "c"] for turn in turns)
    assert len(set(turns)) > 3  # no one always comes first
    assert all(seconds.shape == (20,) and (seconds >= 0).all() for seconds in found.values())


def test_what_takes_longer_is_seen_to():
    matrix = torch.ones(256, 256)
    work = {"one": lambda: matrix @ matrix, "ten": lambda: [matrix @ matrix for _ in range(10)]}

    found = measuring.in_turn(work, 9, rng())

    assert 4 < np.median(found["ten"] / found["one"]) < 25


def test_one_thread_is_timed_by_its_processor_and_several_on_the_wall(monkeypatch):
    found = {}
    for threads in (1, 2):
        monkeypatch.setattr(torch, "get_num_threads", lambda threads=threads: threads)
        found[threads] = measuring.clock().__name__

    assert {1: "process_time", 2: "perf_counter"} == found


def test_a_pass_is_made_of_its_rows_and_width_behind_the_context(monkeypatch):
    seen = []

    class Watching(TableModel):
        def score(self, block, cache):
            seen.append((*block.tokens.shape, cache.lengths.tolist()))
            return super().score(block, cache)

    model = Watching(peaked_table(5, 4, rng()))
    monkeypatch.setattr(measuring, "ContiguousCache", ContiguousCache)
    wanted = [Pass("target", 2, 1), Pass("target", 2, 3), Pass("target", 1, 3)]

    found = measuring.passes({"target": model}, wanted, context=6, turns=4, rng=rng())

    passed = [one for one in seen if one[1] != 6]
    assert {(2, 1), (2, 3), (1, 3)} == {one[:2] for one in passed}
    assert all(set(lengths) == {6} for *_, lengths in passed)
    assert 5 * len(wanted) == len(passed)
    assert list(found) == wanted


def test_the_machine_reads_and_computes(monkeypatch):
    monkeypatch.setattr(measuring, "BYTES", 1 << 22)
    found = measuring.machine(turns=3, rng=rng())

    assert all(rates.shape == (3,) and (rates > 1e6).all() for rates in found)
