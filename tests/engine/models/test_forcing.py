"""Teacher forcing through the library's own pass: the logits that its own `generate` chose from."""

from __future__ import annotations

import numpy as np
import pytest

from draftgate.engine.models.forcing import teacher_forced
from tolerances import FLOAT32_LOGITS

PROMPTS = [(5, 6, 7, 8, 9), (11,), (12, 13), (14, 15)]
ANSWERS = [(21, 22, 23, 24), (25, 26, 27, 28, 29, 30), (31,), ()]


def alone(model, prompt, answer):
    """Logits before each token of the answer, by one pass without a cache."""
    return model.native_logits([*prompt, *answer])[len(prompt) - 1 : -1]


@pytest.mark.parametrize("width", [0, 1, 2, 5, 99])
def test_rows_of_any_length_are_scored_as_each_alone_in_passes_of_any_width(target, width):
    found = teacher_forced(target, PROMPTS, ANSWERS, width)

    for prompt, answer, logits in zip(PROMPTS, ANSWERS, found, strict=True):
        assert logits.shape == (len(answer), target.vocabulary)
        assert np.abs(alone(target, prompt, answer) - logits).max(initial=0) < FLOAT32_LOGITS


def test_an_answer_of_no_tokens_has_no_logits(target):
    assert [(0, 1024), (0, 1024)] == [logits.shape for logits in teacher_forced(target, PROMPTS[:2], [(), ()], 0)]


def test_another_token_before_would_be_seen(target):
    found = teacher_forced(target, PROMPTS[:1], ANSWERS[:1], 2)
    other = alone(target, PROMPTS[0], (99, *ANSWERS[0][1:]))

    assert np.abs(other - found[0])[0].max() < FLOAT32_LOGITS
    assert np.abs(other - found[0])[1:].max() > 100 * FLOAT32_LOGITS
