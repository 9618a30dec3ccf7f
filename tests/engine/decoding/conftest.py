"""The exact law of what is decoded from a table model, and the test that all decoders are held to."""

from __future__ import annotations

from itertools import product
from types import SimpleNamespace

import numpy as np
import pytest

from draftgate.engine.models.table import TableModel, joint_law, peaked_table
from draftgate.engine.request import Request, Sampling
from draftgate.engine.sampling import next_token_probs
from draftgate.stats.chi_square import STRICT_FLOOR, design, goodness_of_fit
from draftgate.stats.decision import decide
from tolerances import SURE

VOCABULARY, TOKENS = 4, 4
N, EFFECT = 7_000, 0.1
PROMPT = (0, 1, 2, 3, 0, 2, 1, 3, 2)
SAMPLING = Sampling(temperature=1.1, top_k=3)
MODEL = TableModel(peaked_table(VOCABULARY, 3, np.random.default_rng(8)))


def exact_law():
    """The law of the second to fourth token: three that a round of K = 2 may emit, prefill's token summed out."""
    histories = [h for length in range(TOKENS) for h in product(range(VOCABULARY), repeat=length)]
    laws = {h: next_token_probs(MODEL.law([*PROMPT, *h])[None, None], [SAMPLING])[0, 0] for h in histories}
    return joint_law(laws, TOKENS).reshape(VOCABULARY, -1).sum(axis=0)


def judge(decoder):
    """What 7,000 answers say of their law; FAIL at once where one of them cannot come."""
    requests = [
        Request(name="r", prompt=PROMPT, max_tokens=TOKENS, sampling=SAMPLING, seed=1000 + row) for row in range(N)
    ]
    tokens = np.array([answer.tokens[1:] for answer in decoder.generate(requests)])
    cells = tokens @ VOCABULARY ** np.arange(TOKENS - 1)[::-1]
    law = exact_law()
    counts = np.bincount(cells, minlength=len(law))
    assert not counts[law == 0].any()
    plan = design(N, law, false_alarm=SURE, miss=SURE)
    fit = goodness_of_fit(counts, law, hypothesis="three tokens follow their joint law", floor=STRICT_FLOOR)
    return decide(fit, plan, effect=EFFECT)


@pytest.fixture(scope="session")
def ground():
    """The model, its vocabulary and the judge."""
    return SimpleNamespace(model=MODEL, vocabulary=VOCABULARY, judge=judge)
