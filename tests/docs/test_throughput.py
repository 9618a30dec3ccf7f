"""The throughput page: what is told of times that are known, and that every arm answers the same."""

import math

import numpy as np
import pytest

from draftgate.engine.costs.speedup import FreeWidth
from draftgate.engine.models import huggingface
from repository import script

THROUGHPUT = script("throughput")
EASY = THROUGHPUT.LOADS[0]


def times(**arms):
    """Ten turns of each arm, with a noise of one part in a hundred."""
    rng = np.random.default_rng(3)
    return {arm.replace("_", " "): seconds * np.exp(rng.normal(0, 0.01, 10)) for arm, seconds in arms.items()}


def falling(**changes):
    """Speculation wins by half at batch 1 and loses by half at batch 64."""
    gains = np.geomspace(1.5, 1 / 1.5, len(THROUGHPUT.BATCHES))
    arms = [{"on": 1 / gain, "off": 1.0, "off_again": 1.0, "bypass": min(1.0, 1 / gain)} | changes for gain in gains]
    return dict(zip(THROUGHPUT.BATCHES, (times(**one) for one in arms), strict=True))


def test_the_crossover_is_where_on_comes_down_to_off():
    told = THROUGHPUT.crossover(falling())

    assert told.startswith("on stops to pay at batch 8 [")
    low, high = (int(end) for end in told.split("[")[1].rstrip("]").split(", "))
    assert 6 <= low <= 8 <= high <= 10


@pytest.mark.parametrize(
    ("gains", "at"),
    [
        ((0.2, 0.1, 0.05), math.inf),
        ((0.0, 1.0, 1.0), 1.0),
        ((0.1, -0.1, 0.3), math.sqrt(2)),
        ((0.1, 0.2, -0.2), math.sqrt(8)),
    ],
    ids=["never", "at once", "between the first two", "between the last two"],
)
def test_the_first_crossing_counts(gains, at):
    assert at == pytest.approx(THROUGHPUT.crossing((1, 2, 4), np.array(gains)))


def test_where_on_always_pays_no_batch_is_named():
    assert THROUGHPUT.crossover(falling(on=0.5)) == "on pays at every batch up to 64"


@pytest.mark.parametrize(("bypass", "within"), [(0.51, True), (0.6, False)], ids=["as fast", "slower"])
def test_a_bypass_that_falls_behind_the_better_arm_is_told(bypass, within):
    slower, good = THROUGHPUT.kept_up(times(on=0.5, off=1.0, bypass=bypass, off_again=1.0))

    assert within is good
    assert bypass / 0.5 == pytest.approx(slower.ratio, rel=0.03)


def test_what_plain_decoding_is_from_itself_is_forgiven():
    assert THROUGHPUT.kept_up(times(on=0.5, off=1.0, bypass=0.55, off_again=1.2))[1]


def test_the_page_and_the_picture_have_every_batch():
    loads = {load: falling() for load in THROUGHPUT.LOADS}
    text, picture = THROUGHPUT.page(loads), THROUGHPUT.drawing(loads)

    assert len(loads) == text.count("on stops to pay")
    assert all(len(loads) == text.count(f"\n| {batch} |") for batch in THROUGHPUT.BATCHES)
    assert 2 * len(loads) * len(THROUGHPUT.BATCHES) == picture.count("<circle")


def test_every_arm_answers_the_same(monkeypatch):
    monkeypatch.setattr(THROUGHPUT, "TOKENS", 12)
    models = [huggingface.load(THROUGHPUT.EMBEDDED / name) for name in ("target", "draft")]
    server, jobs = THROUGHPUT.Server(EASY, 2, models, FreeWidth(0.1)), THROUGHPUT.asked(EASY, models[0], 2)

    said = [server.serve(arm, jobs) for arm in (THROUGHPUT.ON, THROUGHPUT.OFF, THROUGHPUT.BYPASS)]

    answers = [[generation.tokens for generation in served.generations] for served in said]
    assert answers[0] == answers[1] == answers[2]
    drafted = [any(generation.rounds for generation in served.generations) for served in said]
    assert [True, False, True] == drafted


def test_without_a_file_it_says_how_it_is_used(capsys):
    assert 2 == THROUGHPUT.main([])
    assert "usage: python docs/throughput.py FILE" in capsys.readouterr().err
