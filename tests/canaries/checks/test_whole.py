"""An observation with a hole is one that was not made: no gap in a record may pass for evidence."""

import copy
from dataclasses import replace

import chats
import pytest
import sampled
from observed import candidate, case, generation, judged, record, replay, spoiled

from draftgate.canaries.checks.whole import whole
from draftgate.canaries.contracts import Reason, Status

NAMES = [
    ("greedy", "pairs"),
    ("greedy", "replays"),
    ("greedy", "knobs"),
    ("greedy", "synthetic"),
    ("sampled", "pairs"),
    ("sampled", "replays"),
    ("sampled", "table"),
    ("sampled", "rows"),
    ("sampled", "recorded"),
]


@pytest.mark.parametrize(("cell", "name"), NAMES)
def test_an_honest_observation_is_whole(cell, name):
    assert whole(case(record(), cell), name)


@pytest.mark.parametrize(("cell", "name"), NAMES)
def test_an_observation_that_was_not_made_is_not(cell, name):
    observations = record()
    del observations[name if name in observations else f"{cell}/{name}"]

    assert not whole(case(observations, cell), name)


def first_group(observations):
    return observations["greedy/pairs"]["groups"][0]


def all_at_once(observations):
    one, other = observations["greedy/pairs"]["groups"]
    for run, more in zip(one["runs"], other["runs"], strict=True):
        run["generations"] += more["generations"]
    one["canaries"] += other["canaries"]
    observations["greedy/pairs"]["groups"].remove(other)


PAIRS = {
    "more at once than the cell decodes": all_at_once,
    "no groups": lambda o: o["greedy/pairs"]["groups"].clear(),
    "a group less": lambda o: o["greedy/pairs"]["groups"].pop(),
    "a group twice": lambda o: o["greedy/pairs"]["groups"].append(o["greedy/pairs"]["groups"][0]),
    "a repeat less": lambda o: first_group(o)["runs"].pop(),
    "a repeat twice": lambda o: first_group(o)["runs"].append(first_group(o)["runs"][0]),
    "one arm only": lambda o: first_group(o).update(runs=[r for r in first_group(o)["runs"] if r["arm"] == "baseline"]),
    "an answer less": lambda o: first_group(o)["runs"][1]["generations"].pop(),
    "no answers": lambda o: first_group(o)["runs"][1]["generations"].clear(),
    "answers swapped": lambda o: first_group(o)["runs"][1]["generations"].reverse(),
    "a time that is no number": lambda o: candidate(o)["arrivals"].append([None, 1]),
}
ON_PAIRS = ["exact_tokens", "exact_text", "json_valid", "noise", "exercise", "algebra", "speed"]


@pytest.mark.parametrize("check", ON_PAIRS)
@pytest.mark.parametrize("hole", PAIRS)
def test_no_check_passes_on_pairs_with_a_hole(hole, check):
    finding = judged(check, spoiled(PAIRS[hole]))

    assert (Status.INCONCLUSIVE, Reason.INCOMPLETE) == (finding.status, finding.reason)


SAMPLED = {
    "a replay less": lambda o: o["sampled/replays"]["candidate"].pop(),
    "no replays": lambda o: o["sampled/replays"].update(candidate=[], replayed=[]),
    "an empty replay": lambda o: o["sampled/replays"]["candidate"].__setitem__(0, replay(0)),
    "a mark less": lambda o: o["sampled/replays"]["candidate"][0]["outside"].pop(),
    "a place less": lambda o: o["sampled/replays"]["candidate"][0]["below"].pop(),
    "a mass less": lambda o: o["sampled/replays"]["candidate"][0]["prob"].pop(),
    "replays of other answers": lambda o: o["sampled/replays"]["replayed"].reverse(),
}


@pytest.mark.parametrize("check", ["pit", "support"])
@pytest.mark.parametrize("hole", SAMPLED)
def test_no_check_passes_on_replays_with_a_hole(hole, check):
    finding = judged(check, spoiled(SAMPLED[hole]), "sampled")

    assert (Status.INCONCLUSIVE, Reason.INCOMPLETE) == (finding.status, finding.reason)


