"""What a version that is said to be the broker's cannot read of a store that a newer one wrote."""

from __future__ import annotations

from collections.abc import Iterator

from parsers.store.store import Store
from recovery.rules.versions import BrokerVersion
from recovery.verify.checks.log.shape import LogShape
from recovery.verify.findings.finding import Finding, Judgement, Place, Span
from recovery.verify.settle.newer_records import Form, NewerRecords


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
