"""What a start does not find in its configuration although other files tell that it was there.

Names come from the queues' folders, from the files of config/ about each other, and from copies that load() does not
use: the .bak, the .tmp of an interrupted write, and the readable beginning of a file that breaks off.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from parsers.config.groups import is_system_group
from parsers.layouts.fastjson import as_map, whole_number
from parsers.values.topics import SCHEDULE_TOPIC, is_retry, retry_topic_of
from recovery.broker.store_folder import QueueKey
from recovery.config.files import Rows
from recovery.config.load import MAY_BE_EMPTY, ConfigLoad, Copies, CopyState, Table
from recovery.config.names import is_made_by_clients, made_groups, made_topics

STORES_OWN = "delayOffset.json"
"""Written by the store itself up to 4.9.8, so that it is no sign of a broker."""
OffsetKey = tuple[str, str, int]
"""Group, topic, queue."""


@dataclass(frozen=True, slots=True)
class GoneBack:
    """A committed offset that a start takes from an older copy."""

    group: str
    topic: str
    queue_id: int
    from_offset: int
    to_offset: int


@dataclass(frozen=True, slots=True)
class ConfigLosses:
    """What is missing in memory after the files were loaded: what can be named of it, there may be more.

    Attributes:
        topics: topics without a configuration; clients find no route to them.
        groups: groups without their settings.
        offsets: committed offsets that a copy tells, with their value.
        groups_without_offsets: groups that must have had offsets, none of which any copy tells.
        delay_levels: levels with messages whose delivery begins anew at their queue's minimum.
        gone_back: offsets that what is left of the newer state tells, and the older ones that are taken.
        never_stored: groups with a retry topic, where the table of offsets is empty as a broker may have written it: no
            loss, as far as the files tell.
    """

    topics: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    offsets: Mapping[OffsetKey, int] = field(default_factory=dict)
    groups_without_offsets: tuple[str, ...] = ()
    delay_levels: tuple[int, ...] = ()
    gone_back: tuple[GoneBack, ...] = ()
    never_stored: tuple[str, ...] = ()

    @property
    def count(self) -> int:
        parts = (self.topics, self.groups, self.offsets, self.groups_without_offsets, self.delay_levels, self.gone_back)
        return sum(map(len, parts))

    def of(self, rows: Rows) -> bool:
        """Whether something is missing of the file with these rows."""
        parts = {
            Rows.TOPICS: self.topics,
            Rows.GROUPS: self.groups,
            Rows.OFFSETS: self.offsets or self.groups_without_offsets or self.gone_back,
            Rows.DELAY_LEVELS: self.delay_levels,
        }
        return bool(parts.get(rows))


def a_broker_ran(copies: Copies | None) -> bool:
    """Whether config/ was written by a broker, not by the store's classes alone: only then is a missing file a loss."""
    return copies is not None and (not copies or any(not name.startswith(STORES_OWN) for name in copies))


def config_losses(loads: Iterable[ConfigLoad], queues: Iterable[QueueKey], *, was_killed: bool) -> ConfigLosses:
    """What the loads miss. Of a main file that has rows nothing is missed.

    Args:
        queues: those that have files.
        was_killed: the last exit was not in order, so that files which are written by time need not have come to be.
    """
    by_rows = {load.file.rows: load for load in loads if not (was_killed and _was_never_written(load))}
    topics, groups, offsets = (by_rows.get(rows) for rows in (Rows.TOPICS, Rows.GROUPS, Rows.OFFSETS))
    keys = set(queues)
    known = _offsets_left(offsets)
    with_queues, with_offsets = {topic for topic, _ in keys}, {topic for _, topic, _ in known}
    retry_topics = {topic for topic in with_queues | with_offsets if is_retry(topic)}
    named = with_queues | with_offsets | _names(topics)
    retried = _groups_with_retry_topic(named, _names(groups) | {group for group, _, _ in known})
    return ConfigLosses(
        topics=_missing(topics, retry_topics | set(filter(is_made_by_clients, with_queues)), made_topics),
        groups=_missing(groups, retried | _told_by_offsets(groups, {group for group, _, _ in known}), made_groups),
        offsets=_lost_offsets(offsets, groups),
        groups_without_offsets=_without_offsets(offsets, groups, retried, known),
        delay_levels=_lost_levels(by_rows.get(Rows.DELAY_LEVELS), keys),
        gone_back=tuple(_gone_back(offsets)),
        never_stored=_never_stored(offsets, groups, retried),
    )


