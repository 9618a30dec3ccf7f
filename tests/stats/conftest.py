"""Exactly known laws and a hand-written chain under the token rule, right and wrong, for tests by enumeration."""

from __future__ import annotations

from fractions import Fraction
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np
import pytest


def fraction_law(rng, vocab):
    """A law with small weights: zeros, ties and point masses are common."""
    weights = rng.integers(0, 4, size=vocab)
    weights[rng.integers(vocab)] += 1
    return np.array([Fraction(int(weight), int(weights.sum())) for weight in weights], dtype=object)


def fractions_table(rng, vocab, length):
    """One law for each history of fewer than `length` tokens: entry i has shape (vocab,) * (i + 1)."""
    tables = []
    for i in range(length):
        table = np.empty((vocab,) * (i + 1), dtype=object)
        for history in np.ndindex(*table.shape[:-1]):
            table[history] = fraction_law(rng, vocab)
        tables.append(table)
    return tables


def history_laws(tables):
    """The tables as a function of the history."""
    return lambda history: tables[len(history)][tuple(history)]


class Rule(NamedTuple):
    """The token rule as it should be; each changed field plants a fault."""

    shared_uniform: bool = False
    residual: bool = True
    accept_all: bool = False


RIGHT = Rule()


def token_rule(target, draft, k, chance, rule=RIGHT):
    """One round of a chain: (accepted tokens, last token)."""
    drafted = ()
    for _ in range(k):
        drafted += (chance.draw(draft(drafted)),)
    for i, token in enumerate(drafted):
        p, q = target(drafted[:i]), draft(drafted[:i])
        if not (rule.accept_all or chance.uniform("all" if rule.shared_uniform else i) * q[token] < p[token]):
            left = (p - q).clip(min=0) if rule.residual else p
            return drafted[:i], chance.draw(left / left.sum())
    return drafted, chance.draw(target(drafted))


@pytest.fixture(scope="session")
def by_hand():
    """The functions of this file, for the tests beside it: without state, so one for all."""
    return SimpleNamespace(fractions_table=fractions_table, history_laws=history_laws, token_rule=token_rule, rule=Rule)
