"""A baseline behind a real socket is recorded and gone; candidates are judged against the tape, by the command line."""

from __future__ import annotations

import json
from types import SimpleNamespace

import kept
import pytest
from arms import draft, plain
from plants import KeepsFirstUnseen, strategies
from served_engine import EngineKind

from draftgate import harness
from draftgate.canaries.targets.strategies import Strategies
from servers_loopback import Loopback, reply


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """A suite, and a tape of the plain engine, whose server has ended."""
    folder = tmp_path_factory.mktemp("kept")
    suite, tape = kept.suite(folder), folder / "plain.tape"
    with Loopback(EngineKind(plain())) as loopback:
        more = f"model=tiny,deadline_s=120,concurrency=8,logprobs=32,eos={plain().eos[0]}"
        baseline = ["--baseline", f"vllm:url={loopback.url},{more}"]
        assert harness.main(["run", suite, *baseline, "--record-baseline", str(tape)]) == 0
    return SimpleNamespace(suite=suite, tape=tape)


@pytest.fixture
def gate(recorded, tmp_path, capsys):
    """Judges a candidate against the tape; gives status, output, errors and the summary, if there is one."""

    def judging(kind, *more, tape=None, suite=None):
        with Loopback(kind) as loopback:
            config = kept.configuration(tmp_path / "candidate.toml", loopback.url)
            words = ["--config", config, "--baseline", f"replay:file={tape or recorded.tape}"]
            status = harness.main(["run", suite or recorded.suite, *words, "--out", str(tmp_path / "run"), *more])
        found = tmp_path / "run" / "summary.json"
        summary = json.loads(found.read_text(encoding="utf-8")) if found.exists() else None
        return SimpleNamespace(
            status=status, summary=summary, asked=len(loopback.asked), **capsys.readouterr()._asdict()
        )

    return judging


def held(summary):
    return {(reason["cell"], reason["check"], reason["reason"]) for reason in summary["reasons"]}


def test_an_honest_candidate_passes_on_correctness_and_no_ratio_is_claimed(gate, tmp_path, capsys):
    found = gate(EngineKind(draft(Strategies())))

    assert (found.status, found.summary["verdict"], held(found.summary)) == (0, "PASS", set())
    assert found.summary["headline"]["ratio"] is None
    assert "PASS: correctness only; no speed ratio is claimed." in found.out
    assert "baseline kept since 20" in found.out

    assert harness.main(["publish", str(tmp_path / "run"), "--to", str(tmp_path / "results")]) == 1
    told = "the baseline of this run was kept from another hour, so no speed is claimed; run both arms"
    assert capsys.readouterr().err == f"draftgate: {told}\n"
    assert not (tmp_path / "results").exists()


def test_a_draft_that_is_kept_unseen_is_found_in_the_tokens(gate):
    found = gate(EngineKind(draft(strategies(verifier=KeepsFirstUnseen())).variant("uniform")))

    assert found.status == 1
    assert ("greedy", "exact_tokens", "CORRECTNESS") in held(found.summary)


class Cold(EngineKind):
    """Takes the best token whatever temperature it is asked for."""

    def asked(self, body):
        return super().asked(body | {"temperature": 0})


def test_a_server_that_does_not_sample_is_found_in_the_samples(gate):
    found = gate(Cold(draft(Strategies())))

    assert found.status == 1
    assert held(found.summary) == {("sampled", "samples", "DISTRIBUTION")}


class Templated(EngineKind):
    """Makes other ids of a prompt."""

    def paths(self):
        return super().paths() | {"/tokenize": lambda asked: reply({"tokens": [5, 6, 7]})}


def test_another_template_is_refused(gate):
    found = gate(Templated(draft(Strategies())))

    assert (found.status, found.summary) == (2, None)
    assert "the arms differ in more than speculation (prompt ids of " in found.err


def edited(path, tape):
    path.write_bytes(tape.read_bytes().replace(b'"seed": 0', b'"seed": 1', 1))
    return path


def truncated(path, tape):
    path.write_bytes(tape.read_bytes()[:-100])
    return path


@pytest.mark.parametrize(
    ("more", "spoil", "told"),
    [
        (["--seed", "1"], None, "the kept baseline was asked with --seed 0, not 1; give that one"),
        (["--claim", "1.5"], None, "--claim 1.5 rests on pairs, and a kept baseline makes none; leave it out"),
        ([], edited, "was changed after it was recorded"),
        ([], truncated, "is no kept baseline, or was cut short; record it again with --record-baseline"),
    ],
)
def test_what_is_not_as_it_was_recorded_is_refused_in_one_line(gate, recorded, tmp_path, more, spoil, told):
    tape = spoil(tmp_path / "spoiled.tape", recorded.tape) if spoil else None
    found = gate(EngineKind(draft(Strategies())), *more, tape=tape)

    assert (found.status, found.summary, found.err.count("\n")) == (2, None, 1)
    assert told in found.err


def test_another_suite_is_refused_before_the_candidate_is_asked(gate):
    found = gate(EngineKind(draft(Strategies())), suite="smoke")

    assert (found.status, found.asked) == (2, 0)
    assert "the kept baseline was asked the suite smoke/v1 of digest" in found.err
