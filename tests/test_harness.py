"""The command line: one line for a mistake, one document for a program, and a status that says what happened."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

import pytest

import draftgate
from cases import held_case, honest_case, judge_record, write_run
from draftgate import canaries, harness
from draftgate.canaries import judge, summary
from draftgate.canaries.errors import TargetUnavailable
from draftgate.canaries.record import NAME
from draftgate.engine.errors import LogitsNotFinite, ModelMissing

ROOT = Path(draftgate.__file__).parent
HEAVY = ("httpx", "torch", "transformers", "scipy", "numpy", "rich", "jsonschema", "hypothesis")


@dataclass(frozen=True)
class Options:
    suite: str
    baseline: str | None
    candidate: str | None
    config: Path | None
    model: Path | None
    dtype: str | None
    fault: str | None
    claim: float | None
    out: Path | None
    seed: int
    resume: bool


@pytest.fixture
def fake_run(monkeypatch):
    """`canaries.run` that answers with a summary, or raises, and remembers what it was asked."""
    asked = []
    fake = SimpleNamespace(Options=Options, asked=asked, answer=lambda options: summary.summarise(honest_case()))

    def run(options, progress):
        asked.append(options)
        progress.close()
        sys.stdout.write("a library talks to standard output\n")
        return fake.answer(options)

    fake.run = run
    monkeypatch.setitem(sys.modules, "draftgate.canaries.run", fake)
    monkeypatch.setattr(canaries, "run", fake, raising=False)
    return fake


def command(*arguments, cwd=None):
    """The finished process of `draftgate`, as a user would start it."""
    paths = [path for path in sys.path if path and Path(path).name != "tests"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "COLUMNS": "80"}
    start = [sys.executable, "-m", "draftgate.harness", *map(str, arguments)]
    return subprocess.run(start, capture_output=True, text=True, cwd=cwd, env=environment, timeout=60, check=False)


def raises(error):
    def answer(options):
        raise error

    return answer


def test_help_names_the_commands_that_exist_and_no_other():
    done = command("--help")

    assert done.returncode == 0
    for name in ("run", "sampler", "plan", "report", "publish", "suite", "init", "doctor", "engines", "faults"):
        assert f"\n    {name} " in done.stdout
    for name in ("verify", "serve", "lint-claims"):
        assert f"\n    {name} " not in done.stdout


def test_help_imports_nothing_heavy_and_comes_at_once():
    code = f"""
import sys
from draftgate.harness import main
try:
    main(["--help"])
except SystemExit as end:
    assert end.code == 0
