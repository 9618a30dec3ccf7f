"""Teacher forcing: a steady model has next to no noise, one that looks at the shape of a pass as much as it adds."""

from dataclasses import replace

import numpy as np
import pytest
from arms import context, smoke

from draftgate.canaries.observations import replays
from draftgate.canaries.observations.answers import by_arm
from draftgate.canaries.observations.context import Context
from draftgate.canaries.targets.reference import ReferenceTarget
from draftgate.engine.models.table import TableModel, peaked_table
from draftgate.engine.request import Request
from draftgate.suites import loader

FLOAT32 = 1e-4  # logits; float32 sums of these small models differ by less between shapes


class Shaped(TableModel):
    """A table whose second-best logits are lifted in passes of one width, or of one number of rows."""

    def __init__(self, table, *, by, width=None, rows=None):
        super().__init__(table)
        self.by, self.width, self.only_rows = by, width, rows

    def score(self, block, cache):
        logits = super().score(block, cache)
        if block.tokens.shape[1] == self.width or len(block.parents) == self.only_rows:
            second = np.argsort(-logits, axis=-1)[..., 1:2]
            lifted = np.take_along_axis(logits, second, axis=-1) - np.float32(self.by)
            np.put_along_axis(logits, second, lifted, axis=-1)
        return logits


TABLE = peaked_table(4, 3, np.random.default_rng(0)) * 4
ANSWERS = [(Request(name=f"r{row}", prompt=(0, 1, row % 4), max_tokens=20), (1, 2, 3, 0) * 5) for row in range(3)]


class Drafting:
    """A candidate of which nothing is asked but how many tokens it drafts."""

    draft_length = 4


def noise_of(model):
    suite = loader.load("smoke")
    made = Context(
        suite=replace(suite, noise=replace(suite.noise, widths=(2, 5))),
        baseline=ReferenceTarget(name="plain", model=model),
        candidate=None,
        seed=0,
    )
    made = replace(made, candidate=Drafting)
    return replays.noise(made, ANSWERS)


def test_a_table_has_no_noise_and_every_shape_was_measured():
    assert {"logits": {"width 2": 0.0, "width 5": 0.0, "alone": 0.0}, "positions": 60} == noise_of(TableModel(TABLE))


@pytest.mark.parametrize(
    ("planted", "shape"), [({"width": 5}, "width 5"), ({"width": 2}, "width 2"), ({"rows": 1}, "alone")]
)
def test_noise_that_depends_on_the_shape_is_measured_as_large_as_it_is(planted, shape):
    logits = noise_of(Shaped(TABLE, by=0.25, **planted))["logits"]

    assert shape == max(logits, key=logits.get)
    assert logits[shape] == pytest.approx(0.25, abs=FLOAT32)


def test_no_answers_are_noise_of_no_position():
    made = context()

    assert replays.noise(made, [])["positions"] == 0


def test_the_embedded_models_noise_is_float32_noise():
    for name, observed in smoke().record.observations.items():
        if name.endswith("/replays"):
            logits = observed["noise"]["logits"]
            assert {f"width {w}" for w in loader.load("smoke").noise.widths} | {"alone"} == set(logits)
            assert 0 < max(logits.values()) < FLOAT32
            assert observed["noise"]["positions"] > 100


def test_sampled_cells_replay_every_answer_and_greedy_ones_their_forks():
    recorded = smoke().record.observations
    answers = by_arm(recorded["topp-8/pairs"], "candidate")

    assert [a.canary for a in answers] == recorded["topp-8/replays"]["replayed"]
    assert [len(a.generation.tokens) for a in answers] == [
        len(replay["below"]) for replay in recorded["topp-8/replays"]["candidate"]
    ]
    assert recorded["topp-8/replays"]["census"] == []
    assert recorded["greedy-1/replays"]["candidate"] == []
    assert len(recorded["greedy-1/replays"]["census"]) == len(by_arm(recorded["greedy-1/pairs"], "baseline")) // 2
