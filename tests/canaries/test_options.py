"""What a run takes on the command line, and how an interrupted one goes on."""

import argparse
import asyncio
import signal
from pathlib import Path

import pytest

from draftgate.canaries import keeping, options, run
from draftgate.canaries.errors import UsageError


def parsed(*words):
    parser = argparse.ArgumentParser()
    options.run(parser)
    return parser.parse_args(words)


def test_what_is_parsed_is_what_a_run_and_a_recording_take():
    asked = vars(parsed("smoke", "--seed", "3", "--record-baseline", "a.tape"))

    assert set(run.Options.__dataclass_fields__) == set(options.RUN_OPTIONS)
    assert set(keeping.Options.__dataclass_fields__) == set(options.KEEP_OPTIONS)
    assert set(options.RUN_OPTIONS) | {"record_baseline"} == set(asked)
    assert (asked["suite"], asked["seed"], asked["record_baseline"]) == ("smoke", 3, Path("a.tape"))
    assert parsed().suite == "core"


def test_a_terminal_that_is_gone_stops_a_run_unless_that_was_to_be_ignored():
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP)}
    try:
        options.stop_as_by_hand()
        for number in before:
            with pytest.raises(KeyboardInterrupt):
                signal.raise_signal(number)

        signal.signal(signal.SIGHUP, signal.SIG_IGN)  # as `nohup` does
        options.stop_as_by_hand()
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@pytest.mark.parametrize(("given", "went"), [(None, ["cancelled"]), (signal.SIG_IGN, [])], ids=["heard", "ignored"])
def test_what_waits_on_a_loop_is_cancelled_as_by_hand(given, went):
    """Where Ctrl-C is ignored, as in a shell's background, there is nobody to ask: it is stopped where it stands."""
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = {number: signal.getsignal(number) for number in numbers}
    seen = []

    async def waiting():
        try:
            asyncio.get_running_loop().call_soon(signal.raise_signal, signal.SIGTERM)
            await asyncio.sleep(20)
        except asyncio.CancelledError:
            seen.append("cancelled")
            raise

    try:
        if given is not None:
            signal.signal(signal.SIGINT, given)
        options.stop_as_by_hand()
        with asyncio.Runner() as runner:
            with pytest.raises(KeyboardInterrupt):
                runner.run(waiting())
            assert went == seen
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def test_a_folder_is_named_by_the_suite_and_a_resumed_one_by_the_user():
    assert options.default_out(parsed("mine/v1/")).name.endswith("Z-mine-v1")
    with pytest.raises(UsageError, match="does not say which run; add --out"):
        options.default_out(parsed("--resume"))


def test_the_hint_is_the_command_to_go_on_with(tmp_path):
    asked = parsed("smoke", "--out", str(tmp_path), "--claim", "1.5")
    assert options.resume_hint(asked) == "interrupted before anything was recorded; run again"

    (tmp_path / "record.jsonl").touch()
    assert options.resume_hint(asked).endswith(f"run smoke --claim 1.5 --out {tmp_path} --seed 0 --resume")
