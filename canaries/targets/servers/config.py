"""Reads `gate.toml`: one table an arm, each refusal one line that names the key, the value and the choice.

Every limit stands in the file: there are no defaults for how long is waited and how much is asked at once.
"""

from __future__ import annotations

import math
import re
import signal
import ssl
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from ...errors import UsageError
from ..spec import MOST, WHOLE, TargetSpec
from .launch import Launch
from .registry import APIS
from .secrets import Secret, secret_name
from .transport import Connection, Endpoint
from .variables import expanded

ARMS = ("baseline", "candidate")
TOGETHER, IN_TURN = LAUNCHING = ("together", "in turn")
DECIMAL = re.compile(r"[0-9]{1,9}[.][0-9]{1,9}")
_NEEDED = {"server": "what it is", "url": "where it is", "deadline_s": "seconds a request may take", "concurrency": "how many requests are under way at once"}  # fmt: skip  # noqa: E501
_OWN = {
    "baseline": {
        "logprobs": "how many of the best tokens it may be asked for at each place, to score answers by",
        "eos": "the ids that end an answer, as a list",
    },
    "candidate": {"draft_length": "how many tokens it drafts in a round, at most"},
}
_OPTIONAL = ("model", "tokenizer", "key_env", "ca_file", "launch")
_NOT_NAMED = ("server", "launch")  # on the command line: the one stands in front, the other needs a table
_NUMBERS = ("deadline_s", "concurrency", "logprobs", "draft_length")
_LAUNCH_NEEDED = {"argv": "the command as a list", "limit_s": "seconds until it must be ready", "grace_s": "seconds to stop in"}  # fmt: skip  # noqa: E501
_LAUNCH_OPTIONAL = ("env", "ready", "stop", "relaunches")
_STOPS = ("SIGTERM", "SIGINT", "SIGQUIT")


@dataclass(frozen=True, slots=True, kw_only=True)
class ArmConfig:
    """One arm as configured. `in_turn`: it and the other arm are launched in turn, never side by side."""

    server: str
    connection: Connection
    model: str | None
    launch: Launch | None
    eos: tuple[int, ...]
    logprobs: int
    draft_length: int
    tokenizer: Path | None = None
    in_turn: bool = False


def read(path: Path, roles: Sequence[str] = ARMS) -> dict[str, ArmConfig]:
    """The arms in these roles; another may be absent, and is not looked at. Raises UsageError."""
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"{path} cannot be read ({error.strerror}); `draftgate init` writes one") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} is no TOML: {error}; correct that line") from None
    table = _Table(str(path), document)
    table.keys(dict.fromkeys(roles, "an arm"), (*ARMS, "launching"))
    in_turn = (
        table.get("launching", lambda v: v in LAUNCHING, " or ".join(map(repr, LAUNCHING))) == IN_TURN
        and len(roles) > 1
    )
    arms = {name: _arm(_Table(f"{path}: {name}", document[name]), _OWN[name]) for name in roles}
    for name in (name for name, arm in arms.items() if in_turn and not arm.launch):
        told = f"launching is {IN_TURN!r}, but {name} has no launch table"
        raise UsageError(f"{path}: {told}; add [{name}.launch], or leave launching out")
    return {name: replace(arm, in_turn=in_turn) for name, arm in arms.items()}


def of_specs(named: Mapping[str, TargetSpec]) -> dict[str, ArmConfig]:
    """Both arms as the command line names them: servers that run already. Raises UsageError."""
    for role, spec in named.items():
        if told := spec.options.get("server"):
            raise UsageError(f"--{role} {spec.name} has server={told} too; leave server out, its name stands in front")
        if "launch" in spec.options:
            raise UsageError(f"--{role} {spec.name} cannot be launched from here; start it, or write --config FILE")
    return {
        role: _arm(
            _Table(f"--{role} {spec.name}", {"server": spec.name, **_values(spec.options)}, _NOT_NAMED), _OWN[role]
        )
        for role, spec in named.items()
    }


def _values(options: Mapping[str, str]) -> dict[str, Any]:
    """Options as TOML would have them: numbers, and ids joined by `+`; all else is text."""
    numbers: dict[str, Any] = {
        key: int(text) if key in _NUMBERS and WHOLE.fullmatch(text) else text for key, text in options.items()
    }
    if DECIMAL.fullmatch(options.get("deadline_s", "")):
        numbers["deadline_s"] = float(options["deadline_s"])
    ids = options.get("eos", "").split("+")
    return numbers | ({"eos": [*map(int, ids)]} if all(map(WHOLE.fullmatch, ids)) else {})


class _Table:
    """A table and where it stands, so that each refusal names both. `unlisted` keys are not offered as a choice."""

    def __init__(self, where: str, values: Any, unlisted: tuple[str, ...] = ()) -> None:
        if not isinstance(values, Mapping):
            raise UsageError(f"{where} is {values!r}, no table; write [name] and its keys below")
        self.where, self.values, self._unlisted = where, values, unlisted

    def keys(self, needed: Mapping[str, str], optional: tuple[str, ...]) -> None:
        """Raises UsageError for a key that is missing or unknown."""
        for key in self.values:
            if secret_name(key):
                told = "keys stand in no file; put it in an environment variable and name that with key_env"
                raise UsageError(f"{self.where} has {key!r}: {told}")
            if key not in (*needed, *optional):
                listed = ", ".join(one for one in (*needed, *optional) if one not in self._unlisted)
                raise UsageError(f"{self.where} has no key {key!r}; keys: {listed}")
        for key, meaning in needed.items():
            if key not in self.values:
                raise UsageError(f"{self.where} has no {key}; add {key}: {meaning}")

    def get(self, key: str, good: Callable[[Any], bool], choice: str, default: Any = None) -> Any:
        """The value of `key`. Raises UsageError, naming the choice, where it is not good."""
        value = self.values.get(key, default)
        if key in self.values and not good(value):
            raise UsageError(f"{self.where}: {key} is {value!r}; give {choice}")
        return value


