import pytest

from draftgate.suites import errors


@pytest.mark.parametrize("name", ["SuiteUnknown", "SuiteEdited", "SuiteMalformed"])
def test_every_suite_error_can_be_caught_as_one_and_as_a_value_error(name):
    error = getattr(errors, name)

    assert issubclass(error, errors.SuiteError)
    assert issubclass(error, ValueError)


def test_the_tree_in_the_docstring_names_every_error():
    defined = {name for name in vars(errors) if name.startswith("Suite")}

    assert all(name in errors.__doc__ for name in defined)
