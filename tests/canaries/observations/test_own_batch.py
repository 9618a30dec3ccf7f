"""Long answers at a cell's own batch: whole batches, and places that are those of the law."""

from dataclasses import replace

import numpy as np
import observed
import pytest
from arms import context

from draftgate.canaries.observations import laws, own_batch
from draftgate.canaries.observations.own_batch import LONG
from draftgate.engine.models.table import TableModel
from draftgate.engine.request import Sampling
from draftgate.stats import kolmogorov_smirnov as ks
from tolerances import SURE

SAMPLED = observed.SAMPLED
PLAIN = Sampling(temperature=1.0)


@pytest.mark.parametrize(("tokens", "batch", "answers"), [(1, 1, 1), (LONG, 1, 1), (LONG + 1, 1, 2), (LONG + 1, 8, 8)])
def test_answers_come_in_whole_batches(tokens, batch, answers):
    assert answers == own_batch.answers(tokens, replace(SAMPLED, batch=batch))


def test_the_target_is_the_table_and_the_draft_knows_nothing_of_it():
    known, far = laws.table(context(), SAMPLED), own_batch.far(context(), SAMPLED)

    assert np.array_equal(known.target.table, far.target.table)
    assert abs(np.corrcoef(far.target.table.ravel(), far.draft.table.ravel())[0, 1]) < 0.2
    assert np.corrcoef(known.target.table.ravel(), known.draft.table.ravel())[0, 1] > 0.4


def test_an_arm_answers_as_much_as_it_was_asked_for():
    made = context()

    found = own_batch.observe(made, SAMPLED, made.candidate, LONG + 1)

    assert [LONG] * SAMPLED.batch == [len(answer) for answer in found["answers"]]
    assert found == own_batch.observe(made, SAMPLED, made.candidate, LONG + 1)


def two_tokens():
    """Laws (.75, .25) of the target and (.25, .75) of the draft, after every history."""
    rows = [np.broadcast_to(np.log(law), (1, 2, 2, 2)) for law in ((0.75, 0.25), (0.25, 0.75))]
    return laws.Known(*(TableModel(row) for row in rows), (0, 0))


def test_each_token_stands_after_the_likelier_ones_and_after_those_that_the_target_favours():
    placed = own_batch.place(two_tokens(), PLAIN, [[0, 1], [1]])

    assert placed.mass == pytest.approx([0.75, 0.25, 0.25])
    assert placed.likelihood == pytest.approx([0, 0.75, 0.75])
    assert placed.ratio == pytest.approx([0, 0.75, 0.75])


def test_a_draft_law_next_to_nothing_does_not_overflow():
    """exp(-740) is above 0, and what is divided by it too large for a float64: it comes first."""
    rows = [np.broadcast_to(row, (1, 2, 2, 2)) for row in ((-1.0, -0.5), (-740.0, 0.0))]

    placed = own_batch.place(laws.Known(*(TableModel(row) for row in rows), (0, 0)), PLAIN, [[0, 1]])

    assert placed.ratio == pytest.approx([0, placed.mass[0]])


def test_the_ratio_orders_what_likelihood_leaves():
    rows = [np.broadcast_to(np.log(law), (1, 3, 3, 3)) for law in ((0.5, 0.3, 0.2), (0.8, 0.1, 0.1))]
    known = laws.Known(*(TableModel(row) for row in rows), (0, 0))

    placed = own_batch.place(known, PLAIN, [[0, 1, 2]])

    assert placed.likelihood == pytest.approx([0, 0.5, 0.8])
    assert placed.ratio == pytest.approx([0.5, 0, 0.3])


def test_a_token_that_the_law_forbids_has_no_mass():
    placed = own_batch.place(two_tokens(), replace(PLAIN, top_k=1), [[0, 1]])

    assert [1, 0] == placed.mass.tolist()


def test_the_history_is_that_of_the_answer():
    made = context()
    known = own_batch.far(made, SAMPLED)
    answer = [0, 2, 1, 1, 2, 0]

    placed = own_batch.place(known, PLAIN, [answer])

    text = list(known.prompt)
    for token, mass in zip(answer, placed.mass, strict=True):
        logits = known.target.law(text).astype(float)
        assert mass == pytest.approx(np.exp(logits - np.logaddexp.reduce(logits))[token], rel=1e-6)
        text.append(token)


def test_places_of_plain_answers_are_uniform():
    known, listed = own_batch.far(observed.context(), SAMPLED), observed.plain_answers(SAMPLED)
    placed = own_batch.place(known, laws.law_sampling(SAMPLED, known.target.vocabulary), listed)
    v = np.random.default_rng(0).uniform(size=len(placed.mass))

    for below in (placed.likelihood, placed.ratio):
        assert ks.uniform_ks(ks.randomised_pit(below, placed.mass, v), hypothesis="plain").p_value > SURE
