"""One object, or all below a prefix, with those methods of a path of this machine that a lake is written with.

An object appears whole or not at all, and is replaced at once. There are no folders: one is there as long as an object
lies below it.
"""

from __future__ import annotations

import errno
import io
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, NamedTuple

from pipelines.objects.storage import Storage

if TYPE_CHECKING:
    from obstore.store import AzureStore, S3Store

COLOUR = re.compile(r"\x1b\[\d*m|↳")
SERVER = re.compile(r"https?://[^/ ]+")
STATUS = re.compile(r"status code:? (\d{3}(?: [A-Z][a-z]+)*)")
NO_BUCKET = "404"


class ObjectSeen(NamedTuple):
    """What the server says of an object: its size in bytes, when it was written (epoch seconds, by the server's
    clock), and a text that is another one for other content."""

    st_size: int
    st_mtime: float
    e_tag: str


class StoreRefused(OSError):
    """The server of an object store answered with an error, or not at all: one sentence."""


class Changed(Exception):
    """An object is not as a conditional write expects it to be; it was left as it is."""


@dataclass(frozen=True, slots=True, order=True)
class ObjectPlace:
    """`s3://bucket/key`, or an address of another protocol. `told`: what a listing told of it."""

    bucket: str
    key: str
    storage: Storage = field(default=Storage(), repr=False)
    told: ObjectSeen | None = field(default=None, compare=False, repr=False)

    @classmethod
    def of(cls, address: str, storage: Storage) -> ObjectPlace:
        """The place of an address, in the protocol of the storage. Raises ValueError: one sentence."""
        bucket, _, key = address.partition("://")[2].partition("/")
        parts = [part for part in key.split("/") if part]
        if not storage.protocol.address.fullmatch(address) or {".", ".."} & set(parts):
            raise ValueError(
                f"{address!r}: an address is written {storage.protocol.written}, in letters, digits and . _ = + @ -, "
                "without .."
            )
        return cls(bucket, "/".join(parts), storage)

    def __str__(self) -> str:
        return f"{self.storage.scheme}://{self.bucket}/{self.key}".rstrip("/")

    def __truediv__(self, name: str) -> ObjectPlace:
        return ObjectPlace(self.bucket, f"{self.key}/{name}".strip("/"), self.storage)

    @property
    def name(self) -> str:
        return self.key.rpartition("/")[2]

    @property
    def stem(self) -> str:
        return PurePosixPath(self.name).stem

    @property
    def suffix(self) -> str:
        return PurePosixPath(self.name).suffix

    @property
    def parent(self) -> ObjectPlace:
        return ObjectPlace(self.bucket, self.key.rpartition("/")[0], self.storage)

    def relative_to(self, root: ObjectPlace) -> PurePosixPath:
        """The names that lead from `root` to this place. Raises ValueError where none do."""
        return PurePosixPath(self.key).relative_to(root.key)

    def stat(self) -> ObjectSeen:
        """Size and time of the object, as the listing that found it has them; else the server is asked.

        Raises FileNotFoundError.
        """
        import obstore

        if self.told is not None:
            return self.told
        with self._asked():
            return _seen(obstore.head(self._store, self.key))

    def looked_at(self) -> ObjectPlace:
        """This place with what the server says of it now. Raises FileNotFoundError."""
        return replace(self, told=self.stat())

    def exists(self) -> bool:
        try:
            self.stat()
        except FileNotFoundError:
            return False
        return True

    def is_dir(self) -> bool:
        """Whether an object lies below it."""
        return any(True for _ in self.rglob("*"))

    def iterdir(self) -> Iterator[ObjectPlace]:
        """The objects directly below it, and prefixes of others, in order of their names; none where nothing is."""
        import obstore

        with self._bucket_asked():
            found = obstore.list_with_delimiter(self._store, self._prefix)
        below = [ObjectPlace(self.bucket, prefix.strip("/"), self.storage) for prefix in found["common_prefixes"]]
        yield from sorted([*below, *(self._listed(one) for one in found["objects"])])

    def glob(self, pattern: str) -> Iterator[ObjectPlace]:
        """What lies directly below it, by its name."""
        return (place for place in self.iterdir() if fnmatchcase(place.name, pattern))

    def rglob(self, pattern: str) -> Iterator[ObjectPlace]:
        """Every object below it, by its name."""
        import obstore

        with self._bucket_asked():
            for some in obstore.list(self._store, self._prefix):
                for one in map(self._listed, some):
                    if fnmatchcase(one.name, pattern):
                        yield one

    def mkdir(self, *, parents: bool = False, exist_ok: bool = False) -> None:
        """Nothing has to be there before objects are."""

    def read_bytes(self) -> bytes:
        import obstore

        with self._asked():
            return bytes(obstore.get(self._store, self.key).bytes())

    def read_range(self, begin: int, end: int) -> bytes:
        """The bytes [begin, end), and no others; of the very content that was told of, where a listing told of one."""
        import obstore

        if end <= begin:
            return b""
        with self._asked():
            if self.told is None:
                return bytes(obstore.get_range(self._store, self.key, start=begin, end=end))
            options: Any = {"range": (begin, end), "if_match": self.told.e_tag}
            return bytes(obstore.get(self._store, self.key, options=options).bytes())

    def read_text(self, encoding: str = "utf-8") -> str:
        return self.read_bytes().decode(encoding)

    def read_with_tag(self) -> tuple[bytes, ObjectSeen]:
        """The content, and what the server says of that very content."""
        import obstore

        with self._asked():
            found = obstore.get(self._store, self.key)
            return bytes(found.bytes()), _seen(found.meta)

    def write_bytes(self, content: bytes) -> None:
        """Replace the content."""
        import obstore

        with self._asked():
            obstore.put(self._store, self.key, content)

    def write_if(self, content: bytes, e_tag: str | None) -> str:
        """Write where the content is still that of `e_tag`, or, without one, where no object is; the new tag.

        Raises Changed, too where the write was made and its answer was lost.
        """
        import obstore
        from obstore.exceptions import AlreadyExistsError, PreconditionError

        try:
            with self._asked():
                mode: Any = "create" if e_tag is None else {"e_tag": e_tag}
                return str(obstore.put(self._store, self.key, content, mode=mode)["e_tag"])
        except FileNotFoundError as gone:
            if e_tag is None:
                raise self._no_bucket() from gone
            raise Changed(str(self)) from gone
        except StoreRefused as refused:
            if isinstance(refused.__cause__, AlreadyExistsError | PreconditionError):
                raise Changed(str(self)) from refused
            raise

    def unlink(self, *, missing_ok: bool = True) -> None:
        """Remove the object; that none is there is an error to some servers only, and to nobody here."""
        import obstore

        with suppress(FileNotFoundError), self._asked():
            obstore.delete(self._store, self.key)

    def open_to_write(self) -> Sink:
        """A file to write, which is there when it is closed."""
        return Sink(self)

    def open_to_read(self) -> Ranges:
        """A file that reads the ranges it is asked for."""
        return Ranges(self)

    @property
    def _store(self) -> S3Store | AzureStore:
        return self.storage.open(self.bucket)

    @property
    def _prefix(self) -> str | None:
        return f"{self.key}/" if self.key else None

    def _listed(self, told: Any) -> ObjectPlace:
        return ObjectPlace(self.bucket, told["path"], self.storage, _seen(told))

    @contextmanager
    def _bucket_asked(self) -> Iterator[None]:
        """Turn the errors of a listing into those of a file system; where nothing is there, the bucket is missing."""
        try:
            with self._asked():
                yield
        except FileNotFoundError as missing:
            raise self._no_bucket() from missing
        except StoreRefused as refused:
            if NO_BUCKET in str(refused.strerror):
                raise self._no_bucket() from refused
            raise

    def _no_bucket(self) -> StoreRefused:
        return StoreRefused(errno.ENOENT, f"there is no bucket {self.bucket}", str(self))

    @contextmanager
    def _asked(self) -> Iterator[None]:
        """Raise FileNotFoundError or StoreRefused for what the server's library raises."""
        from obstore.exceptions import BaseError, PreconditionError

        try:
            yield
        except FileNotFoundError as missing:
            raise FileNotFoundError(errno.ENOENT, "is not there", str(self)) from missing
        except PreconditionError as other:
            raise StoreRefused(errno.ESTALE, "was written anew meanwhile", str(self)) from other
        except BaseError as refused:
            raise StoreRefused(errno.EIO, said_by_server(str(refused)), str(self)) from refused
        except (OSError, ValueError) as refused:
            raise StoreRefused(errno.EIO, said_by_server(str(refused)), str(self)) from refused


