"""Laws that are known exactly: they sum to 1, they are what plain decoding draws from, and they bite."""

from dataclasses import replace

import numpy as np
import observed
import pytest
from arms import context, embedded

from draftgate.canaries.observations import laws
from draftgate.canaries.targets.reference import ReferenceTarget
from draftgate.engine.decoding.plain import PlainDecoder
from draftgate.engine.models.table import TableModel
from draftgate.engine.request import Request, Sampling
from draftgate.stats import chi_square
from draftgate.stats.decision import Decision, decide
from draftgate.suites import loader
from draftgate.suites.suite import Cell
from tolerances import ROUNDING, SURE

SAMPLED = observed.SAMPLED
FILTERS = [
    Sampling(temperature=1.0),
    Sampling(temperature=0.7, top_k=2),
    Sampling(temperature=1.3, top_p=0.9),
    Sampling(temperature=1.0, min_p=0.3),
]
IDS = ["all", "top-k", "top-p", "min-p"]


def cell_with(**changes):
    return replace(SAMPLED, **changes)


@pytest.mark.parametrize("sampling", FILTERS, ids=IDS)
def test_the_law_of_a_round_sums_to_one(sampling):
    known = laws.table(observed.context(), SAMPLED)

    law = laws.round_law(known, sampling, 2)

    assert law.shape == (9,)
    assert law.sum() == pytest.approx(1, rel=ROUNDING)
    assert laws.first_law(known, sampling).sum() == pytest.approx(1, rel=ROUNDING)


def drawn(known, sampling, draws):
    """Counts of the two tokens after the first, under plain decoding."""
    requests = [
        Request(name="", prompt=known.prompt, max_tokens=3, sampling=sampling, seed=seed) for seed in range(draws)
    ]
    counts = np.zeros(9, np.int64)
    for generation in PlainDecoder(model=known.target).generate(requests):
        counts[generation.tokens[1] * 3 + generation.tokens[2]] += 1
    return counts


def decision(counts, law):
    judged = chi_square.goodness_of_fit(counts, law, hypothesis="plain decoding", floor=chi_square.STRICT_FLOOR)
    design = chi_square.design(int(counts.sum()), law, false_alarm=SURE, miss=1e-3)
    return decide(judged, design, effect=0.1)


@pytest.mark.parametrize("sampling", FILTERS, ids=IDS)
def test_plain_decoding_draws_from_the_law_of_a_round_and_from_no_other(sampling):
    known = laws.table(observed.context(), SAMPLED)
    law = laws.round_law(known, sampling, 2)
    other = laws.round_law(known._replace(target=known.draft), sampling, 2)

    counts = drawn(known, sampling, 6000)

    assert counts[law == 0].sum() == 0
    assert decision(counts, law) is Decision.PASS
    assert counts[other == 0].sum() or decision(counts, other) is Decision.FAIL


def test_the_chance_of_the_first_acceptance_is_the_overlap_by_hand():
    p, q = np.log([0.6, 0.3, 0.1]), np.log([0.2, 0.5, 0.3])
    target, draft = (TableModel(np.broadcast_to(x, (1, 3, 3, 3)).copy()) for x in (p, q))
    known = laws.Known(target, draft, (0, 1))

    proposes, accepts = laws.first_acceptance(known, Sampling(temperature=1.0), "draft", {})

    assert proposes == pytest.approx(1, rel=ROUNDING)
    assert accepts == pytest.approx(0.2 + 0.3 + 0.1, rel=1e-6)


def test_the_first_acceptance_of_other_drafters_by_hand():
    p = np.log([0.6, 0.3, 0.1])
    target = TableModel(np.broadcast_to(p, (1, 3, 3, 3)).copy())
    known = laws.Known(target, target, (0, 1, 2, 0, 1, 2))
    sampling = Sampling(temperature=1.0)

    assert laws.first_acceptance(known, sampling, "self", {}) == pytest.approx((1, 1))
    assert laws.first_acceptance(known, sampling, "uniform", {}) == pytest.approx((1, 1 / 3 + 0.3 + 0.1))
    # n-gram: only the first token 0 makes (1, 2, 0) or (2, 0) a repeat; token 1 followed and is kept with chance 0.3
    assert laws.first_acceptance(known, sampling, "ngram", {}) == pytest.approx((0.6, 0.6 * 0.3))


