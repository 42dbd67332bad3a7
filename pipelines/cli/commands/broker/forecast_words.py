"""A forecast for a person: the decision first, then what is lost, what would lose less, why, what stays open."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pipelines.answers.losses import all_lost, counted, lost_or_nothing, lost_then, missing, places_lost, starts
from pipelines.cli.commands.broker.config_words import decided_by_config, named_config
from pipelines.cli.frame.written.documents import sections

Document = Mapping[str, Any]
QUEUES_SHOWN = 20


def in_words(document: Document, width: int) -> Iterator[str]:
    """Lines of at most `width` cells, where words allow it."""
    lists = (
        ("What is lost", [*_losses(document["lost"]), *named_config(document["config"])]),
        ("New messages get numbers again that others had", list(map(_renumbered, document["renumbered"]))),
        ("What comes back", [*map(_returned, document["brought_back"]), *_timers(document["timers_again"])]),
        ("What a crash, or a file `abort`, would bring back", list(map(_returned, document["crash_brings_back"]))),
        ("What would lose less", [_way(advice) for advice in document["advice"]]),
        ("Why", [f"{each['rule']}: {each['evidence']} [{each['source']}]" for each in document["reasons"]]),
        ("Not known", [f"{each['what']}: {each['why']}" for each in document["unknown"]]),
        ("Other versions would do otherwise", [_other(each) for each in document["otherwise"]]),
    )
    yield from sections(_decided(document), lists, width)


def _decided(document: Document) -> Iterator[tuple[str, str]]:
    played = document["holds_for"]
    which = "that version" if len(played) == 1 else "one of these versions"
    others = f", if it is {which}: others that it may be end otherwise, see below" if document["otherwise"] else ""
    yield "started by", f"RocketMQ {', '.join(played)}{others}"
    yield "last exit", "in order" if document["exit"] == "normal" else "abnormal: it crashed, or was killed"
    if document["load"]["ok"] is None:
        yield "the start", "not known: see below what is not played"
    elif not document["load"]["ok"]:
        yield "the start", f"fails while loading, the broker does not come up: {document['load']['error']}"
    elif not document["start"]["returns"]:
        yield "the start", f"loads and does not come up: {document['start']['error']}"
    yield from decided_by_config(document["config"])
    if not document["load"]["ok"] or not document["start"]["returns"]:
        return
    log, gone = document["commitlog"], document["commitlog"]["files_deleted"]
    begin, end = log["min_physical_offset"], log["max_physical_offset"]
    yield "CommitLog", "then holds nothing" if begin < 0 and not end else f"then holds bytes {begin:,} to {end:,}"
    if gone:
        yield "", f"{counted(len(gone), 'file')} deleted: {', '.join(gone)}"
    for words in missing(document):
        yield "", f"{words}: see below"
    if document["dispatch_from"] is None:
        return
    again, start = document["redispatched_messages"], f"from {document['dispatch_from']:,} on"
    yield "dispatch", f"{counted(again, 'message')} again, {start}" if again else f"nothing again, new messages {start}"
    yield "lost by it", lost_or_nothing(document)


def _losses(lost: Sequence[Document]) -> Iterator[str]:
    """A line for each reason, the one of the most losses first; below it, with a space before, one for each queue."""
    reasons: dict[tuple[str, str], dict[str, list[Document]]] = {}
    for loss in lost:
        queue = (
            f"{loss['topic'] or 'unknown topic'}/{'unknown queue' if loss['queue_id'] is None else loss['queue_id']}"
        )
        reasons.setdefault((loss["what"], loss["reason"]), {}).setdefault(queue, []).append(loss)
    left = QUEUES_SHOWN
    for (what, reason), queues in sorted(reasons.items(), key=lambda each: -sum(map(len, each[1].values()))):
        yield f"{places_lost({what: sum(map(len, queues.values()))})}: {reason}"
        for queue, losses in sorted(queues.items(), key=lambda each: -len(each[1]))[:left]:
            yield f" {queue}: {len(losses):,}, {_range(losses, 'queue_offset')}, {_range(losses, 'physical_offset')}"
        if len(queues) > left:
            yield f" and {len(queues) - left:,} more queues"
        left = max(0, left - len(queues))
    if lost:
        yield "--format json lists every one of them"


def _range(losses: Sequence[Document], name: str) -> str:
    known, words = [loss[name] for loss in losses if loss[name] is not None], name.replace("_", " ")
    if not known:
        return f"{words} unknown"
    return f"{words} {min(known)}" if min(known) == max(known) else f"{words} {min(known)} to {max(known)}"


def _renumbered(queue: Document) -> str:
    told = f"{queue['topic']}/{queue['queue_id']}: from {queue['next_queue_offset']:,} on"
    groups = ", ".join(f"{each['group']} (it stands at {each['consumer_offset']:,})" for each in queue["skipping"])
    skips = f"; below their offset new messages are skipped by {groups}" if groups else ""
    return f"{told}, {queue['was_next_queue_offset']:,} before{skips}"


def _returned(each: Document) -> str:
    return f"{each['topic']}/{each['queue_id']}: {counted(each['messages'], 'message')}: {each['reason']}"


def _timers(again: Document | None) -> Iterator[str]:
    if again is None:
        return
    messages, number = again["messages"], again["from_queue_offset"]
    which = "those that were delivered or cancelled come again"
    if messages != 0:
        many = "timer messages" if messages is None else counted(messages, "timer message")
        yield f"rmq_sys_wheel_timer/0: {many} taken in again from {number:,} on, {which}: {again['reason']}"
    if again["whole_wheel"]:
        yield f"the timer wheel: read from a week before the start on, {which}: {again['reason']}"


def _way(advice: Document) -> str:
    then = advice["then"]
    ends = "" if then is None else f" Then lost: {lost_then(then) or 'nothing'}."
    costs = f" It costs: {advice['costs']}." if advice["costs"] else ""
    return f"{advice['do']}, because: {advice['evidence']}.{ends}{costs}"


def _other(document: Document) -> str:
    comes_up = starts(document)
    if comes_up is None:
        return f"{', '.join(document['holds_for'])}: what it would do is not known (--version {document['version']})"
    if not comes_up:
        return f"{', '.join(document['holds_for'])} would not start (--version {document['version']})"
    lost = all_lost(document) or "nothing"
    return f"{', '.join(document['holds_for'])} would lose {lost} (--version {document['version']})"