Place = Path | ObjectPlace
"""A folder or file of a lake."""


class Sink:
    """Writes one object in pieces; nothing of it is there until `close`."""

    def __init__(self, place: ObjectPlace) -> None:
        import obstore

        self._place = place
        with place._asked():
            self._writer = obstore.open_writer(place._store, place.key)
        self.closed = False

    def write(self, content: bytes) -> int:
        with self._place._asked():
            return int(self._writer.write(bytes(content)))

    def flush(self) -> None:
        """Nothing can be seen before the end."""

    def close(self) -> None:
        if not self.closed:
            self.closed = True
            with self._place._asked():
                self._writer.close()

    def discard(self) -> None:
        """Leave nothing behind. What a killed process leaves of an upload is no object."""
        self.closed = True
        del self._writer


class Ranges(io.RawIOBase):
    """An object as a file: a read is a request for these bytes."""

    def __init__(self, place: ObjectPlace) -> None:
        self._place, self._at = place, 0
        self._size = place.stat().st_size

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        self._at = offset + {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._size}[whence]
        return self._at

    def read(self, size: int | None = -1) -> bytes:
        end = self._size if size is None or size < 0 else min(self._size, self._at + size)
        content = self._place.read_range(self._at, end)
        self._at += len(content)
        return content

    def readinto(self, buffer: Any) -> int:
        content = self.read(len(buffer))
        buffer[: len(content)] = content
        return len(content)


def said_by_server(message: str) -> str:
    """What obstore or deltalake says of a request, as one sentence, without the server's document: that may repeat
    names of keys, and what was signed."""
    plain = " ".join(COLOUR.sub("", message).split())
    address = SERVER.search(plain)
    server = f"the server at {address[0]}" if address else "the server"
    if answered := STATUS.search(plain):
        return f"{server} answers {answered[1]}"
    if "HTTP error" in plain:
        return f"{server} does not answer"
    return plain.partition("<")[0].rstrip(" :-")


def _seen(told: Any) -> ObjectSeen:
    written: datetime = told["last_modified"]
    tag = str(told["e_tag"])
    quoted = tag if tag.endswith('"') else f'"{tag}"'  # Azure's listings leave the quotes out
    return ObjectSeen(int(told["size"]), written.timestamp(), quoted)
