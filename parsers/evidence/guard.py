"""Evidence is never touched: what a run reads, known by device and inode, and how anything is written beside it.

A path says little: a link, a mount or a second name leads into a store as well as its own path does. So folders and
files are told apart by what the system calls them, (device, inode), and whoever writes asks `EvidenceGuard` first.
"""

from __future__ import annotations

import errno
import os
import secrets
import shutil
import stat
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from parsers.evidence.supplied import confirm_supplied

Identity = tuple[int, int]
"""Device and inode."""

TO_LOOK_AT = getattr(os, "O_PATH", os.O_RDONLY)
"""A folder that may be written to need not be one that may be listed."""
STORE_FOLDERS = ("commitlog", "consumequeue")
DEEPEST_FILE = 4
"""`consumequeue/TOPIC/QUEUE/NUMBER`: folders from a store's root to its deepest files, and the file."""

READER_WAIT_S = 10
"""How long a pipe is waited for that nobody has opened for reading."""


class WouldTouchEvidence(Exception):
    """What was to be written lies in what is read, or would take its place: one sentence."""


class EvidenceGuard:
    """Knows every file and folder that a run reads, and refuses to write there.

    A folder stands for all that is below it, through links too. A file of a store stands for that store.
    """

    def __init__(self, *places: Path) -> None:
        self._places = list(places)
        self._walked = 0
        self._known: set[Identity] = set()

    def reads(self, place: Path) -> None:
        """From now on `place`, a file or a folder that need not be there, is evidence."""
        self._places.append(place)

    def refuse(self, target: Path, flag: str) -> None:
        """Raise WouldTouchEvidence when `target`, which need not be there, is evidence or lies in it.

        A target whose place cannot be looked at (a loop of links) is refused too.
        """
        try:
            seen = _on_the_way_to(os.path.realpath(target))
        except (OSError, ValueError) as refused:  # ValueError: a NUL in the name
            raise WouldTouchEvidence(f"{flag} {target}: cannot be looked at: {_reason(refused)}") from refused
        self.refuse_known(seen, target, flag)

    def refuse_known(self, seen: Iterable[Identity], target: Path, flag: str) -> None:
        """Raise WouldTouchEvidence when one of these, `target` and the folders it lies in, is evidence."""
        on_the_way = set(seen)
        named = {identity for place in self._places for identity in _identities_of(place)}
        if named & on_the_way or self._identities() & on_the_way:  # a named place is told before it is walked
            raise WouldTouchEvidence(
                f"{flag} {target}: inside what is read, which is never written to; name another place"
            )

    def refuse_around(self, folder: Path, flag: str) -> None:
        """Raise WouldTouchEvidence when evidence lies in `folder`, whose content is written."""
        for place in self._places:
            if set(_identities_of(folder)) & set(_on_the_way_to(os.path.realpath(place))):
                raise WouldTouchEvidence(f"{flag} {folder}: holds {place}, which is read; name another place")

    @contextmanager
    def new_folder(self, to: Path) -> Iterator[Path]:
        """A folder to write into, which becomes `to` at the end of the block; a failure leaves nothing behind.

        Raises:
            WouldTouchEvidence: `to` lies in what is read.
            ValueError: `to` exists and is not an empty folder.
            OSError: bytes that were read for it may not be those of a store.
        """
        self.refuse(to, "--to")
        if to.exists() and (not to.is_dir() or any(to.iterdir())):
            raise ValueError(f"{to}: is there already; a rebuild writes a new directory")
        place = Path(os.path.realpath(to))
        partial = place.with_name(f".{place.name[:50]}.{os.getpid()}.{secrets.token_hex(4)}.partial")
        partial.mkdir(parents=True)
        try:
            self.refuse(partial, "--to")  # its parents may be others by now
            yield partial
            confirm_supplied()
            os.replace(partial, place)
        except BaseException:
            shutil.rmtree(partial, ignore_errors=True)
            raise

    def _identities(self) -> set[Identity]:
        """All evidence; what was added since the last question is walked now."""
        for place in self._places[self._walked :]:
            for root in (place, *stores_around(place)):
                _walk(root, self._known)
        self._walked = len(self._places)
        return self._known


