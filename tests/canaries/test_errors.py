"""Every error says with which status the command ends."""

from __future__ import annotations

import pytest

from draftgate.canaries import errors


@pytest.mark.parametrize(
    ("kind", "status"),
    [
        (errors.UsageError, 2),
        (errors.ExistingRun, 2),
        (errors.NotPublishable, 1),
        (errors.CannotJudge, 3),
        (errors.RecordBroken, 3),
        (errors.TargetUnavailable, 3),
        (errors.WorkerLost, 3),
        (errors.OutputUnwritable, 3),
        (errors.Interrupted, 3),
    ],
)
def test_an_error_knows_its_exit_status(kind, status):
    assert kind("what, which, what to do").exit_status == status
    assert issubclass(kind, errors.GateError)


def test_no_error_exits_like_a_pass():
    kinds = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, errors.GateError)]

    assert {kind.exit_status for kind in kinds} == {1, 2, 3}


def test_the_tree_in_the_docstring_names_every_error():
    kinds = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, errors.GateError)]

    assert all(kind.__name__ in errors.__doc__ for kind in kinds)
