"""A command that is given logs parses each of them once, whatever it asks of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from pipelines.answers.recorded import logged
from pipelines.lake.configuration.sources import BrokerSource
from pipelines.recordings.recordings import Recording
from rebalance.readers.logs.lines.reader import LogEvent, LogReader
from tests.support.cli import call
from tests.support.incidents import incident

CASE = "4.9.7-offsets-reset"


@pytest.fixture
def parsed(monkeypatch: pytest.MonkeyPatch) -> Counter[bytes]:
    """How often the first line of each log was given to a reader."""
    firsts: Counter[bytes] = Counter()
    events = LogReader.events

    def counted(reader: LogReader, lines: Iterable[bytes | str]) -> Iterator[LogEvent]:
        def noted() -> Iterator[bytes | str]:
            for number, line in enumerate(lines):
                if number == 0:
                    firsts[line if isinstance(line, bytes) else line.encode()] += 1
                yield line

        yield from events(reader, noted())

    monkeypatch.setattr(LogReader, "events", counted)
    return firsts


@pytest.mark.parametrize("command", ["episodes", "groups", "lives", "offsets", "report", "who"])
def test_a_command_parses_each_log_once(command: str, parsed: Counter[bytes], tmp_path: Path) -> None:
    case = incident(CASE)
    more: dict[str, list[str | Path]] = {
        "episodes": ["--offsets", case.truth / "offset_history"],
        "report": ["--out", tmp_path / "report.html"],
        "who": ["--message-id", next(case.lines("sends.jsonl.gz"))["uniqKey"]],
    }
    call(command, case.root, "--logs", case.logs, *more.get(command, []))
    assert parsed
    assert set(parsed.values()) == {1}


def test_an_ingest_that_makes_several_tables_parses_each_log_once(parsed: Counter[bytes]) -> None:
    case = incident(CASE)
    broker = BrokerSource("broker-a", case.root, logs=case.logs)
    first, again = logged.lives_logged(broker), logged.lives_logged(broker)
    assert first is again
    assert set(parsed.values()) == {1}
    record, behind, _ = logged.lines_logged(broker)
    assert record.statements
    assert logged.offsets_logged(broker) is record
    assert logged.lines_logged(broker).behind is behind
    assert max(parsed.values()) == 2


def test_a_log_that_grew_is_parsed_again(tmp_path: Path) -> None:
    log = tmp_path / "broker.log"
    line = "2026-11-21 03:12:{:02d} INFO main - The broker[broker-a, 10.0.0.1:10911] boot success.\n"
    log.write_text(line.format(1))
    broker = BrokerSource("broker-a", tmp_path, logs=tmp_path)
    assert len(logged.lines_logged(broker).record.boots) == 1
    log.write_text(line.format(1) + line.format(9))
    assert len(logged.lines_logged(broker).record.boots) == 2


def test_a_log_that_is_rotated_away_meanwhile_stops_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "broker.log").write_text(
        "2026-11-21 03:12:01 INFO main - The broker[a, 10.0.0.1:10911] boot success.\n"
    )
    find = logged.find_recordings

    def rotating(*given: Any, **named: Any) -> list[Recording]:
        found = find(*given, **named)
        (tmp_path / "broker.log").unlink(missing_ok=True)
        return found

    monkeypatch.setattr(logged, "find_recordings", rotating)
    assert logged.lines_logged(BrokerSource("a", tmp_path, logs=tmp_path)).record.boots == []
