"""A recorder answers as its baseline does; what stands in the candidate's place says nothing."""

from __future__ import annotations

import pytest
from recorded import Plain, recorder, request

from draftgate.canaries.contracts import Replay
from draftgate.canaries.targets.recording import Silent


def test_it_answers_as_the_baseline_does_and_writes_all_of_it_down():
    made, plain = recorder(), Plain()
    one = request(5, 6)

    assert made.encode([{"role": "user"}]) == plain.encode([{"role": "user"}])
    assert made.watch([one]) == plain.watch([one])
    assert made.generate([one]) == plain.generate([one])
    assert made.shapes([5]) == plain.shapes([5])
    assert made.next_law([one, request(9)]) == plain.next_law([one, request(9)])
    assert made.configuration() == plain.configuration()
    assert made.identity() == plain.identity()
    assert len(made.calls) == 7
    with pytest.raises(ValueError, match="r"):
        made.check(one)


def test_it_is_kept_and_asked_in_one_process():
    assert recorder().capabilities == {"counters", "configuration", "kept"}
    assert (recorder().name, recorder().kind, recorder().guarantee) == ("vllm", "server", "SAME_LAW")
    assert (recorder().unseen, recorder().eos, recorder().draft_length) == (("spellings",), (0,), 0)


def test_an_answer_without_tokens_is_not_scored():
    made = recorder()
    empty, full = made.score([request(5), request(5)], [(), (7, 8)], width=0, slack=0.0)

    assert empty == Replay((), (), (), (), ())
    assert len(full.gap) == 2
    assert sum(map(len, made.calls.values())) == 1


def test_silence_has_a_kind_and_a_width_and_no_tokens():
    silent = Silent(inner=Plain(), width=5)

    assert (silent.kind, silent.draft_length, silent.capabilities) == ("server", 4, {"counters", "configuration"})
    assert [g.tokens for g in silent.watch([request(5), request(6)]).generations] == [(), ()]
    assert silent.variant("oracle", k=4, answers={}) is silent
    assert silent.configuration() == {}
    assert silent.calls == {}
