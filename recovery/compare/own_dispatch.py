"""Which copy of a record the queues and the index of its own store were made from.

A broker makes them from its own log. Where they are of another copy than the log has now, the log was altered since:
so they prove bytes wrong that no check covers, the tags, the queue and the keys of a message.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import replace

from parsers.commitlog.record.message import decode_message
from parsers.damage.errors import unheard
from parsers.index.find import MAX_MSGS_NUM_BATCH, IndexQuery
from parsers.queues.store_queues import StoreQueues
from parsers.values.java import LONG_MAX, LONG_MIN
from recovery.compare.logs.log_pair import LogBytes
from recovery.compare.logs.record_difference import MOST_FIELDS, RecordDifference
from recovery.compare.replica import Replica
from recovery.rules.dispatch import DispatchRequest, InvalidForDispatch, index_keys, queue_units

IN_QUEUES = frozenset(("topic", "queue_id", "queue_offset", "property TAGS"))
IN_INDEX = frozenset(("property KEYS", "property UNIQ_KEY"))
SECOND_MS = 1000

Traces = Callable[["OwnDispatch", bytes, int], bool | None]


class OwnDispatch:
    """The queues and the index of one replica, asked for single messages; what cannot be read of them tells nothing."""

    def __init__(self, replica: Replica) -> None:
        self._rules = replica.known.rules
        self._queues = StoreQueues(replica.store, damage=unheard)
        self._index = IndexQuery(replica.store.index, damage=unheard)

    def close(self) -> None:
        """Let a database of queues go."""
        self._queues.close()

    def has_unit(self, copy: bytes, header: int) -> bool:
        """Whether the queues have just the unit that dispatch makes of this copy of a record."""
        try:
            units = queue_units(self._request(copy, header), self._rules)
        except InvalidForDispatch:
            return False
        queue = self._queues.get((units[0].topic, units[0].queue_id)) if units else None
        found = None if queue is None else queue.unit(units[0].queue_offset)
        return found is not None and all(
            found[name] == getattr(units[0], name) for name in ("physical_offset", "msg_size", "tags_code")
        )

    def has_keys(self, copy: bytes, header: int) -> bool | None:
        """Whether the index leads from every key of this copy of a record to its place.

        None where a key has more messages of that second than the index is asked for.
        """
        request = self._request(copy, header)
        at_ms, topic = request.store_timestamp_ms, request.topic
        span = {"begin_ms": max(at_ms - SECOND_MS, LONG_MIN), "end_ms": min(at_ms + SECOND_MS, LONG_MAX)}
        keys = [key[len(topic) + 1 :] for key in index_keys(request, self._rules)]
        hits = [self._index.find(topic, key, max_num=MAX_MSGS_NUM_BATCH, **span) for key in keys]
        if any(len(each) >= MAX_MSGS_NUM_BATCH for each in hits):
            return None
        return bool(hits) and all(any(hit.physical_offset == request.physical_offset for hit in each) for each in hits)

    def _request(self, copy: bytes, header: int) -> DispatchRequest:
        return DispatchRequest.of(decode_message(copy, header), self._rules)


def decided_by_dispatch(
    records: Sequence[tuple[RecordDifference, int]], logs: Mapping[str, LogBytes], replicas: Sequence[Replica]
) -> tuple[RecordDifference, ...]:
    """The records, each with the size of the header before it, and those that are open decided where dispatch can."""
    if all(record.decided_by is not None for record, _ in records):
        return tuple(record for record, _ in records)
    with ExitStack() as opened:
        stores = {replica.name: opened.enter_context(closing(OwnDispatch(replica))) for replica in replicas}
        return tuple(_decided(record, logs, header, stores) for record, header in records)


def _decided(
    record: RecordDifference, logs: Mapping[str, LogBytes], header: int, stores: Mapping[str, OwnDispatch]
) -> RecordDifference:
    """It stays open unless queues and index cover every field that differs, and the store of every copy but one holds
    what is made of that one."""
    asked = [] if record.decided_by is not None else _asked(record)
    if not asked:
        return record
    copies = {name: log.bytes_of(record.begin, record.end) for name, log in logs.items()}
    sound = {name: copy for name, copy in copies.items() if copy is not None and record.states[name] == "record"}
    different = set(sound.values())
    made_from = {name: {_own(stores[name], ask, different, header) for ask in asked} for name in sound}
    known = set.union(*made_from.values()) - {None}
    if len(known) != 1 or any(made_from[name] != known for name, copy in sound.items() if copy not in known):
        return record
    held = (name for name, state in record.states.items() if state in ("record", "crc_wrong", "no_record"))
    return replace(record, wrong=tuple(name for name in held if sound.get(name) not in known), decided_by="dispatch")


def _asked(record: RecordDifference) -> list[Traces]:
    """What has to be asked for the fields that differ; nothing where one of them is neither in queues nor in the index.

    A flipped letter in the name of a property makes two fields differ that begin at one byte.
    """
    witnesses: tuple[tuple[frozenset[str], Traces], ...] = (
        (IN_QUEUES, OwnDispatch.has_unit),
        (IN_INDEX, OwnDispatch.has_keys),
    )
    places = [{each.at for each in record.fields if each.field in names} for names, _ in witnesses]
    covered = set.union(*places) == {each.at for each in record.fields} and len(record.fields) < MOST_FIELDS
    return [ask for at, (_, ask) in zip(places, witnesses, strict=True) if at] if covered else []


def _own(store: OwnDispatch, ask: Traces, copies: set[bytes], header: int) -> bytes | None:
    """The one copy that a store's queues or index were made from; None where they are of none or of several."""
    answers = {copy: ask(store, copy, header) for copy in copies}
    made = [copy for copy, is_own in answers.items() if is_own]
    return made[0] if len(made) == 1 and None not in answers.values() else None
