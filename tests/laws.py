"""Exactly known laws and a hand-written chain under the token rule, right and wrong, for tests by enumeration."""

from __future__ import annotations

from fractions import Fraction

import numpy as np


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


def token_rule(target, draft, k, chance, *, bonus=True, slot=lambda i: i, residual=True, accept_all=False):
    """One round of a chain: (accepted tokens, last token). The switches plant faults; the default has none."""
    drafted = ()
    for _ in range(k):
        drafted += (chance.draw(draft(drafted)),)
    for i, token in enumerate(drafted):
        p, q = target(drafted[:i]), draft(drafted[:i])
        if not (accept_all or chance.uniform(slot(i)) * q[token] < p[token]):
            left = (p - q).clip(min=0) if residual else p
            return drafted[:i], chance.draw(left / left.sum())
    return drafted, chance.draw(target(drafted)) if bonus else None
