"""An arm is open inside and has ended outside, and a death is told as one."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace

import pytest

from draftgate.canaries.targets.servers import config
from draftgate.canaries.targets.servers.arms import opened
from draftgate.canaries.targets.servers.errors import Died, Unreachable, Unsupported
from gates import write
from served import ask


@pytest.fixture
def arm(tmp_path):
    return config.read(write(tmp_path / "gate.toml"))["baseline"]


def test_a_launched_arm_answers_inside_and_not_outside(arm, tmp_path):
    with opened(arm, tmp_path / "log") as server:
        ((answer,),) = server.ask([ask()])
        assert server.identity()["launched"]["argv"][-2:] == ["vllm", arm.connection.endpoints[0].url.rsplit(":", 1)[1]]

    assert answer.counted == "ids"
    assert "ready to serve" in (tmp_path / "log").read_text(encoding="utf-8")
    with pytest.raises(Unreachable), opened(_used(arm), tmp_path / "log") as server:
        server.models()


def test_a_server_that_dies_is_told_as_dead_with_its_last_lines(tmp_path):
    arm = config.read(write(tmp_path / "gate.toml", deadly=("logprobs",)))["candidate"]
    with ExitStack() as stack:
        stack.enter_context(pytest.raises(Died, match=r"signal SIGKILL \(seen as: .*ready to serve vllm"))
        server = stack.enter_context(opened(arm, tmp_path / "log"))
        server.ask([ask({"logprobs": 1})])


def test_an_error_of_a_server_that_lives_is_itself(arm, tmp_path):
    with pytest.raises(Unsupported, match="no such"), opened(arm, tmp_path / "log"):
        raise Unsupported("http://a", "no such field", "leave it")


def _used(arm):
    return replace(arm, launch=None)
