"""A comparison for a person: which replica to keep first, then what happens to the others, then why."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pipelines.cli.frame.written.documents import sections

Document = Mapping[str, Any]
RECORDS_SHOWN, FIELDS_SHOWN, GROUPS_SHOWN, QUEUES_SHOWN = 5, 12, 20, 12
COSTS = {
    "lost_unread": "lost unread",
    "lost_read": "lost after it read them",
    "repeated": "read again",
    "skipped": "skipped",
    "beyond_end": "beyond the queue's end",
}


def in_words(document: Document, width: int) -> Iterator[str]:
    """Lines of at most `width` cells, where words allow it."""
    lists = (
        ("Do", list(document["steps"])),
        ("Mind", list(document["warnings"])),
        ("Logs", [f"{each['left']} and {each['right']}: {each['summary']}" for each in document["pairs"]]),
        ("Only in one", list(_alone(document["pairs"]))),
        ("Records that differ", list(_records(document["pairs"]))),
        ("What it costs each group", list(_costs(document["costs_by_group"]))),
        ("Other differences", list(_others(document["pairs"]))),
    )
    yield from sections(_head(document), lists, width)


def _head(document: Document) -> Iterator[tuple[str, str]]:
    yield "keep", document["conclusion"]
    election = document["election"]
    yield "mode", f"{document['mode']}: {election['rule']}"
    can_win = {True: "can", False: "cannot", None: None}
    told = [f"{name} {can_win[can]}" for name, can in election["can_win"].items() if can is not None]
    if told:
        yield "can win", f"{', '.join(told)}, of {election['group_size']} nodes"
    elif document["mode"] != "classic":
        yield "can win", f"not known; the highest: {', '.join(election['best'])}"
    if election["unknown"]:
        yield "", election["unknown"]
    for replica in document["replicas"]:
        yield replica["name"], _replica(replica)


def _replica(replica: Document) -> str:
    if replica["log_end"] is None:
        return f"no record ({replica['store']})"
    said = f"bytes {replica['log_begin']:,} to {replica['log_end']:,}"
    if replica["terms"]:
        last = replica["terms"][-1]
        said += f", {len(replica['terms'])} runs of terms, last entry {last['last_index']:,} of term {last['term']}"
    if replica["entries_alone_unknown"]:
        said += f"; alone this node cannot know whether its last {replica['entries_alone_unknown']:,} are committed"
    if replica["epochs"]:
        said += f", last epoch {replica['epochs'][-1]['epoch']}"
    return said + ("; its last stop was not in order" if replica["abort_present"] else "")


def _alone(pairs: Sequence[Document]) -> Iterator[str]:
    words = {"before": "before the other's first byte", "inside": "between records of both", "behind": "at the end"}
    for pair in pairs:
        for side, name, other in (("left_only", "left", "right"), ("right_only", "right", "left")):
            for where, said in words.items():
                own = pair[side][where]
                if own["records"]:
                    queues = _queues(own["queues"])
                    place = f"bytes {own['begin']:,} to {own['end']:,} ({queues or 'in no queue'})"
                    yield f"{pair[name]}, not in {pair[other]}: {own['messages']:,} messages {said}, {place}"
            for hole in pair[side]["holes"]:
                yield f"{pair[name]} has no file for bytes {hole['begin']:,} to {hole['end']:,}"


def _queues(queues: Sequence[Document]) -> str:
    """The queues with the most messages."""
    most = sorted(queues, key=lambda each: -int(each["messages"]))[:QUEUES_SHOWN]
    more = [f"{len(queues) - len(most):,} more queues"] if len(queues) > len(most) else []
    return ", ".join([*(f"{each['topic']}/{each['queue_id']} {each['messages']:,}" for each in most), *more])


def _records(pairs: Sequence[Document]) -> Iterator[str]:
    for pair in pairs:
        first = pair["first_difference"]
        shown = pair["altered"][:RECORDS_SHOWN] or ([first] if first else [])
        for record in shown:
            states = ", ".join(f"{name}: {state.replace('_', ' ')}" for name, state in record["states"].items())
            proven = f"; wrong in {', '.join(record['wrong'])}, by {record['decided_by']}" if record["wrong"] else ""
            yield f"byte {record['begin']:,} ({states}){proven}"
            for field in record["fields"][:FIELDS_SHOWN]:
                values = ", ".join(f"{name} {value or '–'}" for name, value in field["values"].items())
                yield f" {field['field']}: {values}"
        if len(pair["altered"]) > RECORDS_SHOWN:
            yield f"and {len(pair['altered']) - RECORDS_SHOWN:,} more: --rows lists them"


def _costs(groups: Sequence[Document]) -> Iterator[str]:
    for group in groups[:GROUPS_SHOWN]:
        figures = [
            f"{'unknown' if group[name] is None else format(group[name], ',')} {said}"
            for name, said in COSTS.items()
            if group[name] != 0
        ]
        yield f"{group['keep']} instead of {group['instead_of']}: {group['group']}: {', '.join(figures)}"
    if len(groups) > GROUPS_SHOWN:
        yield f"and {len(groups) - GROUPS_SHOWN:,} more: --rows lists them"


def _others(pairs: Sequence[Document]) -> Iterator[str]:
    for pair in pairs:
        counted = ", ".join(f"{name.replace('_', ' ')}: {number:,}" for name, number in pair["differences"].items())
        if counted:
            yield f"{pair['left']} and {pair['right']}: {counted} (--rows lists them)"
