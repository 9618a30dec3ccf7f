"""The page of the cache in blocks: both sides answer the same, and what is missed is told."""

import pytest

from draftgate.engine.models import huggingface
from repository import script

PAGED = script("paged")


@pytest.fixture(scope="module")
def models():
    return [huggingface.load(PAGED.EMBEDDED / name) for name in ("target", "draft")]


def test_both_caches_answer_alike(models, monkeypatch):
    monkeypatch.setattr(PAGED, "ANSWER", 8)
    for work in PAGED.alone(models).values():
        (one,), (other,) = work["contiguous"](), work["blocks"]()
        assert one.tokens == other.tokens


def test_a_tree_takes_its_own_tokens_rounded_to_blocks(models):
    before, judged = PAGED.tree(models[0])

    assert PAGED.SHARED // PAGED.BLOCK == before
    assert PAGED.NODES // PAGED.BLOCK == judged - before


def test_prompts_begin_alike_and_end_apart(models):
    asked = PAGED.requests(models[0], 3, 5, 2, 4)

    assert 1 == len({request.prompt[:5] for request in asked})
    assert 3 == len({request.prompt for request in asked})


def test_a_ratio_that_is_missed_is_told():
    lines = [PAGED.Line("a", 1.02, 1.0, 1.04, 1.0), PAGED.Line("b", 0.9, 0.8, 1.0, 1.0)]
    text = PAGED.page(lines, 32, 36)

    assert "| a | 1.02 [1.00, 1.04] | 1 | NO |" in text
    assert "| b | 0.90 [0.80, 1.00] | 1 | yes |" in text
    assert "takes 36 blocks while it is judged, 32 of them the prefix's: 4 for 64 tokens" in text


def test_it_takes_no_argument(capsys):
    assert 2 == PAGED.main(["x"])
    assert "usage: python docs/paged.py" in capsys.readouterr().err
