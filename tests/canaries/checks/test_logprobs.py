"""What is told of tokens is what plain decoding tells, where both tell it; what is not told is no fault."""

import chats
import pytest
from chats import every, heard, judged, row

from draftgate.canaries.contracts import Reason, Status
from draftgate.canaries.observations.chat import AGAIN, CHAT, FORMS
from draftgate.canaries.observations.pairs import BASELINE, CANDIDATE

TURNS = (BASELINE, AGAIN, CANDIDATE)


def first(chat, form="whole"):
    """The rows of one answer of the candidate, to be changed in place."""
    return heard(chat, form)["answers"][0]["told"]


def test_equal_logprobs_pass_and_say_what_would_have_been_seen():
    finding = judged("logprobs")

    assert (finding.status, finding.reason) == (Status.PASS, None)
    assert finding.figures["places"] == 32 * len(chats.TOKENS)
    assert finding.figures["largest_logits"] == 0
    assert "that is off by 0.0008 logits" in finding.seen


FAULTS = {
    "another value": lambda told: told.__setitem__(1, row(6, -0.7)),
    "another best token": lambda told: told.__setitem__(1, [6, -0.5, [[6, -0.5], [8, -3.0]]]),
    "a certainty that nobody computed": lambda told: told.__setitem__(1, [6, 0.0, []]),
    "the row before": lambda told: told.__setitem__(
        slice(None), [[t[0], *r[1:]] for t, r in zip(told, told[:1] + told, strict=False)]
    ),
}


@pytest.mark.parametrize("name", FAULTS)
@pytest.mark.parametrize("form", ["whole", "schema stream", "ids"])
def test_a_place_that_is_told_otherwise_fails(name, form):
    finding = judged("logprobs", lambda chat: FAULTS[name](first(chat, form)))

    assert (finding.status, finding.reason) == (Status.FAIL, Reason.CORRECTNESS)
    assert f"token 1 of {heard_name(form)} ({form})" in finding.summary


def heard_name(form):
    return "json-1" if form.startswith("schema") else "exact-1"


def test_what_the_noise_explains_passes():
    near = judged("logprobs", lambda chat: first(chat).__setitem__(1, row(6, -0.5005)))
    far = judged("logprobs", lambda chat: first(chat).__setitem__(1, row(6, -0.502)))

    assert (near.status, far.status) == (Status.PASS, Status.FAIL)


def again(chat, by, asks):
    """In so many of its asks plain decoding tells one place otherwise when it is asked again."""
    told = [answer["told"] for answer in every(chat, AGAIN) if answer["told"]]
    for rows in told[:asks]:
        token = rows[1][0]
        rows[1] = row(token, -0.5 - by)


def test_noise_of_told_logprobs_counts_as_noise_and_too_much_of_it_is_the_baselines():
    def moved(by):
        def change(chat):
            again(chat, by, 16)
            first(chat)[1] = row(6, -0.5 - 4 * by)

        return change

    assert judged("logprobs", moved(0.01)).status is Status.PASS
    assert judged("logprobs", moved(0.6)).reason is Reason.BASELINE_UNSTABLE


@pytest.mark.parametrize("asks", [1, 3])
@pytest.mark.parametrize("wrong", [0, 4])
def test_what_plain_decoding_tells_wildly_now_and_then_excuses_nobody_and_is_its_own_fault(asks, wrong):
    def change(chat):
        again(chat, 0.1, asks)
        first(chat)[1] = row(6, -0.5 - 0.1 * wrong)

    for check in ("logprobs", "chat"):
        finding = judged(check, change)
        assert (finding.status, finding.reason) == (Status.FAIL, Reason.BASELINE_UNSTABLE)
        assert "own logprobs differ by 0.1 logits when asked again" in finding.summary
        assert finding.figures.get("tolerance_logits", 0.0008) == pytest.approx(0.0008)


def test_nothing_is_held_against_each_other_behind_a_fork():
    def forked(chat):
        answer = heard(chat, "drawn")["answers"][0]
        answer.update(tokens=[5, 9, 3, 0], told=[row(5), [9, -3.5, [[6, -0.5], [9, -3.5]]], row(3), row(0, -9.0)])

    assert judged("logprobs", forked).figures["places"] == judged("logprobs").figures["places"] - 2


