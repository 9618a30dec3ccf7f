"""What `init` prints is a configuration, once it is filled in; and says which words are to be."""

from __future__ import annotations

import pytest

from draftgate.canaries.targets.servers import config
from draftgate.canaries.targets.servers.templates import NAMES, template


@pytest.mark.parametrize("name", NAMES)
def test_a_template_is_read_as_a_configuration(name, tmp_path):
    path = tmp_path / "gate.toml"
    path.write_text(template(name), encoding="utf-8")
    arms = config.read(path)

    assert {arm.server for arm in arms.values()} == {name}
    assert arms["baseline"].connection.endpoints != arms["candidate"].connection.endpoints
    assert (arms["candidate"].launch is None) is (name == "openai")


@pytest.mark.parametrize("name", [name for name in NAMES if name != "openai"])
def test_the_arms_of_a_template_differ_in_speculation_alone(name, tmp_path):
    path = tmp_path / "gate.toml"
    path.write_text(template(name), encoding="utf-8")
    baseline, candidate = (arm.launch.argv for arm in config.read(path).values())
    alike = [word.replace("8102", "8101") for word in candidate]

    assert tuple(alike[: len(baseline)]) == baseline
    assert "MODEL" in " ".join(baseline)
    assert any(word in " ".join(alike[len(baseline) :]) for word in ("spec", "-md"))


def test_a_template_that_launches_says_how_one_server_is_up_at_a_time():
    assert [name for name in NAMES if '# launching = "in turn"' in template(name)] == [
        n for n in NAMES if n != "openai"
    ]


def test_no_template_holds_a_key():
    assert all("the key itself stands in no file" in template(name) for name in NAMES)
