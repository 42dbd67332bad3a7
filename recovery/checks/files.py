"""Names and sizes of the files that are no log: queues of another size, empty files, files of no meaning."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from parsers.consumequeue.layout import CQ_UNIT
from parsers.errors import StoreFormatError
from parsers.kernels.written import written_bytes
from parsers.mapped import map_file
from parsers.store import Store, StoreFile
from recovery.checks.finding import Finding, Judgement, Place, Span

NUMBERED_FOLDERS = ("commitlog", "consumequeue", "batchconsumequeue", "index")
ROCKSDB = "RocksDB"


def check_files(store: Store, queue_file_size: int) -> Judgement:
    """Everything that names and sizes tell outside the log."""
    findings = [*_unexpected(store)]
    for (topic, queue_id), files in store.queues.items():
        findings += _queue_files(store, topic, queue_id, files, queue_file_size)
    return Judgement(tuple(findings))


def relative(store: Store, file: StoreFile) -> str:
    return file.path.relative_to(store.root).as_posix()


def _unexpected(store: Store) -> Iterator[Finding]:
    for file in store.not_understood:
        name = relative(store, file)
        if name.split("/")[0] in NUMBERED_FOLDERS and not (file.why or "").startswith(ROCKSDB):
            yield Finding("unexpected_file", Span(), (Place(name, 0, file.size),), 1, (f"{name}: {file.why}",))


def _queue_files(
    store: Store, topic: str, queue_id: int, files: Sequence[StoreFile], file_size: int
) -> Iterator[Finding]:
    filled = True
    for number, file in enumerate(files):
        first = (file.base_offset or 0) // CQ_UNIT.size
        span = Span(topic, queue_id, first, first + file_size // CQ_UNIT.size)
        if file.size != file_size:
            start = min(file.size - file.size % CQ_UNIT.size, file_size)
            place = Place(relative(store, file), start, max(file.size, file_size) - start)
            yield Finding(
                "file_size_wrong",
                span,
                (place,),
                1,
                (f"file: {file.size} bytes", f"the other files: {file_size} bytes"),
            )
            continue
        written = _written(file)
        if not written and not filled and number == len(files) - 1:
            places = (Place(relative(store, file), 0, file.size),)
            evidence = ("file: no unit", "the file before it is not full")
            yield Finding("queue_file_superfluous", span, places, 1, evidence)
        filled = written == file_size // CQ_UNIT.size


def _written(file: StoreFile) -> int:
    try:
        return -(-written_bytes(np.frombuffer(map_file(file.path), np.uint8)) // CQ_UNIT.size)
    except StoreFormatError:
        return 0
