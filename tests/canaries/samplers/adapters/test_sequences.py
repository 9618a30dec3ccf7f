import numpy as np
import pytest
import torch
from trials import RATES, bundle, look, trial

from draftgate.canaries.contracts import Status
from draftgate.canaries.errors import ContractBroken, SamplerFailed
from draftgate.canaries.samplers.adapters.sequences import (
    normalised,
    numpy_batch,
    numpy_generator,
    numpy_per_sequence,
    per_sequence,
)
from draftgate.canaries.samplers.checks.base import judge
from draftgate.canaries.samplers.checks.law import planned
from draftgate.canaries.samplers.faults.innocent import token


def in_numpy(p, q, x, rng):
    """The token rule for one row."""
    out = []
    for i, drafted in enumerate(x):
        if rng.random() * q[i, drafted] >= p[i, drafted]:
            left = np.clip(p[i] - q[i], 0, None)
            return [*out, int(rng.choice(len(left), p=left / left.sum()))]
        out.append(int(drafted))
    return [*out, int(rng.choice(p.shape[1], p=p[-1]))]


def always_accepting(p, q, x, rng):
    return [*(int(t) for t in x), int(rng.choice(p.shape[1], p=p[-1]))]


def in_torch(p, q, x, generator):
    return [int(t) for t in token(p[None], q[None], x[None], generator)[0] if t >= 0]


def statuses(sampler, calls=24):
    seen = look(sampler, "zipf", calls=calls)
    return {judge(t, seen, RATES._replace(effect=0.2)).status for t in planned(bundle("zipf"))}


def test_a_function_of_one_row_is_judged_like_any_other():
    assert {Status.PASS} == statuses(numpy_per_sequence(in_numpy), calls=6)
    assert Status.FAIL in statuses(numpy_per_sequence(always_accepting), calls=6)


def test_tensors_and_torchs_generator_are_handed_on_where_wished():
    made = trial(per_sequence(in_torch), "zipf", batch=64)
    made.repeated()
    made.run(1)

    assert 64 == made.seen.joint.sum()


def test_batches_of_arrays_come_back_as_tensors():
    def batch(p, q, x, rng):
        return np.array([always_accepting(*row, rng) for row in zip(p.astype(float), q, x, strict=True)])

    def call(p, q, x, rng):
        return batch(normalised(p), q, x, rng)

    made = trial(numpy_batch(call), "zipf", batch=64)
    made.repeated()

    assert (64, 3) == tuple(made.once().tokens.shape)


def test_the_stream_follows_the_generator_and_moves_it_on():
    generator = torch.Generator().manual_seed(1)
    first, second = (numpy_generator(generator).random() for _ in range(2))

    assert first != second
    assert first == numpy_generator(torch.Generator().manual_seed(1)).random()


def test_rows_that_are_too_long_are_refused():
    with pytest.raises(ContractBroken, match=r"must be \(B, K \+ 1\)"):
        trial(numpy_per_sequence(lambda p, q, x, rng: [0] * 9), "zipf", batch=8).once()


def test_a_row_that_is_no_list_is_told_as_what_it_raised():
    with pytest.raises(SamplerFailed, match="TypeError"):
        trial(numpy_per_sequence(lambda p, q, x, rng: None), "zipf", batch=8).once()
