"""A small suite for baselines that are kept, as a folder; and a configuration of a candidate on loopback."""

from __future__ import annotations

import re
import shutil

from draftgate.suites import loader

CELLS = """
[[cells]]
name = "greedy"
temperature = 0
batch = 2
prompts = 7
tokens = 24
repeats = 1

[[cells]]
name = "sampled"
temperature = 2.5
top_k = 20
batch = 8
prompts = 8
tokens = 12
repeats = 1
"""
LISTS = """
[required.kept-{kind}]
greedy = ["exact_tokens", "noise", "exercise", "algebra", "answered"{more}]
sampled = ["noise", "samples", "algebra", "answered"{more}]
"""
CHANGED = {  # what can be shown in seconds
    r"token_fault_rate = \S+": "token_fault_rate = 0.1",
    r"proposed = \d+": "proposed = 1",
    r"accepted = \d+": "accepted = 1",
    r"tokens = 4 +# most tokens an answer: the first": "tokens = 2 # most tokens an answer: the first",
    r"prompts = 2 +# the first canaries": "prompts = 1 # the first canaries",
    r"\neffect = 0.25": "\neffect = 0.35",
}
CANDIDATE = """[candidate]
server = "vllm"
url = "{url}"
model = "tiny"
deadline_s = 120
concurrency = 8
draft_length = 4
"""


def suite(folder):
    """The folder of smoke's canaries in small cells, which says what must be passed beside a kept baseline."""
    made = folder / "mine" / "v1"
    shutil.copytree(loader.SHIPPED / "smoke" / "v1", made)
    (made / "census.json").unlink()
    text = (made / "suite.toml").read_text(encoding="utf-8").partition("# Beside a baseline")[0]
    for old, new in CHANGED.items():
        text, times = re.subn(old, new, text)
        assert times, old
    lists = LISTS.format(kind="server", more=', "configuration"') + LISTS.format(kind="transformers", more="")
    (made / "suite.toml").write_text(text + lists + CELLS, encoding="utf-8")
    loader.freeze(made, unreleased=True)
    return str(made)


def configuration(path, url):
    """A configuration of a candidate alone."""
    path.write_text(CANDIDATE.format(url=url), encoding="utf-8")
    return str(path)
