"""How far a run is: a bar on standard error when that is a terminal, nothing otherwise."""

from __future__ import annotations

import sys
from typing import Protocol

from .text import clean


class Progress(Protocol):
    """Told of each step as it begins."""

    def total(self, n: int) -> None:
        """`n` steps are ahead."""

    def step(self, name: str) -> None:
        """The step `name` begins; the one before it is done."""

    def close(self) -> None:
        """Nothing more will be shown."""


class Silent:
    """Shows nothing."""

    def total(self, n: int) -> None:
        """Not shown."""
        del n

    def step(self, name: str) -> None:
        """Not shown."""
        del name

    def close(self) -> None:
        """Nothing to close."""


class Bar:
    """A bar that leaves no trace when it is closed. Drawn anew at each step, not by a thread.

    A thread of its own would take turns from what is being timed, and would be lost to workers that are forked.
    """

    def __init__(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
        from rich.progress import Progress as Rich

        columns = (
            MofNCompleteColumn(),
            BarColumn(),
            TimeElapsedColumn(),
            TextColumn("{task.description}", markup=False),
        )
        self._rich = Rich(*columns, console=Console(stderr=True), transient=True, auto_refresh=False)
        self._task = self._rich.add_task("", total=None)
        self._begun = False
        self._rich.start()

    def total(self, n: int) -> None:
        """The bar's length; one that was closed begins anew."""
        self._rich.start()
        self._rich.update(self._task, total=n, completed=0)

    def step(self, name: str) -> None:
        """The bar grows by the step that is done and names the one that begins."""
        self._rich.update(self._task, advance=int(self._begun), description=clean(name), refresh=True)
        self._begun = True

    def close(self) -> None:
        """The bar is gone."""
        self._rich.stop()


def progress() -> Progress:
    """A bar if standard error is a terminal, else silence."""
    return Bar() if sys.stderr.isatty() else Silent()
