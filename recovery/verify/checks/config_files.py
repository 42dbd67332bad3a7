"""The files of config/ themselves: unreadable, emptied, missing, or replaced by an older state.

A file counts as emptied or missing where other files tell what it held, and as emptied where it has 0 bytes, which no
finished write leaves. A broker that never had a client has no subscriptionGroup.json, and an empty table of offsets:
that is no finding. Where groups have a retry topic and no offset, an empty table is a state that is explained.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from recovery.broker.store_folder import QueueKey
from recovery.config.files import Rows
from recovery.config.load import ConfigCopy, ConfigLoad, CopyState
from recovery.config.losses import ConfigLosses
from recovery.config.start import ConfigStart
from recovery.verify.findings.finding import Explained, Finding, Judgement, Place, Span

NO_CONTENT = (CopyState.MISSING, CopyState.EMPTY)


def check_config_files(config: ConfigStart, queues: Mapping[QueueKey, tuple[int, int]]) -> Judgement:
    """What is wrong with each file or database that a broker of this version loads."""
    findings = tuple(finding for load in config.loads for finding in _of_file(load, config, queues))
    if config.has_files or not queues:
        return Judgement(findings, tuple(_empty_tables(config)))
    why = (
        "config/ has no file of a broker: the store's classes ran alone, or a copy left them out; a start has no topics"
    )
    return Judgement(findings, (Explained("no configuration", why),))


def _empty_tables(config: ConfigStart) -> Iterator[Explained]:
    if config.losses.never_stored:
        why = (
            "config/consumerOffset.json has no row, nor has its .bak, and groups have a retry topic "
            f"({_some(list(config.losses.never_stored))}): none of them ever stored an offset, or a start that found "
            "none wrote both files anew; a backup of config/ tells"
        )
        yield Explained("no offset of any group", why)


def _of_file(load: ConfigLoad, config: ConfigStart, queues: Mapping[QueueKey, tuple[int, int]]) -> Iterator[Finding]:
    is_lost = config.losses.of(load.file.rows)
    rebuilt = _rebuilt(load, config.losses, queues) if is_lost else {}
    for copy in (load.main, load.backup):
        if copy.state is CopyState.UNREADABLE and load.main.state is not CopyState.READABLE:
            yield _finding("config_unreadable", load, copy, rebuilt if copy is load.main else {})
    if load.main.state in NO_CONTENT and load.backup.rows:
        yield _finding("config_older", load, load.main, rebuilt)
    elif is_lost and load.main.state is CopyState.MISSING and load.backup.state is not CopyState.UNREADABLE:
        yield _finding("config_missing", load, load.main, rebuilt)
    elif load.is_cut_to_nothing or (is_lost and load.used is load.main):
        yield _finding("config_emptied", load, load.main, rebuilt)


def _finding(kind: str, load: ConfigLoad, copy: ConfigCopy, rebuilt: dict[str, Any]) -> Finding:
    told = [_state(copy)]
    if copy is load.main:
        told.append(_state(load.backup))
    if load.refuses:
        told.append(f"{load.file.manager}#load is false, so BrokerController#initialize stops")
    elif load.used is load.backup:
        told.append(f"{load.file.manager} takes {load.backup.name}")
    told += [f"{name} told by other files: {_some(rows)}" for name, rows in rebuilt.items()]
    return Finding(kind, Span(), (Place(f"config/{copy.name}", 0, 0),), 1, tuple(told), rebuilt)


def _state(copy: ConfigCopy) -> str:
    states = {
        CopyState.READABLE: f"{len(copy.rows)} rows",
        CopyState.MISSING: "not there",
        CopyState.EMPTY: "0 bytes",
        CopyState.UNREADABLE: f"cannot be decoded ({copy.why}), {len(copy.beginning)} rows before that",
    }
    return f"{copy.name}: {states[copy.state]}"


def _some(rows: list[Any]) -> str:
    names = [str(row.get("topic") or row.get("group")) if isinstance(row, dict) else str(row) for row in rows]
    named = list(dict.fromkeys(names))
    return ", ".join(named[:10]) + (f" and {len(named) - 10} more" if len(named) > 10 else "")


def _rebuilt(
    load: ConfigLoad, losses: ConfigLosses, queues: Mapping[QueueKey, tuple[int, int]]
) -> dict[str, list[Any]]:
    """What the file held, as far as other files show it. A topic's queue numbers are the least that it had; what
    nothing shows (permissions, settings of a group) is null."""
    if load.file.rows is Rows.TOPICS:
        return {"topics": [_topic(name, queues) for name in losses.topics]}
    if load.file.rows is Rows.GROUPS:
        return {"groups": [{"group": name, "settings": None} for name in losses.groups]}
    if load.file.rows is Rows.DELAY_LEVELS:
        return {"delay_levels": list(losses.delay_levels)}
    offsets = [
        {"group": group, "topic": topic, "queue_id": queue_id, "offset": offset}
        for (group, topic, queue_id), offset in sorted(losses.offsets.items())
    ]
    unknown = [{"group": group, "offset": None} for group in losses.groups_without_offsets]
    gone_back = [{"group": each.group, "topic": each.topic, "offset": each.from_offset} for each in losses.gone_back]
    return {"offsets": offsets + unknown + gone_back}


def _topic(name: str, queues: Mapping[QueueKey, tuple[int, int]]) -> dict[str, Any]:
    numbers = [queue_id for topic, queue_id in queues if topic == name]
    return {"topic": name, "queue_nums_at_least": max(numbers) + 1 if numbers else None, "perm": None}
