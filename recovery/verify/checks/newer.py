"""What a version that is said to be the broker's cannot read of a store that a newer one wrote."""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from parsers.commitlog.layout import MAGIC_V2, RECORD_START, SYS_FLAG_BORN_HOST_V6, SYS_FLAG_STORE_HOST_V6
from parsers.runs import runs
from parsers.store import Store
from recovery.rules.versions import BrokerVersion
from recovery.scan.kernel import RecordColumns
from recovery.scan.log_runs import LogRun
from recovery.verify.checks.log import LogShape
from recovery.verify.findings.finding import Finding, Judgement, Place, Span

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


def check_newer(store: Store, shape: LogShape, found: list[NewerRecords], version: BrokerVersion) -> Judgement:
    """`found` in log order. One finding for each form of record, and for each kind of queue, unknown to the version."""
    findings = [_records_finding(form, shape, found, version) for form in Form if any(form is of for of, *_ in found)]
    if store.batch_queues and not version.has_batch_queues:
        findings.append(_folder_finding("batchconsumequeue", "queues of type BatchCQ", "5.0.0", version))
    if store.queue_database is not None and not version.keeps_queues_in_rocksdb:
        folder = store.queue_database.path.name
        findings.append(_folder_finding(folder, "queues in a RocksDB database", "5.2.0", version))
    return Judgement(tuple(findings))


def _records_finding(form: Form, shape: LogShape, found: list[NewerRecords], version: BrokerVersion) -> Finding:
    of_form = [each for each in found if each.form is form]
    start, end, count = of_form[0].start, of_form[-1].end, sum(each.records for each in of_form)
    return Finding(
        "record_of_newer_version",
        Span(physical_offset=start, end_physical_offset=end),
        tuple(place for first, behind in _neighbours(of_form) for place in shape.places(first, behind)),
        count,
        (f"{count} records, the first at physical offset {start}: {form.words}", f"{version} is before {form.since}"),
    )


def _neighbours(found: list[NewerRecords]) -> Iterator[tuple[int, int]]:
    """Bytes of the log that the records take, those that follow one another together."""
    start, end = found[0].start, found[0].end
    for each in found[1:]:
        if each.start > end:
            yield start, end
            start = each.start
        end = each.end
    yield start, end


def _folder_finding(folder: str, what: str, since: str, version: BrokerVersion) -> Finding:
    evidence = (f"{folder}/ holds {what}", f"{version} is before {since}")
    return Finding("queues_of_newer_version", Span(), (Place(folder, 0, 0),), 1, evidence)
