"""Chat as people call it: text, tool calls, schemas, finish reasons and usage are plain decoding's.

Both arms answer the same asks, streamed and whole, alone and in company; how an answer is cut into chunks is left out,
as speculation changes that rightly. An answer may leave plain decoding's at a near tie only. What both arms refuse does
not apply, and is told; what the candidate alone refuses was lost to speculation.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from ...engine.sequences import shared_length
from ...stats.design import rate_detectable, rate_draws
from ...suites.suite import Suite
from ..contracts import Finding, Reason, Status
from ..observations.chat import AGAIN, DRAWN, FORMS, SCHEMA, TOOLS, Slot, wrapped
from ..observations.pairs import BASELINE, CANDIDATE
from .base import Case, Certain, not_observed
from .flaws import NotStrict, document, satisfies
from .heard import Asked, Fork, Said, like_of, likes, limit, read, wavering, weigh

SHOWN = 40  # characters of answers and refusals that are told
WORDED = frozenset({"calls", "text", "tokens"})  # what may differ at a near tie; ends and counts follow from it
SORTS = {"text": "by text", "tools": "with tools", "schema": "by schema", "ids": "by ids"}


class Odd(NamedTuple):
    """One answer that is not plain decoding's: in what, how it left it, and both as far as they are shown."""

    slot: Slot
    aspect: str
    fork: Fork
    plain: str
    other: str

    def __str__(self) -> str:
        fork = f", {self.fork}" if self.aspect in WORDED else ""
        return f"{self.slot}: {self.aspect} {self.other}, plain decoding's {self.plain}{fork}"


class Chat(Certain):
    """Answers of the chat end points, near ties aside."""

    name = "chat"
    observes = ("chat", "replays")

    def judge(self, case: Case) -> Finding:
        """FAIL for one answer that is not plain decoding's; PASS needs as many of each sort as the effect asks for."""
        numbers, observed = case.suite.chat, case.observed("chat")
        if numbers is None:
            return not_observed(self.name, case)
        found = [one for one in read(observed, numbers.logprobs) if FORMS[one.slot.form].sort != DRAWN]
        if not any(one.answers[BASELINE] for one in found):
            return self._finding(case, Status.NOT_APPLICABLE, None, f"no ask is answered{_refusals(found)}")
        most, known = limit(case, found), likes(found)
        if words := wavering(case, found):
            return self._finding(case, Status.FAIL, Reason.BASELINE_UNSTABLE, words)
        lost = [one for one in found if one.refused[CANDIDATE] and not (one.refused[BASELINE] or one.refused[AGAIN])]
        unsteady = [odd for one in found for odd in _odd(case.suite, one, AGAIN, known, most)]
        shaky = {odd.slot for odd in unsteady if odd.fork != Fork.TIED} | {one.slot for one in found if _fickle(one)}
        odd = [odd for one in found if one.slot not in shaky for odd in _odd(case.suite, one, CANDIDATE, known, most)]
        bad, undecided = ([one for one in odd if one.fork == fork] for fork in (Fork.APART, Fork.OPEN))
        left = {one.slot for one in (*odd, *unsteady)}
        counts = Counter(
            FORMS[one.slot.form].sort
            for one in found
            if one.slot not in left
            for plain, _ in zip(one.answers[BASELINE], one.answers[CANDIDATE], strict=False)  # a refusal has none
            if plain.shown  # of an answer with nothing in it there is nothing to be wrong
        )
        ties = {one.slot for one in odd} - {one.slot for one in (*bad, *undecided)}
        idle = _idle(observed["drafted"], found)
        status, reason, words = _decided(bad, lost, shaky, undecided, _short(case, found, counts))
        if status is Status.PASS and {FORMS[one.slot.form].sort for one in found if one.answers[BASELINE]} == idle:
            status, reason, words = Status.NOT_EXERCISED, Reason.NOT_EXERCISED, "the candidate drafted nothing; "
        blamed = [*(str(odd.slot.canary) for odd in (*bad, *undecided)), *(one.slot.canary for one in lost)]
        return self._finding(
            case,
            status,
            reason,
            f"{words}{_told(counts, len(ties), found)}{_unexercised(idle)}",
            reproduce=tuple(dict.fromkeys(blamed)),
            seen=_seen(case, counts),
            figures={
                "answers": dict(counts),
                "other": len(bad),
                "near_ties": sum(one.fork == Fork.TIED for one in odd),
                "refused_by_the_candidate_alone": len(lost),
                "plain_streams_otherwise": _streams(found),
                "tolerance_logits": most,
            },
        )

    def _finding(self, case: Case, status: Status, reason: Reason | None, summary: str, **more: object) -> Finding:
        return Finding(check=self.name, cell=case.cell.name, status=status, reason=reason, summary=summary, **more)  # type: ignore[arg-type]


