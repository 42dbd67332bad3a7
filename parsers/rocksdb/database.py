"""A RocksDB database of a store, read and never touched.

RocksDB locks, repairs and cleans up the folder it opens, and its Python binding notes its settings there; so it is
given a folder of links to the database's files instead, which goes when the database is closed.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self, cast
from weakref import finalize

from parsers.damage.errors import CorruptRecord, StoreFormatError, UnreadableFile, UnsupportedVersion
from parsers.evidence.guard import scratch_folder
from parsers.evidence.supplied import supply_of
from parsers.store.places import is_rocksdb_file

if TYPE_CHECKING:
    from rocksdict import Rdict, ReadOptions

Pair = tuple[bytes, bytes]
PAIRS = 1 << 15
OPEN_FILES = 256
CACHE_BYTES = 1 << 23
BLAMED = re.compile(r"(?P<name>CURRENT|MANIFEST-\d+|\d+\.(?:sst|log))(?: offset (?P<at>\d+) size (?P<length>\d+))?")
TABLE_FILE = re.compile(r"0*(\d+)\.sst")


class Database:
    """A database opened for reading; close it, or leave it as a context.

    What WAL files hold is replayed into memory.

    Attributes:
        flaws: what had to be passed over when it was opened.
        refused: why RocksDB does not open it for a broker; None where it does.
    """

    def __init__(self, folder: Path) -> None:
        """Raises UnreadableFile, CorruptRecord; UnsupportedVersion where RocksDB itself is not installed."""
        self.folder, self.flaws = folder, list[StoreFormatError]()
        self.refused: StoreFormatError | None = None
        self._links = _links(folder)
        try:
            with self._telling():
                self.families: tuple[str, ...] = tuple(_rdict().list_cf(str(self._links)))
            self._whole = self._open()
        except StoreFormatError:
            shutil.rmtree(self._links, ignore_errors=True)
            raise
        self._close = finalize(self, _close, self._whole, self._links)
        self._families = {name: self._whole.get_column_family(name) for name in self.families}
        self._note_unlisted()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Let the files go; a second time does nothing."""
        self._families.clear()
        self._close()

    def get(self, family: str, key: bytes) -> bytes | None:
        """The value of a key. Raises CorruptRecord, UnreadableFile."""
        with self._telling():
            value: bytes | None = self._families[family].get(key)
            return value

    def first_key(self, family: str, at_least: bytes) -> bytes | None:
        """The first key at or after another one. Raises CorruptRecord, UnreadableFile."""
        with self._telling():
            place = self._families[family].iter()
            place.seek(at_least)
            if place.valid():
                key: bytes = place.key()
                return key
            place.status()
            return None

    def pairs(self, family: str, begin: bytes = b"", end: bytes | None = None) -> Iterator[Sequence[Pair]]:
        """Keys from `begin` to before `end` with their values, in order of the keys' bytes, PAIRS at a time.

        Raises CorruptRecord, UnreadableFile where the rest cannot be read.
        """
        options, after = _read_options(end), begin
        with self._telling():
            items = cast("Iterator[Pair]", self._families[family].items(from_key=begin, read_opt=options))
            while batch := list(islice(items, PAIRS)):
                yield batch
                after = batch[-1][0] + b"\0"
            self._require_end(family, after, end)

    def _require_end(self, family: str, after: bytes, end: bytes | None) -> None:
        """A block that cannot be read ends an iteration as if nothing came after it: only asking again tells."""
        place = self._families[family].iter(_read_options(end))
        place.seek(after)
        if not place.valid():
            place.status()

    def _open(self) -> Rdict:
        """Open with the strictest checks; where these refuse, as a broker does, then with none; each refusal is a flaw.

        A broker's database checks its tables, and ends a WAL at its first damage. RocksDBOptionsFactory @5.3.3.
        """
        complete, as_broker, lenient = ((True, True), (True, False), (False, False))
        try:
            return self._opened(*complete)
        except StoreFormatError as error:
            self.flaws.append(error)
        try:
            return self._opened(*as_broker)
        except StoreFormatError as error:
            self.refused = error
        return self._opened(*lenient)

    def _opened(self, checks_tables: bool, wants_whole_wal: bool) -> Rdict:
        with self._telling():
            return _opened(self._links, self.families, checks_tables, wants_whole_wal)

    def _note_unlisted(self) -> None:
        """A MANIFEST that lost its end names fewer tables, and RocksDB cannot know."""
        listed = max((_number(file["name"]) for file in self._whole.live_files()), default=0)
        if newer := sorted(path.name for path in self._links.iterdir() if _number(path.name) > listed):
            problem = f"{', '.join(newer)}: newer than any table that it lists: it lost its end, or a crash left these"
            self.flaws.append(CorruptRecord(problem, path=self.folder / self._manifest(), field="table"))

    def _manifest(self) -> str:
        """The file that CURRENT names."""
        try:
            return (self._links / "CURRENT").read_text("ascii").strip()
        except (OSError, ValueError):
            return "CURRENT"

    @contextmanager
    def _telling(self) -> Iterator[None]:
        """Anything RocksDB complains of, as an error of the store's file that it names."""
        try:
            yield
        except StoreFormatError:
            raise
        except Exception as refused:  # noqa: BLE001 - rocksdict raises nothing narrower
            raise self._told(str(refused)) from None

    def _told(self, complaint: str) -> StoreFormatError:
        said = complaint.replace(f"{self._links}/", "").split("\n")[0].strip()
        blamed = BLAMED.search(said)
        path = self.folder / blamed["name"] if blamed else self.folder
        if path.name.startswith("MANIFEST") and not path.exists() and any(self._links.glob("MANIFEST-*")):
            path = self.folder / "CURRENT"  # names another one than is there
        kind = UnreadableFile if "IO error" in said else CorruptRecord
        at, length = (int(blamed["at"]), int(blamed["length"])) if blamed and blamed["at"] else (0, 0)
        return kind(f"RocksDB: {said}", path=path, at=at, length=length)


