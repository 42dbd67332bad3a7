"""What happens to an ingest: it is killed, or the system refuses, at a named step or at any instant."""

from __future__ import annotations

import errno
import os
import shutil
import signal
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from deltalake import DeltaTable

from pipelines.ingest import derive
from pipelines.ingest.ingested import IngestedFiles
from pipelines.ingest.made_from import MadeFrom
from pipelines.lake.delta.parts import PartsWriter
from pipelines.spark import transfer
from pipelines.spark.jobs.fact_spool import FactSpool
from tests.lake_faults.victims import EVERYBODY, end

STEPS: dict[str, tuple[Any, str]] = {
    "a table is created": (DeltaTable, "create"),
    "parts are written": (PartsWriter, "close"),
    "tasks have ended": (transfer, "_written"),
    "a version is committed": (DeltaTable, "create_write_transaction"),
    "what was read is noted": (IngestedFiles, "save"),
    "what was made is noted": (MadeFrom, "save"),
    "facts are spooled": (FactSpool, "close"),
    "the spool is removed": (shutil, "rmtree"),
    "the catalogue is published": (os, "replace"),
}
"""A step by its name: the object and attribute of the function that takes it."""
OF_DERIVED = ("tasks have ended", "a version is committed", "what was made is noted", "the catalogue is published")
"""The steps that the driver takes for tables that are made side by side, and right after them."""
REFUSALS = {"disk full": errno.ENOSPC, "I/O error": errno.EIO}


@dataclass(frozen=True, slots=True)
class Strike:
    """`what` befalls the process at the `number`th time (from 1) that it comes to a step, before or after it.

    `begun`: a file that is made when derived tables begin to be made side by side; times count from there.
    """

    what: str
    step: str
    after: bool
    number: int
    begun: Path | None = None

    def __str__(self) -> str:
        of_derived = " of the derived tables" if self.begun else ""
        return f"{self.what} {'after' if self.after else 'before'} {self.step}, time {self.number}{of_derived}"

    def arm(self) -> None:
        """Let it happen in this process."""
        owner, name = STEPS[self.step]
        inner: Callable[..., Any] = getattr(owner, name)
        plain, passed, begun = owner.__dict__[name], [0], self.begun
        if begun is not None:
            note_beginning(begun)

        def struck(*given: Any, **named: Any) -> Any:
            passed[0] += begun is None or begun.exists()
            now = passed[0] == self.number
            if now and not self.after:
                self._strike()
            result = inner(*given, **named)
            if now and self.after:
                self._strike()
            return result

        if isinstance(plain, classmethod):
            setattr(owner, name, staticmethod(struck))
        else:
            setattr(owner, name, struck if not isinstance(owner, type) else _method(plain, struck))

    def _strike(self) -> None:
        if self.what == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        if self.what in EVERYBODY:
            end(self.what, os.getsid(0))
            return
        raise OSError(REFUSALS[self.what], self.what)


def _method(plain: Callable[..., Any], struck: Callable[..., Any]) -> Callable[..., Any]:
    """A function that binds as the method in whose place it is put."""

    def bound(self: Any, *given: Any, **named: Any) -> Any:
        return struck(self, *given, **named)

    bound.__name__ = plain.__name__
    return bound


def note_beginning(begun: Path) -> None:
    """Make a file when this process begins to make derived tables side by side."""
    inner = derive.side_by_side

    def noted(*given: Any) -> Any:
        begun.touch()
        return inner(*given)

    derive.side_by_side = noted


@dataclass(frozen=True, slots=True)
class StruckInWorker:
    """The write of a table's parts by a worker, before or after which `what` befalls somebody of its session."""

    inner: Callable[[Any], Any]
    what: str
    after: bool

    def __call__(self, work: Any) -> Any:
        written = self.inner(work) if self.after else None
        end(self.what, os.getsid(0), this_worker=os.getpid())
        return written or self.inner(work)


def strike_in_workers(what: str, table: str, *, after: bool) -> None:
    """Let it happen in whichever worker writes rows of that table for this process."""
    inner = transfer._WriteParts

    def write_parts(name: str, *given: Any) -> Any:
        plain = inner(name, *given)
        return StruckInWorker(plain, what, after) if name == table else plain

    transfer._WriteParts = write_parts  # type: ignore[assignment,misc]
