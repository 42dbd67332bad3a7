"""Names and sizes of the files that are no log: queues of another size, empty files, files of no meaning."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from parsers.consumequeue.layout import CQ_UNIT
from parsers.store.places import name_below, printable_name
from parsers.store.store import Store
from parsers.store.store_file import QueueKey, StoreFile
from recovery.verify.findings.finding import Finding, Judgement, Place, Span
from recovery.verify.settle.queue_disk import QueueOnDisk

NUMBERED_FOLDERS = ("commitlog", "consumequeue", "batchconsumequeue", "index")


def check_files(store: Store, queues: Mapping[QueueKey, QueueOnDisk], queue_file_size: int) -> Judgement:
    """Everything that names and sizes tell outside the log; `queues` as they lie on disk, where they are in files."""
    findings = [*_unexpected(store)]
    for key, queue in queues.items():
        findings += _queue_files(store, *key, store.queues[key], queue_file_size, queue.end)
    return Judgement(tuple(findings))


def relative(store: Store, file: StoreFile) -> str:
    """The file's name below the store, as text whatever bytes it is made of."""
    return printable_name(name_below(store.root, file.path))


def _unexpected(store: Store) -> Iterator[Finding]:
    for file in store.not_understood:
        name = relative(store, file)
        if file.folder is not None or name.split("/")[0] in NUMBERED_FOLDERS:
            yield Finding("unexpected_file", Span(), (Place(name, 0, file.size),), 1, (f"{name}: {file.why}",))


def _queue_files(
    store: Store, topic: str, queue_id: int, files: Sequence[StoreFile], file_size: int, end: int
) -> Iterator[Finding]:
    """`end`: the queue offset after the last unit written."""
    for number, file in enumerate(files):
        first = (file.base_offset or 0) // CQ_UNIT.size
        span = Span(topic, queue_id, first, first + file_size // CQ_UNIT.size)
        if ((file.base_offset or 0) - (files[0].base_offset or 0)) % file_size:
            places = (Place(relative(store, file), 0, file.size),)
            evidence: tuple[str, ...] = (f"file: starts at {file.base_offset}", f"files: every {file_size} bytes")
            yield Finding("unexpected_file", span, places, 1, evidence)
        elif file.size != file_size:
            start = min(file.size - file.size % CQ_UNIT.size, file_size)
            place = Place(relative(store, file), start, max(file.size, file_size) - start)
            evidence = (f"file: {file.size} bytes", f"expected: {file_size} bytes")
            yield Finding("file_size_wrong", span, (place,), 1, evidence)
        elif number and number == len(files) - 1 and end < first and files[number - 1].size == file_size:
            places = (Place(relative(store, file), 0, file.size),)
            evidence = ("file: no unit", f"queue: ends at {end}, before the file")
            yield Finding("queue_file_superfluous", span, places, 1, evidence)
