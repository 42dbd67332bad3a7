"""What changed between two states of topics.json or of subscriptionGroup.json.

Each change counts the file's `dataVersion` up by one and gives it the time of the change; then the file is written. So
where the counters of two states differ by one, and one entry alone does, that changed at the time that the newer state
has. Where they differ by more, it changed between the two times, and an entry may have come and gone unseen. A start
puts the broker's own entries there without counting: those tell no instant, and where more than one entry differs
nothing tells which of them was counted.
Source: DataVersion#nextVersion, TopicConfigManager#init, #updateTopicConfig, #deleteTopicConfig,
SubscriptionGroupManager#init, #updateSubscriptionGroupConfig, #deleteSubscriptionGroupConfig @4.2.0, 4.9.7, 5.3.3.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise
from typing import Literal

from parsers.config.document import Document
from parsers.config.groups import is_system_group
from parsers.layouts.fastjson import Json, as_map
from parsers.values.topics import GIVEN_UP_TOPIC, TRANSACTION_OP_TOPIC, TRANSACTION_TOPIC, is_brokers_own

Subject = Literal["topic", "group"]
Settings = Mapping[str, str]
"""Settings by their Java names, each as the broker's log prints it."""
TABLES: Mapping[Subject, tuple[str, str]] = {
    "topic": ("topics.json", "topicConfigTable"),
    "group": ("subscriptionGroup.json", "subscriptionGroupTable"),
}
"""The file of config/ that holds them, and its table."""
TOLD: Mapping[Subject, tuple[str, ...]] = {
    "topic": ("readQueueNums", "writeQueueNums", "perm", "topicFilterType", "topicSysFlag", "order", "attributes"),
    "group": (
        "consumeEnable",
        "consumeFromMinEnable",
        "consumeBroadcastEnable",
        "consumeMessageOrderly",
        "retryQueueNums",
        "retryMaxTimes",
        "brokerId",
        "whichBrokerWhenConsumeSlowly",
        "notifyConsumerIdsChangedEnable",
        "groupSysFlag",
        "consumeTimeoutMinute",
    ),
}
"""Settings that both the file and the log tell. Source: TopicConfig#toString, SubscriptionGroupConfig#toString."""
PERMISSIONS = ((4, "R"), (2, "W"), (1, "X"))
"""PermName#perm2String."""
NOT_COUNTED = "dataVersion counts one change, and more differs than that: a start adds entries without counting them"
MADE_BY_A_START = "a start of the broker adds this entry without counting it: dataVersion does not tell when that was"
BACKWARDS = "dataVersion does not count up from the one file to the other: one may have been put there by hand"


class Happening(StrEnum):
    """What happens to a topic or a group."""

    CREATED = "created"
    CHANGED = "changed"
    DELETED = "deleted"
    CREATED_AGAIN = "created_again"
    VANISHED = "vanished"


@dataclass(frozen=True, slots=True)
class ConfigState:
    """One state of a table. `written_ms`: when the file was written; `changed_ms`, `counter`: its dataVersion."""

    entries: Mapping[str, Settings]
    written_ms: int
    changed_ms: int | None
    counter: int | None
    source: str

    @property
    def at_ms(self) -> int:
        """The time of its last change; of a file without one, when it was written."""
        return self.written_ms if self.changed_ms is None else self.changed_ms


@dataclass(frozen=True, slots=True)
class ConfigChange:
    """What became of one entry between two states: after `after_ms`, at `until_ms` at the latest.

    `why_unsure`: what else the two states allow; empty where nothing.
    """

    name: str
    happening: Happening
    after_ms: int
    until_ms: int
    before: Settings | None
    after: Settings | None
    why_unsure: str
    evidence: str


def state_of(subject: Subject, document: Document, written_ms: int, source: str) -> ConfigState:
    """The state that one file holds; entries that are no map are left out."""
    stored, version = document.table(TABLES[subject][1]), document.data_version
    entries = {name: _settings(subject, as_map(entry)) for name, entry in stored.items() if isinstance(entry, dict)}
    return ConfigState(entries, written_ms, version.timestamp, version.counter, source)


def told_settings(subject: Subject, settings: Settings) -> Settings:
    """Those settings of a line that the file tells, too."""
    return {name: _in_order(settings[name]) for name in TOLD[subject] if name in settings}


def _settings(subject: Subject, stored: Mapping[str, Json]) -> Settings:
    return {name: _text(name, stored[name]) for name in TOLD[subject] if stored.get(name) is not None}


def _text(name: str, value: Json) -> str:
    if name == "perm" and isinstance(value, int):
        return "".join(letter if value & bit else "-" for bit, letter in PERMISSIONS)
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, dict):
        return _in_order("{" + ", ".join(f"{key}={part}" for key, part in value.items()) + "}")
    return str(value)


def _in_order(value: str) -> str:
    """The text of a map by its keys: Java prints it in the order of its hash."""
    return "{" + ", ".join(sorted(value[1:-1].split(", "))) + "}" if value.startswith("{") else value


def changes_between(states: Iterable[ConfigState]) -> Iterator[ConfigChange]:
    """What changed from each state to the next, whatever their order here."""
    for old, new in pairwise(_by_age(list(states))):
        names = sorted(old.entries.keys() | new.entries.keys())
        differing = [name for name in names if old.entries.get(name) != new.entries.get(name)]
        for name in differing:
            yield _change(name, old, new, is_alone=len(differing) == 1)


def _by_age(states: Sequence[ConfigState]) -> list[ConfigState]:
    """The oldest first: by the time of their last change, else by their counters. A .bak is written when it is old."""
    if all(state.changed_ms is not None for state in states):
        return sorted(states, key=lambda state: (state.changed_ms or 0, state.counter or 0))
    if all(state.counter is not None for state in states):
        return sorted(states, key=lambda state: state.counter or 0)
    return sorted(states, key=lambda state: state.written_ms)


def _is_made_by_a_start(name: str, settings: Settings) -> bool:
    """Whether it may be an entry that a start adds; topics named after broker and cluster have perm RWX.

    The topics of transactions are made and counted at the first one; since 5.0.0, which knows attributes, at the start.
    """
    if name in (TRANSACTION_TOPIC, TRANSACTION_OP_TOPIC):
        return "attributes" in settings
    is_named_so = is_brokers_own(name) or name.endswith("_REPLY_TOPIC") or is_system_group(name)
    return (is_named_so and name != GIVEN_UP_TOPIC) or settings.get("perm", "").endswith("X")


def _change(name: str, old: ConfigState, new: ConfigState, *, is_alone: bool) -> ConfigChange:
    before, after = old.entries.get(name), new.entries.get(name)
    counted = None if old.counter is None or new.counter is None else new.counter - old.counter
    happening = Happening.CREATED if before is None else Happening.DELETED if after is None else Happening.CHANGED
    why = ""
    if counted is None or counted < 1:
        why = BACKWARDS
    elif before is None and after is not None and _is_made_by_a_start(name, after):
        why = MADE_BY_A_START
    elif counted == 1 and not is_alone:
        why = NOT_COUNTED
    elif counted > 1 and happening is Happening.CHANGED:
        why = f"the file was changed {counted} times in between: it may have been deleted and created again"
    is_dated = counted == 1 and new.changed_ms is not None and not why
    after_ms = new.at_ms if is_dated else old.at_ms
    until_ms = max(new.at_ms, new.written_ms) if why == MADE_BY_A_START else new.at_ms
    return ConfigChange(name, happening, after_ms, until_ms, before, after, why, f"{old.source} and {new.source}")
