"""What recordings may take of memory, whatever is in them."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from parsers.damage.errors import TooLarge
from parsers.layouts.fastjson import parse
from pipelines.recordings.pcap import CaptureCounts, _Reader, records_from_pcap
from rebalance.model import budget
from rebalance.model.budget import OverBudget, json_cost
from rebalance.model.json_text import parse_json
from rebalance.readers.logs import LogReader
from rebalance.readers.logs.lines.order import EntryOrder
from tests.support.cli import call, small_store
from tests.support.fixtures import GOLDEN
from tests.support.pcap import Wire, as_pcap
from tests.support.peak_memory import grown_mib

SESSION = GOLDEN / "rebalance" / "sessions" / "h-533-quiet"
MOST_MIB = 900


def lines_without_zone(count: int, width: int) -> Iterator[bytes]:
    """Lines in the JVM's zone, which none of them tells."""
    for number in range(count):
        second = number % 60
        yield b"2026-11-21 15:09:%02d,001 INFO RocketmqClient - lockBatchMQ exception, g%s\n" % (second, b"x" * width)


def test_lines_wait_for_their_zone_within_the_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(budget, "WAITING_LINES_BYTES", 10_000)
    reader, most = LogReader(), 0
    for event in EntryOrder().ordered(reader.events(lines_without_zone(2000, 400))):
        most = max(most, reader._waiting_bytes)
        assert event.early_ms > 0
    assert reader.summary.recognised == 2000
    assert most <= 10_000 + 600


def replay_lines_without_zone(path: Path) -> None:
    called = call("replay", path)
    assert "2,000 recognised" in called.err


def test_a_megabyte_of_gzip_is_no_gigabyte_of_memory(tmp_path: Path) -> None:
    path = tmp_path / "rocketmq_client.log.gz"
    with gzip.open(path, "wb", compresslevel=9) as packed:
        packed.writelines(lines_without_zone(2000, 512 << 10))
    assert path.stat().st_size < 3 << 20
    assert grown_mib(replay_lines_without_zone, path) < MOST_MIB


@pytest.mark.parametrize("unit", [b"{},", b'{"a":{}},', b"[],", b"0,", b'"a",'])
def test_the_cost_of_values_is_not_told_too_low(unit: bytes) -> None:
    import tracemalloc

    text = b"[" + unit * 20_000 + b"0]"
    tracemalloc.start()
    held = json.loads(text)
    assert len(held) == 20_001
    assert tracemalloc.get_traced_memory()[0] < 1.1 * json_cost(text)
    tracemalloc.stop()


def test_a_document_of_too_many_values_is_refused(tmp_path: Path) -> None:
    bomb = b"[" + b"{}," * 4_000_000 + b"0]"
    with pytest.raises(TooLarge, match="more values"):
        parse(bomb)
    with pytest.raises(OverBudget):
        parse_json(bomb)
    (tmp_path / "1795000000000.consumerOffset.json.gz").write_bytes(gzip.compress(bomb))
    called = call(
        "lag", small_store(tmp_path / "store"), "--offsets", tmp_path / "1795000000000.consumerOffset.json.gz"
    )
    assert called.code == 3
    assert "more values" in called.err


@pytest.mark.parametrize("more", [["--more-queues", str(10**20)], ["--more-clients", str(10**12)]])
def test_what_if_refuses_what_nothing_could_hold(more: list[str]) -> None:
    called = call("what-if", SESSION / "logs", *more)
    assert called.code == 2
    assert "more than there is room for" in called.err


def test_recordings_beyond_the_budget_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    assert call("replay", SESSION / "logs").code in (0, 1)
    monkeypatch.setattr(budget, "BUDGET_BYTES", 10_000)
    called = call("replay", SESSION / "logs")
    assert called.code == 3
    assert "rocketlens ingest" in called.err
    monkeypatch.setenv("ROCKETLENS_MEMORY_MIB", "100")
    assert call("replay", SESSION / "logs").code in (0, 1)


def test_frames_that_never_end_are_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    wire = Wire()
    for number in range(300):
        wire.send(1000 + number, f"10.0.0.1:{20_000 + number}", True, b"\0\xff\xff\xff\0\0\0\x20" + b"{" * 20_000)
    capture = as_pcap(wire.packets)
    monkeypatch.setattr(budget, "UNFINISHED_FRAMES_BYTES", 1 << 20)
    counts: list[CaptureCounts] = []
    most = 0
    given_up = _Reader._give_up_what_is_too_much

    def watched(reader: _Reader) -> None:
        nonlocal most
        given_up(reader)
        most = max(most, reader._waiting_bytes)
        assert reader._waiting_bytes == sum(one.waiting_bytes for one in reader._directions.values())

    monkeypatch.setattr(_Reader, "_give_up_what_is_too_much", watched)
    assert list(records_from_pcap(capture, broker_ports=[10911], on_end=counts.append)) == []
    assert 0 < most <= 1 << 20
    assert counts[0].holes > 200
