"""What happened to topics and groups, and which groups are alive."""

from __future__ import annotations

from parsers.values.topics import is_brokers_own
from pipelines.report.drawn.figures import counted
from pipelines.report.facts.model import Column, Facts, PrintedTable, Section, State, numbers, texts, with_notes

EVENTS = [
    Column("earliest", "from", blank=True),
    Column("latest", "until", blank=True),
    Column("subject", "what"),
    *texts("name", "happened"),
    Column("life", "life", True, blank=True),
    Column("before", "before", blank=True),
    Column("after", "after", blank=True),
    Column("by", "by", blank=True),
    Column("reason", "reason", blank=True),
]
GROUPS = [
    *texts("group", "state"),
    Column("absent_since", "absent since", blank=True),
    *numbers("topics"),
    Column("unread", "unread", True, blank=True),
    Column("dead_letters", "dead letters", True, blank=True),
    *numbers("doubtful_offsets"),
    *texts("advice"),
    Column("reason", "reason", blank=True),
]
OUT_OF_ORDER = "FIFO topics that a group gets out of order over gRPC, as its consumeMessageOrderly is false"


def lives_section(facts: Facts) -> Section:
    """What happened, in order of time; topics of the broker's own are left out."""
    title = "What happened to topics and groups"
    if facts.life_events is None:
        return Section("lives", title, "Not looked at.", "unknown")
    events = [row for row in facts.life_events if not is_brokers_own(row["name"])]
    rows, notes = with_notes(events)
    kinds = ("deleted", "created_again", "vanished", "changed")
    deleted, again, vanished, changed = (sum(row["happened"] == kind for row in events) for kind in kinds)
    told = (
        (deleted, counted(deleted, "deletion")),
        (again, f"{counted(again, 'time')} created again"),
        (changed, f"{counted(changed, 'change')} of settings"),
        (vanished, f"{vanished} vanished without a deletion that anything shows"),
    )
    happened = ", ".join(words for number, words in told if number)
    verdict = (
        f"{happened}." if happened else "No deletion, no change of settings and nothing created again is on record."
    )
    state: State = "finding" if vanished else "plain" if deleted or again else "good"
    return Section("lives", title, verdict, state, tables=[PrintedTable(EVENTS, rows)] if rows else [], remarks=notes)


def groups_section(facts: Facts) -> Section:
    """Each group of users: is it alive, and what would be lost without it."""
    title = "Which groups are alive, and which can be deleted"
    if facts.groups is None:
        return Section("groups", title, "Not looked at.", "unknown")
    groups = [row for row in facts.groups if row["state"] != "system"]
    rows, notes = with_notes(groups)
    free = sum(row["loses_nothing"] is True for row in groups)
    open_ = sum(row["loses_nothing"] is None for row in groups)
    doubtful = sum(row["doubtful_offsets"] > 0 for row in groups)
    verdict = (
        f"{counted(len(groups), 'group')}: {free or 'none'} can be deleted on this broker (deleteSubGroup -b) without "
        f"losing a message{f', {open_} not decided' * bool(open_)}"
        f"{f'; {doubtful} with offsets that may count messages of a former life' * bool(doubtful)}."
    )
    state: State = "finding" if doubtful else "plain"
    unordered = [f"{row['group']} ({', '.join(row['unordered_topics'])})" for row in groups if row["unordered_topics"]]
    remarks = [*notes, *([f"{OUT_OF_ORDER}: {', '.join(unordered)}."] if unordered else [])]
    return Section(
        "groups", title, verdict, state, tables=[PrintedTable(GROUPS, rows)] if rows else [], remarks=remarks
    )
