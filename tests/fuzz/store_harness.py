"""What is done with any bytes as a store file other than a CommitLog."""

from __future__ import annotations

from collections.abc import Callable
from math import ceil

import numpy as np

from parsers.checkpoints.checkpoint import checkpoint_to_batch, read_checkpoint
from parsers.checkpoints.epochs import decode_epochs, encode_epochs, epochs_to_batch, read_epochs
from parsers.commitlog.dledger_headers.layout import INDEX_UNIT_SIZE
from parsers.compaction.copies import read_copies
from parsers.compaction.positions import NO_PASS
from parsers.compaction.schema import COPY_SCHEMA
from parsers.compaction.sparse_queue import SparseQueue, read_sparse_queue
from parsers.config.document import read_document
from parsers.config.groups import groups_to_batch, read_filters, read_groups
from parsers.config.offsets import offsets_to_batch, read_delay_offsets, read_offsets
from parsers.config.queue_mappings import queue_mappings_to_batch, read_queue_mappings
from parsers.config.topics import read_topics, topics_to_batch
from parsers.consumequeue.batch import BATCH_UNIT, read_batch_queue, summarize_batch_queue
from parsers.consumequeue.ext import read_ext
from parsers.consumequeue.ext_columns import ext_columns
from parsers.consumequeue.ext_columns import read_ext_units as read_ext_units_of
from parsers.consumequeue.layout import CQ_UNIT
from parsers.consumequeue.read import read_queue
from parsers.consumequeue.summary import summarize_queue
from parsers.damage.errors import StoreFormatError
from parsers.dledger.index import EntryIndex, read_entry_index
from parsers.dledger.state import read_state
from parsers.evidence.mapped import map_file
from parsers.explain.explain import explain_file
from parsers.index.find import IndexQuery
from parsers.index.geometry import Geometry
from parsers.index.open import open_index
from parsers.index.read import index_files, read_index
from parsers.kernels.written import written_bytes
from parsers.store.store_file import StoreFile
from parsers.tiered.metadata import read_tiered_metadata, segment_files
from parsers.timer.check import read_timercheck
from parsers.timer.log import TIMER_UNIT, read_timerlog
from parsers.timer.wheel import read_wheel
from parsers.values.java import LONG_MAX
from recovery.compaction.next_pass import next_pass
from recovery.compaction.pull import pull, units_from
from recovery.rules.settings import StoreSettings
from recovery.rules.versions import BrokerVersion
from recovery.tiered.queues import told_queues
from tests.support.files import Seen

PLACES = {
    "consumequeue": "consumequeue/T/0/00000000000000000000",
    "batchconsumequeue": "batchconsumequeue/T/0/00000000000000000000",
    "consumequeue_ext": "consumequeue_ext/T/0/00000000000000000000",
    "compaction_log": "compaction/compactionLog/T/0/00000000000000000000",
    "compaction_queue": "compaction/compactionCq/T/0/00000000000000000000",
    "index": "index/20261121151356740",
    "dledger_index": "dledger-n0/index/00000000000000000000",
    "dledger_state": "dledger-n0/checkpoint",
    "checkpoint": "checkpoint",
    "epochs": "epochFileCheckpoint",
    "timerlog": "timerlog/00000000000000000000",
    "timerwheel": "timerwheel",
    "timercheck": "config/timercheck",
    "config": "config/consumerOffset.json",
    "tiered_metadata": "config/tieredStoreMetadata.json",
}


def read_anything(file: StoreFile) -> None:
    """Rows, damage rows or the typed error that names its file; a line of explanation for every byte."""
    READERS[file.kind](file, Seen())
    assert sum(line.length for line in explain_file(file)) == file.size
    error = typed_error(READERS[file.kind], file)
    assert error is None or error.path == file.path


def lost_bytes(seen: Seen | None) -> int:
    """Bytes that were damage; without a sink a reader raises at the first of them."""
    return 0 if seen is None else sum(row.length for row in seen.rows)


def read_classic(file: StoreFile, seen: Seen | None) -> None:
    rows = sum(batch.num_rows for batch in read_queue([file], damage=seen))
    summarize_queue([file], damage=seen)
    assert rows * CQ_UNIT.size + lost_bytes(seen) == expected_bytes(file)


def read_batches(file: StoreFile, seen: Seen | None) -> None:
    rows = sum(batch.num_rows for batch in read_batch_queue([file], damage=seen))
    summarize_batch_queue([file], damage=seen)
    assert rows * BATCH_UNIT.size + lost_bytes(seen) <= file.size


def read_sparse(file: StoreFile, seen: Seen | None) -> None:
    rows = sum(batch.num_rows for batch in read_sparse_queue([file], damage=seen))
    assert rows * BATCH_UNIT.size + lost_bytes(seen) <= file.size
    queue = SparseQueue.of([file], damage=seen)
    for queue_offset in (0, queue.min_queue_offset, queue.max_queue_offset - 1, queue.max_queue_offset, LONG_MAX):
        found = pull(queue, queue_offset)
        assert (found.first_queue_offset is not None) == (found.status == "FOUND")
        list(units_from(queue, queue_offset))


