"""What happens to an ingest: it is killed, or the system refuses, at a named step or at any instant."""

from __future__ import annotations

import errno
import os
import shutil
import signal
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from deltalake import DeltaTable

from pipelines.ingest.ingested import IngestedFiles
from pipelines.lake.delta.parts import PartsWriter
from pipelines.spark import transfer
from pipelines.spark.jobs.fact_spool import FactSpool

STEPS: dict[str, tuple[Any, str]] = {
    "a table is created": (DeltaTable, "create"),
    "parts are written": (PartsWriter, "close"),
    "tasks have ended": (transfer, "_written"),
    "a version is committed": (DeltaTable, "create_write_transaction"),
    "what was read is noted": (IngestedFiles, "save"),
    "facts are spooled": (FactSpool, "close"),
    "the spool is removed": (shutil, "rmtree"),
    "the catalogue is published": (os, "replace"),
}
"""A step by its name: the object and attribute of the function that takes it."""
REFUSALS = {"disk full": errno.ENOSPC, "I/O error": errno.EIO}


@dataclass(frozen=True, slots=True)
class Strike:
    """`what` befalls the process at the `number`th time (from 1) that it comes to a step, before or after it."""

    what: str
    step: str
    after: bool
    number: int

    def __str__(self) -> str:
        return f"{self.what} {'after' if self.after else 'before'} {self.step}, time {self.number}"

    def arm(self) -> None:
        """Let it happen in this process."""
        owner, name = STEPS[self.step]
        inner: Callable[..., Any] = getattr(owner, name)
        plain, passed = owner.__dict__[name], [0]

        def struck(*given: Any, **named: Any) -> Any:
            passed[0] += 1
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
        raise OSError(REFUSALS[self.what], self.what)


def _method(plain: Callable[..., Any], struck: Callable[..., Any]) -> Callable[..., Any]:
    """A function that binds as the method in whose place it is put."""

    def bound(self: Any, *given: Any, **named: Any) -> Any:
        return struck(self, *given, **named)

    bound.__name__ = plain.__name__
    return bound
