"""What each reason for a HOLD means and what to do next: the one text that terminal, files and docs all show."""

from __future__ import annotations

from typing import Literal, NamedTuple

from .contracts import Reason

Culprit = Literal["engine", "baseline", "evidence"]
CULPRITS: tuple[Culprit, ...] = ("engine", "baseline", "evidence")


class Explained(NamedTuple):
    """One row: who is at fault, what the reason means, what to do next."""

    culprit: Culprit
    means: str
    next: str


REASONS: dict[Reason, Explained] = {
    Reason.CORRECTNESS: Explained(
        "engine",
        "The candidate gives other answers than plain decoding, beyond what measured noise explains.",
        "Compare both arms' answers to the named canaries in record.jsonl; look at cache, commit, rows, sessions kept.",
    ),
    Reason.DISTRIBUTION: Explained(
        "engine",
        "Sampled tokens do not follow the target's own distribution.",
        "If CORRECTNESS failed too, start there; else look at acceptance, residual, filters and where q is taken from.",
    ),
    Reason.METRICS: Explained(
        "engine",
        "The candidate's counters do not add up, or claim an acceptance that is impossible.",
        "Recount emitted = prefill + accepted + one per round - cut from raw rounds before quoting any figure.",
    ),
    Reason.LOSSY_UNDECLARED: Explained(
        "engine",
        "The candidate runs a lossy rule without declaring it.",
        "Switch the lossy rule off, or declare it and quote a measurement rather than a result.",
    ),
    Reason.BASELINE_UNSTABLE: Explained(
        "baseline",
        "Plain decoding does not agree with itself within the suite's tolerance.",
        "Make the baseline repeatable (same kernels, precision and load) and run again.",
    ),
    Reason.NOT_SPECULATIVE: Explained(
        "baseline",
        "The same failure appears with speculation off: drafting is not its cause.",
        "Repair plain decoding of this target first, then run again.",
    ),
    Reason.NOT_EXERCISED: Explained(
        "evidence",
        "Speculation was hardly at work here: too few rounds proposed, accepted or rejected tokens.",
        "Check that drafting is on, then use more prompts or a drafter that suits them.",
    ),
    Reason.SPEED_UNSUPPORTED: Explained(
        "evidence",
        "The lower end of the measured interval is below the claimed speed.",
        "Claim no more than the lower end, or measure more pairs.",
    ),
    Reason.INCOMPLETE: Explained(
        "evidence",
        "A required check is missing, does not apply, or has too little data to decide.",
        "Supply what the check names (draws, tokens, prompts the baseline can do, a machine) and run again.",
    ),
}
