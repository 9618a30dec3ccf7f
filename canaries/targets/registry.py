"""Every target by name: what it promises, needs and takes. Text only, so that listing them imports no torch."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from .servers.templates import SERVERS

OPTIONS = (
    "url",
    "deadline_s",
    "concurrency",
    "logprobs",
    "eos",
    "draft_length",
    "model",
    "tokenizer",
    "key_env",
    "ca_file",
)


@dataclass(frozen=True, slots=True)
class Row:
    """One line of `draftgate engines`."""

    name: str
    guarantee: str
    options: tuple[str, ...]
    needs: str
    summary: str
    candidate: bool = True
    kind: str = "reference"


ROWS = (
    Row("plain", "SAME_TOKENS", ("cache",), "a model", "one token a step: the baseline; as a candidate always HOLD"),
    Row(
        "draft",
        "SAME_LAW",
        ("k", "confidence", "model", "verify", "cache"),
        "a draft model of the same vocabulary",
        "a smaller model drafts a chain, which ends behind a token below confidence, if that is given; "
        "verify=block or traversal keeps more of it than walk or batched",
    ),
    Row("ngram", "SAME_LAW", ("k", "longest", "shortest", "cache"), "nothing", "copies what followed the last repeat"),
    Row(
        "self",
        "SAME_LAW",
        ("k", "cache"),
        "nothing",
        "control: the target drafts for itself; nothing is rejected, so always HOLD",
    ),
    Row(
        "uniform",
        "SAME_LAW",
        ("k", "cache"),
        "nothing",
        "control: random tokens; next to nothing is accepted, so always HOLD",
    ),
    Row(
        "oracle",
        "SAME_LAW",
        ("k",),
        "plain answers",
        "replays the plain answer: only full acceptances",
        candidate=False,
    ),
    Row("adversary", "SAME_LAW", ("k",), "plain answers", "always wrong: only rejections", candidate=False),
    Row("branches", "SAME_LAW", ("k",), "plain answers", "trees whose kept path is never the first", candidate=False),
    Row("odd-even", "SAME_LAW", ("k",), "plain answers", "drafts every other round", candidate=False),
    Row(
        "hf",
        "SAME_LAW",
        ("method", "k", "model", "exit", "device"),
        "a model of transformers; for a draft or universal assistance, another",
        "transformers' own generate: plain as the baseline; method=draft, lookup, early_exit or universal",
        kind="transformers",
    ),
    Row(
        "replay",
        "SAME_TOKENS",
        ("file",),
        "a file of --record-baseline",
        "a server's or transformers' plain decoding, kept from another hour: as the baseline only",
        candidate=False,
        kind="kept",
    ),
    *(
        Row(
            name,
            "SAME_LAW",
            OPTIONS,
            "a server that runs; one to be launched stands in the file of --config",
            f"{what}, plain as the baseline and speculating as the candidate",
            kind="server",
        )
        for name, what in SERVERS.items()
    ),
)
TARGETS = {row.name: row for row in ROWS}


def rows() -> list[dict[str, Any]]:
    """The table as plain documents."""
    return [asdict(row) for row in ROWS]
