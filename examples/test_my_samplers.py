import pytest
from my_samplers import right, wrong

from draftgate.testing import assert_lossless


def test_the_right_sampler():
    assert_lossless(right, effect=0.05)


def test_the_wrong_sampler_is_seen():
    with pytest.raises(AssertionError, match="smallest failing laws"):
        assert_lossless(wrong, effect=0.05)
