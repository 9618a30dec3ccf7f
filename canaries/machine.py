"""What a record says of the machine that it was made on."""

from __future__ import annotations

import os
import platform
from pathlib import Path
from typing import Any

import torch


def described() -> dict[str, Any]:
    """Processor, cores, threads that torch uses, and Python."""
    return {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "threads": torch.get_num_threads(),
        "python": platform.python_version(),
    }


def _processor() -> str:
    """The processor's name, where the system tells it; its architecture otherwise."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()
