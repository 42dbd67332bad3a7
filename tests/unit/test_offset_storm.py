"""A night in which a broker corrected pulls by the thousand costs time in step with its lines."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from time import process_time

from pipelines.answers.offsets.event import OffsetEvent
from pipelines.answers.offsets.events import offset_events
from recovery.query.move_kind import MoveKind
from tests.support.recorded import offset_record

SMALL, LARGE = 500, 8_000
"""Corrected pulls; joined pairwise they would cost 16 times as much each."""
MOST_TIMES = 4
AFTER_MS = 7


def write_storm(folder: Path, pulls: int) -> None:
    """What a 5.x broker logs of pulls beyond the end, of the commits that follow, and of an admin who resets again and
    again."""
    lines = []
    for pull in range(pulls):
        seconds = pull * AFTER_MS // 1000
        stamp = f"2026-11-21 {seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}"
        group, topic, asked = f"G{pull % 20}", f"T{pull % 50}", 1000 + pull
        lines += [
            f"{stamp} INFO PullMessageThread_1 - the request offset: {asked} over flow badly, fix to 500, "
            f"broker max offset: 500, consumer: /10.0.0.9:4000",
            f"{stamp} WARN PullMessageThread_1 - PULL_OFFSET_MOVED:correction offset. topic={topic}, groupId={group}, "
            f"requestOffset={asked}, newOffset=500, suggestBrokerId=0",
            f"{stamp} WARN PullMessageThread_1 - [NOTIFYME]update consumer offset less than store. "
            f"clientHost=/10.0.0.9:4000, key={topic}@{group}, queueId=3, requestOffset=500, storeOffset={asked}",
        ]
        if pull % 5 == 0:
            lines.append(
                f"{stamp} INFO AdminBrokerThread_1 - [reset-offset] reset offset started by 10.0.0.1:4000. "
                f"topic={topic}, group=other, timestamp=-1, isForce=true"
            )
    (folder / "broker.log").write_text("\n".join(lines) + "\n", encoding="utf-8")


def cpu_of_pull(folder: Path, pulls: int) -> tuple[float, list[OffsetEvent]]:
    """CPU seconds for each corrected pull, the lesser of two turns, and the movements."""
    folder.mkdir()
    write_storm(folder, pulls)
    turns = []
    for _ in range(2):
        began = process_time()
        found = offset_events(offset_record(folder), [])
        turns.append((process_time() - began) / pulls)
    return min(turns), found


def test_a_storm_of_corrected_pulls_takes_linear_time(tmp_path: Path) -> None:
    small, _ = cpu_of_pull(tmp_path / "small", SMALL)
    large, found = cpu_of_pull(tmp_path / "large", LARGE)
    assert large < small * MOST_TIMES
    kinds = Counter(event.kind for event in found)
    assert kinds == {MoveKind.CORRECTED: LARGE, MoveKind.RESET_REFUSED: LARGE // 5}
    corrected = [event for event in found if event.kind is MoveKind.CORRECTED]
    assert {(event.queue_id, event.cause) for event in corrected} == {(3, "beyond the queue's end")}