def test_tokens_of_which_nothing_is_told_are_no_fault_and_are_counted():
    def silent(chat):
        for answer in every(chat, CANDIDATE):
            answer["told"] = [one if n == 0 else [one[0], None, []] for n, one in enumerate(answer["told"])]

    finding = judged("logprobs", silent)
    assert finding.status is Status.PASS
    assert finding.figures["places"] == 32
    assert "greedily, the candidate tells of 28 tokens, plain decoding of 112" in finding.summary


@pytest.mark.parametrize(
    "less", [lambda row: row[2].clear(), lambda row: row[2].pop(), lambda row: row.__setitem__(1, None)]
)
def test_places_of_which_less_is_told_than_plain_decoding_tells_are_no_evidence(less):
    def cut(chat):
        for answer in every(chat, CANDIDATE):
            for told in answer["told"]:
                less(told)

    finding = judged("logprobs", cut)
    assert (finding.status, finding.reason) == (Status.INCONCLUSIVE, Reason.INCOMPLETE)
    assert finding.summary.endswith(
        "; at 128 places the candidate tells less than plain decoding, which is no evidence"
    )
    assert finding.seen == ""


@pytest.mark.parametrize(("end", "by_chat"), [("chat", True), ("completions", False)])
def test_an_end_point_by_which_the_candidate_alone_tells_nothing_is_undecided(end, by_chat):
    def mute(chat):
        forms = tuple(form for form, how in FORMS.items() if (how.sort in CHAT) is by_chat)
        for answer in every(chat, CANDIDATE, forms=forms):
            answer["told"] = []

    finding = judged("logprobs", mute)
    assert (finding.status, finding.reason) == (Status.INCONCLUSIVE, Reason.INCOMPLETE)
    assert finding.summary.startswith(f"by {end} the candidate tells nowhere what plain decoding tells; told of ")


def test_too_few_places_are_undecided():
    def silent(chat):
        for answer in every(chat, CANDIDATE):
            answer["told"] = []

    finding = judged("logprobs", silent)
    assert (finding.status, finding.reason) == (Status.INCONCLUSIVE, Reason.INCOMPLETE)
    assert finding.summary.startswith("31 more places are needed at which both arms tell logprobs")


def test_rows_that_are_fewer_than_the_tokens_are_not_aligned():
    def gaps(chat):
        for answer in every(chat, CANDIDATE, forms=("stream",)):
            answer.update(tokens=[], told=[row(5), row(0, -7.0)])

    assert judged("logprobs", gaps).status is Status.PASS


def test_logprobs_that_the_candidate_alone_refuses_were_lost():
    finding = judged("logprobs", lambda chat: chat["refused"]["chat"].update(candidate="no logprobs"))

    assert (finding.status, finding.reason) == (Status.FAIL, Reason.CORRECTNESS)
    assert "the candidate refuses logprobs by chat, plain decoding does not" in finding.summary


def test_a_server_that_tells_none_is_not_judged():
    def none(chat):
        for answer in every(chat, *TURNS):
            answer["told"] = []

    assert judged("logprobs", none).status is Status.NOT_APPLICABLE


def test_the_emitted_token_beside_the_best_ones_bounds_nothing():
    def extra(chat):
        for turn, token, value in ((BASELINE, 20, -8.0), (AGAIN, 20, -8.0), (CANDIDATE, 21, -7.9)):
            answer = heard(chat, "drawn", turn)["answers"][0]
            answer.update(tokens=[token, 6, 7, 0])
            answer["told"][0] = [token, value, [[token, value], [5, -0.5], [9, -3.5]]]

    assert judged("logprobs", extra).status is Status.PASS


def test_logprobs_of_other_tokens_than_were_emitted_are_a_fault_of_the_candidate_alone():
    def misnamed(*turns):
        def change(chat):
            for answer in every(chat, *turns, forms=("ids",)):
                answer["told"] = [row(token + 1) for token in answer["tokens"]]

        return change

    finding = judged("logprobs", misnamed(CANDIDATE))
    assert (finding.status, finding.reason) == (Status.FAIL, Reason.CORRECTNESS)
    assert "4 asks are told logprobs of other tokens than were emitted, first exact-1 (ids)" in finding.summary
    assert judged("logprobs", misnamed(*TURNS)).status is Status.PASS
