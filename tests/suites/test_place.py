"""A failure is told in one line that begins with its place."""

from pathlib import Path

import pytest

from draftgate.suites.errors import SuiteMalformed
from draftgate.suites.place import Place


@pytest.mark.parametrize(("line", "told"), [(0, "a/b.toml: it is wrong"), (3, "a/b.toml:3: it is wrong")])
def test_a_failure_names_its_file_and_its_line_and_is_one_line(line, told):
    with pytest.raises(SuiteMalformed) as caught:
        Place(Path("a/b.toml"), line).fail("it is\n  wrong")

    assert told == str(caught.value)
