"""Faults of chat end points behind a real socket, beside honest ones: what people call is what is judged."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace
from functools import cache
from typing import ClassVar

import pytest
from arms import draft, plain
from served_engine import EngineKind, opened

from draftgate.canaries import documents
from draftgate.canaries.checks.base import Case
from draftgate.canaries.checks.registry import CHECKS, judge, ledger
from draftgate.canaries.contracts import Reason, Status
from draftgate.canaries.observations.context import Context
from draftgate.canaries.plan import plan
from draftgate.canaries.run import told
from draftgate.canaries.targets.strategies import Strategies
from draftgate.suites import loader
from draftgate.suites.suite import Cell
from servers_loopback import reply

GREEDY = Cell(name="greedy", temperature=0.0, batch=2, prompts=2, tokens=12, repeats=1)
SAMPLED = Cell(name="sampled", temperature=1.3, batch=2, prompts=1, tokens=8, repeats=1)
TWO_CALLS = "tools-03"  # whose right answer is two calls


@cache
def suite():
    """One canary of three kinds, so that a fault must change nearly all answers of a sort."""
    smoke = loader.load("smoke")
    names = {"exact-01", "json-01", TWO_CALLS}
    return replace(
        smoke,
        cells=(GREEDY, SAMPLED),
        canaries=tuple(canary for canary in smoke.canaries if canary.id in names),
        census=None,
        chat=replace(smoke.chat, prompts=1, tokens=64, effect=0.97, told_effect=0.1),
    )


class Engine(EngineKind):
    """The honest engine, which remembers what it computed: faults differ in what they make of it."""

    made: ClassVar[dict] = {}

    def generated(self, body):
        key = self.arm.name, tuple(body["prompt"]), body["max_tokens"], body["temperature"], body["seed"]
        if key not in self.made:
            self.made[key] = super().generated(body)
        else:
            self._count(self.made[key])
        return self.made[key]

    def _best(self, ids, last, most):
        key = tuple(ids), last, most
        if key not in self.made:
            self.made[key] = list(super()._best(ids, last, most))
        return self.made[key]


@cache
def findings(candidate, baseline=None):
    """What `chat` and `logprobs` say of two engines behind sockets."""
    with ExitStack() as stack:
        kinds = {"baseline": (baseline or Engine)(plain()), "candidate": candidate(draft(Strategies()))}
        arms = {role: stack.enter_context(opened(role, kind)) for role, kind in kinds.items()}
        context, made = Context(suite=suite(), seed=0, **arms), {}
        for step in plan(context):
            if step.key in {"greedy/pairs", "greedy/replays", "chat"}:
                observed = told(lambda step=step: step.compute(made))
                made[step.key] = documents.decode(documents.encode(observed))
        header = {arm: one.identity() for arm, one in arms.items()} | {"seed": 0, "eos": list(arms["baseline"].eos)}
    shares = ledger(suite(), "server")
    case = Case(suite=suite(), cell=GREEDY, header=header, observations=made, ledger=shares)
    return {name: judge(CHECKS[name], case) for name in ("chat", "logprobs")}


def failed(found):
    return {name: finding.reason for name, finding in found.items() if finding.status is not Status.PASS}


def test_an_honest_server_passes():
    found = findings(Engine)

    assert {name: finding.summary for name, finding in found.items() if finding.status is not Status.PASS} == {}
    assert {"text": 8, "tools": 6, "schema": 4, "ids": 2} == found["chat"].figures["answers"]
    assert found["logprobs"].figures["places"] > 200


class OtherEnd(Engine):
    """Says that a call is an ordinary end."""

    def finish(self, body, answer, calls):
        return self.ended(answer)


class DropsCalls(Engine):
    """Keeps the first call of an answer."""

    def said(self, body, answer):
        text, calls = super().said(body, answer)
        return text, calls[:1]


class Reorders(Engine):
    """Hands out calls in the order in which they were finished last."""

    def said(self, body, answer):
        text, calls = super().said(body, answer)
        return text, calls[::-1]


class LosesInStreams(Engine):
    """A round's last character waits for the next round, which never sends it."""

    def streamed(self, body, answer):
        for document in super().streamed(body, answer):
            for choice in document["choices"]:
                choice["delta"]["content"] = choice["delta"]["content"][:-1]
            yield document


class NoGrammar(Engine):
    """Accepts drafts that the schema forbids: all of them."""

    def said(self, body, answer):
        return super().said(body | {"response_format": None}, answer)


class Miscounts(Engine):
    """Counts a drafted token that was refused."""

    def usage(self, body, answers):
        usage = super().usage(body, answers)
        return usage | {"completion_tokens": usage["completion_tokens"] + 1}