def _links(folder: Path) -> Path:
    """A new folder with a link to each file of the database but its lock; whatever is no file is left out."""
    try:
        if (supply := supply_of(folder)) is not None:
            supply.fill(folder)
        found = [path for path in folder.iterdir() if is_rocksdb_file(path.name) and path.name != "LOCK"]
        files = [path.absolute() for path in found if path.is_file()]
    except OSError as refused:
        raise UnreadableFile(f"cannot be listed: {refused.strerror}", path=folder) from refused
    try:
        links = scratch_folder("rocksdb", folder)
        for path in files:
            (links / path.name).symlink_to(path)
    except OSError as refused:
        raise UnreadableFile(f"no folder of links can be made for it: {refused.strerror}", path=folder) from refused
    return links


def _close(opened: Rdict, links: Path) -> None:
    opened.close()
    shutil.rmtree(links, ignore_errors=True)


def _number(name: str) -> int:
    """The number of a table's file, -1 for any other file."""
    found = TABLE_FILE.fullmatch(name.lstrip("/"))
    return int(found[1]) if found else -1


def _rdict() -> type[Rdict]:
    try:
        from rocksdict import Rdict
    except ImportError as missing:
        raise UnsupportedVersion(
            f"a RocksDB database: reading it takes the package rocksdict, which is not installed here ({missing})"
        ) from None
    return Rdict


def _opened(links: Path, families: Sequence[str], checks_tables: bool, wants_whole_wal: bool) -> Rdict:
    from rocksdict import AccessType, BlockBasedOptions, Cache, DBRecoveryMode, Options

    tables = BlockBasedOptions()
    tables.set_block_cache(Cache(CACHE_BYTES))
    tables.set_cache_index_and_filter_blocks(True)
    options = Options(raw_mode=True)
    options.set_max_open_files(OPEN_FILES)
    options.set_paranoid_checks(checks_tables)
    if wants_whole_wal:
        options.set_wal_recovery_mode(DBRecoveryMode.tolerate_corrupted_tail_records())
    of_families = {}
    for name in families:
        of_families[name] = Options(raw_mode=True)
        of_families[name].set_block_based_table_factory(tables)
    access = AccessType.read_only(False)
    return _rdict()(str(links), options=options, column_families=of_families, access_type=access)


def _read_options(end: bytes | None) -> ReadOptions:
    from rocksdict import ReadOptions

    options = ReadOptions()
    if end is not None:
        options.set_iterate_upper_bound(end)
    return options