def read_copied(file: StoreFile, seen: Seen | None) -> None:
    copies = list(read_copies([file], damage=seen))
    assert all(batch.schema.names == COPY_SCHEMA.names for batch in copies)
    found = next_pass([file, file], SparseQueue.of([]), NO_PASS, StoreSettings(), BrokerVersion(5, 3, 3))
    assert found.changes is not True


def read_entries(file: StoreFile, seen: Seen | None) -> None:
    for geometry in (None, Geometry(500, 2000)):
        rows = sum(b.num_rows for b in read_index([file], geometry=geometry, damage=seen))
        assert rows <= file.size // 20
        index_files([file], geometry=geometry, damage=seen)
        IndexQuery([file], geometry=geometry, damage=seen).find("Small", "k1")
        list(open_index([file], geometry=geometry, damage=seen))


def read_entry_units(file: StoreFile, seen: Seen | None) -> None:
    rows = sum(batch.num_rows for batch in read_entry_index([file], damage=seen))
    assert rows * INDEX_UNIT_SIZE + lost_bytes(seen) <= file.size
    EntryIndex.of([file]).units_of(np.array([0, -1, 1 << 62]))


def read_ext_units(file: StoreFile, seen: Seen | None) -> None:
    columns = ext_columns([file])
    units = [(unit.size, unit.tags_code, unit.store_timestamp_ms) for unit in read_ext(file, damage=seen)]
    assert np.stack(columns[1:], axis=1).tolist() == [list(unit) for unit in units]
    again = None if seen is None else Seen()
    batches = list(read_ext_units_of([file], damage=again))
    assert sum(batch.num_rows for batch in batches) == len(units)
    assert again is None or seen is None or again.rows == seen.rows


def read_times(file: StoreFile, seen: Seen | None) -> None:
    found = read_checkpoint(file, damage=seen)
    if found is not None:
        assert checkpoint_to_batch(file, found).num_rows == 1


def read_epoch_lines(file: StoreFile, seen: Seen | None) -> None:
    found = read_epochs([file], damage=seen)
    if found is not None:
        epochs = found[1]
        assert epochs_to_batch(file.name, epochs).num_rows == len(epochs)
        again = decode_epochs(encode_epochs(epochs))
        assert [entry.start_physical_offset for entry in again] == [entry.start_physical_offset for entry in epochs]


def read_timers(file: StoreFile, seen: Seen | None) -> None:
    rows = sum(batch.num_rows for batch in read_timerlog([file], damage=seen))
    assert rows * TIMER_UNIT.size <= file.size


def read_configuration(file: StoreFile, seen: Seen | None) -> None:
    files = [file]
    read_document(files, file.name.removesuffix(".bak"), damage=seen)
    offsets_to_batch(read_offsets(files, damage=seen))
    read_delay_offsets(files, damage=seen)
    topics_to_batch(read_topics(files, damage=seen))
    groups_to_batch(read_groups(files, damage=seen))
    queue_mappings_to_batch(read_queue_mappings(files, damage=seen))
    read_filters(files, damage=seen)
    tiered = read_tiered_metadata(files, damage=seen)
    folder = file.path.parent
    if tiered is not None:
        list(told_queues(tiered))
        for segment in tiered.segments:
            assert all(path.is_relative_to(folder) for path in segment_files(folder, segment))


READERS: dict[str, Callable[[StoreFile, Seen | None], object]] = {
    "consumequeue": read_classic,
    "batchconsumequeue": read_batches,
    "consumequeue_ext": read_ext_units,
    "compaction_log": read_copied,
    "compaction_queue": read_sparse,
    "index": read_entries,
    "dledger_index": read_entry_units,
    "dledger_state": lambda file, seen: read_state([file], damage=seen),
    "checkpoint": read_times,
    "epochs": read_epoch_lines,
    "timerlog": read_timers,
    "timerwheel": lambda file, seen: read_wheel(file, damage=seen),
    "timercheck": lambda file, seen: read_timercheck(file, damage=seen),
    "config": read_configuration,
}


def typed_error(reader: Callable[[StoreFile, Seen | None], object], file: StoreFile) -> StoreFormatError | None:
    """What the reader raises; any other exception is a failure of the test."""
    try:
        reader(file, None)
    except StoreFormatError as error:
        return error
    return None


def expected_bytes(file: StoreFile) -> int:
    """Bytes of a queue's last file that must be rows or damage: the written units, and a torn end."""
    whole = file.size // CQ_UNIT.size * CQ_UNIT.size
    written = written_bytes(np.frombuffer(map_file(file.path), np.uint8))
    return min(ceil(written / CQ_UNIT.size) * CQ_UNIT.size, whole) + file.size % CQ_UNIT.size
