import pytest
import torch

from draftgate.canaries.samplers.faults import chance

ROWS, STEPS = 6, 4


def made(source, seed=0):
    return source(ROWS, STEPS, torch.Generator().manual_seed(seed))


def test_fresh_uniforms_differ_everywhere():
    assert ROWS * STEPS == made(chance.fresh).unique().numel()


@pytest.mark.parametrize(
    ("source", "different"),
    [
        (chance.shared_by_positions, ROWS),
        (chance.shared_by_rows, STEPS),
        (chance.overlapping, ROWS + STEPS - 1),
        (chance.zeros, 1),
        (chance.repeating(4), 4 * STEPS),
        (chance.repeating(10), ROWS * STEPS),
        (chance.repeating_last(4), ROWS * (STEPS - 1) + 4),
    ],
)
def test_shared_ones_are_as_few_as_they_say(source, different):
    assert (ROWS, STEPS) == tuple(made(source).shape)
    assert different == made(source).unique().numel()


def test_antithetic_rows_mirror_one_another():
    u = made(chance.antithetic)

    assert torch.allclose(u[:3] + u[3:], torch.ones(3, STEPS))


def test_a_generator_seeded_anew_repeats_itself():
    generator = torch.Generator().manual_seed(3)

    assert torch.equal(chance.shared_by_calls(2, 2, generator), chance.shared_by_calls(2, 2, generator))


def test_clipped_ones_never_refuse_likely_tokens():
    assert float(chance.clipped(1000, 4, torch.Generator().manual_seed(0)).max()) <= 0.9 + 1e-6
