"""Trains the models of the embedded family from scratch; resumes where it stopped.

Muon for the matrices inside the layers, AdamW for the rest; the rate warms up, stays, and falls over the last part.
Writes ordinary Hugging Face folders in float16. Knows nothing about decoding or canaries.
"""

from __future__ import annotations

import argparse
import copy
import time
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import torch
from transformers import LlamaForCausalLM, PreTrainedTokenizerFast

from .batches import Batch, batches
from .corpus import conversations
from .network import build, losses, teach
from .tokenizer import train_tokenizer

RECIPE = Path(__file__).with_name("recipe.toml")
MATRIX = 2  # dimensions of the parameters that Muon takes


@dataclass(slots=True)
class Mixture:
    """How the kinds are mixed: from `early` to `late` in a straight line until `until` of the training, then `late`.

    Over the share `fall` at the end, while the rate falls, it is `last`. `progress` is set by whoever trains.
    """

    early: dict[str, float]
    late: dict[str, float]
    last: dict[str, float]
    until: float
    fall: float
    progress: float = field(default=0.0)

    def shares(self) -> Mapping[str, float]:
        """Weights by kind now."""
        if self.progress >= 1 - self.fall:
            return self.last
        part = min(1.0, self.progress / self.until)
        return {kind: (1 - part) * self.early[kind] + part * self.late[kind] for kind in self.late}


class How(NamedTuple):
    """How one step learns.

    exit_layer, exit_weight
        A lower layer that learns to answer too, and the weight of its loss.
    teacher
        The model whose law is learned instead of the text.
    brief
        Whether products are computed in bfloat16.
    """

    exit_layer: int | None = None
    exit_weight: float = 0.0
    teacher: LlamaForCausalLM | None = None
    brief: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Lesson:
    """How a model's steps learn over the whole training: each its own lower layer, whose weight grows from 0.

    A teacher is listened to from the share `taught_from` on.
    """

    shape: dict[str, Any]
    rng: Random
    teacher: LlamaForCausalLM | None
    brief: bool

    def at(self, progress: float) -> How:
        """The next step's way, at this share of the training."""
        layers = self.shape["exits"]
        layer = self.rng.choice(layers) if layers else None
        taught = progress >= self.shape.get("taught_from", 0.0)
        return How(layer, self.shape["exit_weight"] * progress, self.teacher if taught else None, self.brief)


@dataclass(slots=True)
class Report:
    """Prints the mean loss and time of every so many steps."""

    name: str
    steps: int
    every: int
    losses: list[float] = field(default_factory=list)
    since: float = field(default_factory=time.monotonic)

    def add(self, step: int, loss: float) -> None:
        """Takes note of one step."""
        self.losses.append(loss)
        if len(self.losses) < self.every:
            return
        mean, now = sum(self.losses) / self.every, time.monotonic()
        print(
            f"{self.name} step {step}/{self.steps} loss {mean:.4f} {(now - self.since) / self.every:.2f} s a step",
            flush=True,
        )
        self.losses, self.since = [], now


def optimisers(model: LlamaForCausalLM, shape: dict[str, Any], recipe: dict[str, Any]) -> list[torch.optim.Optimizer]:
    """Muon on the layers' matrices, AdamW on embeddings and norms."""
    inner = [p for name, p in model.named_parameters() if p.ndim == MATRIX and "layers" in name]
    chosen = {id(p) for p in inner}
    rest = [p for p in model.parameters() if id(p) not in chosen]
    return [
        torch.optim.Muon(inner, lr=shape["muon_rate"], weight_decay=0.01),
        torch.optim.AdamW(rest, lr=recipe["adamw_rate"], betas=(0.9, 0.95), weight_decay=0.0),
    ]


def rate(step: int, steps: int, warmup: int, fall: float) -> float:
    """Share of the peak learning rate: up in a straight line, flat, and down to a fiftieth over the share `fall`."""
    if step < warmup:
        return (step + 1) / warmup
    left = (steps - step) / (fall * steps)
    return max(0.02, min(1.0, left))


