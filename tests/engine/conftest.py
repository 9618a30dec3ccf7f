"""Models whose laws are known, the embedded ones, and the small pieces that most tests of the engine need."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
import torch
from hypothesis import settings

from draftgate.canaries.targets.reference import EMBEDDED
from draftgate.engine.drafters.base import Situation
from draftgate.engine.models import huggingface
from draftgate.engine.models.table import TableModel, peaked_table
from draftgate.engine.randomness import CounterRandomness, Purpose
from draftgate.engine.request import Request, Sampling

settings.register_profile("unhurried", deadline=None)  # a busy machine must not turn a test red
settings.load_profile("unhurried")


def table_model(vocabulary=4, period=3, seed=0):
    return TableModel(peaked_table(vocabulary, period, np.random.default_rng(seed)))


def request(prompt=(0, 1, 0, 2), max_tokens=8, **more):
    more = {"name": "r", "sampling": Sampling(temperature=1.0)} | more
    return Request(prompt=tuple(prompt), max_tokens=max_tokens, **more)


def situation(contexts, limits, *, requests=None, seed=0, rounds=None, slots=8):
    """One round's situation; every row has its own seed, so rows with equal contexts draw apart."""
    rows = len(contexts)
    turns = np.array(rounds if rounds is not None else [0] * rows)
    chance = CounterRandomness().uniforms(np.arange(rows) + seed, turns, Purpose.DRAFT, slots)
    asked = requests or [request(context, seed=row + seed) for row, context in enumerate(contexts)]
    return Situation(requests=asked, contexts=contexts, limits=limits, chance=chance, rounds=turns.tolist())


@pytest.fixture(scope="session")
def small():
    """The functions of this file, for the tests beside it: without state, so one for all."""
    return SimpleNamespace(table_model=table_model, request=request, situation=situation)


@pytest.fixture(scope="session")
def target():
    """The embedded target."""
    torch.set_num_threads(1)
    return huggingface.load(EMBEDDED / "target")


@pytest.fixture(scope="session")
def draft():
    """The embedded draft."""
    return huggingface.load(EMBEDDED / "draft")
