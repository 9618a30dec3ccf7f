"""All that the suite names is asked of either arm, alone and in company, and refusals are kept as words."""

from collections import Counter
from dataclasses import replace
from itertools import groupby

import chats
import pytest

from draftgate.canaries import documents
from draftgate.canaries.contracts import Conversed, Heard
from draftgate.canaries.observations.chat import AGAIN, FORMS, Slot, observe, slots, wrapped
from draftgate.canaries.observations.context import Context
from draftgate.canaries.observations.pairs import BASELINE, CANDIDATE
from draftgate.canaries.targets.servers.asking import Answer, TokenLogprob
from draftgate.engine.request import Generation


class Arm:
    """Answers every ask alike, refuses what it is told to refuse, and keeps what it was asked."""

    eos = (0,)

    def __init__(self, refuses=lambda ask: None, order=None):
        self.refuses, self.calls, self.order = refuses, [], [] if order is None else order

    def encode(self, messages):
        return 5, 6

    def converse(self, asks):
        self.calls.append(list(asks))
        self.order.append(self)
        return Conversed([self.heard(ask) for ask in asks], 3)

    def heard(self, ask):
        if words := self.refuses(ask):
            return Heard((), words)
        made = Generation(name="", tokens=(7, 0), text="a", finish="eos", prefill=0, arrivals=())
        told = (TokenLogprob(7, -0.5, {7: -0.5, 8: -1.5}), TokenLogprob(0, float("nan"), {}))
        answer = Answer(
            generation=made,
            counted="ids",
            replica="0",
            ending="stop",
            logprobs=told if ask.logprobs else None,
            tool_calls=({"name": "look", "arguments": "{}"},) if ask.tools else (),
            usage={"prompt_tokens": 2, "completion_tokens": 2, "other": 1},
        )
        return Heard([answer] * ask.n, None)


def made(baseline=None, candidate=None, suite=None):
    """(observation, baseline, candidate)"""
    arms = baseline or Arm(), candidate or Arm()
    context = Context(suite=suite or chats.suite(), baseline=arms[0], candidate=arms[1], seed=0)
    found = observe(context, chats.NUMBERS)
    return documents.decode(documents.encode(found)), *arms


def test_every_slot_is_asked_of_the_candidate_once_and_of_the_baseline_twice():
    found, baseline, candidate = made()
    listed = [Slot(one["canary"], one["form"], one["together"]) for one in found["slots"]]

    assert listed == slots(chats.suite())
    assert Counter(form for _, form, together in listed if not together)["tools stream"] == 2
    probes = 2  # whether logprobs are taken: by chat, and by completions
    assert sum(map(len, candidate.calls)) == len(listed) + probes
    assert sum(map(len, baseline.calls)) == 2 * len(listed) + probes
    assert {1, 2} == {len(call) for call in candidate.calls}
    assert found["drafted"]["whole"] == 3 * 3  # two calls alone, one in company
    assert all(len({ask.stream for ask in call}) == 1 for call in candidate.calls)


def test_an_arm_is_asked_all_before_the_other_so_that_servers_launched_in_turn_change_seldom():
    order = []
    _, baseline, candidate = made(Arm(order=order), Arm(order=order))

    assert [arm for arm, _ in groupby(order)] == [candidate, baseline, candidate, baseline]


def test_an_ask_is_what_its_form_says():
    _, _, candidate = made()
    asked = [ask for call in candidate.calls[2:] for ask in call]  # after the two that try logprobs
    by_form = {slot.form: ask for slot, ask in zip(slots(chats.suite()), asked, strict=True)}

    assert by_form["stream"].stream
    assert by_form["several"].n == 2
    assert (by_form["named tool"].tool_choice or {})["function"] == {"name": "look"}
    assert by_form["tools"].tool_choice is None
    assert by_form["tools"].tools[0]["function"]["parameters"] == {"type": "object"}
    assert by_form["schema"].schema == wrapped(chats.CANARIES[5])
    assert by_form["tools stream"].logprobs is None
    assert by_form["whole"].logprobs == chats.NUMBERS.logprobs
    assert not by_form["ids"].messages
    assert by_form["whole"].request.sampling.temperature == 0 < by_form["drawn"].request.sampling.temperature


def test_an_answer_is_kept_with_all_that_a_caller_sees():
    found, *_ = made()
    one = next(one for one in found["slots"] if one["form"] == "tools")[CANDIDATE]

    assert one == {
        "refused": None,
        "answers": [
            {
                "text": "a",
                "finish": "stop",
                "calls": [["look", "{}"]],
                "usage": {"prompt_tokens": 2, "completion_tokens": 2},
                "tokens": [7, 0],
                "told": [[7, -0.5, [[7, -0.5], [8, -1.5]]], [0, None, []]],
            }
        ],
    }


def test_a_refusal_stands_in_the_place_of_the_answers():
    found, *_ = made(candidate=Arm(lambda ask: "no tools" if ask.tools else None))
    refused = {
        (one["form"], turn) for one in found["slots"] for turn in (BASELINE, CANDIDATE, AGAIN) if one[turn]["refused"]
    }

    assert refused == {(form, CANDIDATE) for form, how in FORMS.items() if how.sort == "tools"}
    assert all(not one[CANDIDATE]["answers"] for one in found["slots"] if FORMS[one["form"]].sort == "tools")


@pytest.mark.parametrize("arm", [BASELINE, CANDIDATE])
def test_logprobs_that_an_arm_refuses_are_asked_of_none(arm):
    refuses = Arm(lambda ask: "no logprobs" if ask.logprobs and ask.messages else None)
    found, *_ = made(**{arm: refuses})

    other = CANDIDATE if arm == BASELINE else BASELINE
    assert found["refused"] == {"chat": {arm: "no logprobs", other: None}, "completions": dict.fromkeys((arm, other))}
    assert not any(one[turn]["refused"] for one in found["slots"] for turn in (BASELINE, CANDIDATE))
    told = {one["form"] for one in found["slots"] if one[CANDIDATE]["answers"][0]["told"]}
    assert told == {"ids"} | ({"drawn"} & told)


def test_what_is_refused_without_logprobs_too_says_nothing_of_logprobs():
    found, *_ = made(candidate=Arm(lambda ask: "no chat" if ask.messages else None))

    assert found["refused"]["chat"] == dict.fromkeys((BASELINE, CANDIDATE))


def test_nothing_is_drawn_where_no_cell_is_sampled():
    greedy = replace(chats.suite(), cells=chats.suite().cells[:1])

    assert "drawn" in {slot.form for slot in slots(chats.suite())}
    assert "drawn" not in {slot.form for slot in slots(greedy)}
    assert slots(replace(greedy, chat=None)) == []
