import pytest

from draftgate.canaries.errors import UsageError
from draftgate.canaries.samplers.adapters.fitting import check


def four(p, q, x, generator):
    return x


def five(tokens, parents, p, q, rng):
    return tokens


def yielding(p, q, x, generator):
    yield x


async def waiting(p, q, x, generator):
    return x


class Callable4:
    def __call__(self, p, q, x, generator):
        return x


class Waiting4:
    async def __call__(self, p, q, x, generator):
        return x


class Verifier:
    def verify(self, trees, probs, chances):
        return []


@pytest.mark.parametrize(
    ("found", "adapter"),
    [(four, "batch"), (Callable4(), "numpy"), (five, "tree"), (Verifier(), "engine"), (lambda *a: a, "vllm")],
)
def test_what_fits_is_let_through(found, adapter):
    check(found, adapter)


@pytest.mark.parametrize(
    ("found", "adapter", "told"),
    [
        ((four, four), "batch", "--as pair"),
        (five, "batch", r"five\(tokens, .*\) cannot take the 4 arguments of --as batch; --as tree would"),
        (lambda p, q, x: x, "logits", "cannot take the 4 arguments of --as logits$"),
        (four, "vllm", "the 8 arguments of --as vllm; --as batch would"),
        (yielding, "batch", "yielding is a generator function"),
        (waiting, "batch", "waiting is an async function"),
        (Waiting4(), "batch", "Waiting4 is an async function"),
        (Callable4, "batch", "Callable4 is a class; name an instance"),
        (Verifier, "engine", "Verifier is a class; name an instance"),
        (Verifier(), "batch", "give --as engine"),
        (four, "engine", "takes an object with a method verify"),
    ],
)
def test_what_does_not_fit_is_told_before_any_draw(found, adapter, told):
    with pytest.raises(UsageError, match=told):
        check(found, adapter)
