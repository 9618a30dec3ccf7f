"""All that is observed under load, by name. Adding one is a file and a line here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ....suites.served import Serving
from ..context import Context
from .masks import mask_probe
from .mixed import parameters
from .parity import state_parity
from .scenarios import SCENARIOS, SERVING

__all__ = ["OBSERVED", "SERVING"]

OBSERVED: Mapping[str, Callable[[Context, Serving], dict[str, Any]]] = {
    **SCENARIOS,
    "parameters": parameters,
    "mask_probe": mask_probe,
    "state_parity": state_parity,
}
