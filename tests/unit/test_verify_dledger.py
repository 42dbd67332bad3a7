"""A small store with a DLedger log: clean as built, and each damage one finding of its kind at its place."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from parsers.commitlog.dledger_headers.layout import ENTRY_HEADER, ENTRY_INDEX_UNIT, HEADER_SIZE
from parsers.commitlog.record.layout import HEAD
from pipelines.cli.commands.broker.forecast_words import in_words
from pipelines.report.facts.store import facts_of_store
from pipelines.report.sections.forecast import forecast_section, loss_section
from recovery.rebuild.rebuild import rebuild
from recovery.verify.findings.finding import Finding
from recovery.verify.verify import verify
from tests.support.build_store import SETTINGS, VERSION, overwrite, shop
from tests.support.dledger_log import NODE, DLedgerLog
from tests.support.opened import opened

Damage = Callable[[DLedgerLog], str]
"""Damages a store and returns the file that the finding has to name."""

BODY_AT = 88
DATA, INDEX = f"{NODE}/data/{0:020d}", f"{NODE}/index/{0:020d}"


@pytest.fixture
def log(tmp_path: Path) -> DLedgerLog:
    """The shop's messages in a DLedger log, with queues and index made from it, and the shop's configuration."""
    plain = shop(tmp_path / "plain")
    log = DLedgerLog(tmp_path / "store")
    for message in plain.records:
        log.put(message)
    log.finish()
    plain.finish()
    os.replace(plain.root / "checkpoint", log.root / "checkpoint")
    os.replace(plain.root / "config", log.root / "config")
    rebuild(*opened(log.root, VERSION, SETTINGS), tmp_path / "made")
    for folder in (tmp_path / "made").iterdir():
        os.replace(folder, log.root / folder.name)
    return log


def findings_of(root: Path) -> tuple[Finding, ...]:
    return verify(*opened(root, VERSION, SETTINGS)).findings


def header_write(log: DLedgerLog, field: str, data: bytes) -> str:
    overwrite(log.root / DATA, log.headers[4].position + ENTRY_HEADER.offsets[field], data)
    return DATA


def message_write(log: DLedgerLog, at: int, data: bytes) -> str:
    overwrite(log.root / DATA, log.headers[4].position + HEADER_SIZE + at, data)
    return DATA


def unit_write(log: DLedgerLog, field: str, data: bytes) -> str:
    overwrite(log.root / INDEX, 4 * ENTRY_INDEX_UNIT.size + ENTRY_INDEX_UNIT.offsets[field], data)
    return INDEX


def state_write(log: DLedgerLog, name: str, text: str) -> str:
    (log.root / NODE / name).write_text(text)
    return f"{NODE}/{name}"


DAMAGES: dict[str, tuple[str, Damage]] = {
    "magic": ("entry_header_wrong", lambda log: header_write(log, "magic", b"\1")),
    "number": ("entry_header_wrong", lambda log: header_write(log, "entry_index", b"\1")),
    "term": ("entry_header_wrong", lambda log: header_write(log, "term", b"\1")),
    "position": ("entry_header_wrong", lambda log: header_write(log, "position", b"\1")),
    "indexed place": ("entry_index_wrong", lambda log: unit_write(log, "position", b"\1")),
    "indexed size": ("entry_index_wrong", lambda log: unit_write(log, "entry_size", b"\1")),
    "indexed number": ("entry_index_wrong", lambda log: unit_write(log, "entry_index", b"\1")),
    "checkpoint": ("dledger_state_wrong", lambda log: state_write(log, "checkpoint", "endIndex=99\n")),
    "term before": ("dledger_state_wrong", lambda log: state_write(log, "currterm", "currTerm=-1\n")),
    "message": ("log_damaged", lambda log: message_write(log, HEAD.offsets["magic_code"], b"\0")),
    "body": ("body_crc_wrong", lambda log: message_write(log, BODY_AT, b"B")),
}


def test_the_undamaged_store_has_no_finding(log: DLedgerLog) -> None:
    assert findings_of(log.root) == ()


@pytest.mark.parametrize("what", sorted(DAMAGES))
def test_a_damage_is_one_finding_of_its_kind_at_its_place(what: str, log: DLedgerLog) -> None:
    kind, damage = DAMAGES[what]
    place = damage(log)
    (found,) = findings_of(log.root)
    assert found.kind == kind
    assert [named.file for named in found.places] == [place]
    assert found.evidence


def test_an_index_that_is_gone_is_one_finding(log: DLedgerLog) -> None:
    shutil.rmtree(log.root / NODE / "index")
    found = findings_of(log.root)
    assert {one.kind for one in found} == {"entry_index_wrong"}
    assert sum(one.count for one in found) == len(log.headers)


def test_units_that_are_left_behind_the_logs_end_are_no_finding(log: DLedgerLog) -> None:
    """A follower that was told to cut its log leaves them until it writes over them."""
    unit = (log.root / INDEX).read_bytes()[4 * ENTRY_INDEX_UNIT.size :][: ENTRY_INDEX_UNIT.size]
    overwrite(log.root / INDEX, len(log.headers) * ENTRY_INDEX_UNIT.size, unit)
    assert findings_of(log.root) == ()


def test_nothing_is_called_lost_that_only_other_replicas_know(log: DLedgerLog) -> None:
    facts = facts_of_store(*opened(log.root, VERSION, SETTINGS))
    assert forecast_section(facts).state == "unknown"
    assert loss_section(facts.forecast or {}).verdict == "What would be lost is not known."
    assert [row["kind"] for row in facts.regions][:2] == ["messages", "blank"]
    assert sum(topic["messages"] for topic in facts.topics) == len(log.headers)
    words = list(in_words(facts.forecast or {}, 100))
    assert any(line.startswith("CommitLog") and f"0 to {log.end:,}" in line for line in words)
