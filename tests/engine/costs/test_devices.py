"""Devices are what their makers say, by name."""

import tomllib

import pytest

from draftgate.engine.costs.devices import TABLE, devices, find
from draftgate.engine.errors import EngineError


def test_every_device_has_all_its_figures_and_a_source_beside_each():
    lines = TABLE.read_text(encoding="utf-8").splitlines()

    assert {"h100-sxm5", "a100-sxm4", "h200-sxm", "rtx-5090"} == set(devices())
    assert all("#" in line for line in lines if line.startswith(("flops", "bandwidth")))
    assert all(
        device.flops > 1e13 and device.bandwidth > 1e12 and device.memory > 1e10 for device in devices().values()
    )


def test_a_device_is_the_row_of_its_name():
    rows = tomllib.loads(TABLE.read_text(encoding="utf-8"))

    assert rows["h200-sxm"]["bandwidth"] == find("h200-sxm").bandwidth


def test_a_device_that_is_not_known_is_refused_with_those_that_are():
    with pytest.raises(EngineError, match=r"no device 'tpu' is known; name one of h100-sxm5, a100-sxm4"):
        find("tpu")
