"""What a forecast says of config/, for a person."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pipelines.report.figures import counted

Document = Mapping[str, Any]
NAMES_SHOWN = 20
KINDS = {
    "topics": ("topic", "without a configuration: clients find no route to them"),
    "groups": ("group", "without their settings"),
    "groups_without_offsets": ("group", "without their committed offsets, of which no copy is left"),
    "delay_levels": ("delay level", "delivered anew from their queue's minimum"),
}
"""A list of `config.lost` -> one of it in words, and what becomes of it."""


def decided_by_config(config: Document | None) -> Iterator[tuple[str, str]]:
    """Lines for the files of which the broker does not take the main one, and for what a start takes away."""
    if config is None:
        return
    for file in config["files"]:
        if file["used"] == "bak":
            yield "config", f"{file['file']} is {file['main']}: its .bak is taken ({counted(file['rows'], 'row')})"
        elif not file["loads"]:
            yield "config", f"{file['file']} and its .bak cannot be read"
    for each in config["destroyed"]:
        yield "goes over", f"{each['file']} is {each['how']} by this start, it holds now: {each['held']}"


def counts_of_config(config: Document | None) -> str:
    """What is lost, counted; empty where nothing is."""
    if config is None:
        return ""
    counts, lost = config["lost_counts"], config["lost"]
    told = [f"{counted(counts[name], one)} {what}" for name, (one, what) in KINDS.items() if lost[name]]
    if lost["offsets"]:
        told.insert(0, f"{counted(len(lost['offsets']), 'committed offset')}")
    if config["gone_back"]:
        told.append(f"{counted(counts['gone_back'], 'offset')} gone back")
    return "; ".join(told)


def lost_config(config: Document | None) -> Iterator[str]:
    """A line for each kind, with names."""
    if config is None:
        return
    lost = config["lost"]
    for name, (one, what) in KINDS.items():
        if lost[name]:
            yield f"{counted(len(lost[name]), one)} {what}: {_some([str(each) for each in lost[name]])}"
    if lost["offsets"]:
        rows = [f"{row['group']} on {row['topic']}/{row['queue_id']} at {row['offset']}" for row in lost["offsets"]]
        yield f"{counted(len(rows), 'committed offset')}: {_some(rows)}"
    for row in config["gone_back"][:NAMES_SHOWN]:
        queue = f"{row['topic']}/{row['queue_id']}"
        yield f"{row['group']} on {queue} goes back from {row['from_offset']} to {row['to_offset']}"


def _some(names: list[str]) -> str:
    more = len(names) - NAMES_SHOWN
    return ", ".join(names[:NAMES_SHOWN]) + (f" and {more:,} more" if more > 0 else "")
