"""The nouns: plain, frozen, and met by the reference engine."""

from dataclasses import FrozenInstanceError

import pytest
from arms import draft, plain

from draftgate.canaries.contracts import Arm, Finding, Replay, Status, Target, Verdict, demanded
from draftgate.canaries.reasons import REASONS, Reason

ABILITIES = [name for kind in (Target, Arm) for name in vars(kind) if not name.startswith("_")]


@pytest.mark.parametrize("arm", [plain, draft])
def test_the_reference_engine_has_every_ability_of_an_arm(arm):
    assert {"generate", "score", "variant", "on", "recorded_logits"} <= set(ABILITIES)
    assert [] == [name for name in ABILITIES if not hasattr(arm(), name)]


def test_a_finding_cannot_be_changed():
    finding = Finding(check="law", cell="c", status=Status.PASS, summary="")

    with pytest.raises(FrozenInstanceError):
        finding.status = Status.FAIL


def test_a_finding_needs_a_check_a_cell_a_status_and_words():
    with pytest.raises(TypeError):
        Finding(check="law", cell="c", status=Status.PASS)


@pytest.mark.parametrize("words", [Status, Verdict, Reason])
def test_words_are_written_as_they_are_named(words):
    assert [word.name for word in words] == [str(word) for word in words]


def test_every_reason_is_explained():
    assert set(Reason) == set(REASONS)


def test_a_replay_holds_one_number_a_token_in_each_field():
    assert Replay._fields == ("margin", "gap", "below", "prob", "outside")


def test_a_suite_names_what_must_be_passed_by_the_kind_and_by_whether_the_baseline_was_kept():
    assert [demanded("server", kept=kept) for kept in (False, True)] == ["server", "kept-server"]
