"""Both arms of a run, open for as long as they are observed: in this process, or behind a socket."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from ...suites.suite import Suite
from .. import documents
from ..contracts import Arm
from ..errors import OutputUnwritable, UsageError
from ..faults import registry as faults
from ..observations.pairs import BASELINE, CANDIDATE
from . import caches, reference, tape
from .kept import Kept
from .registry import TARGETS
from .servers.templates import SERVERS
from .spec import TargetSpec
from .strategies import Strategies

if TYPE_CHECKING:
    from .servers.config import ArmConfig

SMALL_MODEL = 20_000_000  # parameters below which one thread decodes as fast as two (1 M: 4.8 ms a step, not 5.4)
DTYPE = "float32"
THEIRS = "hf"  # the name under which transformers' own `generate` is a target
REPLAY = "replay"  # and the one of a baseline that was kept
DEFAULTS = {"baseline": "plain", "candidate": "draft:k=5"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What the command line says of the arms; None where it says nothing.

    `seed` is the run's: a kept baseline was asked with one.
    """

    baseline: str | None
    candidate: str | None
    config: Path | None
    model: Path | None
    dtype: str | None
    fault: str | None
    seed: int


@contextmanager
def opened(asked: Asked, suite: Suite, logs: Path) -> Iterator[dict[str, Any]]:
    """`baseline` and `candidate`; servers that are launched write in the folder `logs`.

    Raises UsageError, EngineError or ServerError before anything is recorded.
    """
    baseline = TargetSpec.parse(asked.baseline or DEFAULTS[BASELINE])
    kept = baseline.name == REPLAY
    arms = _beside_kept(baseline, asked, suite, logs) if kept else _arms(asked, suite, logs, (BASELINE, CANDIDATE))
    with arms as found:
        yield found


@contextmanager
def alone(asked: Asked, suite: Suite, logs: Path, role: str) -> Iterator[Any]:
    """One arm without the other. Raises as `opened`."""
    with _arms(asked, suite, logs, (role,)) as found:
        yield found[role]


@contextmanager
def _arms(asked: Asked, suite: Suite, logs: Path, roles: Sequence[str]) -> Iterator[dict[str, Any]]:
    """The arms in these roles at least."""
    named = {role: TargetSpec.parse(getattr(asked, role) or DEFAULTS[role]) for role in roles}
    if asked.config is None and not any(spec.name in SERVERS for spec in named.values()):
        yield in_process(asked)
        return
    from .servers import config

    if asked.config is None:
        _refuse(asked, ("model", "dtype", "fault"), "servers, which have their own")
        if other := next((spec.name for spec in named.values() if spec.name not in SERVERS), None):
            raise UsageError(f"{other!r} is no server and the other arm is one; name servers for both")
        configured, where = config.of_specs(named), "the command line"
    else:
        _refuse(asked, ("baseline", "candidate", "model", "dtype", "fault"), f"--config {asked.config}, which says it")
        configured, where = config.read(asked.config, roles), str(asked.config)
    with _served(configured, where, logs, suite) as arms:
        yield arms


@contextmanager
def _beside_kept(spec: TargetSpec, asked: Asked, suite: Suite, logs: Path) -> Iterator[dict[str, Any]]:
    """A baseline from a tape, and the candidate alone, which must be what that baseline was but for speculation."""
    spec.refuse_unknown(("file",))
    if not spec.options.get("file"):
        raise UsageError(f"--baseline {REPLAY} does not say what was kept; write {REPLAY}:file=FILE")
    kept: Any = Kept.on(tape.read(Path(spec.options["file"])))
    kept.tape.refuse_other(suite, asked.seed)
    _refuse_kind(kept.kind, asked)
    with alone(replace(asked, baseline=None), suite, logs, CANDIDATE) as candidate:
        refuse_unlike(kept, candidate, suite)
        yield {BASELINE: kept, CANDIDATE: candidate}


def _refuse_kind(kept: str, asked: Asked) -> None:
    """Raises UsageError, before it is opened, for a candidate of another kind than the kept baseline's."""
    row = TARGETS.get(TargetSpec.parse(asked.candidate or DEFAULTS[CANDIDATE]).name)
    kind = "server" if asked.config else row.kind if row else kept
    if kind != kept:
        raise UsageError(f"the kept baseline is of kind {kept}, the candidate of kind {kind}; name one of that kind")


def _refuse(asked: Asked, options: tuple[str, ...], beside: str) -> None:
    for option in options:
        if (value := getattr(asked, option)) is not None:
            raise UsageError(f"--{option} {value} cannot be given beside {beside}; leave it out")


