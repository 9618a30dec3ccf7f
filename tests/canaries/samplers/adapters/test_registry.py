import pytest

from draftgate.canaries.errors import UsageError
from draftgate.canaries.samplers.adapters.registry import ADAPTERS
from draftgate.canaries.samplers.faults import drafts, innocent
from draftgate.canaries.samplers.interface import Adapted, Pair
from draftgate.canaries.samplers.options import SIGNATURES


def test_the_command_line_takes_every_adapter_and_no_other():
    assert list(ADAPTERS) == list(SIGNATURES)


def test_a_batch_sampler_stays_as_it_is():
    assert innocent.token is ADAPTERS["batch"].adapt(innocent.token)


def test_a_pair_is_two_callables():
    assert isinstance(ADAPTERS["pair"].adapt((drafts.drawn, innocent.token)), Pair)
    with pytest.raises(UsageError, match="name a tuple"):
        ADAPTERS["pair"].adapt(innocent.token)


@pytest.mark.parametrize("name", ["per-sequence", "numpy-sequence", "numpy", "logits", "chosen", "vllm", "tree"])
def test_every_other_signature_becomes_a_sampler(name):
    assert isinstance(ADAPTERS[name].adapt(innocent.token), Adapted)