def offsets_of(rows: Table) -> dict[OffsetKey, int]:
    """The rows `topic@group: {queue: offset}` of consumerOffset.json; what is none is left out."""
    found: dict[OffsetKey, int] = {}
    for name, queues in rows.items():
        topic, between, group = name.partition("@")
        for queue, value in as_map(queues).items():
            queue_id, offset = whole_number(queue), whole_number(value)
            if between and queue_id is not None and offset is not None:
                found[group, topic, queue_id] = offset
    return found


def _was_never_written(load: ConfigLoad) -> bool:
    copies = (load.main, load.backup, load.interrupted)
    return load.file.rows in MAY_BE_EMPTY and all(copy.state is CopyState.MISSING for copy in copies)


def _told_by_offsets(load: ConfigLoad | None, told: set[str]) -> set[str]:
    """Offsets can outlive their group, and can be set for one that never was: they count where the file is there and
    no copy of it can be used."""
    if load is None or load.rows or load.main.state is CopyState.MISSING:
        return set()
    return {name for name in told if not is_system_group(name)}


def _missing(load: ConfigLoad | None, told: set[str], made: Callable[[Table], set[str]]) -> tuple[str, ...]:
    if load is None or load.is_as_written:
        return ()
    kept = {name for rows in load.kept for name in made(rows)}
    return tuple(sorted((told | kept) - load.rows.keys()))


def _names(load: ConfigLoad | None) -> set[str]:
    """Names in the copy that is used, or in what is left of the others."""
    tables = [] if load is None else [load.rows] if load.rows else load.kept
    return {name for rows in tables for name in rows}


def _offsets_left(load: ConfigLoad | None) -> dict[OffsetKey, int]:
    """Offsets of whatever copy tells any."""
    tables = [] if load is None else [load.rows] if load.is_as_written else [*load.kept, load.rows]
    return {key: value for rows in reversed(tables) for key, value in offsets_of(rows).items()}


def _groups_with_retry_topic(topics: set[str], known: set[str]) -> set[str]:
    ordinary = {topic for topic in topics if is_made_by_clients(topic)}
    groups = {retry_topic_of(each, topics=ordinary, groups=known).group for each in topics if is_retry(each)}
    return {group for group in groups if not is_system_group(group)}


def _lost_offsets(load: ConfigLoad | None, groups: ConfigLoad | None) -> dict[OffsetKey, int]:
    """Offsets of the copies that are not taken, but for groups that were deleted."""
    if load is None or load.is_as_written:
        return {}
    taken, exist = offsets_of(load.rows), _existing(groups)
    return {
        key: value
        for key, value in _offsets_left(load).items()
        if key not in taken and (exist is None or key[0] in exist)
    }


def _existing(groups: ConfigLoad | None) -> set[str] | None:
    """The groups that exist; None where subscriptionGroup.json cannot tell."""
    return set(groups.rows) if groups is not None and groups.is_as_written else None


def _without_offsets(
    load: ConfigLoad | None, groups: ConfigLoad | None, retried: set[str], known: Mapping[OffsetKey, int]
) -> tuple[str, ...]:
    """Groups that consumed (they have a retry topic) and still exist, as far as subscriptionGroup.json can tell."""
    if load is None or load.is_as_written:
        return ()
    return tuple(sorted(_that_exist(retried, groups) - {group for group, _, _ in known}))


def _never_stored(load: ConfigLoad | None, groups: ConfigLoad | None, retried: set[str]) -> tuple[str, ...]:
    is_empty = load is not None and load.is_as_written and not load.rows
    return tuple(sorted(_that_exist(retried, groups))) if is_empty else ()


def _that_exist(named: set[str], groups: ConfigLoad | None) -> set[str]:
    exist = _existing(groups)
    return named if exist is None else named & exist


def _lost_levels(load: ConfigLoad | None, queues: set[QueueKey]) -> tuple[int, ...]:
    """Level n is delivered from queue n - 1."""
    if load is None or load.is_as_written:
        return ()
    told = {queue_id + 1 for topic, queue_id in queues if topic == SCHEDULE_TOPIC and not load.rows}
    told |= {number for rows in load.kept for name in rows if (number := whole_number(name)) is not None}
    return tuple(sorted(told - {whole_number(name) for name in load.rows}))


def _gone_back(load: ConfigLoad | None) -> Iterable[GoneBack]:
    if load is None or load.used is not load.backup:
        return
    taken = offsets_of(load.rows)
    newer = {key: value for rows in reversed(load.newer) for key, value in offsets_of(rows).items()}
    for key, value in sorted(newer.items()):
        if key in taken and taken[key] < value:
            yield GoneBack(*key, value, taken[key])