def _decided(
    bad: list[Odd], lost: list[Asked], shaky: set[Slot], undecided: list[Odd], short: str
) -> tuple[Status, Reason | None, str]:
    """The worst of what was found, in words that end where the counts begin."""
    if bad:
        only_usage = all(one.aspect == "usage" for one in bad)
        reason = Reason.METRICS if only_usage else Reason.CORRECTNESS
        return Status.FAIL, reason, f"{len({b.slot for b in bad})} asks are answered otherwise, first {bad[0]}; "
    if lost:
        words = _words(lost[0].refused[CANDIDATE])
        what = (
            f"the candidate refuses {len(lost)} asks that plain decoding answers, first {lost[0].slot.form} ({words}); "
        )
        return Status.FAIL, Reason.CORRECTNESS, what
    if shaky:
        what = f"plain decoding answers {len(shaky)} asks otherwise when asked again, first {min(shaky)}; "
        return Status.FAIL, Reason.BASELINE_UNSTABLE, what
    if undecided:
        return Status.INCONCLUSIVE, Reason.INCOMPLETE, f"{len(undecided)} answers differ, first {undecided[0]}; "
    if short:
        return Status.INCONCLUSIVE, Reason.INCOMPLETE, f"{short}; "
    return Status.PASS, None, ""


def _fickle(one: Asked) -> bool:
    """Whether plain decoding refused once and answered once, so that no answer of the candidate was judged."""
    unjudged = one.refused[BASELINE] or one.refused[CANDIDATE]
    return bool(unjudged) and bool(one.refused[BASELINE]) != bool(one.refused[AGAIN])


def _odd(suite: Suite, one: Asked, turn: str, known: dict[Slot, Said], most: float) -> Iterator[Odd]:
    """What of a turn's answers is not the baseline's first; nothing where either refused."""
    for plain, other in zip(one.answers[BASELINE], one.answers[turn], strict=False):  # a refusal has none
        parts = list(_aspects(plain, other))
        worded = any(aspect in WORDED for aspect, _, _ in parts)
        fork = weigh(plain, other, known.get(like_of(one.slot)), most) if worded else Fork.APART
        yield from (Odd(one.slot, aspect, fork, *_cut(mine, its)) for aspect, mine, its in parts)
        whole = FORMS[one.slot.form].sort == SCHEMA and other.finish != "length"  # cut ones are judged by their text
        if whole and _kept(suite, one.slot, plain) and not _kept(suite, one.slot, other):
            yield Odd(one.slot, "schema", Fork.APART, "is kept", "is broken")


def _aspects(plain: Said, other: Said) -> Iterator[tuple[str, str, str]]:
    """What a caller sees of two answers and finds to differ, what says most first."""
    if plain.calls != other.calls:
        yield "calls", _listed(plain.calls), _listed(other.calls)
    if plain.text != other.text:
        yield "text", plain.text, other.text
    elif plain.tokens and other.tokens and plain.tokens != other.tokens:
        yield "tokens", _listed(plain.tokens), _listed(other.tokens)
    if plain.finish != other.finish:
        yield "finish", plain.finish, other.finish
    for key in plain.usage:
        if plain.usage[key] != other.usage[key]:
            yield "usage", f"{key} {plain.usage[key]}", f"{key} {other.usage[key]}"


def _listed(parts: Sequence[object]) -> str:
    return ", ".join(map(str, parts)) or "none"


