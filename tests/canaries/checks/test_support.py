"""One token outside the support is proof; few tokens inside are not."""

from dataclasses import replace

from observed import judged, record, served, spoiled, suite

from draftgate.canaries.contracts import Reason, Status


def test_tokens_inside_pass():
    finding = judged("support", record(), "sampled")

    assert (Status.PASS, {"outside": 0, "tokens": 80}) == (finding.status, finding.figures)


def test_one_token_outside_fails_and_names_its_canary():
    observations = spoiled(lambda o: o["sampled/replays"]["candidate"][2]["outside"].__setitem__(19, 1))

    finding = judged("support", observations, "sampled")

    assert (Status.FAIL, Reason.DISTRIBUTION) == (finding.status, finding.reason)
    assert finding.reproduce == ("prose-1",)


def test_too_few_tokens_are_incomplete():
    of = replace(suite(), design=replace(suite().design, token_fault_rate=0.01))

    finding = judged("support", record(), "sampled", of=of)

    assert (Status.INCONCLUSIVE, Reason.INCOMPLETE) == (finding.status, finding.reason)


def test_a_place_whose_law_is_unknown_is_no_evidence():
    """A server may list too few tokens to know what the filters keep: such a place must not count as looked at."""
    observations = served()
    for replay in observations["sampled/replays"]["candidate"]:
        replay |= {"below": [None] * len(replay["below"]), "prob": [None] * len(replay["prob"])}
    finding = judged("support", observations, "sampled", kind="server")

    assert judged("support", served(), "sampled", kind="server").status is Status.PASS
    assert (finding.status, finding.figures["tokens"]) == (Status.INCONCLUSIVE, 0)


def test_a_place_of_which_too_little_is_told_is_no_evidence():
    """Of fewer told than are kept it may be known how likely they are, and not whether another one was kept."""
    observations = served()
    for replay in observations["sampled/replays"]["candidate"]:
        replay["outside"] = [None] * len(replay["outside"])
    finding = judged("support", observations, "sampled", kind="server")

    assert (finding.status, finding.figures["tokens"]) == (Status.INCONCLUSIVE, 0)
    assert judged("pit", observations, "sampled", kind="server").status is Status.PASS
