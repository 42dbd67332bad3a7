"""Edits to a store that nobody can tell: what is left is a store that a broker could have left."""

from __future__ import annotations

from pathlib import Path, PurePath

from tests.support.log_folders import is_of_log
from tests.support.store_changes import Change, Files
from tests.support.traceless_ext import left_no_trace_in_ext
from tests.support.traceless_log import left_no_trace_in_checkpoint, left_no_trace_in_log
from tests.support.traceless_queues import left_no_trace_in_index, left_no_trace_in_queue, never_reached_the_disk

NEVER_READ = ("OPTIONS-", "LOG", "LOCK", "IDENTITY")


def left_no_trace(change: Change, base: Path, root: Path, left: Files) -> bool:
    """The store with this edit is one that a broker could have left; of an edit, the part that nothing reports.

    `left`: the files of `root`.

    Here: the whole folder config/ is gone; log and queues are gone, and nothing else is left to ask; the log is gone,
    and with it a queue or an index file; a file changed that RocksDB writes and never reads. What else there is stands
    with the folder that it is in.
    """
    has_log = any(map(is_of_log, left))
    match change.file.partition("/")[0]:
        case "consumequeue" | "config" if _is_never_read(change):
            return True
        case "config":
            return change.what == "gone" and not any(name.startswith("config/") for name in left)
        case _ if not has_log and not any(name.startswith("consumequeue/") for name in left):
            return change.what in ("gone", "new")
        case "checkpoint":
            return left_no_trace_in_checkpoint(change, base, root, left)
        case "consumequeue_ext":
            return left_no_trace_in_ext(change, base, left)
        case "consumequeue" | "index" if not has_log:
            return change.what == "gone" or never_reached_the_disk(change, base, left)
        case "consumequeue":
            return left_no_trace_in_queue(change, base, root, left)
        case "index":
            return left_no_trace_in_index(change, base, root, left)
    return is_of_log(change.file) and left_no_trace_in_log(change, base, root, left)


def _is_never_read(change: Change) -> bool:
    """What RocksDB writes about itself beside a database, and reads for nobody who opens it with options of his own."""
    return PurePath(change.file).name.startswith(NEVER_READ)
