"""Types of cache: both arms have the same one, every pass of an arm goes through it, and the record tells it."""

import numpy as np
import pytest
from arms import embedded

from draftgate.canaries.errors import UsageError
from draftgate.canaries.faults.cache import KeepsRejected, keep_rejected
from draftgate.canaries.targets import caches, reference
from draftgate.canaries.targets.spec import TargetSpec
from draftgate.canaries.targets.strategies import Strategies
from draftgate.engine.cache.contiguous import ContiguousCache
from draftgate.engine.cache.paged import PagedCache
from draftgate.engine.cache.quantised import QuantisedCache, QuantisedStore
from draftgate.engine.models.base import Block
from draftgate.engine.request import Request

PROMPT = tuple(embedded().encode([{"role": "user", "content": "Count from 4 to 11."}]))


def build(text, parts=None):
    return reference.build(TargetSpec.parse(text), embedded(), parts or Strategies())


def asked(tokens=12):
    return [Request(name="r", prompt=PROMPT, max_tokens=tokens, eos=embedded().eos)]


def test_every_type_has_its_cache():
    made = {name: caches.factory(name, ContiguousCache, 20)(2) for name in caches.TYPES}

    assert isinstance(made["float"], ContiguousCache)
    assert isinstance(made["int4"], QuantisedCache)
    assert isinstance(made["int8"], QuantisedCache)
    assert isinstance(made["paged"], PagedCache)
    assert isinstance(made["paged-int4"].pool.store, QuantisedStore)
    assert all(2 == len(cache.lengths) for cache in made.values())


@pytest.mark.parametrize("name", caches.TYPES)
def test_a_pool_and_a_row_without_blocks_hold_what_the_type_says(name):
    few = name.removeprefix("paged-") in caches.CODES

    assert few is isinstance(caches.store(name)(4, 16), QuantisedStore)
    assert few is isinstance(caches.contiguous(name)(2), QuantisedCache)


@pytest.mark.parametrize("name", caches.TYPES)
def test_plain_and_speculative_decoding_agree_on_every_type(name):
    plain, draft = build(f"plain:cache={name}"), build(f"draft:k=3,cache={name}")

    assert plain.generate(asked())[0].tokens == draft.generate(asked())[0].tokens


@pytest.mark.parametrize(("name", "other"), [("paged", "float"), ("paged-int4", "int4"), ("paged-int8", "int8")])
def test_pages_change_nothing(name, other):
    forced = [build(f"plain:cache={one}")._forced(asked(), [PROMPT[:6]], 2)[0] for one in (name, other)]

    assert np.abs(forced[0] - forced[1]).max() < 0.5  # logits: rounding may move a code by one
    assert (forced[0].argmax(axis=-1) == forced[1].argmax(axis=-1)).all()


def test_few_bits_move_the_logits_of_teacher_forcing_too_and_fewer_move_them_more():
    given = {name: build(f"plain:cache={name}")._forced(asked(), [PROMPT[:8]], 0)[0] for name in caches.TYPES}
    moved = {name: float(np.abs(logits - given["float"]).mean()) for name, logits in given.items()}

    assert moved["paged"] < 1e-4 < moved["int8"] < moved["int4"]


def test_recorded_logits_are_the_arms_own():
    one, other = (build(text).recorded_logits(asked()[0], PROMPT[:4]) for text in ("draft:k=3", "draft:k=3,cache=int4"))

    assert not np.allclose(one[0], other[0], atol=1e-3)  # the target's
    assert np.allclose(one[1], other[1], atol=1e-3)  # the draft's own cache is of floats


def test_a_target_that_drafts_for_itself_does_so_on_its_own_type():
    (answer,) = build("self:k=3,cache=int4").generate(asked(24))

    kept, proposed = (sum(getattr(one, what) for one in answer.rounds) for what in ("accepted", "drafted"))
    assert kept > 0.9 * proposed > 0


@pytest.mark.parametrize("name", ["int3", "", "Int4"])
def test_a_type_that_there_is_not_is_refused_in_one_line(name):
    with pytest.raises(UsageError, match=f"draft:cache={name} is not known; use float, int8, int4, paged") as caught:
        build(f"draft:cache={name}")

    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", [name for name in caches.TYPES if name != "float"])
def test_the_type_is_in_name_identity_and_options(name):
    plain, draft = build(f"plain:cache={name}"), build(f"draft:k=3,cache={name}")

    assert (f"plain:cache={name}", f"draft:k=3,cache={name}") == (plain.label, draft.label)
    assert name == plain.identity()["cache_type"] == draft.identity()["cache_type"]
    assert name == draft.identity()["options"]["cache"]


def test_floats_are_the_default_and_need_no_words():
    assert ("plain", "draft:k=3") == (build("plain").label, build("draft:k=3,cache=float").label)
    assert "float" == build("plain").identity()["cache_type"] == build("draft:k=3,cache=float").identity()["cache_type"]


@pytest.mark.parametrize("name", caches.TYPES)
def test_an_unnamed_baseline_takes_the_candidates_type(name):
    spec = caches.alike(TargetSpec.parse("plain"), TargetSpec.parse(f"draft:cache={name}"), said=False)

    assert name == caches.named(spec)


@pytest.mark.parametrize(
    ("baseline", "candidate"), [("plain", "draft:cache=int4"), ("plain:cache=int8", "draft:cache=int4")]
)
def test_a_named_baseline_on_another_type_is_refused_in_one_line(baseline, candidate):
    with pytest.raises(UsageError, match=r"differ in more than speculation.*write cache=int4 for both") as caught:
        caches.alike(TargetSpec.parse(baseline), TargetSpec.parse(candidate), said=True)

    assert "\n" not in str(caught.value)


def test_a_named_baseline_on_the_same_type_is_taken_as_it_is():
    spec = TargetSpec.parse("plain:cache=int4")

    assert spec is caches.alike(spec, TargetSpec.parse("draft:cache=int4"), said=True)


def test_a_planted_cache_keeps_its_fault_under_the_codes():
    made = build("ngram:k=3,cache=int4", keep_rejected(Strategies())).new_cache(20)(1)

    assert isinstance(made._inner, KeepsRejected)


def test_a_planted_cache_is_not_lost_among_pages():
    with pytest.raises(UsageError, match="cannot be shown with cache=paged"):
        build("ngram:k=3,cache=paged", keep_rejected(Strategies())).generate(asked())


def test_another_cache_is_all_that_an_arm_changes():
    arm = build("draft:k=3")

    assert build("draft:k=3,cache=int4").identity() == arm.on_cache("int4").identity()
    assert arm.identity() == arm.on_cache("int4").on_cache("float").identity()


@pytest.mark.parametrize("name", ["paged", "paged-int4"])
def test_a_pool_has_room_for_what_was_asked_and_for_a_draft(name):
    cache = caches.factory(name, ContiguousCache, 17)(2)
    embedded().score(Block.chains([PROMPT[:16], PROMPT[:4]]), cache)

    assert cache.pool.free >= 2


def test_what_is_reached_is_the_longest_request_and_something_where_there_is_none():
    assert (len(PROMPT) + 12, 1) == (caches.reach([*asked(), *asked(3)]), caches.reach([]))
