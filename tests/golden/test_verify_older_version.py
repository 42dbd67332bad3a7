"""`verify` of a version that is older than the store: what it cannot read is named, before it is started."""

from __future__ import annotations

import pytest

from parsers.commitlog.batches.read import read_commitlog
from parsers.commitlog.record.layout import MAGIC_V2
from recovery.forecast.forecast import forecast
from recovery.verify.verify import verify
from tests.support.opened import opened
from tests.support.stores import store_root

RECORD, QUEUES = "record_of_newer_version", "queues_of_newer_version"
NEWER = (RECORD, QUEUES)


def newer_kinds(name: str, version: str) -> list[str]:
    findings = verify(*opened(store_root(name), version)).findings
    return [finding.kind for finding in findings if finding.kind in NEWER]


@pytest.mark.parametrize(
    ("name", "version", "kinds"),
    [
        ("5.3.3-clean", "5.3.3", []),
        ("5.3.3-clean", "4.9.8", [RECORD]),
        ("4.9.7-ipv6", "4.9.7", []),
        ("4.9.7-ipv6", "4.5.2", [RECORD]),
        ("5.3.3-batchcq", "4.9.8", [QUEUES]),
        ("5.5.0-rocksdb", "5.1.4", [QUEUES]),
        ("5.5.0-rocksdb", "5.5.0", []),
    ],
)
def test_what_the_version_cannot_read_is_named(name: str, version: str, kinds: list[str]) -> None:
    assert newer_kinds(name, version) == kinds


def test_the_records_named_are_those_that_the_start_gives_up() -> None:
    store, known = opened(store_root("5.3.3-clean"), "4.9.8")
    batches = read_commitlog(store, columns=["magic_code", "physical_offset"])
    v2 = [row["physical_offset"] for batch in batches for row in batch.to_pylist() if row["magic_code"] == MAGIC_V2]
    (found,) = (finding for finding in verify(store, known).findings if finding.kind == RECORD)
    assert (found.count, found.span.physical_offset) == (len(v2), v2[0])
    assert forecast(store, known, with_advice=False).outcome.log_end in v2


def test_a_guessed_version_is_held_against_nothing() -> None:
    store, known = opened(store_root("5.3.3-clean"))
    assert not known.version_is_said
    assert verify(store, known).findings == ()
