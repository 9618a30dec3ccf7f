"""A record says what it was made on."""

import os
import platform

import torch

from draftgate.canaries import machine


def test_processor_cores_threads_and_python_are_named(monkeypatch):
    found = machine.described()

    assert (os.cpu_count(), torch.get_num_threads(), platform.python_version()) == tuple(
        found[key] for key in ("cores", "threads", "python")
    )
    assert found["processor"]


def test_where_the_system_names_no_processor_its_architecture_stands(monkeypatch):
    monkeypatch.setattr(machine.Path, "read_text", lambda *_, **__: "flags: fpu\n")

    assert machine.described()["processor"] == (platform.processor() or platform.machine())
