"""What a forecast says of config/, for a person."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pipelines.answers.losses import CONFIG, counted

Document = Mapping[str, Any]
NAMES_SHOWN = 20


def decided_by_config(config: Document | None) -> Iterator[tuple[str, str]]:
    """Lines for the files of which the broker does not take the main one, and for what a start takes away."""
    if config is None:
        return
    if not config["has_files"]:
        yield "config", "no file of a broker is there: its topics, groups and offsets are not known, see below"
    for file in config["files"]:
        if file["used"] == "bak":
            yield "config", f"{file['file']} is {file['main']}: its .bak is taken ({counted(file['rows'], 'row')})"
        elif not file["loads"]:
            yield "config", f"{file['file']} and its .bak cannot be read"
    for each in config["destroyed"]:
        yield "goes over", f"{each['file']} is {each['how']} by this start, it holds now: {each['held']}"


def named_config(config: Document | None) -> Iterator[str]:
    """A line for each kind, with names."""
    if config is None:
        return
    lost, counts = config["lost"], config["lost_counts"]
    for name, (one, what) in CONFIG.items():
        if lost[name]:
            yield f"{counted(counts[name], one)} {what}: {_some([str(each) for each in lost[name]], counts[name])}"
    if lost["offsets"]:
        rows = [f"{row['group']} on {row['topic']}/{row['queue_id']} at {row['offset']}" for row in lost["offsets"]]
        count = counts["offsets"] or len(rows)
        yield f"{counted(count, 'committed offset')}: {_some(rows, count)}"
    for row in config["gone_back"][:NAMES_SHOWN]:
        queue = f"{row['topic']}/{row['queue_id']}"
        yield f"{row['group']} on {queue} goes back from {row['from_offset']} to {row['to_offset']}"


def _some(names: list[str], count: int) -> str:
    more = count - NAMES_SHOWN
    return ", ".join(names[:NAMES_SHOWN]) + (f" and {more:,} more" if more > 0 else "")
