"""Trains one model of the embedded family from scratch; resumes where it stopped.

Loss is taken on assistant tokens only. Muon for the matrices inside the layers, AdamW for the rest, cosine decay.
Writes an ordinary Hugging Face folder in float16. Knows nothing about decoding or canaries.
"""

from __future__ import annotations

import argparse
import math
import time
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import torch
from torch import Tensor
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

from .corpus import conversations
from .tokenizer import ASSISTANT, END, train_tokenizer

RECIPE = Path(__file__).with_name("recipe.toml")
MATRIX = 2  # dimensions of the parameters that Muon takes
IGNORED = -100  # label of a token that takes no part in the loss


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """Token ids, attention mask and labels, each (rows, tokens)."""

    tokens: Tensor
    mask: Tensor
    labels: Tensor


def batches(tokenizer: PreTrainedTokenizerFast, batch_tokens: int, rng: Random) -> Iterator[Batch]:
    """Endless batches of about `batch_tokens` padded tokens; conversations of like length share one."""
    talks = conversations(rng)
    while True:
        pool = sorted((encode(tokenizer, next(talks)) for _ in range(1024)), key=lambda pair: len(pair[0]))
        groups: list[list[tuple[list[int], list[int]]]] = [[]]
        for pair in pool:
            if len(pair[0]) * (len(groups[-1]) + 1) > batch_tokens:
                groups.append([])
            groups[-1].append(pair)
        rng.shuffle(groups)
        yield from (collate(group) for group in groups)


def encode(tokenizer: PreTrainedTokenizerFast, talk: list[dict[str, str]]) -> tuple[list[int], list[int]]:
    """Token ids of a conversation, and labels that leave out everything but the assistant's words."""
    text = tokenizer.apply_chat_template(talk, tokenize=False)
    ids: list[int] = tokenizer(text)["input_ids"]
    opening, closing = tokenizer.convert_tokens_to_ids([ASSISTANT, END])
    labels, speaking = [], False
    for token in ids:
        labels.append(token if speaking else IGNORED)
        speaking = token == opening or (speaking and token != closing)
    return ids, labels


def collate(group: list[tuple[list[int], list[int]]]) -> Batch:
    """Pads on the right."""
    length = max(len(ids) for ids, _ in group)
    tokens = torch.zeros(len(group), length, dtype=torch.long)
    labels = torch.full_like(tokens, IGNORED)
    mask = torch.zeros_like(tokens)
    for row, (ids, wanted) in enumerate(group):
        tokens[row, : len(ids)] = torch.tensor(ids)
        labels[row, : len(ids)] = torch.tensor(wanted)
        mask[row, : len(ids)] = 1
    return Batch(tokens=tokens, mask=mask, labels=labels)


def build(shape: dict[str, int], recipe: dict[str, Any], tokenizer: PreTrainedTokenizerFast) -> LlamaForCausalLM:
    """A fresh Llama of the recipe's shape with tied embeddings."""
    config = LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=shape["width"],
        intermediate_size=shape["inner"],
        num_hidden_layers=shape["layers"],
        num_attention_heads=shape["heads"],
        num_key_value_heads=shape["heads"],
        max_position_embeddings=recipe["positions"],
        tie_word_embeddings=True,
        bos_token_id=None,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
    )
    model = LlamaForCausalLM(config)
    with torch.no_grad():
        for layer in model.model.layers:  # so that depth does not blow up the residual stream (GPT-2, section 2.3)
            layer.self_attn.o_proj.weight /= math.sqrt(2 * shape["layers"])
            layer.mlp.down_proj.weight /= math.sqrt(2 * shape["layers"])
    return model


def optimisers(model: LlamaForCausalLM, shape: dict[str, Any], recipe: dict[str, Any]) -> list[torch.optim.Optimizer]:
    """Muon on the layers' matrices, AdamW on embeddings and norms."""
    inner = [p for name, p in model.named_parameters() if p.ndim == MATRIX and "layers" in name]
    chosen = {id(p) for p in inner}
    rest = [p for p in model.parameters() if id(p) not in chosen]
    return [
        torch.optim.Muon(inner, lr=shape["muon_rate"], weight_decay=0.01),
        torch.optim.AdamW(rest, lr=recipe["adamw_rate"], betas=(0.9, 0.95), weight_decay=0.0),
    ]


def rate(step: int, steps: int, warmup: int) -> float:
    """Share of the peak learning rate: linear warm-up, then cosine decay to a fiftieth."""
    if step < warmup:
        return (step + 1) / warmup
    return 0.02 + 0.98 * 0.5 * (1 + math.cos(math.pi * (step - warmup) / (steps - warmup)))


def train(name: str, out: Path) -> None:
    """Trains the model `name` of the recipe into `out/name`; a checkpoint beside it makes the work resumable."""
    recipe = tomllib.loads(RECIPE.read_text())
    shape = recipe["models"][name]
    torch.manual_seed(recipe["seed"])
    tokenizer = train_tokenizer(recipe["vocabulary"], recipe["tokenizer_samples"], recipe["seed"])
    model = build(shape, recipe, tokenizer)
    chosen = optimisers(model, shape, recipe)
    checkpoint = out / f"{name}.checkpoint.pt"
    step = restore(checkpoint, model, chosen)
    stream = batches(tokenizer, recipe["batch_tokens"], Random(recipe["seed"] + 1 + step))
    saved = time.monotonic()
    while step < shape["steps"]:
        share = rate(step, shape["steps"], recipe["warmup"])
        loss = one_step(model, chosen, next(stream), share)
        step += 1
        if step % 50 == 0:
            print(f"{name} step {step}/{shape['steps']} loss {loss:.4f}", flush=True)
        if time.monotonic() - saved > recipe["checkpoint_seconds"]:
            save_checkpoint(checkpoint, model, chosen, step)
            saved = time.monotonic()
    model.half().save_pretrained(out / name)
    tokenizer.save_pretrained(out / name)


def one_step(model: LlamaForCausalLM, chosen: list[torch.optim.Optimizer], batch: Batch, share: float) -> float:
    """One optimiser step at `share` of the peak rates; returns the loss in nats a token."""
    loss = model(input_ids=batch.tokens, attention_mask=batch.mask, labels=batch.labels).loss
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    for optimiser in chosen:
        for group in optimiser.param_groups:
            group.setdefault("peak", group["lr"])
            group["lr"] = group["peak"] * share
        optimiser.step()
        optimiser.zero_grad(set_to_none=True)
    return float(loss.detach())


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
    parser = argparse.ArgumentParser(description="Train one model of the embedded family.")
    parser.add_argument("name", choices=tuple(tomllib.loads(RECIPE.read_text())["models"]))
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--threads", type=int, default=1)
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    train(arguments.name, arguments.out)


if __name__ == "__main__":
    main()
