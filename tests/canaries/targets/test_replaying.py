"""From teacher-forced logits to what a target's own law says of the tokens."""

from __future__ import annotations

import numpy as np
import pytest

from draftgate.canaries.targets.replaying import first_law, replay, scored, stepped_shapes
from draftgate.engine.request import Request, Sampling


def asked(*prompts, **sampling):
    return [Request(name="r", prompt=p, max_tokens=4, sampling=Sampling(**sampling)) for p in prompts]


def by_prompt(requests, answers, width):
    """Logits that like one token most: the first of the prompt."""
    del width
    return [np.eye(8, dtype=np.float32)[[r.prompt[0]] * len(a)] for r, a in zip(requests, answers, strict=True)]


def test_a_replay_says_where_a_token_stands_in_its_law():
    logits = np.log(np.array([[0.5, 0.3, 0.2], [0.5, 0.3, 0.2], [0.5, 0.3, 0.2]], np.float32))

    found = replay(logits, (0, 1, 2), Sampling(temperature=1.0, top_k=2), 0.0)

    assert found.below == pytest.approx((0, 0.625, 1), abs=1e-6)
    assert found.prob == pytest.approx((0.625, 0.375, 0), abs=1e-6)
    assert found.outside == (0, 0, 1)
    assert found.gap == pytest.approx([np.log(5 / 3)] * 3, abs=1e-6)
    assert found.margin == pytest.approx((0, np.log(5 / 3), np.log(5 / 2)), abs=1e-6)


def test_replays_come_in_the_order_of_the_requests_whatever_the_order_of_the_batches():
    prompts = [(n % 8,) * (40 - n) for n in range(40)]
    found = scored(by_prompt, asked(*prompts), [(n % 8,) for n in range(40)], width=0, slack=0.0)

    assert [(0.0,)] * 40 == [one.margin for one in found]


def test_the_first_law_is_what_the_filters_keep():
    law = first_law(by_prompt, asked((3, 1), temperature=1.0, top_k=1)[0])

    assert {3: 1.0} == law
    assert sum(first_law(by_prompt, asked((3, 1), temperature=1.0)[0]).values()) == pytest.approx(1)


def test_the_yardstick_is_one_token_a_pass_and_comes_first():
    shapes = stepped_shapes([2, 5])

    assert ("", 1, False) == shapes[0]
    assert ["width 2", "width 5", "alone"] == [shape.label for shape in shapes[1:]]
