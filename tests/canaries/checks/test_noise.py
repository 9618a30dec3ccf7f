"""A baseline that does not agree with itself is no yardstick, and that is not the engine's fault."""

from dataclasses import replace

import pytest
from observed import CANARIES, EOS, GAP, GREEDY, HEADER, NOISE, generation, judged, record, spoiled, suite

from draftgate.canaries.contracts import Reason, Status
from draftgate.suites.suite import Census


@pytest.mark.parametrize("cell", ["greedy", "sampled"])
def test_a_steady_baseline_passes(cell):
    assert judged("noise", record(), cell).status is Status.PASS


@pytest.mark.parametrize("cell", ["greedy", "sampled"])
@pytest.mark.parametrize("shape", ["width 2", "width 9", "alone"])
def test_logits_that_depend_on_one_shape_are_held_against_the_baseline(shape, cell):
    finding = judged("noise", spoiled(lambda o: o[f"{cell}/replays"]["noise"]["logits"].update({shape: 0.51})), cell)

    assert (Status.FAIL, Reason.BASELINE_UNSTABLE) == (finding.status, finding.reason)


def test_a_greedy_baseline_whose_repeat_differs_is_unstable():
    def change(observations):
        (run,) = (
            r for r in observations["greedy/pairs"]["groups"][1]["runs"] if (r["arm"], r["repeat"]) == ("baseline", 1)
        )
        run["generations"][1] |= generation("exact-2", (2, 3, EOS), kept=None)

    finding = judged("noise", spoiled(change))

    assert (Status.FAIL, Reason.BASELINE_UNSTABLE) == (finding.status, finding.reason)
    assert finding.reproduce == ("exact-2",)


def own(margin):
    """The second canary's answer by the baseline, its third token `margin` logits below its best."""
    return spoiled(lambda o: o["greedy/replays"]["census"][1]["margin"].__setitem__(2, margin))


def test_a_greedy_baseline_that_would_not_choose_its_own_tokens_is_unstable():
    finding = judged("noise", own(GAP))

    assert (Status.FAIL, Reason.BASELINE_UNSTABLE) == (finding.status, finding.reason)
    assert finding.reproduce == ("json-1",)


def test_a_baseline_whose_token_was_tied_within_its_noise_passes():
    tied = own(2 * NOISE)
    tied["greedy/replays"]["census"][1]["gap"][2] = NOISE

    assert judged("noise", tied).status is Status.PASS


@pytest.mark.parametrize(
    "change",
    [
        lambda o: o["greedy/replays"]["noise"].update(positions=0),
        lambda o: o["greedy/replays"]["noise"]["logits"].update(alone=None),
        lambda o: o["greedy/replays"]["noise"]["logits"].clear(),
        lambda o: o["greedy/replays"]["noise"]["logits"].pop("width 5"),
        lambda o: o.pop("greedy/replays"),
    ],
    ids=["no positions", "no number", "nothing", "a width less", "no replays"],
)
def test_noise_that_was_not_measured_is_incomplete(change):
    finding = judged("noise", spoiled(change))

    assert (Status.INCONCLUSIVE, Reason.INCOMPLETE) == (finding.status, finding.reason)


WEIGHTS = "a" * 64


def drifted(monkeypatch, *, gap=GAP, tokens=GREEDY.tokens, weights=WEIGHTS):
    """The finding of a suite whose census says `gap` of every canary, on a baseline of model WEIGHTS."""
    census = Census(
        weights_sha256=weights,
        dtype="float32",
        tokens=tokens,
        quantiles={"0": gap},
        gaps={canary.id: gap for canary in CANARIES},
    )
    monkeypatch.setitem(HEADER, "baseline", {"model": {"weights_sha256": WEIGHTS, "dtype": "float32"}})
    return judged("noise", record(), "greedy", of=replace(suite(), census=census))


def test_margins_as_they_were_at_freeze_are_no_drift(monkeypatch):
    finding = drifted(monkeypatch)

    assert Status.PASS is finding.status
    assert finding.figures["drift_logits"] == pytest.approx(0)
    assert "moved" not in finding.summary


def test_margins_that_moved_since_the_freeze_are_told_and_not_judged(monkeypatch):
    finding = drifted(monkeypatch, gap=GAP - 0.5)

    assert Status.PASS is finding.status
    assert finding.figures["drift_logits"] == pytest.approx(0.5)
    assert "margins moved by 5.0e-01 since the suite was frozen" in finding.summary


@pytest.mark.parametrize("changes", [{"weights": "b" * 64}, {"tokens": 5}])
def test_margins_of_another_model_or_limit_are_not_compared(monkeypatch, changes):
    assert drifted(monkeypatch, gap=1.0, **changes).figures["drift_logits"] is None
