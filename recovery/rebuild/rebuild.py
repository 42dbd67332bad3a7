"""Rebuild consumequeue/ and index/ from the CommitLog alone, into a new directory, byte for byte as a broker would.

The store is only read. The new directory appears under its name when it is complete.
"""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

from parsers.evidence.guard import EvidenceGuard
from parsers.index.geometry import Geometry
from parsers.store.store import Store
from recovery.knowledge.inference import StoreKnowledge
from recovery.lives.numbering import NumberingNotes
from recovery.lives.topic_lives import lives_from
from recovery.rebuild.ext_files import write_ext_units
from recovery.rebuild.filter_bits import filter_bits
from recovery.rebuild.index_files import IndexFilesWriter, IndexTotals
from recovery.rebuild.lives import with_living_only
from recovery.rebuild.queue_files import QueueFilesWriter, QueueTotals
from recovery.rebuild.report import RebuildReport, ScanTotals, ext_differences, report_of
from recovery.scan.log_runs import log_runs
from recovery.scan.scan_ahead import scanned_ahead
from recovery.scan.topic_table import TopicTable


def rebuild(store: Store, known: StoreKnowledge, to: Path) -> RebuildReport:
    """Write a complete new consumequeue/, batchconsumequeue/ and index/ into `to`, which must not exist yet.

    With enableConsumeQueueExt consumequeue_ext/ is made, too.

    The report says which settings were inferred from the files, and how.
    Damaged stretches of the log are passed over and reported; every well-formed record that stands where it says is
    dispatched. The queues hold the living messages of each topic: those of former lives are left out, and the report
    names them (`recovery.lives.topic_lives`). Memory: a run of records for each core and three more, one index file.

    Raises:
        ValueError: `to` exists and is not an empty folder.
        WouldTouchEvidence: `to` lies inside the store.
        OSError: the new directory cannot be written.
    """
    with EvidenceGuard(*store.places).new_folder(to, "--to") as partial:
        return _Rebuild(store, partial, known).run(to)


def index_files(root: Path, known: StoreKnowledge) -> IndexFilesWriter:
    """The writer of a new store's index/."""
    geometry = Geometry(known.settings.max_hash_slot_num, known.settings.max_index_num)
    return IndexFilesWriter(root / "index", geometry, known.version)


def living_report(
    store: Store,
    known: StoreKnowledge,
    root: Path,
    to: Path,
    scanned: ScanTotals,
    queues: Iterable[QueueTotals],
    index_files: Iterable[IndexTotals],
) -> RebuildReport:
    """The report on queues and index written into `root`, once the queues hold living messages only."""
    lives = lives_from(store, scanned.numbering, known.topic_events)
    if lives.living_from:
        queues = with_living_only(store, known, root, lives, queues)
    queues = list(queues)
    bits = filter_bits(store, known)
    has_ext = known.settings.enable_consume_queue_ext
    ext = list(write_ext_units(store, known, bits, root, queues)) if has_ext else []
    report = report_of(store, known, to, scanned, queues, index_files, lives)
    doubts = tuple(ext_differences(bits, ext))
    return replace(report, ext=tuple(ext), ext_doubts=doubts, differences=(*doubts, *report.differences))


class _Rebuild:
    """One pass over the log: threads scan the next runs while the queues, and beside them the index, are written."""

    def __init__(self, store: Store, root: Path, known: StoreKnowledge) -> None:
        self._store, self._known = store, known
        self._topics = TopicTable(known.rules)
        self._root, self._numbering = root, NumberingNotes(self._topics)
        self._queues = QueueFilesWriter.of(root, self._topics, known.settings)
        self._index = index_files(root, known)
        self._totals = ScanTotals()

    def run(self, to: Path) -> RebuildReport:
        runs = log_runs(self._store.commitlog, self._totals.note_gap, releases=False)
        with ThreadPoolExecutor(max_workers=1) as beside:
            indexed = beside.submit(lambda: None)
            for batch in scanned_ahead(runs, self._known.rules, self._topics):
                indexed.result()
                if self._known.settings.writes_index_files:
                    indexed = beside.submit(self._index.write, batch)
                self._queues.write(batch)
                self._numbering.take(batch)
                self._totals.count(batch)
            indexed.result()
        self._queues.close()
        self._index.close()
        self._totals.numbering = self._numbering.close()
        found, totals = self._queues.totals(), self._index.totals
        return living_report(self._store, self._known, self._root, to, self._totals, found, totals)
