"""Segments of the posix provider: files `<hash>_<cluster>/<broker>/<topic>/<queue>/<kind>/<hash><20 digits>`.

A COMMIT_LOG segment has the messages of one queue, byte for byte as the log has them but for PHYSICALOFFSET: that is
the message's place in this queue's own log, which starts at 0. A CONSUME_QUEUE segment has units of 20 bytes whose
physical_offset is that place; the unit at byte p is message number p / 20 of the queue.
Source: PosixFileSegment, CommitLogInputStream#read, MessageStoreUtil#offset2FileName, FlatMessageFile @5.3.0 - 5.3.3.
"""

from __future__ import annotations

from hashlib import md5
from os.path import isfile
from pathlib import Path

from parsers.tiered.metadata import Segment

HASH_DIGITS = 8


def segment_name(base_offset: int) -> str:
    """The file name of a segment: eight digits of an MD5, then the base offset."""
    number = str(base_offset)
    return md5(number.encode(), usedforsecurity=False).hexdigest()[:HASH_DIGITS] + f"{base_offset:020d}"


def segment_files(folder: Path, segment: Segment) -> list[Path]:
    """The files of a segment below the provider's folder: one, or none; several where several clusters share it.

    Of a path of the metadata that is no broker, topic and queue there is none. Raises OSError: the folder cannot be
    listed.
    """
    parts = segment.path.split("/")
    if segment.queue is None or any(part in ("", ".", "..") for part in parts):
        return []
    name = segment_name(segment.base_offset)
    found = (cluster.joinpath(*parts, segment.kind, name) for cluster in sorted(folder.iterdir()))
    return [path for path in found if isfile(path)]
