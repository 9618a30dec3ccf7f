"""Plain decoding by rounds against plain decoding in its own loop."""

from __future__ import annotations

from draftgate.engine.cache.contiguous import ContiguousCache
from draftgate.engine.decoding.plain import PlainDecoder
from draftgate.engine.decoding.prefill import prefill
from draftgate.engine.decoding.stepping import Stepping
from draftgate.stats.decision import Decision


class Looped:
    """All rows from the first round to the last, none of which may end before the others."""

    def __init__(self, rounds):
        self.rounds = rounds

    def generate(self, requests):
        cache = ContiguousCache(len(requests))
        answers = [self.rounds.opened(request, 0.0) for request in requests]
        self.rounds.first(answers, prefill(self.rounds.model, cache, requests))
        while answers[0].finish is None:
            self.rounds.round(answers, cache, [0] * len(answers))
        return [answer.generation() for answer in answers]


class Again(Stepping):
    """Draws every token with the first one's chance."""

    def _drawn(self, answers, probs):
        short = [type(answer)(answer.request, str, 0.0) for answer in answers]
        return super()._drawn(short, probs)


def test_answers_are_those_of_the_plain_decoder(small):
    model = small.table_model(vocabulary=6)
    requests = [small.request((row % 5, 2), max_tokens=7, seed=row, name=f"r{row}") for row in range(6)]
    plain, seen = PlainDecoder(model=model).generate(requests), Looped(Stepping(model=model)).generate(requests)

    assert [(g.tokens, g.text, g.finish, g.rounds) for g in plain] == [
        (g.tokens, g.text, g.finish, g.rounds) for g in seen
    ]


def test_tokens_follow_their_joint_law_and_reused_chance_is_seen(ground):
    assert Decision.PASS == ground.judge(Looped(Stepping(model=ground.model)))
    assert Decision.FAIL == ground.judge(Looped(Again(model=ground.model)))


def test_nothing_is_drafted(small):
    rounds = Stepping(model=small.table_model())
    rounds.begin()
    rounds.join(2)
    rounds.select([1])

    assert (0, 1) == (rounds.length, rounds.nodes)
