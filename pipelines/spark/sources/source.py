"""What the data sources over store files share: options, planning, and batches in exactly the shape Spark asked for.

Never `pushFilters`: Spark 4.3.0 keeps what was pushed on the source and hands it to other scans of the same DataFrame,
which then lack rows (SPARK-58551; see test_pushdown_is_still_unsafe). Ranges are options instead, columns an explicit
schema: `spark.read.format("rocketmq_commitlog").schema("physical_offset BIGINT").option("store", …)`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition
from pyspark.sql.types import StructType

from parsers.damage.errors import Damage, UnreadableFile
from parsers.store.places import name_below
from parsers.store.store import Store
from parsers.store.store_file import StoreFile
from pipelines.lake.tables.rows import conform
from pipelines.lake.tables.spark_schema import spark_schema
from pipelines.spark.sources.slices import DEFAULT_SPLIT_BYTES, Piece, Slice, cut

if TYPE_CHECKING:
    import pyarrow as pa

    from pipelines.lake.tables.raw_table import FileTable
    from pipelines.lake.tables.table import Table
    from recovery.knowledge.knowledge import Said

Options = Mapping[str, str]


class StoreSource(DataSource):
    """A table of the lake, read from a store folder.

    Options (all text, as Spark hands them on):
        store: store root; required.
        broker: value of the column `broker`; null without it.
        version: of the broker.
        broker_conf: the broker's own broker.conf; it says where the log lies, among other things.
        settings: JSON object of settings by RocketMQ's names, over those of broker.conf.
        files: JSON list of files as the column `file` names them; every file of the kind without it.
        until: nothing that is of messages of the log which start at this physical offset or after it. What names a
            place after the log's end is of no message: it is damage, and is read.
        split_bytes: about how much one task reads.
    """

    format_name: ClassVar[str]
    table_name: ClassVar[str]
    further_tables: ClassVar[tuple[str, ...]] = ()
    reader_class: ClassVar[type[StoreReader]]

    @classmethod
    def name(cls) -> str:
        return cls.format_name

    def schema(self) -> StructType:
        return spark_schema(table_of(self.table_name).bare_schema)

    def reader(self, schema: StructType) -> DataSourceReader:
        return self.reader_class(dict(self.options), schema.fieldNames(), self.table_name)


class StoreReader(DataSourceReader):
    """Plans slices on the driver, reads them on workers. Subclasses read one piece.

    Attributes:
        unread: files that could not be read as planned, or not to their end, by the names of the column `file`: why.
        cut: files with rows that `until` left out.
        place: the column that `until` is held against; None where `read_piece` sees to it.
    """

    within_files: ClassVar[bool] = False
    place: ClassVar[str | None] = None

    def __init__(self, options: Options, names: Sequence[str], table_name: str) -> None:
        self.options = {key.lower(): value for key, value in options.items()}
        self.names, self.table_name = list(names), table_name
        self.unread: dict[str, str] = {}
        self.cut: set[str] = set()
        self._log_end = 0
        self._listed: Store | None = None
        if "store" not in self.options:
            raise ValueError('the option "store" is missing: the store root to read')

    def files_of(self, store: Store) -> list[StoreFile]:
        """The files whose rows the table holds, in the order in which they come."""
        return file_table_of(self.table_name).files.of(store)

    def read_piece(self, piece: Piece) -> Iterator[pa.RecordBatch]:
        """Rows of one piece: any columns of the table except broker and file, in any order."""
        raise NotImplementedError

    def partitions(self) -> Sequence[InputPartition]:
        root = Path(self.options["store"])
        wanted = frozenset(json.loads(self.options["files"])) if "files" in self.options else None
        files = [f for f in self.files_of(self.store()) if wanted is None or name_below(root, f.path) in wanted]
        split_bytes = self.number("split_bytes")
        return cut(files, DEFAULT_SPLIT_BYTES if split_bytes is None else split_bytes, within_files=self.within_files)

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        if not isinstance(partition, Slice):  # Spark's stand-in for an empty list of partitions
            return
        root = Path(self.options["store"])
        schema = table_of(self.table_name).select(self.names)
        for piece in partition.pieces:
            origin = {"broker": self.options.get("broker"), "file": name_below(root, piece.file.path)}
            yield from conform(self._before_until(piece), schema, origin)
            self._require_all_there(piece.file)

    def _before_until(self, piece: Piece) -> Iterator[pa.RecordBatch]:
        """The rows of a piece as far as the option `until` has them."""
        until = self.number("until")
        for batch in self.read_piece(piece):
            if until is None or self.place not in batch.schema.names:
                yield batch
                continue
            import pyarrow.compute as pc

            kept = batch.filter(pc.invert(self._in_progress(batch.column(self.place), until)))
            if kept.num_rows < batch.num_rows:
                self.note_cut(piece)
            yield kept

    def _in_progress(self, places: pa.Array, until: int) -> pa.Array:
        """Which of these places lie in the log after `until`."""
        import pyarrow.compute as pc

        end = self.log_end(until, places)
        inside = pc.and_(pc.greater_equal(places, until), pc.less(places, end))
        return pc.fill_null(inside, False)

    def log_end(self, until: int, places: pa.Array) -> int:
        """The end of the log, read anew where any of the places may lie in it after all that was read of it so far.

        A broker writes a message before what leads to it: the log has by now all messages that they lead to.
        """
        import pyarrow.compute as pc

        from recovery.query.watermark import log_end_from

        reached = max(until, self._log_end)
        if (pc.max(places).as_py() or 0) >= reached:
            store, room = self._listed_log()
            if pc.any(pc.and_(pc.greater_equal(places, reached), pc.less(places, room))).as_py():
                self._log_end = log_end_from(store, reached)
        return self._log_end

    def _listed_log(self) -> tuple[Store, int]:
        """The store, listed again only where its log has another file by now, and the byte after all that the files of
        the log have room for."""
        if self._listed is None:
            self._listed = self.store()
        room = _room(self._listed)
        if room != max(((file.base_offset or 0) + file.size for file in self._listed.commitlog), default=0):
            self._listed = self.store()
        return self._listed, room

    def note_cut(self, piece: Piece) -> None:
        """Keep that the file of a piece holds more than was read of it."""
        self.cut.add(name_below(Path(self.options["store"]), piece.file.path))

    def note_damage(self, found: Damage) -> None:
        """Handed to the parsers: keeps the files that the system refuses, or that end before they should."""
        if found.kind == UnreadableFile.__name__ and found.path is not None:
            self.unread[name_below(Path(self.options["store"]), found.path)] = found.reason

    def _require_all_there(self, file: StoreFile) -> None:
        """Note a file that is gone or shorter than when the work was planned; of a folder only that it is gone."""
        name = name_below(Path(self.options["store"]), file.path)
        try:
            size = file.path.stat().st_size
        except OSError as refused:
            self.unread[name] = f"cannot be read: {refused.strerror}"
            return
        if size < file.size and file.kind != "rocksdb":
            self.unread[name] = f"became shorter while it was read: {size} of {file.size} bytes are left"

    def said(self) -> Said:
        """What the options say of the broker."""
        from recovery.knowledge.knowledge import Said
        from recovery.rules.versions import BrokerVersion

        version = BrokerVersion.parse(self.options["version"]) if "version" in self.options else None
        conf = Path(self.options["broker_conf"]) if "broker_conf" in self.options else None
        return Said.read(version, conf, json.loads(self.options.get("settings", "{}")))

    def store(self) -> Store:
        """The store with its log, wherever the options say that it lies."""
        from recovery.knowledge.knowledge import open_known

        return open_known(self.options["store"], self.said(), needs_log=False)

    def number(self, option: str) -> int | None:
        """A numeric option, None when not given. Raises ValueError naming the option."""
        text = self.options.get(option)
        if text is None:
            return None
        try:
            return int(text)
        except ValueError:
            raise ValueError(f"option {option}: a whole number is expected, not {text!r}") from None


def _room(store: Store) -> int:
    """The byte after all that the files have room for that are in the folders of a store's log now."""
    folders = {*store.commitlog_folders, *(file.path.parent for file in store.commitlog)}
    room = 0
    for folder in folders:
        with suppress(OSError):  # a folder that is not there, or a file that went: it holds nothing
            newest = max((path for path in folder.iterdir() if path.name.isdigit()), key=_number, default=None)
            room = room if newest is None else max(room, _number(newest) + newest.stat().st_size)
    return room


def _number(path: Path) -> int:
    return int(path.name)


def table_of(name: str) -> Table:
    """Looked up late: a worker imports the declarations (and the decoders they name) only when it reads."""
    from pipelines.lake.tables.raw import TABLES

    return TABLES[name]


def file_table_of(name: str) -> FileTable:
    """`table_of` for a table of store files. Raises ValueError for another."""
    from pipelines.lake.tables.raw_table import FileTable

    table = table_of(name)
    if not isinstance(table, FileTable):
        raise ValueError(f"{name} is not a table of store files")
    return table
