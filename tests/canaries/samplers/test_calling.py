import json
import signal
import subprocess
import sys
import time

import pytest
import torch

from draftgate.canaries.errors import ContractBroken, SamplerFailed
from draftgate.canaries.samplers.calling import Caller, time_limit
from draftgate.canaries.samplers.interface import Inputs

INPUTS = Inputs(torch.full((2, 2, 3), 1 / 3), torch.full((2, 1, 3), 1 / 3), torch.zeros((2, 1), dtype=torch.int64))
ONES = torch.ones((2, 2), dtype=torch.int64)


def call(sampler, *, seconds=5.0, first=False):
    caller = Caller(sampler, 2, seconds=seconds)
    given = INPUTS.copied()
    return (caller.first if first else caller)(given, torch.Generator().manual_seed(0))


def test_a_good_answer_comes_back():
    assert torch.equal(ONES, call(lambda p, q, x, g: ONES, first=True))


def test_what_a_sampler_raises_is_told_in_one_line_with_its_place():
    def raising(p, q, x, g):
        raise RuntimeError("no\nkernel image")

    with pytest.raises(SamplerFailed, match=r"raised RuntimeError: no kernel image at .*test_calling.py:\d+"):
        call(raising)


def test_what_a_library_raises_is_told_with_the_line_that_called_it():
    with pytest.raises(SamplerFailed, match=r"raised RuntimeError: .* at .*test_calling.py:\d+, on"):
        call(lambda p, q, x, g: torch.nn.functional.linear(p, x))


def test_a_sampler_that_ends_the_program_is_no_verdict():
    with pytest.raises(SamplerFailed, match="raised SystemExit: 0"):
        call(lambda p, q, x, g: sys.exit(0))


def test_a_sampler_that_never_returns_is_interrupted():
    def hanging(p, q, x, g):
        while True:
            try:
                time.sleep(0.01)
            except Exception:  # noqa: BLE001 - a sampler that swallows what it can
                continue

    with pytest.raises(SamplerFailed, match=r"did not return within 0.2 s on the given laws, of shapes \(2, 2, 3\)"):
        call(hanging, seconds=0.2)


def test_a_sampler_that_swallows_the_interruption_ends_the_program_in_one_line():
    code = """
import torch
from draftgate.canaries.samplers.calling import Caller
from draftgate.canaries.samplers.interface import Inputs
def hanging(p, q, x, g):
    while True:
        try:
            sum(range(1000))
        except:
            pass
law = torch.full((1, 2, 3), 1 / 3)
Caller(hanging, 2, seconds=0.2)(Inputs(law, law[:, :1], torch.zeros((1, 1)).long()), torch.Generator())
"""
    ended = subprocess.run([sys.executable, "-c", code, "--json"], capture_output=True, text=True, check=False)

    assert 3 == ended.returncode
    assert "draftgate: the sampler did not return within 0.2 s on the given laws, of shapes (1, 2, 3)" in ended.stderr
    assert "swallows the interruption at <string>:" in ended.stderr
    assert 1 == ended.stderr.count("\n")
    assert 3 == json.loads(ended.stdout)["exit"]


@pytest.mark.parametrize("kind", [KeyboardInterrupt, GeneratorExit, type("Own", (BaseException,), {})])
def test_whatever_a_sampler_raises_is_told_in_one_line(kind):
    def raising(p, q, x, g):
        raise kind("stop")

    with pytest.raises(SamplerFailed, match=f"raised {kind.__name__}: stop at"):
        call(raising)


def test_a_ctrl_c_of_the_user_still_interrupts():
    with pytest.raises(KeyboardInterrupt):
        call(lambda p, q, x, g: signal.raise_signal(signal.SIGINT))


def test_a_write_to_an_input_is_named():
    def writing(p, q, x, g):
        p[0] = 0
        return ONES

    with pytest.raises(ContractBroken, match="wrote to target_probs"):
        call(writing)


def test_a_write_behind_torchs_back_is_seen_on_the_first_call():
    def writing(p, q, x, g):
        q.numpy()[0] = 0
        return ONES

    with pytest.raises(ContractBroken, match=r"wrote to draft_probs: \[0, 0, 0\] was 0.3333 and is"):
        call(writing, first=True)


def test_draws_from_the_global_generator_are_seen():
    with pytest.raises(ContractBroken, match="global generator"):
        call(lambda p, q, x, g: torch.randint(3, (2, 2)), first=True)


def test_a_limit_leaves_no_timer_behind():
    with time_limit(0.05, "late"):
        pass
    time.sleep(0.08)
