"""Requests and seeds follow from the run's seed and a label, and from nothing else."""

from dataclasses import replace

import pytest
from arms import context, embedded

from draftgate.canaries.contracts import Replay
from draftgate.canaries.observations.context import GREEDY, replay_json, sampling_of, seed_of
from draftgate.engine.request import Sampling
from draftgate.suites import loader
from draftgate.suites.suite import Cell


class Spy:
    """An arm that keeps what it was asked."""

    def __init__(self, inner, seen):
        self.inner, self.seen = inner, seen

    def __getattr__(self, name):
        return getattr(self.inner, name)

    def generate(self, requests):
        self.seen += requests
        return self.inner.generate(requests)


def asked(seed, cells=("greedy-1", "topp-8")):
    """Seeds of the requests that the pairs of small cells ask, by cell, arm and place."""
    from dataclasses import replace

    from draftgate.canaries.observations import pairs

    suite, found = loader.load("smoke"), {}
    for cell in suite.cells:
        if cell.name in cells:
            made = context(seed=seed)
            seen = {"baseline": [], "candidate": []}
            spied = replace(
                made,
                baseline=Spy(made.baseline, seen["baseline"]),
                candidate=Spy(made.candidate, seen["candidate"]),
            )
            pairs.observe(spied, replace(cell, prompts=2, tokens=1, repeats=2))
            found |= {(cell.name, arm): [(r.name, r.seed) for r in requests] for arm, requests in seen.items()}
    return found


def test_arms_repeats_and_cells_share_no_seed():
    found = {place: [seed for _, seed in requests] for place, requests in asked(0).items()}

    for seeds in found.values():
        assert len(set(seeds)) == len(seeds)
    for cell, warm in (("greedy-1", 1), ("topp-8", 2)):  # only the warm-up of the first batch, uncounted, is shared
        assert found[cell, "baseline"][:warm] == found[cell, "candidate"][:warm]
        assert warm == len({*found[cell, "baseline"]} & {*found[cell, "candidate"]})
    greedy, sampled = (
        {s for (c, _), seeds in found.items() if c == cell for s in seeds} for cell in ("greedy-1", "topp-8")
    )
    assert not greedy & sampled


def test_the_same_seed_asks_the_same_and_another_asks_otherwise():
    one, again, other = asked(0, ("greedy-1",)), asked(0, ("greedy-1",)), asked(1, ("greedy-1",))

    assert one == again
    assert not {s for r in one.values() for _, s in r} & {s for r in other.values() for _, s in r}


def test_a_request_is_the_canary_with_the_models_ends():
    (canary,) = loader.load("smoke").canaries[:1]

    (request,) = context().requests([canary], tokens=7, sampling=GREEDY, label="x")

    assert (canary.id, 7, GREEDY) == (request.name, request.max_tokens, request.sampling)
    assert request.eos == embedded().eos != ()
    assert request.prompt == embedded().encode(canary.messages)
    assert request.seed == seed_of(0, "x", canary.id)


@pytest.mark.parametrize("labels", [(0, "a", "b"), (0, "ab"), (0, "b", "a"), (1, "a", "b")])
def test_a_seed_is_a_63_bit_number_that_each_label_changes(labels):
    others = {seed_of(*other) for other in [(0, "a"), (0, "b"), (1, "a")]}

    assert 0 <= seed_of(*labels) < 2**63
    assert seed_of(*labels) == seed_of(*labels)
    assert seed_of(*labels) not in others


def test_the_cells_filters_are_the_requests():
    cell = Cell(name="c", temperature=0.7, top_k=3, top_p=0.9, min_p=0.1, batch=1, prompts=1, tokens=1, repeats=1)

    assert Sampling(temperature=0.7, top_k=3, top_p=0.9, min_p=0.1) == sampling_of(cell)


def test_a_replay_is_written_as_lists():
    replay = Replay((0.0,), (1.0,), (0.2,), (0.5,), (0,))

    assert {"margin": [0.0], "gap": [1.0], "below": [0.2], "prob": [0.5], "outside": [0]} == replay_json(replay)


@pytest.mark.parametrize(("can", "lists"), [((), "reference"), (("kept",), "kept-reference")])
def test_a_kept_baseline_has_lists_of_its_own(can, lists):
    made = context()
    baseline = Spy(made.baseline, [])
    baseline.capabilities = frozenset(can)

    assert replace(made, baseline=baseline).demanded == lists