def _cut(one: str, other: str) -> tuple[str, str]:
    """Both texts from shortly before where they part."""
    begin = max(0, shared_length(one, other) - SHOWN // 4) if max(len(one), len(other)) > SHOWN else 0
    return repr(one[begin:][:SHOWN]), repr(other[begin:][:SHOWN])


def _kept(suite: Suite, slot: Slot, said: Said) -> bool:
    """Whether the answer is one JSON document by the schema that was asked for."""
    canary = next(canary for canary in suite.canaries if canary.id == slot.canary)
    try:
        return satisfies(document(said.text), wrapped(canary))
    except NotStrict:
        return False


def _short(case: Case, found: Sequence[Asked], counts: Counter[str]) -> str:
    """Which sorts of answers are too few to have seen the suite's effect; those that both arms refuse are not asked."""
    numbers = case.suite.chat
    if numbers is None:
        return ""
    answered = dict.fromkeys(FORMS[one.slot.form].sort for one in found if one.answers[BASELINE])
    need = rate_draws(numbers.effect, miss=case.design.miss)
    few = [f"{need - counts[sort]} more answers {SORTS[sort]}" for sort in answered if counts[sort] < need]
    return f"{' and '.join(few)} are needed" if few else ""


def _told(counts: Counter[str], ties: int, found: Sequence[Asked]) -> str:
    """The counts, and what was not seen."""
    each = ", ".join(f"{count} {SORTS[sort]}" for sort, count in counts.items())
    near = f", {ties} asks answered otherwise at near ties" if ties else ""
    offered = [one for one in found if FORMS[one.slot.form].sort == TOOLS and one.answers[BASELINE]]
    silent = offered and not any(said.calls for one in offered for said in one.answers[BASELINE])
    empty = sum(not all(said.shown for said in one.answers[BASELINE]) for one in found)
    nothing = f"; to {empty} asks plain decoding says nothing" if empty else ""
    calls = "; offered tools, plain decoding answers with text only" if silent else ""
    streams = _streams(found)
    own = f"; plain decoding's own streams differ from its whole answers in {streams} asks" if streams else ""
    return f"{sum(counts.values())} answers are plain decoding's ({each}){near}{nothing}{calls}{own}{_refusals(found)}"


def _idle(drafted: Mapping[str, int | None], found: Sequence[Asked]) -> set[str]:
    """Sorts of answers over which the candidate drafted nothing, as far as it tells."""
    over: dict[str, list[int | None]] = {}
    for form in dict.fromkeys(one.slot.form for one in found if one.answers[BASELINE]):
        over.setdefault(FORMS[form].sort, []).append(drafted[form])
    return {sort for sort, counts in over.items() if all(count == 0 for count in counts)}


def _unexercised(idle: set[str]) -> str:
    return f"; nothing was drafted {' or '.join(SORTS[sort] for sort in SORTS if sort in idle)}" if idle else ""


def _refusals(found: Sequence[Asked]) -> str:
    """What plain decoding refuses, in its words; each form once."""
    told = {one.slot.form: words for one in found if (words := one.refused[BASELINE] or one.refused[AGAIN])}
    return "".join(f"; {form}: refused ({_words(words)})" for form, words in told.items())


def _words(refused: str | None) -> str:
    """What a server said, without its address and what surrounds it, cut."""
    said = (refused or "").partition(": ")[2]
    for opening in ('"message":"', '"message": "', "("):
        if opening in said:
            said = said.partition(opening)[2]
            break
    return said.partition('"')[0][: 2 * SHOWN]


def _streams(found: Sequence[Asked]) -> int:
    """Asks whose streamed answer by plain decoding has another text, other calls or another end than the whole one."""
    whole = likes(found)
    streamed = [one for one in found if FORMS[one.slot.form].stream and one.answers[BASELINE]]
    return sum(
        _shown(one.answers[BASELINE][0]) != _shown(whole[like_of(one.slot)])
        for one in streamed
        if like_of(one.slot) in whole
    )


def _shown(said: Said) -> tuple[object, ...]:
    """What a caller has of an answer, however its arguments are spaced."""
    return said.text, said.finish, [(name, _value(arguments)) for name, arguments in said.calls]


def _value(arguments: str) -> object:
    try:
        return document(arguments)
    except NotStrict:
        return arguments


def _seen(case: Case, counts: Counter[str]) -> str:
    """The share of each sort's answers that a fault must change to be seen."""
    each = (f"1 in {1 / rate_detectable(n, miss=case.design.miss):.1f} {SORTS[sort]}" for sort, n in counts.items())
    return f"a fault that changes answers: {', '.join(each)}" if counts else ""
