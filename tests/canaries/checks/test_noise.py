"""A baseline that does not agree with itself is no yardstick, and that is not the engine's fault."""

import pytest
from observed import generation, judged, record, spoiled

from draftgate.canaries.contracts import Reason, Status


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
        run["generations"][1] |= generation("exact-2", (2, 3), kept=None)

    finding = judged("noise", spoiled(change))

    assert (Status.FAIL, Reason.BASELINE_UNSTABLE) == (finding.status, finding.reason)
    assert finding.reproduce == ("exact-2",)


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
