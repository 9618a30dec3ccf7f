"""vLLM's server for CPUs with two faults of version 0.32 repaired (docs/found.md), to see that nothing else is held.

    python examples/recipes/vllm_repaired.py --model MODEL ...

Speculation on a CPU samples at a temperature, top-k and top-p that nobody set, since they are written to a copy of the
buffer that is read; and a request with top-k ends the server at the first step without drafts.
"""

from __future__ import annotations

import runpy

import torch
from vllm.utils import cpu_triton_utils
from vllm.v1.sample.ops import topk_topp_sampler

_top_k = topk_topp_sampler.apply_top_k_only


def expand(output, values, cumulative, replace_from, replace_to, MAX_NUM_TOKENS=None):  # noqa: N803 - vLLM's name
    """`output` has each value once a token of its request; `cumulative` counts tokens to the end of each request."""
    del MAX_NUM_TOKENS
    kept = values.masked_fill(values == replace_from, replace_to)
    output.copy_(kept.repeat_interleave(torch.diff(cumulative, prepend=cumulative.new_zeros(1)).long()))


def top_k(logits, k):
    """Nothing is left out of no rows."""
    return _top_k(logits, k) if len(k) else logits


cpu_triton_utils._expand_kernel_impl = expand  # noqa: SLF001 - what is to be repaired, in each process anew
topk_topp_sampler.apply_top_k_only = top_k

if __name__ == "__main__":
    runpy.run_module("vllm.entrypoints.openai.api_server", run_name="__main__")