@pytest.mark.parametrize(("top_k", "kept"), [(0, 0), (2, 2), (20, 3), (3, 3)])
def test_top_k_is_lowered_until_it_bites(top_k, kept):
    assert kept == laws.law_sampling(cell_with(top_k=top_k), 5).top_k


def test_the_table_follows_from_the_seed_and_the_cell():
    one, again = (laws.table(observed.context(), SAMPLED) for _ in range(2))
    other = laws.table(replace(observed.context(), seed=1), SAMPLED)
    elsewhere = laws.table(observed.context(), cell_with(name="other"))

    assert one.prompt == again.prompt
    assert one.target.identity() == again.target.identity()
    assert len({k.target.identity()["sha256"] for k in (one, other, elsewhere)}) == 3


def test_target_and_draft_of_the_table_differ_everywhere():
    known = laws.table(observed.context(), SAMPLED)

    assert (np.abs(known.target.table - known.draft.table).max(axis=-1) > 0).all()


def test_a_lumped_row_keeps_the_likeliest_of_both_and_all_the_mass():
    rng = np.random.default_rng(0)
    target, draft = rng.normal(0, 3, (2, 200))

    p, q = laws.lump(target, draft)

    whole = target - np.logaddexp.reduce(target)
    assert laws.KEPT_ROWS + 1 == len(p) == len(q)
    assert (np.exp(p).sum(), np.exp(q).sum()) == pytest.approx((1, 1), rel=ROUNDING)
    assert whole.max() == pytest.approx(max(p[:-1]))
    assert (draft - np.logaddexp.reduce(draft)).max() == pytest.approx(max(q[:-1]))


def test_open_rows_of_the_answer_are_recorded():
    made = context()
    recorded = laws.record_rows(made, 4)

    law = np.exp(np.array(recorded["target"]))
    assert "prose" == {c.id: c.kind for c in loader.load("smoke").canaries}[recorded["canary"]]
    assert law.shape == (4, laws.KEPT_ROWS + 1)
    assert law.sum(axis=1) == pytest.approx(np.ones(4), rel=ROUNDING)
    assert (law.max(axis=1) < 0.9).all()
    wider = np.exp(np.array(laws.record_rows(made, 8)["target"]))
    assert {row.max() for row in law} <= {row.max() for row in wider}


@pytest.mark.parametrize(("curt", "canary"), [(1, 1), (2, 2), (99, 0)], ids=["one", "two", "all"])
def test_rows_are_taken_from_an_answer_that_is_long_enough(curt, canary):
    prose = [canary.id for canary in loader.load("smoke").of_kind("prose")]

    class Curt(ReferenceTarget):
        """Ends the first open answers after one token, the very first after two."""

        def generate(self, requests):
            given = {name: 2 if name == prose[0] else 1 for name in prose[:curt]}
            return [replace(g, tokens=g.tokens[: given.get(g.name, 99)]) for g in super().generate(requests)]

    made = replace(context(), baseline=Curt(name="plain", model=embedded()))
    recorded = laws.record_rows(made, 4)

    assert prose[canary] == recorded["canary"]
    assert (2 if curt == 99 else 4) == len(recorded["target"])


def test_the_law_of_recorded_rows_is_the_recorded_one_in_another_order():
    recorded = observed.law_observations()["recorded"]
    target, draft = (np.array(recorded[arm]) for arm in ("target", "draft"))
    known = laws.rows(observed.context(), SAMPLED, target, draft)

    found = laws.row_laws(known, Sampling(temperature=1.0), 2)

    expected = [np.sort(np.exp(target[place])) for place in (1, 2)]  # row 0 is the first token's
    assert np.sort(found, axis=1) == pytest.approx(np.array(expected), rel=1e-5)


def test_cells_without_a_filter_keep_every_token():
    cell = Cell(name="c", temperature=1.0, batch=1, prompts=1, tokens=1, repeats=1)

    assert (laws.first_law(laws.table(observed.context(), cell), laws.law_sampling(cell, 3)) > 0).all()