class RefusesTools(Engine):
    """Takes no tools beside speculation."""

    def chat(self, asked):
        if asked.body.get("tools"):
            return reply({"error": {"message": "no tools with speculation", "code": 400}}, status=400)
        return super().chat(asked)


class Fails(Engine):
    """Fails at schemas, and lives on."""

    def chat(self, asked):
        if asked.body.get("response_format"):
            return reply({"error": {"message": "internal", "code": 500}}, status=500)
        return super().chat(asked)


@pytest.mark.parametrize(
    ("kind", "reason", "words"),
    [
        (OtherEnd, Reason.CORRECTNESS, "finish 'stop', plain decoding's 'tool_calls'"),
        (DropsCalls, Reason.CORRECTNESS, "tools-03 (tools): calls "),
        (Reorders, Reason.CORRECTNESS, "tools-03 (tools): calls "),
        (LosesInStreams, Reason.CORRECTNESS, "exact-01 (stream): text "),
        (NoGrammar, Reason.CORRECTNESS, "json-01 (schema): text "),
        (Miscounts, Reason.METRICS, "usage 'completion_tokens "),
        (RefusesTools, Reason.CORRECTNESS, "the candidate refuses 6 asks that plain decoding answers, first tools (no"),
        (Fails, Reason.CORRECTNESS, "the candidate refuses 4 asks that plain decoding answers, first schema (internal"),
    ],
)
def test_what_speculation_breaks_by_chat_is_found(kind, reason, words):
    found = findings(kind)

    assert (found["chat"].status, found["chat"].reason) == (Status.FAIL, reason)
    assert words in found["chat"].summary


class RowBefore(Engine):
    """Tells of each token what was known one place earlier."""

    def rows(self, prompt, tokens, most):
        told = super().rows(prompt, tokens, most)
        rows = [row for _, row in told]
        return [
            (token, {token: row.get(token, -20.0)} | row)
            for token, row in zip(tokens, [rows[0], *rows[:-1]], strict=True)
        ]


class AtHalfTemperature(Engine):
    """Tells the logprobs of a law that was sharpened."""

    def rows(self, prompt, tokens, most):
        return [
            (token, {t: 2 * value for t, value in row.items()}) for token, row in super().rows(prompt, tokens, most)
        ]


class RefusesLogprobs(Engine):
    """Tells no logprobs by chat beside speculation."""

    def chat(self, asked):
        if asked.body.get("logprobs"):
            return reply({"error": {"message": "no logprobs", "code": 400}}, status=400)
        return super().chat(asked)


@pytest.mark.parametrize("kind", [RowBefore, AtHalfTemperature, RefusesLogprobs])
def test_logprobs_that_are_not_the_models_are_found(kind):
    assert failed(findings(kind)) == {"logprobs": Reason.CORRECTNESS}


def test_what_both_arms_refuse_does_not_apply_and_is_told():
    found = findings(RefusesTools, RefusesTools)

    assert failed(found) == {}
    assert "; tools: refused (no tools with speculation); tools stream: refused" in found["chat"].summary


def test_logprobs_that_both_arms_refuse_are_no_evidence():
    found = findings(RefusesLogprobs, RefusesLogprobs)

    assert found["chat"].status is Status.PASS
    assert found["logprobs"].figures["told_by_baseline"] == found["logprobs"].figures["told_by_candidate"]


class Moody(Engine):
    """Counts the tokens of all answers so far."""

    def usage(self, body, answers):
        return super().usage(body, answers) | {"completion_tokens": self.emitted}


def test_a_baseline_that_is_not_itself_is_blamed_itself():
    found = findings(Engine, Moody)

    assert found["chat"].reason is Reason.BASELINE_UNSTABLE


class Coarse(Engine):
    """Streams all at once: another chunking is no fault."""

    def streamed(self, body, answer):
        *parts, last = super().streamed(body, answer)
        choices = [part["choices"][0] for part in parts]
        whole = choices[-1] | {
            "delta": {
                "content": "".join(choice["delta"]["content"] for choice in choices),
                "tool_calls": [call for choice in choices for call in choice["delta"].get("tool_calls", ())],
            },
            "token_ids": [token for choice in choices for token in choice["token_ids"]],
        }
        if "logprobs" in whole:
            whole["logprobs"] = {"content": [row for choice in choices for row in choice["logprobs"]["content"]]}
        yield {"choices": [whole]}
        yield last


def test_other_chunks_are_no_fault():
    assert failed(findings(Coarse)) == {}


class Undrafted(Engine):
    """Counts no draft over anything."""

    def _count(self, answer):
        self.emitted += len(answer.tokens)


def test_a_server_that_drafts_nothing_was_not_seen_to_speculate():
    assert failed(findings(Undrafted)) == {"chat": Reason.NOT_EXERCISED}
