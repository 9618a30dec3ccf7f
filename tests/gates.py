"""Writes configurations whose servers are launched on this machine."""

from __future__ import annotations

import json
import socket
import sys

import servers_loopback

ARM = """[{arm}]
server = "{server}"
url = "http://127.0.0.1:{port}"
deadline_s = 20
concurrency = 8
{own}
{more}
"""
OWN = {"baseline": "logprobs = 20\neos = [0]", "candidate": "draft_length = 4"}
LAUNCH = """[{arm}.launch]
argv = {argv}
limit_s = 20
grace_s = 5
"""


def free_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


def write(path, server="vllm", argv=None, more="", deadly=(), *, in_turn=False):
    """A configuration of two arms, both launched: servers of a kind on loopback, or whatever `argv` starts.

    `argv` is a command, or what makes one from an arm and its port; `deadly` is a field that kills them. Arms that are
    launched in turn have one port for both.
    """
    text, port = 'launching = "in turn"\n' if in_turn else "", free_port()
    for arm in ("baseline", "candidate"):
        port = port if in_turn else free_port()
        words = (
            argv(arm, port)
            if callable(argv)
            else argv or [sys.executable, servers_loopback.__file__, server, str(port), *deadly]
        )
        text += ARM.format(arm=arm, server=server, port=port, own=OWN[arm], more=more) + LAUNCH.format(
            arm=arm, argv=json.dumps(words)
        )
    path.write_text(text, encoding="utf-8")
    return path
