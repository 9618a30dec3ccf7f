"""Both arms are opened on one set of weights, or behind sockets; what cannot be opened together is refused."""

import pytest
from observed import suite as small

from draftgate.canaries.errors import UsageError
from draftgate.canaries.faults.kernels import KernelByShape
from draftgate.canaries.targets import opening, tape
from draftgate.suites import loader
from gates import write
from servers_loopback import Loopback, kind


def asked(**changes):
    """What the command line says of the arms."""
    given = dict.fromkeys(("baseline", "candidate", "config", "model", "dtype", "fault"))
    return opening.Asked(**given | {"seed": 0} | changes)


def opened(folder, suite, **changes):
    """Both arms, their logs in a folder of the test's."""
    return opening.opened(asked(**changes), suite, folder / "logs")


@pytest.mark.parametrize(("fault", "moved"), [(None, (False, False)), ("N03", (True, True)), ("F53", (False, True))])
def test_a_shared_plant_is_in_both_arms_and_any_other_in_the_candidate_alone(tmp_path, fault, moved):
    with opened(tmp_path, loader.load("smoke"), candidate="draft:k=4", fault=fault) as made:
        assert moved == tuple(isinstance(made[arm].model, KernelByShape) for arm in ("baseline", "candidate"))
        assert made["baseline"].identity()["model"] == made["candidate"].identity()["model"]


def test_both_arms_and_the_draft_compute_in_the_dtype_asked_for(tmp_path):
    made = opening.in_process(asked(dtype="bfloat16"))

    told = [made[arm].identity() for arm in ("baseline", "candidate")]
    assert ["bfloat16"] * 3 == [*(one["model"]["dtype"] for one in told), told[1]["draft"]["dtype"]]


def test_the_default_arms_are_plain_decoding_and_the_embedded_draft(tmp_path):
    made = opening.in_process(asked())

    assert [made[arm].label for arm in ("baseline", "candidate")] == ["plain", "draft:k=5"]


def test_an_unnamed_baseline_has_the_candidates_cache():
    made = opening.in_process(asked(candidate="draft:k=3,cache=int4"))

    assert ["plain:cache=int4", "draft:k=3,cache=int4"] == [made[arm].label for arm in ("baseline", "candidate")]


def test_a_baseline_with_another_cache_is_refused_before_weights_are_read(tmp_path):
    with pytest.raises(UsageError, match="the baseline's cache is float, the candidate's int4"):
        opening.in_process(asked(baseline="plain", candidate="draft:cache=int4", model=tmp_path / "none"))


def test_a_configuration_opens_both_servers_and_logs_them(tmp_path):
    config = write(tmp_path / "gate.toml")
    with opened(tmp_path, small(), config=config) as made:
        assert [made[arm].draft_length for arm in ("baseline", "candidate")] == [0, 4]

    assert {path.name for path in (tmp_path / "logs").iterdir()} == {"baseline.log", "candidate.log"}


@pytest.mark.parametrize("option", ["baseline", "candidate", "model", "dtype", "fault"])
def test_what_a_configuration_says_is_not_said_twice(tmp_path, option):
    config = tmp_path / "gate.toml"
    with (
        pytest.raises(UsageError, match=f"--{option} plain cannot be given beside --config"),
        opened(tmp_path, small(), config=config, **{option: "plain"}),
    ):
        pass


def test_fewer_at_once_than_the_suite_asks_is_refused_before_anything_starts(tmp_path):
    config = write(tmp_path / "gate.toml")
    config.write_text(config.read_text().replace("concurrency = 8", "concurrency = 2", 1))
    with (
        pytest.raises(UsageError, match="baseline: concurrency is 2, but smoke asks 4 at once; raise it"),
        opened(tmp_path, small(), config=config),
    ):
        pass
    assert not (tmp_path / "logs").exists()


def test_servers_that_run_are_named_on_the_command_line(tmp_path):
    with Loopback(kind("vllm")) as one, Loopback(kind("vllm")) as other:
        limits = "deadline_s=20,concurrency=8"
        baseline = f"vllm:url={one.url},{limits},logprobs=20,eos=0"
        candidate = f"vllm:url={other.url},{limits},draft_length=4"
        with opened(tmp_path, small(), baseline=baseline, candidate=candidate) as made:
            assert [made[arm].draft_length for arm in ("baseline", "candidate")] == [0, 4]
            assert [made[arm].identity()["server"]["launched"] for arm in ("baseline", "candidate")] == [None, None]
    assert not (tmp_path / "logs").exists()


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"candidate": "draft:k=4"}, "'draft' is no server and the other arm is one; name servers for both"),
        ({"dtype": "bfloat16"}, "--dtype bfloat16 cannot be given beside servers"),
        ({"candidate": "vllm:url=http://127.0.0.1:1"}, "--candidate vllm has no deadline_s; add deadline_s"),
    ],
)
def test_an_arm_that_is_no_whole_server_is_refused(tmp_path, changes, told):
    server = "vllm:url=http://127.0.0.1:1,deadline_s=20,concurrency=8,logprobs=20,eos=0"
    with (
        pytest.raises(UsageError, match=told),
        opened(tmp_path, small(), **{"baseline": server, "candidate": server} | changes),
    ):
        pass


class Arm:
    def __init__(self, model, *ids):
        self.model, self.ids = model, ids

    def identity(self):
        return {"model": self.model}

    def encode(self, messages):
        return self.ids


@pytest.mark.parametrize(
    ("other", "told"),
    [(Arm({"dtype": "bfloat16"}, 1, 2), "dtype"), (Arm({"dtype": "float32"}, 1, 3), "prompt ids of exact-1")],
)
def test_arms_that_differ_in_more_than_speculation_are_refused(other, told):
    one = Arm({"dtype": "float32"}, 1, 2)
    opening.refuse_unlike(one, one, small())

    with pytest.raises(UsageError, match=rf"more than speculation \({told}.*; make all else alike"):
        opening.refuse_unlike(one, other, small())


@pytest.mark.parametrize(
    ("baseline", "told"),
    [
        ("replay", "does not say what was kept; write replay:file=FILE"),
        ("replay:path=a", "has no option 'path'; options: file"),
        ("replay:file=none", "none: no kept baseline can be read"),
    ],
)
def test_a_kept_baseline_that_is_not_there_is_refused(tmp_path, baseline, told):
    with (
        pytest.raises(UsageError, match=told),
        opened(tmp_path, small(), baseline=baseline),
    ):
        pass


ARM = {"name": "vllm", "kind": "server", "guarantee": "SAME_LAW", "capabilities": ["kept"], "unseen": [], "eos": [0]}
ARM |= {"identity": {"model": {}}}


def test_a_candidate_of_another_kind_than_the_kept_baseline_is_refused(tmp_path):
    made = {"draftgate": "0", "recorded": "then", "seed": 0}
    named = {"name": "smoke", "version": "v1", "digest": small().digest}
    kept = tape.Tape(made=made | {"suite": named}, arm=ARM, calls={})
    tape.write(tmp_path / "a.tape", kept)
    words = "the kept baseline is of kind server, the candidate of kind reference; name one of that kind"
    with (
        pytest.raises(UsageError, match=words),
        opened(tmp_path, small(), baseline=f"replay:file={tmp_path / 'a.tape'}"),
    ):
        pass


def test_one_arm_is_opened_without_the_other(tmp_path):
    config = write(tmp_path / "gate.toml")
    with opening.alone(asked(config=config), small(), tmp_path / "logs", "candidate") as made:
        assert made.draft_length == 4

    assert {path.name for path in (tmp_path / "logs").iterdir()} == {"candidate.log"}
