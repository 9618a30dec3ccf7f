"""For pytest: a fixture `assert_lossless` and a marker `lossless` that holds its options. Imports nothing heavy.

```python
@pytest.mark.lossless(effect=0.02)
def test_my_sampler(assert_lossless):
    assert_lossless(my_sampler)
```
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

MARKER = "lossless(**options): options for the fixture assert_lossless: rule, effect, budget, seed, reference, limit"


def pytest_configure(config: pytest.Config) -> None:
    """The marker is known, so that strict markers take it."""
    config.addinivalue_line("markers", MARKER)


@pytest.fixture
def assert_lossless(request: pytest.FixtureRequest) -> Callable[..., dict[str, Any]]:
    """`draftgate.testing.assert_lossless`, with the marker's options unless the call gives others."""
    from draftgate import testing

    marker = request.node.get_closest_marker("lossless")
    options = dict(marker.kwargs) if marker else {}
    return lambda sampler, **more: testing.assert_lossless(sampler, **{**options, **more})
