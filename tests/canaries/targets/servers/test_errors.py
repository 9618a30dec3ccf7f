"""Every failure is a could-not-judge for the exit status, and says whether it is also evidence."""

from __future__ import annotations

from draftgate.canaries.errors import TargetUnavailable
from draftgate.canaries.targets.servers import errors
from draftgate.canaries.targets.servers.errors import AtFault, ServerError


def every(kind):
    return [kind, *(deeper for below in kind.__subclasses__() for deeper in every(below))]


def test_what_the_engine_answered_is_a_finding_and_the_way_to_it_is_none():
    assert {kind.__name__ for kind in every(ServerError) if kind.finding} == {k.__name__ for k in every(AtFault)}
    assert {kind.exit_status for kind in every(ServerError)} == {TargetUnavailable.exit_status}


def test_the_tree_in_the_docstring_is_the_tree():
    assert [kind.__name__ for kind in every(ServerError) if kind.__name__ not in errors.__doc__] == []


def test_a_message_says_where_what_and_what_to_do():
    error = ServerError("http://a/b", "it is blue", "paint it")

    assert str(error) == "http://a/b: it is blue; paint it"
