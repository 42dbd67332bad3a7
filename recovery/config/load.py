"""What ConfigManager#load() makes of one file of config/ and its .bak: which of them is used, and whether it is true.

Source: ConfigManager#load, #loadBak, MixAll#file2String @4.9.8, 5.3.3, 5.4.0.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from parsers.config.document import BACKUP
from parsers.damage.errors import StoreFormatError, TooLarge
from parsers.evidence.mapped import map_file
from parsers.layouts.fastjson import MAX_BYTES, Json, as_map, parse, parse_beginning
from recovery.broker.store_folder import Entry
from recovery.config.files import ConfigFile, Rows, Stage
from recovery.config.values import holds_nothing, not_taken
from recovery.rules.versions import BrokerVersion

INTERRUPTED = ".tmp"
"""A new content before it takes the main file's place, up to 5.0.0. MixAll#string2File @5.0.0."""
MAY_BE_EMPTY = (Rows.OFFSETS, Rows.DELAY_LEVELS, Rows.OTHER)
"""A broker has topics and groups of its own, but need not have an offset."""
Copies = Mapping[str, Entry]
"""What lies in config/, by name."""
Table = Mapping[str, Json]


class CopyState(StrEnum):
    """What load() finds where it looks for a file."""

    READABLE = "readable"
    MISSING = "missing"
    EMPTY = "empty"
    UNREADABLE = "unreadable"


@dataclass(frozen=True, slots=True)
class ConfigCopy:
    """A file, its .bak or its .tmp.

    Attributes:
        rows: what decode() takes; nothing of an unreadable copy, and of a document that holds nothing (`null`, `[]`).
        has_table: the document has the table, be it empty, so that a broker may have written it so.
        beginning: the complete rows before the place where an unreadable copy breaks off.
        why: why decode() fails, None where it does not.
    """

    name: str
    state: CopyState
    rows: Table = field(default_factory=dict)
    has_table: bool = False
    beginning: Table = field(default_factory=dict)
    why: str | None = None


@dataclass(frozen=True, slots=True)
class ConfigLoad:
    """One call of load().

    Attributes:
        used: the copy whose rows are in memory after it, None where there are none.
        interrupted: a .tmp that was left, newer than both.
        returns: what load() returns.
        left: rows of a database that are not taken.
    """

    file: ConfigFile
    stage: Stage
    main: ConfigCopy
    backup: ConfigCopy
    interrupted: ConfigCopy
    used: ConfigCopy | None
    returns: bool
    left: Table = field(default_factory=dict)

    @property
    def refuses(self) -> bool:
        """The broker stops here: BrokerController#initialize is false."""
        return not self.returns and self.stage not in (Stage.MADE, Stage.IGNORED)

    @property
    def rows(self) -> Table:
        """What is in memory after it, but for what the broker adds by itself."""
        return self.used.rows if self.used else {}

    @property
    def is_cut_to_nothing(self) -> bool:
        """The file has 0 bytes, which no finished write leaves, and no .bak stands in for it."""
        return self.main.state is CopyState.EMPTY and not self.rows

    @property
    def is_as_written(self) -> bool:
        """The main file is used, and is no less than a broker wrote: nothing of it was emptied or replaced. A database
        that can be read is: its rows come and go one by one."""
        if self.file.is_database:
            is_read = self.used is self.main and self.main.state is CopyState.READABLE
            return is_read and self.main.has_table and not self.left
        return self.used is self.main and (bool(self.main.rows) or self._was_empty_before)

    @property
    def _was_empty_before(self) -> bool:
        """An empty table may be all there ever was, where the content before it was empty, too."""
        former = self.backup.rows or self.backup.state is CopyState.UNREADABLE
        return self.file.rows in MAY_BE_EMPTY and self.main.has_table and not former

    @property
    def newer(self) -> list[Table]:
        """Rows of what was written after the .bak and cannot be used as it is."""
        return [self.interrupted.rows, self.main.beginning]

    @property
    def kept(self) -> list[Table]:
        """Rows that lie in config/ and that load() does not take."""
        return [*self.newer, {} if self.used is self.backup else self.backup.rows, self.backup.beginning, self.left]


def load_config(copies: Copies, file: ConfigFile, stage: Stage, version: BrokerVersion) -> ConfigLoad:
    """One load(). Every copy is read, also where the broker needs the first alone."""
    main, backup, interrupted = (
        read_copy(copies, file, file.name + suffix, version) for suffix in ("", BACKUP, INTERRUPTED)
    )
    if main.state is CopyState.READABLE:
        return ConfigLoad(file, stage, main, backup, interrupted, main, returns=True)
    used = backup if backup.state is CopyState.READABLE else None
    returns = backup.state is not CopyState.UNREADABLE
    return ConfigLoad(file, stage, main, backup, interrupted, used, returns)


def read_copy(copies: Copies, file: ConfigFile, name: str, version: BrokerVersion) -> ConfigCopy:
    """One copy as decode() of the file's manager takes it. Raises TooLarge, and UnreadableFile where it is there."""
    entry = copies.get(name)
    if entry is None:
        return ConfigCopy(name, CopyState.MISSING)
    if entry.is_folder:
        return ConfigCopy(name, CopyState.UNREADABLE, why="it is a folder")
    if not entry.size:
        return ConfigCopy(name, CopyState.EMPTY)
    text = text_of(entry)
    if text is None:
        return ConfigCopy(name, CopyState.MISSING)
    try:
        return decode_copy(text, file, name, version)
    except StoreFormatError as error:
        raise error.in_file(entry.path) from None


def text_of(entry: Entry) -> str | None:
    """A copy as MixAll#file2String takes it: Java's String takes any bytes. None where it is gone since it was listed.

    Raises:
        TooLarge, UnreadableFile: what a broker makes of it is not known.
    """
    try:
        content = map_file(entry.path)
    except StoreFormatError as error:
        if isinstance(error.__cause__, FileNotFoundError):
            return None
        raise error.in_file(entry.path) from None
    if len(content) > MAX_BYTES:
        too_large = TooLarge("too long for a config file", field="file size", expected=MAX_BYTES, actual=len(content))
        raise too_large.in_file(entry.path)
    return bytes(content).decode("utf-8", "replace")


def decode_copy(text: str, file: ConfigFile, name: str, version: BrokerVersion) -> ConfigCopy:
    """The text of a copy, which is not empty, as decode() takes it. Raises TooLarge."""
    if holds_nothing(text, file, version):
        return ConfigCopy(name, CopyState.READABLE)
    try:
        document = parse(text.encode())
    except TooLarge:
        raise
    except StoreFormatError as error:
        beginning = as_map(as_map(parse_beginning(text.encode())).get(file.table))
        return ConfigCopy(name, CopyState.UNREADABLE, beginning=beginning, why=error.problem)
    if not isinstance(document, dict):
        return ConfigCopy(name, CopyState.UNREADABLE, why="it holds no map")
    why, table = not_taken(document, file, version), document.get(file.table)
    if why is not None:
        return ConfigCopy(name, CopyState.UNREADABLE, why=why)
    return ConfigCopy(name, CopyState.READABLE, as_map(table), has_table=table is not None)
