"""Each kind of server stands in the table under its own name, and has a template."""

from __future__ import annotations

from draftgate.canaries.targets.servers.registry import APIS
from draftgate.canaries.targets.servers.templates import NAMES
from servers_loopback import KINDS


def test_each_kind_is_known_by_its_name_has_a_template_and_is_tested_on_a_socket():
    assert {name: api.name for name, api in APIS.items()} == {name: name for name in NAMES}
    assert set(KINDS) == set(APIS)