def in_process(asked: Asked) -> dict[str, Any]:
    """Both arms on one set of weights, here."""
    named = {role: getattr(asked, role) or default for role, default in DEFAULTS.items()}
    baseline, candidate = (TargetSpec.parse(named[role]) for role in ("baseline", "candidate"))
    if THEIRS in (baseline.name, candidate.name):
        return _of_transformers(asked, candidate)
    if baseline.name != "plain":
        raise UsageError(f"the baseline is {baseline.name!r}; a candidate is held against plain decoding, use plain")
    plant = faults.find(asked.fault) if asked.fault else None
    planted = plant.apply(Strategies()) if plant else Strategies()
    known, baseline = reference.check(candidate), reference.check(baseline)
    if asked.candidate is None:
        known = caches.alike(known, baseline, said=False)
    baseline = caches.alike(baseline, known, said=asked.baseline is not None)
    most = torch.get_num_threads()
    torch.set_num_threads(1)  # a pool of threads, once begun, is there when workers are forked
    model = reference.load_target(asked.model or reference.EMBEDDED / "target", asked.dtype or DTYPE)
    torch.set_num_threads(threads(model.parameters, most))
    return {
        "baseline": reference.build(baseline, model, planted if plant and plant.shared else Strategies()),
        "candidate": reference.build(known, model, planted),
    }


def _of_transformers(asked: Asked, candidate: TargetSpec) -> dict[str, Any]:
    """Both arms by transformers' own `generate`; what is said of the device holds for both."""
    from . import transformers

    baseline = TargetSpec.parse(asked.baseline or THEIRS)
    if baseline != TargetSpec(THEIRS) or candidate.name != THEIRS:
        raise UsageError(
            f"baseline {asked.baseline or THEIRS!r} and candidate {asked.candidate or DEFAULTS['candidate']!r} are not "
            f"one engine, plain and not; use --baseline {THEIRS} --candidate {THEIRS}:method=METHOD"
        )
    if asked.fault:
        raise UsageError(f"--fault {asked.fault} is planted into the reference engine only; leave it out with {THEIRS}")
    known = transformers.check(candidate)
    most = torch.get_num_threads()
    torch.set_num_threads(1)  # as above
    device = known.options.get("device", "cpu")
    model = transformers.load_target(asked.model or reference.EMBEDDED / "target", asked.dtype or DTYPE, device)
    torch.set_num_threads(threads(model.parameters, most))
    return {"baseline": transformers.build(baseline, model), "candidate": transformers.build(known, model)}


def threads(parameters: int, most: int) -> int:
    """Threads for one step: small models lose by sharing a step among cores, and lose tenfold when cores are busy."""
    return 1 if parameters < SMALL_MODEL else most


@contextmanager
def _served(configured: Mapping[str, ArmConfig], where: str, logs: Path, suite: Suite) -> Iterator[dict[str, Any]]:
    most = max(cell.batch for cell in suite.cells)
    for role, one in configured.items():
        if one.connection.concurrency < most:
            told = f"concurrency is {one.connection.concurrency}, but {suite.name} asks {most} at once"
            raise UsageError(f"{where}: {role}: {told}; raise it, and what the server takes at once")
    if any(one.launch for one in configured.values()):
        try:
            logs.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise OutputUnwritable(f"{logs} cannot be written ({error.strerror}); choose another --out") from None
    with ExitStack() as stack:
        found = _targets(configured, logs, stack)
        if len(found) > 1:
            refuse_unlike(found[BASELINE], found[CANDIDATE], suite)
        yield found


def _targets(configured: Mapping[str, ArmConfig], logs: Path, stack: ExitStack) -> dict[str, Any]:
    """An arm for each, open until the stack is closed: up from now on, or in turn, whenever it is asked."""
    from ...engine.models.pretrained import read_words
    from .servers import arms
    from .servers.target import ServerTarget
    from .servers.turns import InTurn, Turns

    words = {role: read_words(one.tokenizer) if one.tokenizer else None for role, one in configured.items()}
    opens = {}
    for role, one in configured.items():
        spell = known.decode if (known := words[role]) else None
        opens[role] = partial(arms.opened, one, logs / f"{role}.log", spell)
    if not any(one.in_turn for one in configured.values()):
        up = {role: stack.enter_context(opening()) for role, opening in opens.items()}
        return {r: ServerTarget(role=r, server=up[r], config=one, words=words[r]) for r, one in configured.items()}
    turns = stack.enter_context(Turns(opens))
    return {
        r: InTurn(role=r, server=turns.standing(r, one), config=one, words=words[r], turns=turns)
        for r, one in configured.items()
    }


def refuse_unlike(baseline: Arm, candidate: Arm, suite: Suite) -> None:
    """Raises UsageError where the arms differ in more than speculation: their model, or what they make of a prompt.

    The candidate tells all of it first: where only one arm is up at a time, the baseline is when the timing begins.
    """
    first = {canary.kind: canary for canary in reversed(suite.canaries)}.values()
    other, one = (
        (documents.plain(arm.identity()["model"]), [arm.encode(c.messages) for c in first])
        for arm in (candidate, baseline)
    )
    different = documents.difference(one[0], other[0])
    if not different:
        changed = [c.id for c, mine, theirs in zip(first, one[1], other[1], strict=True) if mine != theirs]
        different = f"prompt ids of {changed[0]}" if changed else None
    if different:
        raise UsageError(f"the arms differ in more than speculation ({different}); make all else alike")
