"""Caches are compared after every step, under every drafter."""

from loads import honest

from draftgate.canaries.observations.serving.parity import DRAFTERS, PLAIN, labels


def test_every_drafter_is_compared_and_honest_caches_are_a_prefills():
    found = honest("state_parity")["drafters"]

    assert list(labels()) == list(found)
    assert all(one["compared"] and not one["lengths"] for one in found.values())
    assert max(max(one["keys"], one["values"]) for one in found.values()) < 1e-3


def test_drafts_are_kept_refused_and_not_made():
    found = honest("state_parity")["drafters"]

    assert found["adversary"]["accepted"] == 0 < found["adversary"]["drafted"]
    assert all(found[name]["accepted"] for name in DRAFTERS if name != "adversary")
    assert found[PLAIN]["drafted"] == 0
