"""A store at an address, listed once and laid out as a folder: names, sizes and times, and no bytes.

Whoever reads the bytes asks for those of the objects as they were listed.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import json
import os
import secrets
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from pipelines.objects.place import ObjectPlace, ObjectSeen, StoreRefused

PREFIX = "rocketlens-store-"
LISTING = "listing.json"
ITSELF = "."
"""The name of the only file where an address is of one."""


@dataclass(frozen=True, slots=True)
class StoreView:
    """A store, or one file of one, at an address, as it was listed. It travels to workers as a pickle.

    Attributes:
        scratch: a folder below the place for temporary files, the same on every machine.
        listing: a hash of what was listed; empty before.
        is_shared: several processes read it, and fetched blocks are kept for them in `scratch`.
    """

    address: ObjectPlace
    scratch: Path
    listing: str = ""
    is_shared: bool = False

    @classmethod
    def new(cls, address: ObjectPlace, *, is_shared: bool) -> StoreView:
        """A view that nobody has laid out yet."""
        scratch = Path(os.path.realpath(tempfile.gettempdir())) / f"{PREFIX}{secrets.token_hex(8)}"
        return cls(address, scratch, is_shared=is_shared)

    @property
    def folder(self) -> Path:
        """What stands for the store: the names of its address lead to it, as those of a path would."""
        return self.scratch / self.address.bucket / self.address.key


@contextmanager
def held(view: StoreView) -> Iterator[Mapping[str, ObjectPlace]]:
    """The objects of a view by their names below it, laid out where they are not yet; who holds it last removes it.

    Raises StoreRefused, FileNotFoundError; OSError where it cannot be laid out.
    """
    holding = _hold(view)
    try:
        yield listed(view)
    finally:
        os.close(holding)
        remove_unheld(view.scratch)


def listed(view: StoreView) -> dict[str, ObjectPlace]:
    """The objects of a view that is laid out, by their names below it."""
    told = json.loads((view.scratch / LISTING).read_bytes())
    return {name: _named(view.address, name, ObjectSeen(*seen)) for name, seen in told.items()}


def remove_unheld(scratch: Path) -> bool:
    """Remove what is laid out there, unless a process holds it; whether none does."""
    with suppress(OSError):
        holding = os.open(scratch, os.O_RDONLY | os.O_CLOEXEC)
        try:
            fcntl.flock(holding, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(scratch, ignore_errors=True)
        except BlockingIOError:
            return False
        finally:
            os.close(holding)
    return True


def _hold(view: StoreView) -> int:
    """A descriptor that keeps the view from being removed while this process lives."""
    while True:
        try:
            holding = os.open(view.scratch, os.O_RDONLY | os.O_CLOEXEC)
        except FileNotFoundError:
            _lay_out(view)
            continue
        fcntl.flock(holding, fcntl.LOCK_SH)
        with suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(holding), view.scratch.stat()):
                return holding
        os.close(holding)  # removed before it was held


def _lay_out(view: StoreView) -> None:
    """List the objects, and put the folder there whole, unless another process has done so meanwhile."""
    for left in view.scratch.parent.glob(f"{PREFIX}*"):  # of processes that were killed
        remove_unheld(left)
    objects = _objects(view.address)
    told = json.dumps({name: place.stat() for name, place in sorted(objects.items())}).encode()
    if view.listing not in ("", hash_of(told)):
        raise StoreRefused(errno.ESTALE, "was written to meanwhile", str(view.address))
    partial = Path(tempfile.mkdtemp(prefix=f".{PREFIX}", dir=view.scratch.parent))
    try:
        for name, place in objects.items():
            file, seen = partial / view.address.bucket / view.address.key / name, place.stat()
            file.parent.mkdir(parents=True, exist_ok=True)
            file.touch()
            os.truncate(file, seen.st_size)
            os.utime(file, (seen.st_mtime, seen.st_mtime))
        (partial / LISTING).write_bytes(told)
        try:
            partial.rename(view.scratch)
        except OSError as refused:
            if refused.errno not in (errno.ENOTEMPTY, errno.EEXIST):  # of another process, which was faster
                raise
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def hash_of(told: bytes) -> str:
    return hashlib.sha256(told).hexdigest()


def _objects(address: ObjectPlace) -> dict[str, ObjectPlace]:
    """Every object below an address, by name, or the one object that it is of. Raises StoreRefused."""
    objects = {str(place.relative_to(address)): place for place in address.rglob("*")}
    if not objects:
        try:
            return {ITSELF: address.looked_at()}
        except FileNotFoundError:
            why = "nothing is there; an address names the root of a store, or a file of one"
            raise StoreRefused(errno.ENOENT, why, str(address)) from None
    folders = {str(above) for name in objects for above in Path(name).parents}
    return {name: place for name, place in objects.items() if name not in folders}  # some tools keep empty ones


def _named(address: ObjectPlace, name: str, seen: ObjectSeen) -> ObjectPlace:
    key = address.key if name == ITSELF else f"{address.key}/{name}".lstrip("/")
    return ObjectPlace(address.bucket, key, address.storage, seen)
