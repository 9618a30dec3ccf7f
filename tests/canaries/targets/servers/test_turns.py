"""One server is up at a time; each block has a launch of its own, and what was learnt needs none."""

from __future__ import annotations

from contextlib import contextmanager

import httpx
import pytest

from draftgate.canaries.errors import BrokenAnswer
from draftgate.canaries.targets.servers import arms, config
from draftgate.canaries.targets.servers.errors import Died, Garbled, NotReady, PortTaken, Unreachable
from draftgate.canaries.targets.servers.turns import InTurn, Turns
from gates import write
from served import request

A, B = "baseline", "candidate"


class Fake:
    """A server that remembers what was asked of it, and of which kind nothing else is known."""

    def __init__(self, role, log):
        self.role, self.log, self.well = role, log, True

    def identity(self):
        self.log.append(f"{self.role} tells")
        return {"configuration": {}}

    def switches(self):
        return []

    def alive(self):
        return self.well

    def encode(self, messages):
        if messages == "broken":
            raise Garbled("http://a", "no JSON", "report it")
        if messages == "gone":
            self.well = False
            raise Unreachable("http://a", "no connection", "start it")
        self.log.append(f"{self.role} encodes")
        return (1,)


@pytest.fixture
def log():
    return []


@pytest.fixture
def made(log, tmp_path):
    """(turns, arms) of servers that are none, launched into a log."""

    @contextmanager
    def opening(role):
        log.append(f"{role} up")
        try:
            yield Fake(role, log)
        finally:
            log.append(f"{role} down")

    with Turns({role: lambda role=role: opening(role) for role in (A, B)}) as turns:
        found = config.read(write(tmp_path / "gate.toml"))
        yield (
            turns,
            {
                role: InTurn(role=role, server=turns.standing(role, one), config=one, turns=turns)
                for role, one in found.items()
            },
        )


def changes(log):
    return [line for line in log if line.endswith(("up", "down"))]


def test_to_ask_an_arm_takes_the_other_one_down_first(made, log):
    _, found = made
    for role in (A, A, B, A):
        found[role].encode([{"role": role, "content": str(len(log))}])

    assert [f"{A} up", f"{A} down", f"{B} up", f"{B} down", f"{A} up"] == changes(log)


def test_nothing_is_up_before_it_is_asked_nor_afterwards(log):
    with Turns({A: lambda: pytest.fail("was launched")}):
        pass
    assert [] == log


def test_each_block_has_a_launch_of_its_own_and_the_first_takes_the_one_that_is_up(made, log):
    _, found = made
    found[A].configuration()
    began = [found[role].launch(block) for block, role in enumerate((A, B, B, A))]

    ups = [line for line in changes(log) if line.endswith("up")]
    assert [f"{A} up", f"{B} up", f"{B} up", f"{A} up"] == ups
    assert sorted(set(began)) == began


def test_a_block_keeps_its_launch_from_cell_to_cell(made, log):
    _, found = made
    began = {found[B].launch(1) for _ in range(3)}

    assert (1, [f"{B} up"]) == (len(began), changes(log))


def test_what_answered_a_block_is_asked_on_without_a_launch(made, log):
    _, found = made
    found[A].launch(3)
    found[A].encode([{"role": "user", "content": "a"}])

    assert [f"{A} up"] == changes(log)


def test_what_was_learnt_needs_no_launch(made, log):
    _, found = made
    for arm in found.values():
        arm.configuration()
        arm.encode([])
    before = list(log)
    for arm in found.values():
        arm.configuration()
        arm.encode([])

    assert before == log
    assert 2 == sum(line.endswith("tells") for line in log)


def test_an_arm_that_is_lost_is_named_and_one_that_was_not_up_is_not(made):
    turns, found = made
    with pytest.raises(Unreachable) as caught:
        found[B].encode("gone")
    assert caught.value.lost == B

    turns.server(A)
    assert found[B].server.alive()


def test_a_broken_answer_is_told_with_its_arm(made):
    _, found = made
    with pytest.raises(BrokenAnswer) as caught:
        found[A].encode("broken")

    assert caught.value.role == A


@pytest.mark.parametrize("refused", [PortTaken, NotReady])
def test_a_launch_that_fails_loses_no_arm(tmp_path, refused):
    def failing():
        raise refused("http://a", "taken", "choose another")

    one = config.read(write(tmp_path / "gate.toml"))[A]
    with Turns({A: failing}) as turns, pytest.raises(refused) as caught:
        InTurn(role=A, server=turns.standing(A, one), config=one, turns=turns).encode([])

    assert caught.value.lost is None


@pytest.fixture
def real(tmp_path):
    """Two arms of one port, launched as processes when they are asked; logs in the folder."""

    @contextmanager
    def making(**changes):
        found = config.read(write(tmp_path / "gate.toml", in_turn=True, **changes))
        opens = {
            role: lambda role=role, one=one: arms.opened(one, tmp_path / f"{role}.log") for role, one in found.items()
        }
        with Turns(opens) as turns:
            yield {
                role: InTurn(role=role, server=turns.standing(role, one), config=one, turns=turns)
                for role, one in found.items()
            }

    return making


def test_servers_of_one_port_answer_in_turn_and_their_logs_are_appended(real, tmp_path):
    with real() as found:
        url = found[A].config.connection.endpoints[0].url
        first, _, third = (found[role].generate([request()]) for role in (A, B, A))

    assert first[0].tokens == third[0].tokens != ()
    assert {A: 2, B: 1} == {role: (tmp_path / f"{role}.log").read_text().count("ready") for role in (A, B)}
    with pytest.raises(httpx.ConnectError):
        httpx.get(f"{url}/health")


def test_a_server_that_dies_in_its_turn_is_told_with_its_last_lines(real):
    with (
        pytest.raises(Died, match=r"signal SIGKILL \(seen as: .*ready to serve vllm"),
        real(deadly=("prompt",)) as found,
    ):
        found[A].generate([request()])


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError])
def test_an_interruption_ends_what_is_up(real, tmp_path, error):
    def interrupted():
        with real() as found:
            found[B].launch(1)
            raise error

    with pytest.raises(error):
        interrupted()

    assert "ready" in (tmp_path / f"{B}.log").read_text()
    with pytest.raises(httpx.ConnectError):
        httpx.get(config.read(tmp_path / "gate.toml")[B].connection.endpoints[0].url)
