"""What a configuration names of the environment is put in, or refused in one line."""

from __future__ import annotations

import pytest

from draftgate.canaries.errors import UsageError
from draftgate.canaries.targets.servers.variables import expanded


def test_each_variable_is_put_in(monkeypatch):
    monkeypatch.setenv("A", "x")
    monkeypatch.setenv("B", "${A}")

    assert expanded('-m ${A}/${B} $A {"a": 1}', "here") == '-m x/${A} $A {"a": 1}'


@pytest.mark.parametrize("value", [None, ""])
def test_one_that_is_unset_or_empty_is_refused(monkeypatch, value):
    monkeypatch.delenv("A", raising=False)
    if value is not None:
        monkeypatch.setenv("A", value)

    with pytest.raises(UsageError, match=r"here names \$\{A\}, which is not set; export it and run again"):
        expanded("${A}", "here")


def test_a_key_never_becomes_a_part_of_a_command(monkeypatch):
    monkeypatch.setenv("HF_TOKEN", "sk-a")

    with pytest.raises(UsageError, match=r"here names \$\{HF_TOKEN\}: keys stand in no command") as refused:
        expanded("${HF_TOKEN}", "here")
    assert "sk-a" not in str(refused.value)