assert not [name for name in {HEAVY!r} if name in sys.modules]
"""
    started = time.perf_counter()
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, env=environ())

    assert done.returncode == 0, done.stderr
    assert time.perf_counter() - started < 5, "0.05 s on an idle machine; the bound only catches a heavy import"


def environ():
    return {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}


def test_the_file_itself_can_be_started_from_anywhere(tmp_path):
    start = [sys.executable, str(ROOT / "harness.py")]
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    done = subprocess.run(
        [*start, "--version"], capture_output=True, text=True, cwd=tmp_path, env=environment, check=False
    )

    assert done.stdout == f"draftgate {draftgate.__version__}\n"


def test_the_package_fetches_its_names_when_they_are_used():
    assert draftgate.Verdict("PASS") == "PASS"
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        draftgate.nothing  # noqa: B018


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        ((), "COMMAND"),
        (("judge",), "invalid choice: 'judge'"),
        (("run", "--claim", "fast"), "fast is not above 0"),
        (("run", "--claim", "nan"), "nan is not above 0"),
        (("run", "--claim", "-1"), "-1 is not above 0"),
        (("run", "--seed", "x"), "--seed"),
        (("run", "--dtype", "int8"), "invalid choice: 'int8' (choose from"),
        (("run", "--cand", "x"), "--cand"),
        (("run", "--resume"), "--resume does not say which run"),
        (("run", "--resume", "--out", "none"), "holds no record to resume"),
        (("report",), "RUN"),
        (("suite", "show", "nope"), "no suite is called 'nope'"),
    ],
)
def test_a_mistake_is_told_in_one_line_with_status_2(tmp_path, arguments, line):
    done = command(*arguments, cwd=tmp_path)

    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("draftgate: ")
    assert done.stderr.count("\n") == 1
    assert line in done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["report", "publish"])
@pytest.mark.parametrize(("folder", "status"), [(".", 3), ("none", 2)])
def test_what_cannot_be_judged_ends_with_status_3_and_what_is_not_there_with_2(tmp_path, name, folder, status):
    done = command(name, folder, cwd=tmp_path)

    assert (done.returncode, done.stdout) == (status, "")
    assert done.stderr.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("arguments", "status"), [(("report", ".", "--json"), 3), (("run", "--x", "--json"), 2)])
def test_json_is_one_document_even_for_a_mistake(tmp_path, arguments, status):
    done = command(*arguments, cwd=tmp_path)

    document = json.loads(done.stdout)
    assert done.returncode == status
    assert document["exit"] == status
    assert document["error"]


@pytest.mark.parametrize(("case", "status"), [(honest_case(), 0), (held_case(), 1), (honest_case(guarantee="NONE"), 1)])
def test_the_status_of_a_run_is_its_verdict(fake_run, tmp_path, capsys, case, status):
    fake_run.answer = lambda options: summary.summarise(case)

    assert harness.main(["run", "--out", str(tmp_path / "run")]) == status
    assert summary.summarise(case)["verdict"] in capsys.readouterr().out


def test_json_of_a_run_is_its_summary_and_nothing_else(fake_run, tmp_path, capsys):
    assert harness.main(["run", "--json", "--out", str(tmp_path / "run")]) == 0

    assert json.loads(capsys.readouterr().out) == summary.summarise(honest_case())


def test_a_run_is_asked_for_what_was_said(fake_run, tmp_path):
    words = (
        "run smoke --baseline plain --candidate ngram:k=3 --model m --dtype bfloat16 --fault F06 --claim 1.8 --seed 7"
    )
    harness.main([*shlex.split(words), "--out", str(tmp_path / "run")])

    expected = Options(
        "smoke", "plain", "ngram:k=3", None, Path("m"), "bfloat16", "F06", 1.8, tmp_path / "run", 7, resume=False
    )
    assert fake_run.asked == [expected]


def test_a_run_has_defaults_for_everything(fake_run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    harness.main(["run"])

    (asked,) = fake_run.asked
    assert asked == Options("core", None, None, None, None, None, None, None, asked.out, 0, resume=False)
    assert asked.out.parent == Path("runs")
    assert asked.out.name.endswith("Z-core")


def test_a_run_is_not_begun_where_it_cannot_be_written(fake_run, tmp_path, capsys):
    (tmp_path / "file").write_text("")

    assert harness.main(["run", "--out", str(tmp_path / "file" / "run")]) == 3
    assert fake_run.asked == []
    assert "cannot be written" in capsys.readouterr().err


def test_a_run_is_not_begun_over_another(fake_run, tmp_path, capsys):
    run = write_run(tmp_path / "run")

    assert harness.main(["run", "--out", str(run)]) == 2
    assert fake_run.asked == []
    assert "--resume" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("error", "status"),
    [(TargetUnavailable("no answer\nfrom it"), 3), (ModelMissing("no model in m"), 2), (LogitsNotFinite("NaN"), 3)],
)
def test_what_a_run_raises_is_told_in_one_line(fake_run, tmp_path, capsys, error, status):
    fake_run.answer = raises(error)

    assert harness.main(["run", "--out", str(tmp_path / "run")]) == status
    assert f"draftgate: {' '.join(str(error).split())}\n" in capsys.readouterr().err


def test_a_fault_of_ours_is_neither_a_hold_nor_a_mistake_of_the_users(fake_run, tmp_path, capsys):
    fake_run.answer = raises(ZeroDivisionError("ours"))

    assert harness.main(["run", "--out", str(tmp_path / "run")]) == 3
    said = capsys.readouterr().err
    assert "Traceback" in said
    assert said.endswith(
        "draftgate: a bug in draftgate, nothing was judged: ZeroDivisionError('ours'); please report it\n"
    )


def test_an_interrupted_run_says_how_to_go_on(fake_run, tmp_path, capsys):
    out = tmp_path / "a run"

    def stopped(options):
        options.out.mkdir()
        (options.out / NAME).write_text("")
        raise KeyboardInterrupt

    fake_run.answer = stopped

    assert harness.main(["run", "smoke", "--claim", "1.5", "--out", str(out)]) == 3
    line = capsys.readouterr().err.splitlines()[-1]
    assert line == (
        f"draftgate: interrupted; resume with: draftgate run smoke --claim 1.5 --out '{out}' --seed 0 --resume"
    )


def test_a_run_interrupted_before_its_first_line_is_simply_run_again(fake_run, tmp_path, capsys):
    fake_run.answer = raises(KeyboardInterrupt())

    assert harness.main(["run", "--out", str(tmp_path / "run")]) == 3
    assert "before anything was recorded; run again" in capsys.readouterr().err


@pytest.mark.parametrize(("verdict", "status"), [("PASS", 0), ("HOLD", 1)])
def test_a_report_judges_a_finished_run_again_and_ends_like_it(monkeypatch, tmp_path, capsys, verdict, status):
    run = write_run(tmp_path / "run", verdict=verdict)
    monkeypatch.setattr(judge, "judge_record", judge_record)

    assert harness.main(["report", str(run), "--json"]) == status
    assert json.loads(capsys.readouterr().out) == summary.read(run)
    assert harness.main(["report", str(run)]) == status
    assert verdict in capsys.readouterr().out


def test_a_report_refuses_a_summary_that_its_record_does_not_give(monkeypatch, tmp_path, capsys):
    run = write_run(tmp_path / "run", verdict="HOLD")
    monkeypatch.setattr(judge, "judge_record", lambda found: judge_record(found) | {"verdict": "PASS"})

    assert harness.main(["report", str(run)]) == 3
    assert "summary.json is not what its record gives" in capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments",
    [("suite", "list"), ("suite", "show", "smoke"), ("suite", "check", "smoke"), ("engines",), ("faults", "list")],
)
def test_lists_are_tables_for_people_and_one_document_for_programs(arguments, capsys):
    assert harness.main(list(arguments)) == 0
    table = capsys.readouterr().out
    assert harness.main([*arguments, "--json"]) == 0

    assert table.strip()
    assert json.loads(capsys.readouterr().out)


def test_publishing_prints_where_the_result_is(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("draftgate.canaries.publish._judge", lambda: judge_record)
    run = write_run(tmp_path / "run")

    assert harness.main(["publish", str(run), "--to", str(tmp_path / "to")]) == 0
    assert "published: " in capsys.readouterr().out
    assert len(list((tmp_path / "to").iterdir())) == 1


def test_a_hold_is_not_published_and_says_why_in_one_line(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("draftgate.canaries.publish._judge", lambda: judge_record)
    run = write_run(tmp_path / "run", verdict="HOLD")

    assert harness.main(["publish", str(run), "--to", str(tmp_path / "to")]) == 1
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert not (tmp_path / "to").exists()


SAMPLERS = """
import torch
from draftgate.canaries.samplers.faults.innocent import token as right
from draftgate.canaries.samplers.faults.rules import accept_everything as wrong

