"""Every kind of finding, declared once: how bad it is, which side is right and why, what a start does, the repair."""

from __future__ import annotations

from recovery.verify.findings.checkpoint_kinds import CHECKPOINT_KINDS
from recovery.verify.findings.compaction_kinds import COMPACTION_KINDS
from recovery.verify.findings.config_kinds import CONFIG_KINDS
from recovery.verify.findings.database_kinds import DATABASE_KINDS
from recovery.verify.findings.dledger_kinds import DLEDGER_KINDS
from recovery.verify.findings.epoch_kinds import EPOCH_KINDS
from recovery.verify.findings.index_kinds import INDEX_KINDS
from recovery.verify.findings.kind import Kind
from recovery.verify.findings.log_kinds import LOG_KINDS
from recovery.verify.findings.queue_kinds import QUEUE_KINDS
from recovery.verify.findings.table_kinds import TABLE_KINDS
from recovery.verify.findings.tiered_kinds import TIERED_KINDS
from recovery.verify.findings.timer_kinds import TIMER_KINDS

KINDS: dict[str, Kind] = {
    **LOG_KINDS,
    **QUEUE_KINDS,
    **DLEDGER_KINDS,
    **EPOCH_KINDS,
    **INDEX_KINDS,
    **DATABASE_KINDS,
    **CHECKPOINT_KINDS,
    **TIMER_KINDS,
    **COMPACTION_KINDS,
    **CONFIG_KINDS,
    **TABLE_KINDS,
    **TIERED_KINDS,
}
