"""Records whose form a version does not know, found along the log."""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from parsers.commitlog.record.layout import MAGIC_V2, RECORD_START, SYS_FLAG_BORN_HOST_V6, SYS_FLAG_STORE_HOST_V6
from parsers.damage.runs import runs
from recovery.rules.versions import BrokerVersion
from recovery.scan.kernel import RecordColumns
from recovery.scan.log_runs import LogRun

LAST_OF_MAGIC = RECORD_START.size - 1
IPV6_HOSTS = SYS_FLAG_BORN_HOST_V6 | SYS_FLAG_STORE_HOST_V6


class Form(Enum):
    """A form of records with the first version that reads it."""

    V2 = "magic 0xDAA320AB: a topic with two bytes for its length", "5.1.0"
    IPV6 = "sysFlag 0x10, 0x20: a host with an IPv6 address", "4.6.0"

    @property
    def words(self) -> str:
        return self.value[0]

    @property
    def since(self) -> str:
        return self.value[1]


class NewerRecords(NamedTuple):
    """Records of one form, one after another in the log: bytes [start, end) of it."""

    form: Form
    start: int
    end: int
    records: int


def newer_records(run: LogRun, records: RecordColumns, version: BrokerVersion) -> Iterator[NewerRecords]:
    """The records of a run whose form the version does not know."""
    unread: list[tuple[Form, npt.NDArray[np.bool_]]] = []
    if not version.reads_v2_messages:
        unread.append((Form.V2, run.data[run.positions + LAST_OF_MAGIC] == MAGIC_V2 & 0xFF))
    if not version.reads_ipv6_hosts:
        unread.append((Form.IPV6, records.sys_flag & IPV6_HOSTS != 0))
    for form, mask in unread:
        for first, behind in runs(mask):
            start, last = int(records.physical_offset[first]), behind - 1
            end = int(records.physical_offset[last]) + int(records.total_size[last])
            yield NewerRecords(form, start, end, behind - first)
