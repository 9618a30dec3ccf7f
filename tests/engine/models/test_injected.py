"""The library's verifier, driven by drafters of this engine."""

from __future__ import annotations

import pytest
from transformers.generation import GenerationMixin

from draftgate.engine.drafters.synthetic import Adversary, OddEven, Oracle
from draftgate.engine.models import injected as module
from draftgate.engine.models.generate import Assistance, generate
from draftgate.engine.request import Request


def asked(target):
    prompt = target.encode([{"role": "user", "content": "Count from 4 to 11."}])
    return Request(name="r", prompt=prompt, max_tokens=20, eos=target.eos)


def driven(target, drafter):
    """The plain answer, and the one under a drafter that knows it."""
    (plain,) = generate(target, Assistance(), [asked(target)])
    knowing = drafter(target.vocabulary, 4, {"r": plain.tokens})
    (found,) = generate(target, Assistance(method="lookup", k=4, drafter=knowing), [asked(target)])
    return plain, found


@pytest.mark.parametrize("drafter", [Oracle, Adversary, OddEven])
def test_no_drafter_changes_a_greedy_answer(target, drafter):
    plain, found = driven(target, drafter)

    assert plain.tokens == found.tokens


def test_each_drives_the_verifier_into_its_corner(target):
    """Fails too where the library no longer asks by the name this rests on."""
    rounds = {drafter: driven(target, drafter)[1].rounds for drafter in (Oracle, Adversary, OddEven)}

    assert all(r.drafted > 0 and r.accepted == r.drafted for r in rounds[Oracle])
    assert all(r.drafted > 0 and r.accepted == 0 for r in rounds[Adversary][:-1])
    assert {0, 4} <= {r.drafted for r in rounds[OddEven]}


def test_the_librarys_own_way_is_back_afterwards(target):
    driven(target, Oracle)

    assert module._METHOD not in vars(target.model)
    assert hasattr(GenerationMixin, module._METHOD)


def test_it_is_back_when_something_raises(target):
    with pytest.raises(KeyError), module.injected(target.model, Oracle(8, 2, {}), asked(target)):
        raise KeyError

    assert module._METHOD not in vars(target.model)
