"""Runs of valid records taken from a file at once, where nothing but the compiled check is asked for."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from recovery.broker.message_check_kernel import Accepts, walk_valid
from recovery.rules.dispatch import DispatchRules
from recovery.rules.settings import StoreSettings
from recovery.scan.kernel import INVALID, ScanBatch
from recovery.scan.property_spans import SPANS
from recovery.scan.scanner import LogScanner

RECORDS_PER_RUN = 1 << 15
WORTH_A_RUN = 1 << 10
"""Bytes left in a file below which the readable check is as quick."""


@dataclass(slots=True)
class RecordRuns:
    """Takes runs under one set of rules. `possible` is False where each record has to be asked the readable check.

    `before`: bytes of a DLedger entry's header before each record, 0 in another log.
    """

    rules: DispatchRules
    possible: bool
    before: int = 0
    scanner: LogScanner = field(init=False)

    def __post_init__(self) -> None:
        self.scanner = LogScanner(self.rules)

    @classmethod
    def under(cls, rules: DispatchRules, settings: StoreSettings, before: int = 0) -> RecordRuns:
        asked_more = (
            settings.duplication_enable
            or settings.force_verify_prop_crc
            or settings.check_commit_log_offset_on_recover
            or settings.enable_controller_mode
        )
        return cls(rules, not asked_more, before)

    def take(self, readable: memoryview, at: int, *, crc: bool) -> ScanBatch | None:
        """The plainly valid records from byte `at` on, None where the readable check has to look at the first one."""
        if not self.possible or len(readable) - at < WORTH_A_RUN:
            return None
        data, positions = np.frombuffer(readable, np.uint8), np.empty(RECORDS_PER_RUN, np.int64)
        version = self.rules.version
        accepts = Accepts(version.reads_v2_messages, not crc, not version.keeps_property_values_with_separators)
        count, _ = walk_valid(data, at, accepts, self.before, np.empty(SPANS, np.int64), positions)
        if not count:
            return None
        batch = self.scanner.scan(data, positions[:count])
        refused = np.flatnonzero(batch.records.state == INVALID)
        if not len(refused):
            return batch
        return self.scanner.scan(data, positions[: refused[0]]) if refused[0] else None
