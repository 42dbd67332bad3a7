"""What a kind of finding says, and sentences that several kinds share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from recovery.rebuild.in_place import WHICH_IN_PLACE

Severity = Literal["info", "warning", "error", "critical"]
Side = Literal["commitlog", "consumequeue", "index", "checkpoint", "config", "none", "unknown"]


@dataclass(frozen=True, slots=True)
class Kind:
    """`right` is the side to believe; texts are sentences for the reader of a finding."""

    severity: Severity
    right: Side
    why: str
    broker_would: str
    repair: str


REBUILD = (
    "Stop the broker, copy consumequeue/ and index/, then put rebuilt ones in their place (`rocketlens rebuild`): "
    f"{WHICH_IN_PLACE}."
)
REDISPATCH = (
    "Stop the broker and copy the store. Where `rocketlens rebuild` ends with 0 and no finding is about commitlog/, "
    "move consumequeue/ away, create `abort`, and set commitLogRecoverMaxNum (since 5.4.0) to no less than the number "
    "of log files: the next start makes the queues from the whole log. Else leave both: that start ends the log at the "
    "first damage or wrong CRC, and begins the queues of expired messages at 0."
)
BEFORE_A_CRASH_START = (
    "None needed without an `abort` file: only a start after an unclean exit goes by it. With one, do what `rocketlens "
    "forecast` advises before the start; do not remove the checkpoint otherwise, for a start that reads the log from "
    "its oldest file ends it at the first damage there."
)
AWAY = "Move the file out of the store, and keep it."
REBUILD_INDEX = (
    "Stop the broker, run `rocketlens rebuild` on what it left, move index/ out of the store and keep it, then put the "
    "rebuilt index/ in its place; the log and the queues are not touched."
)
RESTORE_LOG = "Restore these bytes from a replica or a backup before any start; copy the store first."
LOG_IS_SOURCE = (
    "The queues are made from the log; a record that stands where it says with a fitting CRC is what was sent."
)
CUTS_QUEUE = "Recovery reads the last three files of a queue and cuts it at the first unit that is not valid."
KEEPS = "A start does not look at it and keeps it."
ENDS_LOG = (
    "If recovery parses this file, the log ends here and everything behind is cut off, intact records too; "
    "4.x to 5.3.1 parse the last three files, later versions from the queues' maximum on."
)