def raising(p, q, x, generator):
    raise RuntimeError("there is no device")

def short(p, q, x, generator):
    return x
"""


@pytest.mark.parametrize(
    ("name", "status", "told"),
    [
        ("right", 0, "PASS  mine.py:right"),
        ("wrong", 1, "DISTRIBUTION (engine)"),
        ("short", 1, "CORRECTNESS (engine)"),
        ("raising", 3, "the sampler raised RuntimeError: there is no device"),
        ("absent", 2, "has no 'absent'"),
    ],
)
def test_a_sampler_in_a_file_is_judged_from_its_folder(tmp_path, name, status, told):
    (tmp_path / "mine.py").write_text(SAMPLERS)
    done = command("sampler", f"mine.py:{name}", "--effect", "0.05", cwd=tmp_path)

    assert status == done.returncode, done.stderr
    assert told in done.stdout + done.stderr
    assert "Traceback" not in done.stderr


def test_a_sampler_as_json_is_one_document(tmp_path):
    (tmp_path / "mine.py").write_text(SAMPLERS)
    done = command("sampler", "mine.py:wrong", "--json", cwd=tmp_path)

    assert "HOLD" == json.loads(done.stdout)["verdict"]
    assert 1 == done.returncode


@pytest.mark.parametrize("words", [("--effect", "2"), ("--as", "triton"), ("--rule", "mine"), ("--seed", "-1")])
def test_a_mistake_about_a_sampler_is_one_line(words):
    done = command("sampler", "mine.py:right", *words)

    assert 2 == done.returncode
    assert 1 == len(done.stderr.splitlines())


def test_a_plan_tells_draws_and_seconds():
    rows = json.loads(command("plan", "--effect", "0.002", "--json").stdout)

    assert {"chi_square", "kolmogorov_smirnov", "support"} == {row["test"] for row in rows}
    assert all(row["seconds"] < 20 for row in rows)
