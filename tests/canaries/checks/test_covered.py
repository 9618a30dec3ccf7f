"""A replay of each fork, and a number for each token."""

from observed import generation, replay

from draftgate.canaries.checks.covered import answered, cover

PLAIN = {"a": (1, 2), "b": (3, 4)}


def variant(*tokens, **replays):
    return {"generations": [generation(n, t) for n, t in zip("ab", tokens, strict=False)], "replays": replays}


def test_equal_answers_need_no_replay_and_a_fork_needs_one():
    assert answered(variant((1, 2), (3, 4)), PLAIN)
    assert answered(variant((1, 2), (3, 5)) | {"replays": {"b": replay(2)}}, PLAIN)
    assert not answered(variant((1, 2), (3, 5)), PLAIN)
    assert not answered(variant((1, 2), (3, 4)) | {"replays": {"b": replay(2)}}, PLAIN)
    assert not answered(variant((1, 2)), PLAIN)


def test_a_replay_covers_every_token():
    assert cover([replay(3)], [[1, 2, 3]])
    assert not cover([replay(2)], [[1, 2, 3]])
    assert not cover([], [[1, 2, 3]])
