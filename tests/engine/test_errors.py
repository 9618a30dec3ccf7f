import pytest

from draftgate.engine import errors


def kinds():
    return [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, errors.EngineError)]


@pytest.mark.parametrize("kind", kinds(), ids=lambda kind: kind.__name__)
def test_every_error_is_in_the_tree_of_the_docstring_with_its_exit_status(kind):
    line = next(line for line in errors.__doc__.splitlines() if kind.__name__ in line)
    stated = 3 if "exit status 3" in line else 2

    assert stated == kind.exit_status
    assert issubclass(kind, ValueError)
