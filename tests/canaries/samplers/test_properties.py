from fractions import Fraction

import torch

from draftgate.canaries.samplers import minimal, properties
from draftgate.canaries.samplers.faults import innocent
from draftgate.stats.strategies import Chain

LAWS = Chain(((Fraction(1, 4), Fraction(3, 4)), (Fraction(2, 3), Fraction(1, 3))), ((Fraction(1, 2), Fraction(1, 2)),))


def wealth(name, sampler):
    return properties.INVARIANTS[name](sampler, LAWS, lambda batch: minimal.settings_for(0, batch, 10.0)())[0]


def test_a_lossless_sampler_has_every_invariant():
    assert all(wealth(name, innocent.token) < minimal.ODDS for name in properties.INVARIANTS)


def test_a_taste_for_small_ids_shows_under_other_names():
    def small(p, q, x, g):
        return innocent.token(p, q, x, g).clamp(max=0)

    assert wealth("relabelling", small) > minimal.ODDS


def test_without_drafts_a_sampler_that_emits_the_likeliest_is_seen():
    def greedy_when_empty(p, q, x, g):
        return innocent.token(p, q, x, g) if x.shape[1] else p.argmax(dim=2)

    assert wealth("empty", greedy_when_empty) > minimal.ODDS
    assert wealth("relabelling", greedy_when_empty) < minimal.ODDS


def test_a_sampler_that_needs_company_is_seen_alone():
    def uniform_when_alone(p, q, x, g):
        flat = torch.full_like(p, 1 / p.shape[2])
        return innocent.token(flat if len(p) == 1 else p, q, x, g)

    assert wealth("alone", uniform_when_alone) > minimal.ODDS
