"""What a sign in a store's files says, and what signs are read from: its first records, its folders."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from itertools import chain, islice, starmap

import numpy as np

from parsers.commitlog.dledger_headers.layout import header_size
from parsers.commitlog.record.layout import RECORD_START
from parsers.commitlog.record.message import Message, decode_message
from parsers.damage.errors import StoreFormatError
from parsers.evidence.mapped import map_file
from parsers.layouts.layout import Buffer
from parsers.store.store import Store
from parsers.store.store_file import StoreFile
from recovery.scan.log_runs import log_runs
from recovery.scan.record_walk import walk

SAMPLED_RECORDS, SAMPLED_UNITS, NEWEST_FILES = 400, 64, 2


@dataclass(frozen=True, slots=True)
class Inferred:
    """One fact: RocketMQ's name of the setting (or `version`, `queue.type`), its value, and how it is known.

    `certain` is False where the value is only assumed.
    """

    what: str
    value: str
    why: str
    certain: bool = True


class Sample:
    """The first records of the first and the last log file that has any, or of the log's first run of records.

    They come in log order, each decoded once, when its turn comes.
    """

    def __init__(self, store: Store) -> None:
        self._places = _first_records(store) or _first_run(store)
        self._decoded: list[Message] = []

    def __iter__(self) -> Iterator[Message]:
        for number, place in enumerate(self._places):
            if number == len(self._decoded):
                self._decoded.append(decode_message(*place))
            yield self._decoded[number]

    def __reversed__(self) -> Iterator[Message]:
        return starmap(decode_message, reversed(self._places))

    def has_magic(self, code: int) -> bool:
        """Whether a record starts with this magic code."""
        return any(RECORD_START.unpack(data, at)["magic_code"] == code for data, at in self._places)


def _first_run(store: Store) -> list[tuple[Buffer, int]]:
    with closing(log_runs(store.commitlog, lambda gap: None)) as runs:
        return [(run.data.data, at) for run in islice(runs, 1) for at in run.positions[:SAMPLED_RECORDS].tolist()]


def _first_records(store: Store) -> list[tuple[Buffer, int]]:
    newest = list(islice(filter(None, map(_places, reversed(store.commitlog[1:]))), NEWEST_FILES))
    return list(chain(*map(_places, store.commitlog[:1]), *reversed(newest)))


def _places(file: StoreFile) -> list[tuple[Buffer, int]]:
    """The first records of a log file: its bytes, and where each starts; none in a file made in advance."""
    try:
        buffer = map_file(file.path)
    except StoreFormatError:
        return []
    positions = np.empty(SAMPLED_RECORDS, np.int64)
    count, _ = walk(np.frombuffer(buffer, np.uint8), 0, file.base_offset or 0, header_size(file), positions)
    return [(buffer, at) for at in positions[:count].tolist()]


def is_database(store: Store, folder: str) -> bool:
    """Whether this folder of config/ is one database of all tables: `SECOND_FORM` or `SINGLE_FORM`."""
    return (store.root / "config" / folder / "CURRENT").is_file()
