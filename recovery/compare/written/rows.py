"""A comparison as flat rows: one for each difference, with what it means."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass

from parsers.store.store_file import QueueKey
from recovery.compare.comparison import Comparison, Pair
from recovery.compare.cost import Cost
from recovery.compare.logs.history import Relation, Side
from recovery.compare.logs.own_messages import OwnMessages
from recovery.compare.logs.record_difference import RecordDifference
from recovery.compare.side_by_side import Difference
from recovery.compare.written.kinds import Nature, What
from recovery.compare.written.summary import summary

NATURES: dict[Relation, Nature] = {
    Relation.LEVEL: "same",
    Relation.LEFT_LONGER: "benign",
    Relation.RIGHT_LONGER: "benign",
    Relation.DIVERGED: "diverged",
    Relation.ALTERED_AT_END: "open",
    Relation.NOTHING_SHARED: "open",
    Relation.UNREADABLE: "open",
}


@dataclass(frozen=True, slots=True)
class Row:
    """One difference of two replicas.

    Attributes:
        replica: whose fact it is; None where it is one of both.
        physical_offset, length: bytes of the whole log that it is about.
        messages: how many it is about; None where that is not known.
        left_value, right_value: what either holds, as text; None where it holds nothing.
    """

    left: str
    right: str
    what: What
    nature: Nature
    replica: str | None = None
    topic: str | None = None
    queue_id: int | None = None
    group: str | None = None
    field: str | None = None
    physical_offset: int | None = None
    length: int | None = None
    messages: int | None = None
    left_value: str | None = None
    right_value: str | None = None
    reason: str | None = None


def rows_of(comparison: Comparison) -> Iterator[Row]:
    """Every row, pair by pair: logs first, then records, epochs or terms, tables, costs."""
    for pair in comparison.pairs:
        yield _log(pair)
        for name, side in ((pair.left.name, pair.history.left), (pair.right.name, pair.history.right)):
            yield from _side(pair, name, side)
        yield from _records(pair)
        yield from _cuts(pair)
        yield from _terms(pair)
        yield from (_difference(pair, each) for each in pair.differences)
        yield from (row for cost in comparison.costs if _is_of(cost, pair) for row in _cost(pair, cost))


def _log(pair: Pair) -> Row:
    history = pair.history
    end = history.agreed_until
    length = None if end is None or history.compared_from is None else end - history.compared_from
    return Row(
        pair.left.name,
        pair.right.name,
        "log",
        NATURES[history.relation],
        field=history.relation.value,
        physical_offset=history.common_prefix_end,
        length=length,
        left_value=_text(history.left.end),
        right_value=_text(history.right.end),
        reason=summary(pair),
    )


def _side(pair: Pair, name: str, side: Side) -> Iterator[Row]:
    diverged = pair.history.relation is Relation.DIVERGED
    tail_nature: Nature = "diverged" if diverged else NATURES[pair.history.relation]
    parts: list[tuple[What, OwnMessages, Nature, str]] = [
        ("head", side.head, "benign", "before the first byte of the other log"),
        ("missing_in_other", side.inside, "difference", "between records that both have"),
        ("tail", side.tail, tail_nature, "behind the last record that both have"),
    ]
    for what, own, nature, reason in parts:
        if own.records:
            begin, end = own.begin or 0, own.end or 0
            yield _of(
                pair,
                what,
                nature,
                replica=name,
                physical_offset=begin,
                length=end - begin,
                messages=own.messages,
                reason=reason,
            )
    for (topic, queue_id), share in sorted(side.tail.queues.items()):
        last = f"{share.first_queue_offset}..{share.last_queue_offset}"
        yield _of(
            pair,
            "tail_queue",
            tail_nature,
            replica=name,
            topic=topic,
            queue_id=queue_id,
            messages=share.messages,
            reason=f"queue offsets {last}",
        )
    for hole in side.holes:
        reason = "no file of this replica holds these bytes"
        yield _of(
            pair,
            "hole",
            "difference",
            replica=name,
            physical_offset=hole.begin,
            length=hole.end - hole.begin,
            reason=reason,
        )


def _records(pair: Pair) -> Iterator[Row]:
    if pair.first is not None and pair.first not in pair.altered:
        yield from _record(pair, pair.first, "first_difference", NATURES[pair.history.relation])
    for record in pair.altered:
        yield from _record(pair, record, "altered_record", "altered" if record.decided_by else "open")


def _record(pair: Pair, record: RecordDifference, what: What, nature: Nature) -> Iterator[Row]:
    left, right = pair.left.name, pair.right.name
    wrong = f"wrong in {', '.join(record.wrong)}, proven by {record.decided_by}" if record.wrong else None
    yield _of(
        pair,
        what,
        nature,
        physical_offset=record.begin,
        length=record.end - record.begin,
        left_value=record.states.get(left),
        right_value=record.states.get(right),
        reason=wrong or (None if what == "first_difference" else "no check tells which copy is right"),
    )
    for field in record.fields:
        if field.values.get(left) != field.values.get(right) or left not in field.values:
            yield _of(
                pair,
                "record_field",
                nature,
                field=field.field,
                physical_offset=field.at,
                left_value=field.values.get(left),
                right_value=field.values.get(right),
            )


def _cuts(pair: Pair) -> Iterator[Row]:
    for cut in pair.cuts:
        point = cut.consistent_point
        reason = f"as a slave of {cut.master}" + (
            "" if point is not None else ": no epoch in common, it copies nothing"
        )
        yield _of(
            pair,
            "epoch_cut",
            "difference" if cut.messages or point is None or not cut.is_aligned else "same",
            replica=cut.slave,
            physical_offset=point,
            messages=cut.messages,
            reason=reason if cut.is_aligned else f"{reason}: no record begins there, it refuses to cut",
        )


def _terms(pair: Pair) -> Iterator[Row]:
    for member in (pair.left, pair.right):
        for run in member.terms:
            yield _of(
                pair,
                "term",
                "same",
                replica=member.name,
                field=f"term {run.term}",
                physical_offset=run.begin,
                length=run.end - run.begin,
                messages=run.last_index - run.first_index + 1,
                reason=f"entries {run.first_index}..{run.last_index}",
            )
        if member.beyond_committed:
            yield _of(
                pair,
                "standing",
                "open",
                replica=member.name,
                field="committed_index",
                messages=member.beyond_committed,
                reason=f"committed up to {member.committed_index} as noted; alone this node cannot know of the rest",
            )


def _difference(pair: Pair, each: Difference) -> Row:
    nature, reason = _judged(pair, each)
    return _of(
        pair,
        each.subject,
        nature,
        reason=reason,
        topic=each.topic,
        queue_id=each.queue_id,
        group=each.group,
        field=each.field,
        messages=each.right - each.left
        if each.subject in ("queue", "offset") and isinstance(each.left, int) and isinstance(each.right, int)
        else None,
        left_value=_text(each.left),
        right_value=_text(each.right),
    )


def _judged(pair: Pair, each: Difference) -> tuple[Nature, str | None]:
    """Whether a queue differs as its log does. Other values tell nothing of themselves."""
    if each.subject != "queue":
        return "difference", None
    if each.field == "min_queue_offset":
        later = pair.left.log_begin != pair.right.log_begin
        return ("benign", "one log begins later") if later else ("difference", None)
    ends = {pair.left.name: each.left or 0, pair.right.name: each.right or 0}
    wanted = _ends_by_log(pair, (each.topic or "", each.queue_id or 0))
    if wanted is None:
        return "difference", "both logs have the same messages of this queue"
    apart = {name: end - wanted[name] for name, end in ends.items() if isinstance(end, int) and end != wanted[name]}
    beyond = [f"{name}: {more} units beyond its log's end" for name, more in apart.items() if more > 0]
    missing = [
        f"{name}: {-more} messages of its log are not dispatched yet" for name, more in apart.items() if more < 0
    ]
    return "difference" if beyond else "benign", "; ".join([*beyond, *missing]) or "as the logs differ"


def _ends_by_log(pair: Pair, queue: QueueKey) -> dict[str, int] | None:
    """The next message of a queue by either log; None where neither has one after what both have."""
    shares = [side.tail.queues.get(queue) for side in (pair.history.left, pair.history.right)]
    first = [share.first_queue_offset for share in shares if share is not None]
    if not first:
        return None
    ends = [min(first) if share is None else share.last_queue_offset + 1 for share in shares]
    return dict(zip((pair.left.name, pair.right.name), ends, strict=True))


def _is_of(cost: Cost, pair: Pair) -> bool:
    return {cost.keep, cost.instead_of} == {pair.left.name, pair.right.name}


def _cost(pair: Pair, cost: Cost) -> Iterator[Row]:
    """A row for each figure that is not zero, `replica` being the one that is kept."""
    offsets = {cost.keep: cost.kept_offset, cost.instead_of: cost.other_offset}
    figures = {
        "repeated": cost.repeated,
        "lost_unread": cost.lost_unread,
        "lost_read": cost.lost_read,
        "skipped": cost.skipped,
        "beyond_end": cost.beyond_end,
    }
    for field, messages in figures.items():
        if messages != 0:
            yield _of(
                pair,
                "cost",
                "open" if messages is None else "difference",
                replica=cost.keep,
                topic=cost.topic,
                queue_id=cost.queue_id,
                group=cost.group,
                field=field,
                messages=messages,
                left_value=_text(offsets[pair.left.name]),
                right_value=_text(offsets[pair.right.name]),
                reason=cost.reason if messages is None or field == "beyond_end" else None,
            )


def _of(pair: Pair, what: What, nature: Nature, **fields: object) -> Row:
    return Row(pair.left.name, pair.right.name, what, nature, **fields)  # type: ignore[arg-type]


def _text(value: object) -> str | None:
    if value is None or isinstance(value, str):
        return value
    return json.dumps(value, sort_keys=True, default=str)


def as_dicts(comparison: Comparison) -> Iterator[dict[str, object]]:
    """The rows as plain maps."""
    return (asdict(row) for row in rows_of(comparison))