def _arm(table: _Table, own: Mapping[str, str]) -> ArmConfig:
    table.keys({**_NEEDED, **own}, _OPTIONAL)
    server = table.get("server", lambda v: _text(v) and v in APIS, "one of " + ", ".join(APIS))
    ca_file = table.get("ca_file", _certificates, "a file of certificates in PEM")
    variable = table.get("key_env", lambda v: _text(v) and v.isidentifier(), "the name of an environment variable")
    connection = Connection(
        endpoints=_endpoints(table),
        deadline_s=float(table.get("deadline_s", _seconds, "seconds above 0")),
        concurrency=table.get("concurrency", _whole, "a whole number from 1"),
        secret=Secret.read(variable) if variable else None,
        ca_file=ca_file,
    )
    launch = None
    if "launch" in table.values:
        launch = _launch(_Table(f"{table.where}.launch", table.values["launch"]), APIS[server].ready)
        if connection.endpoints[0].url.startswith("https"):
            raise UsageError(f"{table.where}: launch cannot see when an https server is ready; start it yourself")
        if len(connection.endpoints) != 1:
            raise UsageError(f"{table.where}: launch starts one server, and url names several; give one url")
    tokenizer = table.get("tokenizer", _text, "the folder of a tokenizer")
    return ArmConfig(
        server=server,
        connection=connection,
        model=table.get("model", _text, "the name under which the server serves it"),
        launch=launch,
        eos=tuple(table.get("eos", _ids, "the ids that end an answer, as a list", ())),
        logprobs=table.get("logprobs", lambda v: _whole(v) and v > 1, "a whole number from 2", 0),
        draft_length=table.get(
            "draft_length", lambda v: _whole(v) and v <= MOST, f"a whole number from 1 to {MOST}", 0
        ),
        tokenizer=Path(expanded(tokenizer, f"{table.where}: tokenizer")) if tokenizer else None,
    )


def _endpoints(table: _Table) -> tuple[Endpoint, ...]:
    value = table.values["url"]
    urls = value if isinstance(value, list) else [value]
    good = "http://HOST:PORT or https://HOST, without user, query or /v1; or a list of them"
    if not urls or len(set(map(str, urls))) != len(urls):
        raise UsageError(f"{table.where}: url is {value!r}; give {good}, each once")
    for url in urls:
        if not _url(url):
            shown = repr(url) if "@" not in str(url) else "a url with a user in it"
            raise UsageError(f"{table.where}: url is {shown}; give {good}")
    return tuple(Endpoint(f"replica {i}", url.rstrip("/").removesuffix("/v1")) for i, url in enumerate(urls))


def _url(value: Any) -> bool:
    if not _text(value):
        return False
    try:
        parts = urlsplit(value)
        port = parts.port
    except ValueError:
        return False
    plain = not (parts.username or parts.password or parts.query or parts.fragment)
    return parts.scheme in ("http", "https") and bool(parts.hostname) and plain and port != 0


def _launch(table: _Table, ready: str) -> Launch:
    table.keys(_LAUNCH_NEEDED, _LAUNCH_OPTIONAL)
    stop = table.get("stop", lambda v: v in _STOPS, "one of " + ", ".join(_STOPS), "SIGTERM")
    argv = table.get("argv", _words, "a list of words, as the shell would pass them")
    env = table.get("env", _environment, 'a table of texts, such as { NAME = "value" }', {})
    for name in (*env, *(word.partition("=")[0] for word in argv if word.startswith("-"))):
        if secret_name(name):
            told = "keys stand in no file; set it in your environment, which the server inherits"
            raise UsageError(f"{table.where} has {name!r}: {told}")
    return Launch(
        argv=tuple(expanded(word, f"{table.where}: argv") for word in argv),
        env={name: expanded(value, f"{table.where}: env") for name, value in env.items()},
        ready=table.get("ready", lambda v: _text(v) and v.startswith("/"), "a path, such as /health", ready),
        limit_s=float(table.get("limit_s", _seconds, "seconds above 0")),
        grace_s=float(table.get("grace_s", _seconds, "seconds above 0")),
        stop=signal.Signals[stop],
        relaunches=table.get("relaunches", _often, f"a whole number from 0 to {MOST}", 0),
    )


def _text(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip()) and "\0" not in value


def _certificates(value: Any) -> bool:
    try:
        return _text(value) and bool(ssl.create_default_context(cafile=value))
    except (OSError, ValueError):
        return False


def _words(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(v, str) and "\0" not in v for v in value)


def _environment(value: Any) -> bool:
    return isinstance(value, dict) and all(
        isinstance(v, str) and "\0" not in k + v and "=" not in k for k, v in value.items()
    )


def _whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 1


def _often(value: Any) -> bool:
    return value == 0 if type(value) is int and value < 1 else _whole(value) and value <= MOST


def _ids(value: Any) -> bool:
    return isinstance(value, list) and all(type(v) is int and v >= 0 for v in value)


def _seconds(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value) and value > 0
