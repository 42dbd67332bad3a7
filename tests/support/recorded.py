"""What recordings say of offsets, read for a test."""

from __future__ import annotations

from pathlib import Path

from pipelines.answers.offsets.heard_lines import OffsetLines
from pipelines.answers.offsets.record import OffsetRecord
from pipelines.recordings.listening import hear
from pipelines.recordings.recordings import find_recordings


def offset_record(*places: Path) -> OffsetRecord:
    """Of the logs and captures among files and folders, all of which must be readable."""
    lines, problems = OffsetLines(), list[str]()
    hear(find_recordings(places, problem=problems.append), [lines], problems.append)
    assert problems == []
    return lines.record()