class NewFile:
    """A file beside `target` that takes its name when all is written; a device or pipe is written to as it is.

    Everything happens in the folder that was looked at, whatever its path leads to by then.

    Raises:
        WouldTouchEvidence: the guard says so, here or in `commit`.
        OSError, ValueError: the system refuses to write there.
    """

    def __init__(self, target: Path, guard: EvidenceGuard, flag: str) -> None:
        self._target, self._guard, self._flag = target, guard, flag
        place = Path(os.path.realpath(target))
        self._name, self._part = place.name, ""
        self._folder = os.open(place.parent, TO_LOOK_AT | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            self.refuse()
            self.file = self._opened()
        except BaseException:
            os.close(self._folder)
            raise

    def refuse(self) -> None:
        """Raise WouldTouchEvidence when the target is evidence by now, or the folder it lies in."""
        seen = list(_above(self._folder))
        there = self._there()
        self._guard.refuse_known(seen if there is None else [*seen, _identity(there)], self._target, self._flag)

    def commit(self) -> None:
        """Close the file and give it its name."""
        self.file.close()
        try:
            self.refuse()
            if self._part:
                os.replace(self._part, self._name, src_dir_fd=self._folder, dst_dir_fd=self._folder)
                self._part = ""
        finally:
            self.discard()

    def discard(self) -> None:
        """Leave nothing behind."""
        self.file.close()
        if self._folder < 0:
            return
        if self._part:
            os.unlink(self._part, dir_fd=self._folder)
        os.close(self._folder)
        self._folder = -1

    def _device_or_pipe(self) -> int:
        """Opened for writing. Raises TimeoutError: a pipe that nobody has opened for reading within READER_WAIT_S."""
        until = time.monotonic() + READER_WAIT_S
        while True:
            try:
                opened = os.open(self._name, os.O_WRONLY | os.O_CLOEXEC | os.O_NONBLOCK, dir_fd=self._folder)
            except OSError as refused:
                if refused.errno != errno.ENXIO:
                    raise
                if time.monotonic() > until:
                    raise TimeoutError(errno.ENXIO, f"nobody has read from it for {READER_WAIT_S} s") from refused
                time.sleep(0.05)
            else:
                os.set_blocking(opened, True)
                return opened

    def _there(self) -> os.stat_result | None:
        try:
            return os.stat(self._name, dir_fd=self._folder)
        except FileNotFoundError:
            return None

    def _opened(self) -> BinaryIO:
        there = self._there()
        if there is not None and stat.S_ISBLK(there.st_mode):
            raise ValueError("a whole disk is no file")
        if there is not None and not stat.S_ISREG(there.st_mode):
            return open(self._device_or_pipe(), "wb")
        self._part = f".{self._name[:50]}.{os.getpid()}.{secrets.token_hex(4)}.part"
        new = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        return open(os.open(self._part, new, 0o666, dir_fd=self._folder), "wb")


def scratch_folder(purpose: str, *read: Path) -> Path:
    """A new folder of our own in the system's place for temporary files, for a run that reads these places.

    Raises:
        WouldTouchEvidence: that place lies in one of them, or in the store around one of them.
        OSError: it cannot be made.
    """
    place = tempfile.gettempdir()
    above = set(_on_the_way_to(os.path.realpath(place)))
    for evidence in {root for given in read for root in (given, *stores_around(given))}:
        if above & set(_identities_of(evidence)):
            raise WouldTouchEvidence(
                f"TMPDIR {place}: inside {evidence}, which is read and never written to; set another"
            )
    return Path(tempfile.mkdtemp(prefix=f"rocketlens-{purpose}-"))


def stores_around(place: Path) -> list[Path]:
    """The store roots that a file or folder of a store lies in, by its path or by where its path leads."""
    named, real = Path(os.path.abspath(place)), Path(os.path.realpath(place))
    above = (*named.parents[:DEEPEST_FILE], *real.parents[:DEEPEST_FILE])
    return [folder for folder in above if any((folder / name).is_dir() for name in STORE_FOLDERS)]


def _walk(place: Path, known: set[Identity]) -> None:
    """Add `place` and all below it; folders that are known already are not entered again."""
    waiting = [os.fspath(place)]
    while waiting:
        here = waiting.pop()
        seen = _seen(here)
        if seen is not None and _identity(seen) not in known:
            known.add(_identity(seen))
            waiting += _entries(here) if stat.S_ISDIR(seen.st_mode) else ()


def _entries(folder: str) -> list[str]:
    """Paths in a folder; none of one that cannot be listed."""
    try:
        with os.scandir(folder) as listing:
            return [entry.path for entry in listing]
    except (OSError, ValueError):
        return []


def _identities_of(place: str | Path) -> list[Identity]:
    """What a path leads to, as one identity; none of what is no evidence."""
    seen = _seen(place)
    return [] if seen is None else [_identity(seen)]


def _seen(place: str | Path) -> os.stat_result | None:
    """The file or folder that a path leads to; None of nothing, and of a pipe or terminal, which is no evidence."""
    try:
        seen = os.stat(place)
    except (OSError, ValueError):
        return None
    return seen if stat.S_ISREG(seen.st_mode) or stat.S_ISDIR(seen.st_mode) else None


def _on_the_way_to(place: str) -> list[Identity]:
    """A path's folders from the top on and what it leads to, as far as they are there. Raises OSError, ValueError."""
    path = Path(place)
    seen = []
    for step in (*reversed(path.parents), path):
        try:
            seen.append(_identity(os.stat(step)))
        except (FileNotFoundError, NotADirectoryError):
            break
    return seen


def _above(folder: int) -> Iterator[Identity]:
    """An open folder and those it lies in, up to the top."""
    here, last = ".", None
    while (seen := _identity(os.stat(here, dir_fd=folder))) != last:
        yield seen
        here, last = f"{here}/..", seen


def _identity(seen: os.stat_result) -> Identity:
    return seen.st_dev, seen.st_ino


def _reason(refused: OSError | ValueError) -> str:
    return (refused.strerror if isinstance(refused, OSError) else None) or str(refused)
