"""The bar of an ingest: whom it is shown to, what it tells, and that it goes on."""

from __future__ import annotations

import io
import re
import sys
import threading

import pytest
from rich.console import Console
from rich.text import Text

from pipelines.cli.commands.lake.ingest_bar import IngestBar
from pipelines.cli.frame.asked.options import Format, OutputOptions
from pipelines.cli.frame.call.progress import wanted
from pipelines.cli.frame.call.run import Run
from pipelines.ingest.reading import Amount, Reading

LOOKS = 5
"""After so many the bar has drawn what the earlier ones told, and knows a rate."""


@pytest.mark.parametrize(("format_", "bar"), [(None, True), (Format.TABLE, True), (Format.JSONL, False)])
def test_ingest_has_a_bar_where_no_json_shares_the_terminal(
    format_: Format | None, bar: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    for stream in (sys.stdout, sys.stderr):
        monkeypatch.setattr(stream, "isatty", lambda: True)
    assert wanted(Run(OutputOptions(format_)), table_follows=True) is bar
    assert not wanted(Run(OutputOptions(format_, quiet=True)), table_follows=True)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: False)
    assert not wanted(Run(OutputOptions(format_)), table_follows=True)


def drawn(monkeypatch: pytest.MonkeyPatch, width: int, reading: Reading, *shares: float | Exception) -> str:
    """All that the bar writes while it asks for the share done and is told each of `shares`, the last one again."""
    told, asked, out = [*shares], threading.Semaphore(0), io.StringIO()
    console = Console(file=out, force_terminal=True, width=width)
    monkeypatch.setattr("rich.console.Console", lambda **given: console)
    monkeypatch.setattr("pipelines.cli.commands.lake.ingest_bar.wanted", lambda run, table_follows: True)
    monkeypatch.setattr("pipelines.cli.commands.lake.ingest_bar.SECONDS_BETWEEN_LOOKS", 0.01)

    def share_done() -> float:
        asked.release()
        share = told.pop(0) if len(told) > 1 else told[0]
        if isinstance(share, Exception):
            raise share
        return share

    with IngestBar(Run(OutputOptions()), share_done) as bar:
        bar(reading)
        for _ in range(LOOKS):
            assert asked.acquire(timeout=10), "the thread goes on"
    return out.getvalue()


def test_it_tells_files_of_all(monkeypatch: pytest.MonkeyPatch) -> None:
    reading = Reading("broker-a", "queues", Amount(4, 4_000_000), Amount(6, 6_000_000), Amount(10, 10_000_000))
    assert "6 of 10 files" in drawn(monkeypatch, 160, reading, 0.0)
    text = drawn(monkeypatch, 160, reading, 0.5)
    assert "broker-a: queues" in text
    assert "8 of 10 files" in text, "half of the four that are read now"
    assert "8.0/10.0 MB" in text


@pytest.mark.parametrize("broker", ["broker-a", "orders-primary-of-berlin-a"])
def test_it_has_one_line_at_80_columns(broker: str, monkeypatch: pytest.MonkeyPatch) -> None:
    amounts = Amount(20, 488_000_000), Amount(6_100, 5_530_000_000), Amount(12_500, 8_880_000_000)
    text = drawn(monkeypatch, 80, Reading(broker, "commitlog_regions", *amounts), 0.5)
    shown = Text.from_ansi(text.split("\r")[-2]).plain
    assert "6,110 of 12,500 files" in shown
    assert re.search(r"5\.8/8\.9 GB .* 0:\d\d:\d\d", shown), shown


def test_it_goes_on_without_spark_and_never_back(monkeypatch: pytest.MonkeyPatch) -> None:
    reading = Reading("broker-a", "queues", Amount(4, 4_000_000), Amount(0, 0), Amount(4, 4_000_000))
    text = drawn(monkeypatch, 160, reading, 0.75, OSError("the driver has ended"), 0.25)
    assert re.findall(r"(\d) of 4 files", text)[-1] == "3", "a later job of the table begins at 0"
