"""A configuration is read, or refused in one line that names the key, the value and the choice."""

from __future__ import annotations

import signal

import pytest

from draftgate.canaries.errors import UsageError
from draftgate.canaries.targets.servers import config
from draftgate.canaries.targets.servers.launch import Launch
from draftgate.canaries.targets.spec import TargetSpec

ARM = 'server = "vllm"\nurl = "http://127.0.0.1:{port}"\ndeadline_s = 60\nconcurrency = 8\n'
SCORES, DRAFTS = "logprobs = 20\neos = [0]\n", "draft_length = 4\n"
LAUNCH = '[candidate.launch]\nargv = ["vllm", "serve"]\nlimit_s = 300\ngrace_s = 20\n'


@pytest.fixture
def read(tmp_path):
    """Reads a configuration whose candidate ends with `tail`, after `old` became `new`."""

    def reading(old="", new="", tail=""):
        path = tmp_path / "gate.toml"
        text = "[baseline]\n" + ARM.format(port=8101) + SCORES + "[candidate]\n" + ARM.format(port=8102) + DRAFTS + tail
        path.write_text(text.replace(old, new) if old else text, encoding="utf-8")
        return config.read(path)

    return reading


def test_both_arms_are_read(read):
    arms = read(tail='model = "tiny"\n' + LAUNCH + 'env = { A = "b" }\nstop = "SIGINT"\nready = "/up"\n')
    candidate = arms["candidate"]

    assert [*arms] == ["baseline", "candidate"]
    assert candidate.connection.endpoints == (("replica 0", "http://127.0.0.1:8102"),)
    assert (candidate.connection.deadline_s, candidate.connection.concurrency, candidate.model) == (60.0, 8, "tiny")
    assert candidate.launch == Launch(
        argv=("vllm", "serve"), limit_s=300, grace_s=20, ready="/up", env={"A": "b"}, stop=signal.SIGINT
    )
    assert arms["baseline"].launch is None


SPOKEN = {
    "baseline": "vllm:url=http://127.0.0.1:8101,deadline_s=60,concurrency=8,logprobs=20,eos=0",
    "candidate": "vllm:url=http://127.0.0.1:8102/v1,deadline_s=60,concurrency=8,draft_length=4",
}


def test_a_key_that_cannot_be_said_there_is_no_choice_on_the_command_line(read):
    with pytest.raises(UsageError) as named:
        spoken(candidate=SPOKEN["candidate"] + ",patience=60")
    with pytest.raises(UsageError) as written:
        read(tail="patience = 60\n")

    assert {"server", "launch"}.isdisjoint(str(named.value).partition("keys: ")[2].split(", "))
    assert {"server", "launch"} <= set(str(written.value).partition("keys: ")[2].split(", "))


def spoken(**changes):
    return config.of_specs({role: TargetSpec.parse(text) for role, text in (SPOKEN | changes).items()})


def test_arms_that_are_named_are_those_of_a_file(read):
    assert spoken() == read()
    assert spoken(baseline=SPOKEN["baseline"] + "+2")["baseline"].eos == (0, 2)
    assert spoken(baseline=SPOKEN["baseline"] + ",model=7")["baseline"].model == "7"
    half = spoken(baseline=SPOKEN["baseline"].replace("deadline_s=60", "deadline_s=0.5"))
    assert half["baseline"].connection.deadline_s == 0.5


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        (",eos=0", "", "--baseline vllm has no eos; add eos: the ids"),
        ("eos=0", "eos=end", "--baseline vllm: eos is 'end'; give the ids"),
        ("concurrency=8", "concurrency=many", "--baseline vllm: concurrency is 'many'; give a whole number"),
        ("deadline_s=60", "patience=60", "--baseline vllm has no key 'patience'; keys: url, deadline_s"),
        ("http://127", "127", "--baseline vllm: url is '127"),
        ("logprobs=20", "logprobs=0", "--baseline vllm: logprobs is 0; give a whole number from 2"),
        ("eos=0", "eos=0,launch=vllm", "--baseline vllm cannot be launched from here; start it, or write --config"),
        ("vllm:", "vllm:server=sglang,", "--baseline vllm has server=sglang too; leave server out"),
    ],
)
def test_an_arm_that_is_named_wrongly_is_refused(old, new, told):
    with pytest.raises(UsageError, match=told):
        spoken(baseline=SPOKEN["baseline"].replace(old, new))


def test_readiness_is_the_servers_own_unless_given(read):
    assert read(tail=LAUNCH)["candidate"].launch.ready == "/health"


def test_a_pool_of_replicas_is_read(read):
    arms = read('"http://127.0.0.1:8101"', '["http://127.0.0.1:1/", "http://127.0.0.1:2/v1"]')

    assert [e.url for e in arms["baseline"].connection.endpoints] == ["http://127.0.0.1:1", "http://127.0.0.1:2"]


