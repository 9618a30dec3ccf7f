"""How often a model of the family answers rightly, by kind: `python -m draftgate.engine.training.evaluate FOLDER`.

Greedy decoding by the engine itself, of samples that training never saw (names, orders and compositions held out) or,
with `--seen`, of samples like those of training. With `--draft FOLDER` the same by speculative decoding, and how many
of the draft's tokens the model accepts.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

import torch

from ..decoding.plain import PlainDecoder
from ..decoding.speculative import SpeculativeDecoder
from ..drafters.draft_model import DraftModel
from ..models.huggingface import HuggingFaceModel, load
from ..request import Generation, Request
from .corpus import KINDS, Sample, sample
from .judging import right

BATCH = 16
SEED = 991
LONGEST = 200  # tokens of an answer
Decode = Callable[[Sequence[Request]], list[Generation]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """One kind's outcome; `accepted` is the share of draft tokens that were kept, None without a draft."""

    kind: str
    right: int
    asked: int
    tokens: int
    seconds: float
    accepted: float | None = None
    wrong: tuple[tuple[Sample, str], ...] = ()

    def line(self) -> str:
        """The row of the table."""
        share = f"{self.right}/{self.asked}"
        kept = "" if self.accepted is None else f"   accepted {self.accepted:.2f}"
        return f"{self.kind:<14}{share:>8}{100 * self.right / self.asked:>6.0f} %{self.tokens:>7} tokens{kept}"


def evaluate(model: HuggingFaceModel, decode: Decode, kind: str, samples: Sequence[Sample]) -> Score:
    """Asks all samples of one kind and counts the right answers."""
    started = time.perf_counter()
    groups = [samples[first : first + BATCH] for first in range(0, len(samples), BATCH)]
    answers = [answer for group in groups for answer in decode(requests(model, group))]
    seconds = time.perf_counter() - started
    texts = [text(model, answer) for answer in answers]
    judged = [right(s, t) for s, t in zip(samples, texts, strict=True)]
    rounds = [turn for answer in answers for turn in answer.rounds]
    drafted = sum(turn.drafted for turn in rounds)
    return Score(
        kind=kind,
        right=sum(judged),
        asked=len(samples),
        tokens=sum(len(answer.tokens) for answer in answers),
        seconds=seconds,
        accepted=sum(turn.accepted for turn in rounds) / drafted if drafted else None,
        wrong=tuple((s, t) for s, t, good in zip(samples, texts, judged, strict=True) if not good),
    )


def requests(model: HuggingFaceModel, samples: Iterable[Sample]) -> list[Request]:
    """Greedy requests that end with the turn."""
    return [
        Request(
            name=str(number),
            prompt=model.encode(s.messages[:-1]),
            max_tokens=LONGEST,
            eos=(model.tokenizer.eos_token_id,),
        )
        for number, s in enumerate(samples)
    ]


def text(model: HuggingFaceModel, answer: Generation) -> str:
    """The answer without the end of its turn."""
    ended = answer.finish == "eos"
    return model.decode(answer.tokens[:-1] if ended else answer.tokens)


def drawn(kind: str, number: int, *, held: bool) -> list[Sample]:
    """The samples of a kind, the same at every call."""
    rng = Random(f"{SEED} {kind} {held}")
    return [sample(kind, rng, held=held) for _ in range(number)]


def main() -> None:
    """Reads the command line and prints the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", type=Path)
    parser.add_argument("--draft", type=Path)
    parser.add_argument("--length", type=int, default=4, help="draft tokens a round")
    parser.add_argument("--number", type=int, default=32, help="samples of each kind")
    parser.add_argument("--kinds", nargs="+", choices=tuple(KINDS), default=tuple(KINDS))
    parser.add_argument("--seen", action="store_true", help="names and orders of training instead of held-out ones")
    parser.add_argument("--wrong", type=int, default=0, help="wrong answers to print of each kind")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    model = load(arguments.model)
    decoder: PlainDecoder | SpeculativeDecoder = PlainDecoder(model=model)
    if arguments.draft:
        decoder = SpeculativeDecoder(model=model, drafter=DraftModel(load(arguments.draft), arguments.length))
    for kind in arguments.kinds:
        samples = drawn(kind, arguments.number, held=not arguments.seen)
        score = evaluate(model, decoder.generate, kind, samples)
        print(score.line(), flush=True)
        for asked, answer in score.wrong[: arguments.wrong]:
            print(f"  {asked.messages[-2]['content']!r}\n  wanted {asked.answer!r}\n  got    {answer!r}")


if __name__ == "__main__":
    main()
