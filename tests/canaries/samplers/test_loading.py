import sys

import pytest

from draftgate.canaries.errors import UsageError
from draftgate.canaries.samplers.loading import load


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A folder of a user's, with a file of theirs."""
    (tmp_path / "mine_at_home.py").write_text(
        "def right():\n    return 1\nclass Kit:\n    right = staticmethod(right)\nN = 3\n"
    )
    (tmp_path / "broken_at_home.py").write_text("raise SystemExit('no\\nway')\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    yield tmp_path
    for name in ("mine_at_home", "broken_at_home"):
        sys.modules.pop(name, None)


@pytest.mark.parametrize("named", ["mine_at_home.py:right", "mine_at_home:right", "mine_at_home.py:Kit.right"])
def test_a_callable_is_found_from_the_current_folder(here, named):
    assert 1 == load(named)()


@pytest.mark.parametrize(
    ("named", "message"),
    [
        ("mine_at_home.py", "names no callable"),
        ("mine_at_home.py:", "names no callable"),
        ("nowhere.py:right", "there is no file nowhere.py"),
        ("no_such_module:right", "no_such_module cannot be imported: ModuleNotFoundError"),
        ("mine_at_home.py:wrong", "has no 'wrong'; its callables: Kit, right"),
        ("mine_at_home.py:N", "is a int, not a callable"),
        ("broken_at_home.py:right", "cannot be imported: SystemExit: no way"),
    ],
)
def test_what_cannot_be_loaded_is_said_in_one_line(here, named, message):
    with pytest.raises(UsageError, match=message):
        load(named)