BOTH = LAUNCH.replace("candidate", "baseline") + LAUNCH


@pytest.mark.parametrize(("told", "in_turn"), [("", False), ('"together"', False), ('"in turn"', True)])
def test_arms_are_launched_together_unless_they_are_to_be_launched_in_turn(read, told, in_turn):
    arms = read("[baseline]", f"launching = {told}\n[baseline]" if told else "[baseline]", BOTH)

    assert [in_turn, in_turn] == [arm.in_turn for arm in arms.values()]


def test_arms_that_are_launched_in_turn_may_have_one_port(read):
    first = read("[baseline]", 'launching = "in turn"\n[baseline]', BOTH.replace("8101", "8102"))

    assert first["candidate"].in_turn


@pytest.mark.parametrize(
    ("tail", "lacking"), [(LAUNCH, "baseline"), ("", "baseline"), (BOTH.split("[cand")[0], "candidate")]
)
def test_an_arm_that_is_not_launched_cannot_be_launched_in_turn(read, tail, lacking):
    told = f"launching is 'in turn', but {lacking} has no launch table; add .{lacking}.launch., or leave launching out"
    with pytest.raises(UsageError, match=told):
        read("[baseline]", 'launching = "in turn"\n[baseline]', tail)


@pytest.mark.parametrize("value", ['"ABBA"', "3", "true", "[]"])
def test_another_way_to_launch_is_named_with_the_choice(read, value):
    with pytest.raises(UsageError, match=r"launching is .*; give 'together' or 'in turn'"):
        read("[baseline]", f"launching = {value}\n[baseline]", BOTH)


def test_a_key_is_read_from_the_environment(read, monkeypatch):
    monkeypatch.setenv("A_KEY", "sk-a")
    connection = read(tail='key_env = "A_KEY"\n')["candidate"].connection

    assert connection.secret.headers() == {"Authorization": "Bearer sk-a"}
    assert "sk-a" not in repr(connection)


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('server = "vllm"', 'server = "vlm"', r"server is 'vlm'; give one of vllm, llama_cpp"),
        ('server = "vllm"', 'server = ["vllm"]', r"server is \['vllm'\]; give one of vllm, llama_cpp"),
        ("logprobs = 20", "logprobs = 0", r"logprobs is 0; give a whole number from 2"),
        ("draft_length = 4", "draft_length = 0", r"draft_length is 0; give a whole number from 1 to 64"),
        ('server = "vllm"\n', "", r"baseline has no server; add server: what it is"),
        ("deadline_s = 60\n", "", r"baseline has no deadline_s; add deadline_s: seconds"),
        ("deadline_s = 60", "deadline_s = 0", r"deadline_s is 0; give seconds above 0"),
        ("deadline_s = 60", "deadline_s = inf", r"deadline_s is inf"),
        ("deadline_s = 60", "deadline_s = true", r"deadline_s is True"),
        ("concurrency = 8", "concurrency = 1.5", r"concurrency is 1.5; give a whole number from 1"),
        ("concurrency = 8", "concurrency = 0", r"concurrency is 0"),
        ("concurrency = 8", "concurency = 8", r"no key 'concurency'; keys: server, url"),
        ('"http://127.0.0.1:8101"', '"127.0.0.1:8101"', r"url is '127.0.0.1:8101'; give http://HOST:PORT"),
        ('"http://127.0.0.1:8101"', '"http://127.0.0.1:x"', r"url is 'http://127.0.0.1:x'"),
        ('"http://127.0.0.1:8101"', "[]", r"url is \[\]"),
        ('"http://127.0.0.1:8101"', '["http://a", "http://a"]', r"each once"),
        ('"http://127.0.0.1:8101"', '"http://me:sk-a@host"', r"url is a url with a user in it"),
        ('"http://127.0.0.1:8101"', '"http://sk-a@host"', r"url is a url with a user in it"),
        ("logprobs = 20\n", "", r"baseline has no logprobs; add logprobs: how many of the best tokens"),
        ("logprobs = 20", "logprobs = 1", r"logprobs is 1; give a whole number from 2"),
        ("eos = [0]", "eos = [-1]", r"eos is \[-1\]; give the ids that end an answer"),
        ("draft_length = 4\n", "", r"candidate has no draft_length; add draft_length: how many tokens it drafts"),
        ("draft_length = 4", "draft_length = 65", r"draft_length is 65; give a whole number from 1 to 64"),
        ("draft_length = 4", "logprobs = 20\ndraft_length = 4", r"candidate has no key 'logprobs'"),
        ("[baseline]", "[base]", r"no key 'base'; keys: baseline, candidate"),
        ("[baseline]", "baseline = 3\n[candidat]", r"no key 'candidat'"),
        ("[baseline]", "[baseline", r"is no TOML: .*; correct that line"),
    ],
)
def test_a_mistake_is_named_with_its_value_and_the_choice(read, old, new, told):
    with pytest.raises(UsageError, match=told) as refused:
        read(old, new)
    assert "gate.toml" in str(refused.value)
    assert "sk-a" not in str(refused.value)


