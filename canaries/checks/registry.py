"""All checks in one table. Adding one is a file and a line here."""

from __future__ import annotations

from collections.abc import Mapping

from ...stats.ledger import Ledger
from ...suites.suite import Suite
from ..contracts import Finding
from ..observations.serving.scenarios import SCENARIOS
from .acceptance import Acceptance
from .algebra import Algebra
from .answered import Answered
from .base import Case, Check, entry, not_observed
from .chat import Chat
from .code import CodeRuns
from .configuration import Configuration
from .conversation import Conversation
from .exact_tokens import ExactTokens
from .exercise import Exercised
from .identifiers import Identifiers
from .law import LawOfARound
from .logprobs import Logprobs
from .loops import Degenerate
from .mask_probe import MaskProbe
from .mixed import Parameters, ParametersLaw
from .noise import Noise
from .pit import PlaceInTheLaw
from .private_words import PrivateWords
from .samples import SampledAnswers
from .scenarios import Scenario
from .speed import Speed
from .state_parity import StateParity
from .support import Support
from .tools import flaw_of_calls
from .validity import Validity, by_schema, exactly
from .variants import Variants
from .whole import hole

_ALL: tuple[Check, ...] = (
    ExactTokens(),
    Validity("exact_text", "exact", exactly),
    Identifiers(),
    Validity("json_valid", "json", by_schema),
    Validity("tools_valid", "tools", flaw_of_calls),
    CodeRuns(),
    Validity("multi_turn", "multi_turn", exactly),
    Conversation(),
    Degenerate(),
    Noise(),
    Variants("knobs"),
    Variants("synthetic"),
    Exercised(),
    Algebra(),
    Acceptance(),
    LawOfARound(),
    PlaceInTheLaw(),
    Support(),
    SampledAnswers(),
    Chat(),
    Logprobs(),
    Configuration(),
    Answered(),
    *(Scenario(name) for name in SCENARIOS),
    Parameters(),
    ParametersLaw(),
    PrivateWords(),
    MaskProbe(),
    StateParity(),
    Speed(),
)
CHECKS: Mapping[str, Check] = {check.name: check for check in _ALL}


def judge(check: Check, case: Case) -> Finding:
    """What the check says; INCONCLUSIVE, and why, where an observation that it reads is no evidence."""
    why = next((words for name in check.observes if (words := hole(case, name))), None)
    return not_observed(check.name, case, why) if why else check.judge(case)


def ledger(suite: Suite, kind: str) -> Ledger:
    """The run's false-alarm budget, split evenly over every test of every check that a cell requires."""
    names = [
        entry(cell, check, test)
        for cell in suite.cells
        for check in suite.required[kind].checks_for(cell)
        for test in CHECKS[check].tests(suite, cell)
    ]
    return Ledger.split(total=suite.design.false_alarm, weights=dict.fromkeys(names, 1.0))
