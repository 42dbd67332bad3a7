"""What ends work on the lake, each as one sentence; light to import, without Delta or Spark."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pipelines.objects.place import Place


class LakeError(Exception):
    """The lake could not be written or read as asked; what it holds is as it was."""


class LakeBusy(LakeError):
    """Another process writes to the lake; `held_for`: how long it has had the lock, None where it does not say."""

    def __init__(self, sentence: str, held_for: timedelta | None = None) -> None:
        super().__init__(sentence)
        self.held_for = held_for


class LakeMismatch(LakeError):
    """A table in the lake has another type for a column than this version of rocketlens."""


class OtherPartitions(LakeMismatch):
    """An earlier rocketlens cut a table into other partitions."""

    WHAT = "an earlier rocketlens made it with other partitions"

    def __init__(self, root: Place) -> None:
        super().__init__(
            f"{root}: {self.WHAT}: move this folder to another place and keep it, and the next ingest makes the table "
            "from what the stores hold now"
        )


class PartsMissing(LakeError):
    """Parts of a table, or parts that tasks say they wrote, are not there."""


class LogUnreadable(LakeError):
    """The log of a table, from which its parts are known, cannot be read."""


class LakeMoved(LakeError):
    """Another process wrote to a table between reading it and committing to it."""


class CatalogueUnwritten(LakeError):
    """The catalogue of the lake could not be written; the one from before, if any, is as it was."""


class WorkFailed(LakeError):
    """Work on Spark failed: what it was, and why."""


class NoSpark(WorkFailed):
    """Spark does not start, or has ended: whatever is asked of it next fails, too."""


def first_line(message: str) -> str:
    """A message without the trace that Delta's library puts after it, and without a document of a server, which may
    repeat what was signed."""
    first = next((line.strip() for line in message.splitlines() if line.strip()), "no cause is given")
    return first.partition("<?xml")[0].rstrip(" :")


def raised_in(message: str) -> str:
    """What a Spark worker raised, from a text with its trace; else the first line of the text."""
    lines = [line for line in message.splitlines() if line.strip()]
    traces = [number for number, line in enumerate(lines) if line.startswith("Traceback (most recent call last)")]
    if traces:
        lines = [line for line in lines[traces[-1] + 1 :] if not line.startswith(" ")] or lines
    return lines[0].strip() if lines else "no cause is given"
