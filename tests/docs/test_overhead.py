"""What the client costs is told by two clocks of the same answer, and by streams that are open together."""

from __future__ import annotations

import pytest

from draftgate.canaries.targets.servers.arms import opened
from draftgate.canaries.targets.servers.asking import Answer
from draftgate.engine.request import Arrival, Generation
from repository import script
from served import served
from servers_loopback import kind, paced, reply

TIMINGS = {"predicted_per_second": 10.0, "prompt_ms": 400.0}


@pytest.fixture(scope="module")
def overhead():
    return script("overhead")


def test_tokens_after_the_first_chunk_are_counted_over_the_time_since(overhead):
    arrivals = (Arrival(0.5, 1), Arrival(1.0, 3), Arrival(1.5, 2))
    answer = Generation(name="r", tokens=(5,) * 6, text="", finish="length", prefill=0, arrivals=arrivals)
    clocked = overhead.by_both(Answer(generation=answer, counted="ids", replica="r", usage={"timings": TIMINGS}))

    assert clocked == (5.0, 10.0, 500.0, 400.0)


def test_streams_of_a_server_that_paces_them_are_open_together(overhead, tmp_path):
    with opened(overhead.loopback("llama_cpp", 0.02), tmp_path / "log") as server:
        streams = overhead.at_once(server, 8, 10)

    assert streams.together == 8
    assert 0 < streams.chunks_s < 8 / 0.02


def test_the_sums_are_those_of_the_answers_between_two_looks_at_the_servers_own(overhead):
    engine, seconds = kind("vllm"), {overhead.FIRST: 1.0, overhead.DECODE: 2.0}

    def answer(asked):
        if asked.path == "/metrics":
            lines = [f'{name}_sum{{engine="0"}} {value}\n' for name, value in seconds.items()]
            return reply("".join(lines), kind="text/plain")
        seconds.update({name: value + 1.0 for name, value in seconds.items()})
        return engine(asked)

    with served("vllm", answer) as (server, loopback):
        sums = overhead.summed(server, loopback.url, 3)

    assert sums.later_ms == pytest.approx(1000 * (sums.first - 1.0))
    assert sums.first < 1.0 < sums.rate


def test_a_bare_socket_asks_the_same_in_turn(overhead):
    with served("vllm", paced(kind("vllm"), 0.01)) as (server, loopback):
        beside = overhead.beside_bare(server, loopback.url, 3)
        bodies = [{k: v for k, v in body.items() if k != "cache_salt"} for body in loopback.bodies("/v1/completions")]

    ours, theirs = bodies[overhead.ANSWERS :: 2], bodies[overhead.ANSWERS + 1 :: 2]
    assert ours == theirs
    assert len(ours) == overhead.ANSWERS
    assert beside.first > 0
    assert (beside.later_ms > 0) == (beside.first > 1)


def test_the_page_has_one_section_of_it(overhead):
    rows = [overhead.Clocked(99.0, 100.0, 505.0, 500.0)]
    short, long = overhead.Sums(0.998, 2.013, 9.6), overhead.Sums(0.999, 1.004, 9.7)
    text = overhead.own_clock(rows, rows) + overhead.sums_of(short, long, overhead.Beside(1.02, 0.3))
    text += overhead.at_load(overhead.Streams(64, 2500.4, 0.4))

    assert "decode rate 0.9900" in text
    assert "time to first token 1.0100" in text
    assert "decode rate 0.9980; time to first token 2.0130, 9.6 ms later" in text
    assert "at prompts of 900\ntokens 1.0040, 9.7 ms later" in text
    assert "is 1.0200,\n0.3 ms later" in text
    assert "2,500 chunks a second in all, with 40% of a core" in text


def test_without_a_configuration_it_says_what_it_wants(overhead, capsys):
    assert overhead.main(["one.toml"]) == 2
    assert "LLAMA_CPP.toml VLLM.toml" in capsys.readouterr().err
