"""Where a slice of a CommitLog file begins and ends: slices that meet have each record, and each region, once."""

from __future__ import annotations

from parsers.commitlog.compiled.resync import STALE
from parsers.commitlog.files.logfile import LogFile, open_log
from parsers.commitlog.files.salvage import LastMessages, across_break
from parsers.store.store_file import StoreFile

FIRST_STEP_BACK = 64 << 10


def slice_start(log: LogFile, at: int) -> tuple[int, LastMessages]:
    """Where a slice that begins at file position `at` really begins: at a message, an end-of-file record, or the end.

    Where the log goes on in a next file, the first record that proves itself is it. In the log's last file only the
    chain from the file's start tells messages from what an earlier life of the file left behind.
    """
    if at <= 0:
        return 0, LastMessages()
    if at < log.size and not log.is_followed:
        return chained_start(log, at)
    return first_proven(log, at), LastMessages()


def first_proven(log: LogFile, at: int) -> int:
    """The first message or end-of-file record at file position `at` or later that proves itself; else the file's size.

    In the log's last file it can be one that an earlier life of the file left behind: who begins there has to see that
    reading from before comes to the same place.
    """
    place, kind = log.find(min(at, log.size))
    while kind == STALE:
        place, kind = log.find(place + 1)
    return place


def slice_end(log: LogFile, at: int) -> int:
    """Where to stop for a slice that ends at file position `at`: the start of the next slice or, where only the chain
    from the file's start tells that, `at` itself, since reading on comes to the same place."""
    return slice_start(log, at)[0] if log.is_followed else min(at, log.size)


def start_before(file: StoreFile, at: int) -> int:
    """A `start` from which `read_segment` meets every message that begins at file position `at` or after it.

    A slice from `at` itself leaves out a message there that does not prove itself, one with a wrong CRC. So it is the
    nearest place before whose slice begins at a record no later than `at`; 0 where there is none.
    """
    log = open_log(file)
    at = max(0, at - log.header)
    if not log.is_followed:
        return min(at, log.size)  # the chain from the file's start asks no proof
    back = 0
    while back < at:
        if slice_start(log, at - back)[0] <= at:
            return at - back
        back = max(FIRST_STEP_BACK, back * 8)
    return 0


def chained_start(log: LogFile, at: int) -> tuple[int, LastMessages]:
    """Where reading from the file's start on comes to at or after file position `at`, and the messages before it."""
    place, messages = 0, LastMessages()
    while place < at:
        place, _, last, before = log.chain(place, at, True)
        messages = messages.then(last, before)
        if place < at:
            place = across_break(log, place, messages)[1]
    return place, messages
