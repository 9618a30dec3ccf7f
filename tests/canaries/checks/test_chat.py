"""What a caller sees of chat answers is plain decoding's; near ties are excused, refusals and lost features told."""

import chats
import pytest
from chats import every, heard, judged, refuse, said

from draftgate.canaries.contracts import Reason, Status
from draftgate.canaries.observations.chat import AGAIN, FORMS
from draftgate.canaries.observations.pairs import BASELINE, CANDIDATE

OTHER = (5, 6, 8, 0)  # another token at the third place


def test_equal_answers_pass_and_say_what_would_have_been_seen():
    finding = judged("chat")

    assert (finding.status, finding.reason) == (Status.PASS, None)
    assert finding.figures["answers"] == {"text": 16, "tools": 12, "schema": 8, "ids": 4}
    assert finding.summary.startswith("40 answers are plain decoding's (16 by text, 12 with tools, 8 by schema, 4 by")
    assert "1 in 1.7 by schema" in finding.seen


FAULTS = {
    "another text": ("whole", {"text": "abd", "tokens": [*OTHER]}, "text 'abd', plain decoding's 'abc', where plain"),
    "the same tokens in other words": ("stream", {"text": "ab"}, "text 'ab', plain decoding's 'abc'"),
    "another spelling": ("ids", {"tokens": [*OTHER]}, "tokens '5, 6, 8, 0', plain decoding's '5, 6, 7, 0'"),
    "a call less": ("tools", {"calls": []}, "calls 'none', plain decoding's "),
    "another call": ("tools stream", {"calls": [["leap", '{"a": 1}']]}, "calls "),
    "other arguments": ("named tool", {"calls": [["look", '{"a": 2}']]}, "calls "),
    "another end": ("tools", {"finish": "stop"}, "finish 'stop', plain decoding's 'tool_calls'"),
    "a schema that is broken": ("schema stream", {"text": "7", "tokens": [*OTHER]}, "text '7'"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_an_answer_that_is_not_plain_decodings_fails(name):
    form, changes, words = FAULTS[name]
    finding = judged("chat", lambda chat: heard(chat, form)["answers"][0].update(changes))

    assert (finding.status, finding.reason) == (Status.FAIL, Reason.CORRECTNESS)
    assert f"({form}): {words}" in finding.summary
    assert len(finding.reproduce) == 1


def test_miscounted_tokens_are_a_fault_of_the_counters():
    usage = {"prompt_tokens": 9, "completion_tokens": 5}
    finding = judged("chat", lambda chat: heard(chat, "several", together=1)["answers"][1].update(usage=usage))

    assert (finding.status, finding.reason) == (Status.FAIL, Reason.METRICS)
    assert (
        "(several, in company): usage 'completion_tokens 5', plain decoding's 'completion_tokens 8'" in finding.summary
    )


def test_ids_that_a_stream_left_out_are_no_other_tokens():
    finding = judged("chat", lambda chat: heard(chat, "tools stream")["answers"][0].update(tokens=[5, 0]))

    assert finding.status is Status.PASS


def tied(chat, *, gap, token=8, form="whole"):
    """Plain decoding nearly said `token` at the third place; the candidate says it."""
    for turn in (BASELINE, AGAIN):
        for together in (0, 1):
            heard(chat, form, turn, together=together)["answers"][0]["told"][2] = chats.row(7, other=token, gap=gap)
    heard(chat, form)["answers"][0].update(text="abx", tokens=[5, 6, 8, 3])


def test_a_fork_at_a_near_tie_is_no_evidence():
    finding = judged("chat", lambda chat: tied(chat, gap=1e-5))

    assert finding.status is Status.PASS
    assert finding.figures["answers"]["text"] == 15
    assert "1 asks answered otherwise at near ties" in finding.summary


def test_a_fork_beyond_the_noise_is_a_fault():
    assert judged("chat", lambda chat: tied(chat, gap=0.1)).reason is Reason.CORRECTNESS


def test_a_broken_schema_is_a_fault_at_a_near_tie_too():
    assert judged("chat", lambda chat: tied(chat, gap=1e-5, form="schema")).reason is Reason.CORRECTNESS


def test_a_fork_of_which_too_little_is_told_is_undecided():
    def change(chat):
        tied(chat, gap=1e-5)
        for answer in every(chat, BASELINE, AGAIN, CANDIDATE):
            answer["told"] = []

    finding = judged("chat", change)
    assert (finding.status, finding.reason) == (Status.INCONCLUSIVE, Reason.INCOMPLETE)
    assert "where too little is told to know" in finding.summary


def test_a_baseline_that_answers_otherwise_when_asked_again_is_no_yardstick():
    finding = judged("chat", lambda chat: heard(chat, "whole", AGAIN)["answers"][0].update(text="x", tokens=[*OTHER]))

    assert (finding.status, finding.reason) == (Status.FAIL, Reason.BASELINE_UNSTABLE)


TOOLS = ("tools", "tools stream", "named tool")


def test_a_baseline_that_refuses_once_and_answers_once_is_no_yardstick():
    def refused(*turns):
        return lambda chat: [refuse(one[t]) for one in chat["slots"] if one["form"] in TOOLS for t in turns]

    for turns in ((BASELINE,), (AGAIN, CANDIDATE)):
        finding = judged("chat", refused(*turns))
        assert (finding.status, finding.reason) == (Status.FAIL, Reason.BASELINE_UNSTABLE)
        assert finding.summary.startswith("plain decoding answers 12 asks otherwise when asked again")


@pytest.mark.parametrize("forms", [TOOLS, tuple(FORMS)])
def test_answers_in_which_nothing_is_said_are_no_evidence(forms):
    def hollow(chat):
        for answer in every(chat, BASELINE, AGAIN, CANDIDATE, forms=forms):
            answer.update(text="", calls=[])

    finding = judged("chat", hollow)
    assert (finding.status, finding.reason) == (Status.INCONCLUSIVE, Reason.INCOMPLETE)
    assert "more answers with tools" in finding.summary
    assert " asks plain decoding says nothing" in finding.summary


def test_a_feature_that_the_candidate_alone_refuses_was_lost():
    finding = judged("chat", lambda chat: refuse(heard(chat, "schema")))

    assert (finding.status, finding.reason) == (Status.FAIL, Reason.CORRECTNESS)
    assert "the candidate refuses 1 asks that plain decoding answers, first schema (not here)" in finding.summary
    assert finding.reproduce == ("json-1",)


def refused_by_all(chat, *forms):
    for one in chat["slots"]:
        if one["form"] in forms:
            for turn in (BASELINE, AGAIN, CANDIDATE):
                refuse(one[turn])


def test_what_both_arms_refuse_does_not_apply():
    finding = judged("chat", lambda chat: refused_by_all(chat, *TOOLS))

    assert finding.status is Status.PASS
    assert "; tools: refused (not here); tools stream: refused (not here); named tool: refused" in finding.summary
    assert "tools" not in finding.figures["answers"]


def test_a_server_that_refuses_all_is_not_judged():
    finding = judged("chat", lambda chat: refused_by_all(chat, *FORMS))

    assert finding.status is Status.NOT_APPLICABLE
    assert "whole: refused (not here)" in finding.summary


def test_where_nothing_was_drafted_speculation_was_not_seen():
    part = judged("chat", lambda chat: chat["drafted"].update({"schema": 0, "schema stream": 0}))
    untold = judged("chat", lambda chat: chat["drafted"].update(dict.fromkeys(FORMS)))
    nothing = judged("chat", lambda chat: chat["drafted"].update(dict.fromkeys(FORMS, 0)))

    assert (part.status, untold.status) == (Status.PASS, Status.PASS)
    assert part.summary.endswith("; nothing was drafted by schema")
    assert (nothing.status, nothing.reason) == (Status.NOT_EXERCISED, Reason.NOT_EXERCISED)
    assert nothing.summary.startswith("the candidate drafted nothing; 40 answers")


def test_too_few_answers_of_a_sort_are_undecided():
    finding = judged("chat", lambda chat: [refuse(one["again"]) for one in chat["slots"] if one["form"] == "ids"])
    assert finding.status is Status.PASS  # the baseline's turn against itself is no evidence about the candidate

    def few(chat):
        for one in [one for one in chat["slots"] if one["form"].startswith("schema")][1:]:
            for turn in (BASELINE, AGAIN, CANDIDATE):
                refuse(one[turn])

    finding = judged("chat", few)
    assert (finding.status, finding.reason) == (Status.INCONCLUSIVE, Reason.INCOMPLETE)
    assert finding.summary.startswith("2 more answers by schema are needed; ")


def test_what_plain_decoding_does_not_offer_is_told():
    def silent(chat):
        for answer in every(chat, BASELINE, AGAIN, CANDIDATE, forms=("tools", "tools stream", "named tool")):
            answer.update(calls=[], text="look")
        for answer in every(chat, BASELINE, AGAIN, CANDIDATE, forms=("stream",)):
            answer.update(text="abcd")

    finding = judged("chat", silent)
    assert finding.status is Status.PASS
    assert "offered tools, plain decoding answers with text only" in finding.summary
    assert "plain decoding's own streams differ from its whole answers in 4 asks" in finding.summary


def test_other_spaces_in_streamed_arguments_are_no_difference_of_the_stream():
    def spaced(chat):
        for answer in every(chat, BASELINE, AGAIN, CANDIDATE, forms=("tools stream",)):
            answer.update(calls=[["look", '{"a":1}']])

    assert judged("chat", spaced).figures["plain_streams_otherwise"] == 0


def test_a_cut_answer_need_not_keep_the_schema():
    def cut(chat):
        tied(chat, gap=1e-5, form="schema")
        heard(chat, "schema")["answers"][0].update(finish="length")

    assert said("schema")["text"] == '{"answer": 7}'
    assert judged("chat", cut).status is Status.PASS


def test_an_observation_that_was_not_made_is_no_evidence():
    assert judged("chat", lambda chat: chat["slots"].pop()).status is Status.INCONCLUSIVE
