from samplers import right

from draftgate.testing import assert_lossless


def test_my_sampler():
    assert_lossless(right, effect=0.05)