@pytest.mark.parametrize(
    ("tail", "told"),
    [
        ('api_key = "sk-a"\n', r"'api_key': keys stand in no file; .* key_env"),
        ('key_env = "not a name"\n', r"key_env is 'not a name'; give the name of an environment variable"),
        ('key_env = "NO_SUCH_VARIABLE"\n', r"NO_SUCH_VARIABLE \(key_env\) is not set"),
        ('ca_file = "nowhere.pem"\n', r"ca_file is 'nowhere.pem'; give a file of certificates"),
        (f"ca_file = {__file__!r}\n", r"ca_file is '.*test_config.py'; give a file of certificates"),
        ('model = ""\n', r"model is ''"),
        ("launch = 3\n", r"candidate.launch is 3, no table"),
        (LAUNCH.replace('["vllm", "serve"]', '"vllm serve"'), r"argv is 'vllm serve'; give a list of words"),
        (LAUNCH.replace("limit_s = 300\n", ""), r"launch has no limit_s; add limit_s"),
        (LAUNCH + 'stop = "SIGKILL"\n', r"stop is 'SIGKILL'; give one of SIGTERM"),
        (LAUNCH + "env = { A = 1 }\n", r"env is \{'A': 1\}; give a table of texts"),
        (LAUNCH + 'env = { HF_TOKEN = "sk-a" }\n', r"launch has 'HF_TOKEN': keys stand in no file; .* inherits"),
        (LAUNCH.replace('"serve"', '"--api-key", "sk-a"'), r"launch has '--api-key': keys stand in no file"),
        (LAUNCH.replace('"serve"', '"--api-key=sk-a"'), r"launch has '--api-key'"),
        (LAUNCH + 'ready = "health"\n', r"ready is 'health'; give a path, such as /health"),
    ],
)
def test_a_mistake_in_the_candidate_is_named(read, monkeypatch, tail, told):
    monkeypatch.delenv("NO_SUCH_VARIABLE", raising=False)
    with pytest.raises(UsageError, match=told) as refused:
        read(tail=tail)
    assert "sk-a" not in str(refused.value)


def test_the_environment_says_where_things_are(read, monkeypatch):
    monkeypatch.setenv("SERVERS", "/opt/servers")
    launch = read(tail=LAUNCH.replace('"vllm"', '"${SERVERS}/vllm"') + 'env = { HOME = "${SERVERS}/home" }\n')[
        "candidate"
    ].launch

    assert (launch.argv, launch.env) == (("/opt/servers/vllm", "serve"), {"HOME": "/opt/servers/home"})


def test_a_variable_that_is_not_set_is_named_with_its_place(read, monkeypatch):
    monkeypatch.delenv("SERVERS", raising=False)
    with pytest.raises(UsageError, match=r"candidate.launch: argv names \$\{SERVERS\}, which is not set; export it"):
        read(tail=LAUNCH.replace('"vllm"', '"${SERVERS}/vllm"'))


def test_one_launch_does_not_start_a_pool(read):
    with pytest.raises(UsageError, match="launch starts one server, and url names several"):
        read('"http://127.0.0.1:8102"', '["http://127.0.0.1:1", "http://127.0.0.1:2"]', LAUNCH)


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(UsageError, match="draftgate init"):
        config.read(tmp_path / "gate.toml")


def test_a_server_is_not_launched_behind_tls(read):
    with pytest.raises(UsageError, match="start it yourself"):
        read("http://127.0.0.1:8102", "https://127.0.0.1:8102", LAUNCH)


def test_an_arm_that_is_not_asked_for_is_not_looked_at(tmp_path):
    path = tmp_path / "gate.toml"
    path.write_text("[candidate]\n" + ARM.format(port=8102) + DRAFTS + "[baseline]\nserver = 1\n", encoding="utf-8")

    assert [*config.read(path, ("candidate",))] == ["candidate"]
    with pytest.raises(UsageError, match="baseline"):
        config.read(path)


def test_one_arm_alone_is_not_launched_in_turn(tmp_path):
    path = tmp_path / "gate.toml"
    text = 'launching = "in turn"\n[candidate]\n' + ARM.format(port=8102) + DRAFTS
    path.write_text(text, encoding="utf-8")

    assert not config.read(path, ("candidate",))["candidate"].in_turn