def variant(observations, name="synthetic"):
    return next(iter(observations[name]["variants"].values()))


def forked_without_replay(observations, name):
    variant(observations, name)["generations"][0] |= generation("exact-1", (2, 3, 99))


VARIANTS = {
    "no variants": lambda o, n: o[n]["variants"].clear(),
    "a variant less": lambda o, n: o[n]["variants"].popitem(),
    "an answer less": lambda o, n: variant(o, n)["generations"].pop(),
    "no answers": lambda o, n: variant(o, n)["generations"].clear(),
    "an answer twice": lambda o, n: variant(o, n)["generations"].append(variant(o, n)["generations"][0]),
    "a plain answer less": lambda o, n: o[n]["plain"].pop(),
    "no plain answers": lambda o, n: o[n]["plain"].clear(),
    "an empty plain answer": lambda o, n: o[n]["plain"][0]["tokens"].clear(),
    "a fork that was not replayed": forked_without_replay,
}


@pytest.mark.parametrize("check", ["knobs", "synthetic"])
@pytest.mark.parametrize("hole", VARIANTS)
def test_no_check_passes_on_variants_with_a_hole(hole, check):
    finding = judged(check, spoiled(lambda o: VARIANTS[hole](o, check)))

    assert (Status.INCONCLUSIVE, Reason.INCOMPLETE) == (finding.status, finding.reason)


def test_both_arms_silent_is_no_evidence():
    def silent(observations):
        for answers in (observations["knobs"]["plain"], variant(observations, "knobs")["generations"]):
            for answer in answers:
                answer.update(generation(answer["name"], ()))

    assert judged("knobs", spoiled(silent)).status is Status.INCONCLUSIVE


LAWS = {
    "a draw not counted": lambda o: o["sampled/table"].update(draws=o["sampled/table"]["draws"] + 1),
    "draws of the first token lost": lambda o: o["sampled/table"]["first"].__setitem__(0, 0),
    "an outcome less": lambda o: o["sampled/table"]["counts"].pop(),
    "no outcomes": lambda o: o["sampled/table"]["counts"].clear(),
    "a token less": lambda o: o["sampled/table"]["first"].pop(),
}


@pytest.mark.parametrize("check", ["law", "acceptance"])
@pytest.mark.parametrize("hole", LAWS)
def test_no_check_passes_on_a_table_that_does_not_add_up(hole, check):
    finding = judged(check, spoiled(LAWS[hole]), "sampled")

    assert (Status.INCONCLUSIVE, Reason.INCOMPLETE) == (finding.status, finding.reason)


def test_more_accepted_than_drawn_is_no_evidence():
    observations = spoiled(lambda o: o["sampled/table"].update(accepted=o["sampled/table"]["draws"] + 1))

    assert judged("acceptance", observations, "sampled").status is Status.INCONCLUSIVE


OWN_BATCH = {
    "an answer less": lambda answers: answers.pop(),
    "an answer more": lambda answers: answers.append(answers[0]),
    "an empty answer": lambda answers: answers[0].clear(),
    "a token too many": lambda answers: answers[0].append(0),
    "no token of the table": lambda answers: answers[0].__setitem__(0, 9),
}


@pytest.mark.parametrize("change", OWN_BATCH.values(), ids=OWN_BATCH)
def test_answers_at_the_cells_own_batch_must_be_those_that_were_asked_for(change):
    finding = judged("law", spoiled(lambda o: change(o["sampled/own_batch"]["answers"])), "sampled")

    assert (Status.INCONCLUSIVE, Reason.INCOMPLETE) == (finding.status, finding.reason)


