"""One file of a store: what it is, by the folders it lies in and its name."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass, replace
from pathlib import Path

from parsers.damage.errors import UnreadableFile
from parsers.store.places import DATA_FOLDER, ELSEWHERE, FileKind, Place, place_of, printable_name

QueueKey = tuple[str, int]
"""Topic and queue id."""
FOLDERS_DEEP = 5  # compaction/compactionLog/<topic>/<queue id>/<number>


@dataclass(frozen=True, slots=True)
class StoreFile:
    """One file of a store, as seen when the folder was listed.

    `base_offset` is the number in the name: the byte offset of the file's first byte in its log or queue (commitlog,
    consumequeue, timerlog), the creation time for index files, None for others. `why` says why it is not understood.
    `folder` names the folder of a log's file where a setting says where the log lies. `next_path` is the next file of
    the whole log, in whatever folder it lies; None for its last file, and for a file that was listed alone.
    `is_extended`: zeros follow its bytes up to `size`, as if it had been made that long.
    """

    path: Path
    kind: FileKind
    size: int
    mtime_ns: int
    base_offset: int | None = None
    topic: str | None = None
    queue_id: int | None = None
    why: str | None = None
    folder: str | None = None
    next_path: Path | None = None
    is_extended: bool = False

    @property
    def name(self) -> str:
        """The file's name as text, whatever bytes it is made of."""
        return printable_name(self.path.name)

    @property
    def log_folder(self) -> str:
        """The folder of a log's file, as `name_below` names it."""
        if self.folder is not None:
            return self.folder
        node = self.path.parents[1].name if self.kind == "dledger" else ""
        return f"{node}/{DATA_FOLDER}" if node else "commitlog"


def classify(root: Path, path: Path) -> StoreFile:
    """What one file below `root` is, from its place and name. Raises OSError where it cannot be looked at."""
    seen = os.stat(path)
    place = place_of(path.parts[len(root.parts) :])
    if not stat.S_ISREG(seen.st_mode):
        place = Place("not_understood", why="not a regular file")
    return StoreFile(
        path,
        place.kind,
        seen.st_size,
        seen.st_mtime_ns,
        base_offset=place.base_offset,
        topic=place.topic,
        queue_id=place.queue_id,
        why=place.why,
    )


def placed(found: StoreFile, place: Place) -> StoreFile:
    """The file as one that is what its place says."""
    return replace(
        found, kind=place.kind, base_offset=place.base_offset, topic=place.topic, queue_id=place.queue_id, why=place.why
    )


def locate(path: Path) -> StoreFile:
    """One file as the store it seems to lie in would list it, from the names of the folders above it.

    Raises UnreadableFile when it is not there or cannot be looked at.
    """
    absolute = path.absolute()
    try:
        guesses = [classify(root, absolute) for root in absolute.parents[:FOLDERS_DEEP]]
    except OSError as refused:
        raise UnreadableFile(f"cannot be read: {refused.strerror}", path=path) from refused
    known = [found for found in guesses if found.kind != "not_understood"]
    known.sort(key=lambda found: not found.kind.startswith("dledger"))  # its folder has an index/ and a checkpoint, too
    named = [found for found in guesses if found.why != ELSEWHERE]
    if not guesses:
        raise UnreadableFile("cannot be read: a folder", path=path)
    return replace((known or named or guesses)[0], path=path)
