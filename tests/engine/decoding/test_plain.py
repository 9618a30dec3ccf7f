import numpy as np
import pytest

from draftgate.engine.decoding.plain import PlainDecoder
from draftgate.engine.errors import LogitsNotFinite
from draftgate.engine.models.table import TableModel
from draftgate.engine.request import Sampling
from draftgate.stats.decision import Decision

GREEDY = Sampling()


class Breaks(TableModel):
    """Answers NaN once the text has this many tokens."""

    def score(self, block, cache):
        logits = super().score(block, cache)
        return np.where((cache.lengths >= 6)[:, None, None], np.float32("nan"), logits)


def test_greedy_tokens_are_the_best_of_the_table(small):
    model = small.table_model(vocabulary=6)
    answer = PlainDecoder(model=model).generate([small.request((1, 2), sampling=GREEDY)])[0]
    context = [1, 2]
    for _ in range(8):
        context.append(int(model.law(context).argmax()))

    assert tuple(context[2:]) == answer.tokens
    assert "length" == answer.finish
    assert () == answer.rounds
    assert [1] * 8 == [arrival.tokens for arrival in answer.arrivals]


def test_sampled_tokens_follow_their_joint_law_and_those_of_another_model_do_not(ground, small):
    assert Decision.PASS == ground.judge(PlainDecoder(model=ground.model))
    blurred = TableModel(0.6 * ground.model.table)

    assert Decision.FAIL == ground.judge(PlainDecoder(model=blurred))


def test_a_requests_tokens_depend_on_neither_neighbours_nor_order(small):
    model = small.table_model(vocabulary=6)
    requests = [small.request((row % 5, 2), max_tokens=3 + row, seed=row, name=f"r{row}") for row in range(6)]
    alone = [PlainDecoder(model=model).generate([r])[0].tokens for r in requests]

    assert alone == [g.tokens for g in PlainDecoder(model=model).generate(requests)]
    assert alone[::-1] == [g.tokens for g in PlainDecoder(model=model).generate(requests[::-1])]


def test_rows_of_one_seed_and_prompt_agree_and_other_seeds_differ(small):
    model = small.table_model(vocabulary=6)
    tokens = [
        PlainDecoder(model=model).generate([small.request(max_tokens=30, seed=seed)])[0].tokens for seed in (1, 1, 2)
    ]

    assert tokens[0] == tokens[1] != tokens[2]


def test_a_row_that_ends_early_leaves_the_others_as_they_are(small):
    model = small.table_model(vocabulary=6)
    long = small.request((1, 2), max_tokens=12, sampling=GREEDY)
    whole = PlainDecoder(model=model).generate([long])[0].tokens
    short = small.request((1, 2), max_tokens=12, sampling=GREEDY, eos=(whole[2],))

    seen = PlainDecoder(model=model).generate([short, long])

    assert [whole[: whole.index(whole[2]) + 1], whole] == [g.tokens for g in seen]
    assert ["eos", "length"] == [g.finish for g in seen]


def test_logits_that_are_not_finite_end_the_run(small):
    with pytest.raises(LogitsNotFinite, match="not finite"):
        PlainDecoder(model=Breaks(small.table_model().table)).generate([small.request()])