def train(name: str, out: Path) -> None:
    """Trains the model `name` of the recipe into `out/name`; a checkpoint beside it makes the work resumable."""
    recipe = tomllib.loads(RECIPE.read_text())
    shape = recipe["models"][name]
    torch.manual_seed(recipe["seed"])
    tokenizer = family_tokenizer(recipe, out)
    model = build(shape, recipe["positions"], tokenizer)
    chosen = optimisers(model, shape, recipe)
    checkpoint = out / f"{name}.checkpoint.pt"
    step, steps = restore(checkpoint, model, chosen), shape["steps"]
    mixture = Mixture(**recipe["mixture"], fall=recipe["fall"], progress=step / steps)
    stream = training_batches(tokenizer, mixture, recipe, step)
    rng = Random(recipe["seed"] + step)
    lesson = Lesson(shape=shape, rng=rng, teacher=teacher(shape, out), brief=recipe["brief"])
    report, saved = Report(name, steps, recipe["report_steps"]), time.monotonic()
    while step < steps:
        mixture.progress = step / steps
        share = rate(step, steps, recipe["warmup"], recipe["fall"])
        group = list(islice(stream, recipe["batches_a_step"]))
        loss = one_step(model, chosen, group, share, lesson.at(mixture.progress))
        step += 1
        report.add(step, loss)
        if time.monotonic() - saved > recipe["checkpoint_seconds"]:
            save_checkpoint(checkpoint, model, chosen, step)
            export(model, tokenizer, out / name)
            saved = time.monotonic()
    save_checkpoint(checkpoint, model, chosen, step)
    export(model, tokenizer, out / name)


def teacher(shape: dict[str, Any], out: Path) -> LlamaForCausalLM | None:
    """The trained model of the family whose law this one learns, None where it learns the text."""
    if "teacher" not in shape:
        return None
    return LlamaForCausalLM.from_pretrained(out / shape["teacher"], dtype=torch.float32).eval()


def family_tokenizer(recipe: dict[str, Any], out: Path) -> PreTrainedTokenizerFast:
    """The tokenizer in `out/tokenizer`, trained there if it is not there yet."""
    folder = out / "tokenizer"
    if not folder.exists():
        talks = conversations(Random(recipe["seed"]), lambda: recipe["mixture"]["late"])
        train_tokenizer(recipe["vocabulary"], islice(talks, recipe["tokenizer_samples"])).save_pretrained(folder)
    return PreTrainedTokenizerFast.from_pretrained(folder)


def training_batches(
    tokenizer: PreTrainedTokenizerFast, mixture: Mixture, recipe: dict[str, Any], step: int
) -> Iterator[Batch]:
    """The batches from this step on; another seed for each place of resuming."""
    talks = conversations(Random(recipe["seed"] + 1 + step), mixture.shares)
    return batches(tokenizer, talks, recipe["batch_tokens"], Random(recipe["seed"] + step))


def one_step(
    model: LlamaForCausalLM, chosen: list[torch.optim.Optimizer], group: list[Batch], share: float, how: How
) -> float:
    """One optimiser step on some batches at `share` of the peak rates; returns the loss in nats a token."""
    total = 0.0
    for batch in group:
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=how.brief):
            laws = teach(how.teacher, batch) if how.teacher else None
            loss, lower = losses(model, batch, how.exit_layer, laws)
        total += float(loss.detach()) / len(group)
        if lower is not None:
            loss = loss + how.exit_weight * lower
        torch.autograd.backward(loss / len(group))
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    for optimiser in chosen:
        for parameters in optimiser.param_groups:
            parameters.setdefault("peak", parameters["lr"])
            parameters["lr"] = parameters["peak"] * share
        optimiser.step()
        optimiser.zero_grad(set_to_none=True)
    return total


def export(model: LlamaForCausalLM, tokenizer: PreTrainedTokenizerFast, folder: Path) -> None:
    """Writes the model as it is now, in float16, with its tokenizer."""
    copy.deepcopy(model).half().save_pretrained(folder)
    tokenizer.save_pretrained(folder)


def save_checkpoint(path: Path, model: LlamaForCausalLM, chosen: list[torch.optim.Optimizer], step: int) -> None:
    """Writes to a neighbour first, so that an interrupted save leaves the old checkpoint whole."""
    path.parent.mkdir(parents=True, exist_ok=True)
    state = {"model": model.state_dict(), "optimisers": [o.state_dict() for o in chosen], "step": step}
    torch.save(state, path.with_suffix(".new"))
    path.with_suffix(".new").replace(path)


def restore(path: Path, model: LlamaForCausalLM, chosen: list[torch.optim.Optimizer]) -> int:
    """Loads a checkpoint where there is one; returns the number of steps already done."""
    if not path.exists():
        return 0
    state = torch.load(path, weights_only=True)
    model.load_state_dict(state["model"])
    for optimiser, saved in zip(chosen, state["optimisers"], strict=True):
        optimiser.load_state_dict(saved)
    return int(state["step"])


def main() -> None:
    """Reads the command line and trains."""
    models = tuple(tomllib.loads(RECIPE.read_text())["models"])
    parser = argparse.ArgumentParser(description="Train the embedded family, or one model of it.")
    parser.add_argument("name", choices=("all", *models))
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--threads", type=int, default=1)
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    for name in models if arguments.name == "all" else (arguments.name,):
        train(name, arguments.out)


if __name__ == "__main__":
    main()
