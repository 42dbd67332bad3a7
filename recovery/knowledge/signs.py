"""What a sign in a store's files says, and what signs are read from: its first records, its folders."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from itertools import islice

import numpy as np

from parsers.commitlog.dledger_headers.layout import header_size
from parsers.commitlog.record.message import Message, decode_message
from parsers.damage.errors import StoreFormatError
from parsers.evidence.mapped import map_file
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


def sampled_messages(store: Store) -> Iterator[Message]:
    """The first records of the first and the last log file that has any, or of the log's first run of records."""
    found = list(_first_records(store))
    if not found:
        with closing(log_runs(store.commitlog, lambda gap: None)) as runs:
            for run in islice(runs, 1):
                found = [decode_message(run.data.data, at) for at in run.positions[:SAMPLED_RECORDS].tolist()]
    yield from found


def _first_records(store: Store) -> Iterator[Message]:
    newest = islice(filter(_positions, reversed(store.commitlog)), NEWEST_FILES)
    for file in {file.path: file for file in (*store.commitlog[:1], *reversed([*newest]))}.values():
        positions = _positions(file)
        data = map_file(file.path) if positions else memoryview(b"")
        yield from (decode_message(data, at) for at in positions)


def _positions(file: StoreFile) -> list[int]:
    """Where the first records of a log file start; none in a file made in advance."""
    try:
        buffer = map_file(file.path)
    except StoreFormatError:
        return []
    positions = np.empty(SAMPLED_RECORDS, np.int64)
    count, _ = walk(np.frombuffer(buffer, np.uint8), 0, file.base_offset or 0, header_size(file), positions)
    return list(positions[:count].tolist())


def is_database(store: Store, folder: str) -> bool:
    """Whether this folder of config/ is one database of all tables: `SECOND_FORM` with configManagerVersion=v2."""
    return (store.root / "config" / folder / "CURRENT").is_file()