ROWS = {
    "a position less": lambda o: o["sampled/rows"]["counts"].pop(),
    "a token less": lambda o: o["sampled/rows"]["counts"][0].pop(),
    "a draw not counted": lambda o: o["sampled/rows"].update(draws=1),
    "a negative count": lambda o: o["sampled/rows"]["counts"].__setitem__(
        0, [-1, o["sampled/rows"]["draws"] + 1, *[0] * 4]
    ),
}


@pytest.mark.parametrize("hole", ROWS)
def test_the_law_does_not_pass_on_rows_that_do_not_add_up(hole):
    assert judged("law", spoiled(ROWS[hole]), "sampled").status is Status.INCONCLUSIVE


@pytest.fixture(scope="module")
def answers():
    return sampled.observe(sampled.context(sampled.drafting()))


SAMPLES = {
    "no prompts": lambda o: o.update(prompts=[], open=0),
    "a prompt less": lambda o: o["prompts"].pop(),
    "a prompt twice": lambda o: o["prompts"].__setitem__(2, o["prompts"][0]),
    "a canary that is not asked": lambda o: o["prompts"][0].update(canary="prose-9"),
    "other draws than planned": lambda o: o.update(draws=o["draws"] + 4),
    "draws planned for another noise": lambda o: o.update(noise=0.05, draws=332),
    "a call less": lambda o: o["prompts"][0]["candidate"].pop(),
    "a call of the baseline's less": lambda o: o["prompts"][0]["baseline"].pop(),
    "an answer of a call less": lambda o: o["prompts"][0]["candidate"][3].pop(),
    "an answer that is not listed": lambda o: o["prompts"][0]["candidate"][3].__setitem__(0, 999),
    "an answer that never came": lambda o: [
        o["prompts"][0][name].append(row)
        for name, row in (("answers", [0] * 3), ("below", [0.5] * 3), ("prob", [0.1] * 3), ("outside", [0] * 3))
    ],
    "an answer listed twice": lambda o: o["prompts"][0]["answers"].__setitem__(0, o["prompts"][0]["answers"][1]),
    "a longer answer": lambda o: [
        o["prompts"][0][name][0].append(more)
        for name, more in (("answers", 1), ("below", 0.5), ("prob", 0.1), ("outside", 0))
    ],
    "a token without its mass": lambda o: o["prompts"][0]["prob"][0].pop(),
    "an arm that was not asked again": lambda o: o["prompts"][0]["again"].update(baseline=[]),
    "one prompt more than the suite asks": lambda o: [
        o["prompts"].append(o["prompts"][0] | {"canary": "prose-6"}),
        o.update(open=4),
    ],
}


@pytest.mark.parametrize("change", SAMPLES)
def test_sampled_answers_with_a_hole_are_no_evidence(change, answers):
    spoiled_ = copy.deepcopy(answers)
    assert whole(sampled.case(spoiled_), "samples")
    SAMPLES[change](spoiled_)

    found = sampled.judged(spoiled_)

    assert (Status.INCONCLUSIVE, Reason.INCOMPLETE) == (found.status, found.reason)


def test_sampled_answers_are_no_evidence_for_a_suite_without_their_numbers(answers):
    assert not whole(sampled.case(answers, replace(sampled.suite(), samples=None)), "samples")


CHATS = {
    "an ask that was not made": lambda o: o["slots"].pop(),
    "an ask made twice": lambda o: o["slots"].append(o["slots"][0]),
    "an answer less": lambda o: o["slots"][0]["again"]["answers"].pop(),
    "an answer beside a refusal": lambda o: o["slots"][0]["candidate"].update(refused="no"),
    "another order": lambda o: o["slots"].reverse(),
    "a form without its count of drafts": lambda o: o["drafted"].pop("ids"),
}


@pytest.mark.parametrize("change", CHATS)
def test_a_chat_with_a_hole_is_no_evidence(change):
    assert {Status.PASS} == {chats.judged(check).status for check in chats.CHECKS}

    for check in chats.CHECKS:
        found = chats.judged(check, CHATS[change])
        assert (Status.INCONCLUSIVE, Reason.INCOMPLETE) == (found.status, found.reason)
