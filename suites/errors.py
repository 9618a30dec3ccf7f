"""Why a suite cannot be used.

    SuiteError (ValueError)
    +-- SuiteUnknown      no suite has this name
    +-- SuiteEdited       a file differs from what was frozen
    +-- SuiteMalformed    never frozen, or frozen with content that is not a suite

Every message is one line: what, which value, what to do.
"""

from __future__ import annotations


class SuiteError(ValueError):
    """The suite cannot be used as it is."""


class SuiteUnknown(SuiteError):
    """No suite has this name."""


class SuiteEdited(SuiteError):
    """A file was changed, added or removed after the suite was frozen."""


class SuiteMalformed(SuiteError):
    """The files do not say what a suite must say."""
