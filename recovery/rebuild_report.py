"""What a rebuild did, with what it assumed, and where its bytes cannot be those of the broker."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from recovery.index_files import IndexTotals
from recovery.inference import Inferred
from recovery.log_runs import LogGap
from recovery.queue_files import QueueTotals
from recovery.settings import StoreSettings
from recovery.versions import BrokerVersion


@dataclass(frozen=True, slots=True)
class RebuildReport:
    """Totals of one rebuild.

    Attributes:
        to: the new folder, holding consumequeue/, batchconsumequeue/ and index/ as far as there is anything in them.
        inferred: where version and settings come from, fact by fact.
        records, units, keys: records of the log, units written, index entries written.
        invalid: physical offsets of records that the broker takes for invalid (a DELAY that is no number): no units.
        gaps: byte ranges of the log that are neither records nor normal (damage, stale records).
        differences: what cannot be byte-identical to the files a broker wrote, and why.
    """

    to: Path
    version: BrokerVersion
    settings: StoreSettings
    inferred: tuple[Inferred, ...]
    records: int
    units: int
    keys: int
    queues: tuple[QueueTotals, ...]
    index_files: tuple[IndexTotals, ...]
    invalid: tuple[int, ...] = ()
    gaps: tuple[LogGap, ...] = ()
    differences: tuple[str, ...] = field(default=())

    def document(self) -> dict[str, Any]:
        """The report as JSON-ready values."""
        return {
            "to": str(self.to),
            "version": str(self.version),
            "settings": self.settings.as_config(),
            "inferred": [asdict(fact) for fact in self.inferred],
            "records": self.records,
            "units": self.units,
            "keys": self.keys,
            "queues": [asdict(queue) for queue in self.queues],
            "index_files": [asdict(index) for index in self.index_files],
            "invalid_records": list(self.invalid),
            "gaps": [
                {
                    "file": gap.file.path.name,
                    "file_pos": gap.file_pos,
                    "length": gap.length,
                    "kind": gap.kind,
                    "reason": gap.reason,
                }
                for gap in self.gaps
            ],
            "differences": list(self.differences),
        }


INDEX_NAMES = (
    "index file names: a broker takes its clock when it creates a file; here it is the store time (UTC) of the record "
    "that made the file necessary"
)


def differences(
    queues: tuple[QueueTotals, ...], first_offset: int, gaps: tuple[LogGap, ...], has_index: bool
) -> tuple[str, ...]:
    """Where §7.5 of the format notes says identity is impossible, for what this rebuild met."""
    found = [INDEX_NAMES] if has_index else []
    if first_offset > 0:
        found.append(
            f"the log starts at {first_offset}: the first file of a queue is pre-blank up to its first message where a "
            "broker that deleted older files has real units, and the first index file starts at another message"
        )
    if gaps:
        found.append(
            f"{len(gaps)} ranges of the log are no records: what a broker dispatched from there is not rebuilt"
        )
    shifted = [queue for queue in queues if queue.out_of_order]
    if shifted:
        names = ", ".join(f"{queue.topic}/{queue.queue_id}" for queue in shifted[:5])
        found.append(
            f"{len(shifted)} queues have holes in their offsets ({names}): later units are appended before their place"
        )
    return tuple(found)
