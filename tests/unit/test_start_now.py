"""Forecast and outlook for reading, on stores that have nothing to break, nothing to keep, or no way to start."""

from __future__ import annotations

from pathlib import Path

import pytest

from parsers.store.store import NotAStore
from pipelines.notebook.retention_plot import retention_plot
from pipelines.notebook.show import show
from pipelines.notebook.start_now import StartNow, outlook, start_now
from pipelines.report.sections.forecast import forecast_section, loss_section, retention_section
from recovery.knowledge.knowledge import Said
from recovery.rules.versions import BrokerVersion
from tests.support.recovery_cases import golden_cases

CASES = golden_cases()


def texts(root: Path, said: Said, start: StartNow) -> str:
    """Everything that the notebook shows of a store and its start."""
    document = start.document
    ahead = outlook(root, said, pytest.fail)
    sections = [forecast_section(start.facts), loss_section(document), retention_section(ahead.facts)]
    tables = [start.bytes_at_break(start.store.root), start.ways(), start.lost_by_queue(), start.queues()]
    assert retention_plot(ahead).axes
    return "".join([show(each)._repr_html_() for each in sections] + [show(each)._repr_html_() for each in tables])


@pytest.mark.parametrize("name", CASES.one_of_each_class())
def test_a_store_of_every_class_of_damage_can_be_shown(name: str) -> None:
    case = CASES.case(name)
    with CASES.built(case) as root:
        try:
            said = Said(BrokerVersion.parse(case["version"]))
            start = start_now(root, said)
        except NotAStore:
            assert case["base"] == "empty" or not (root / "commitlog").is_dir()
            return
        assert f"{case['version']}" in texts(root, said, start)
        lost = start.lost_by_queue().rows
        assert sum(row["count"] for row in lost) == sum(start.told.outcome.lost.values())
        ways = start.ways().rows
        assert ways[0]["lost_messages"] == start.told.outcome.lost_messages
        assert len(ways) == 1 + len(start.told.advice)
        if start.breaks_at is not None:
            first = start.bytes_at_break(start.store.root).rows[0]
            assert first["file_pos"] <= start.breaks_at.file_pos < first["file_pos"] + first["length"]


def test_a_store_without_a_log(tmp_path: Path) -> None:
    (tmp_path / "abort").touch()
    start = start_now(tmp_path)
    assert "Nothing would be lost" in texts(tmp_path, Said(), start)
    assert start.breaks_at is None


def test_settings_by_their_own_names(tmp_path: Path) -> None:
    (tmp_path / "abort").touch()
    said = Said.read(config={"flushDiskType": "SYNC_FLUSH"})
    assert start_now(tmp_path, said).settings.flush_disk_type == "SYNC_FLUSH"
