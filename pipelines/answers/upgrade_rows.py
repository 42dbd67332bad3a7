"""What another version of the broker changes for a store and its groups, as rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import asdict, dataclass
from typing import Any

from parsers.damage.errors import DamageSink
from parsers.layouts.columns import schema_from
from parsers.queues.store_queues import StoreQueues
from parsers.store.store import Store
from pipelines.answers.offsets.ends import Ends
from pipelines.answers.offsets.saved import offsets_of_store
from recovery.forecast.forecast import forecast
from recovery.forecast.upgrade import Change, place_changes, rule_changes, setting_changes, start_changes, ways_back
from recovery.knowledge.inference import StoreKnowledge
from recovery.query.next_pull import NextPull, next_pull
from recovery.scan.log_access import LogAccess

UPGRADE_SCHEMA = schema_from("about text, what text, before text, after text, why text")


@dataclass(frozen=True, slots=True)
class Upgrade:
    """The changes, and whether the second version's start ends worse than the first one's."""

    changes: tuple[Change, ...]
    is_worse: bool

    def rows(self) -> Iterator[dict[str, Any]]:
        """Rows of UPGRADE_SCHEMA."""
        return map(asdict, self.changes)


def upgrade(
    store: Store,
    before: StoreKnowledge,
    after: StoreKnowledge,
    said: Mapping[str, str],
    *,
    with_rules: bool,
    damage: DamageSink,
) -> Upgrade:
    """Compare two versions on one store.

    Args:
        before, after: what is known of the store with each version said.
        said: settings by RocketMQ's names, as broker.conf and options have them.
        with_rules: also list every rule that differs.
    """
    one, other = (forecast(store, known, with_advice=False) for known in (before, after))
    versions = before.version, after.version
    changes = [
        *start_changes(one, other),
        *place_changes(after.settings, *versions),
        *setting_changes(said, *versions),
        *_group_changes(store, before, after, damage),
        *ways_back(after.settings, *versions),
        *(rule_changes(*versions) if with_rules else ()),
    ]
    return Upgrade(tuple(changes), one.outcome.is_better_than(other.outcome))


def _group_changes(store: Store, before: StoreKnowledge, after: StoreKnowledge, damage: DamageSink) -> Iterator[Change]:
    """Queues on which the next pull of a group goes on elsewhere, and what a group without an offset is answered."""
    saved = offsets_of_store(store, damage)
    with closing(StoreQueues(store, damage=damage)) as queues:
        ends = Ends(queues, LogAccess(store.commitlog))
        for (group, topic), offsets in sorted(saved.offsets.items() if saved is not None else ()):
            for queue_id, offset in sorted(offsets.items()):
                limits = [ends.limits(topic, queue_id, known.version) for known in (before, after)]
                if limits[0] is None or limits[1] is None:
                    continue
                one, other = (
                    next_pull(offset, *each, known.version)
                    for each, known in zip(limits, (before, after), strict=True)
                    if each is not None
                )
                if (one.queue_offset, one.is_moved) != (other.queue_offset, other.is_moved):
                    what = f"{group} on {topic}/{queue_id}, offset {offset}"
                    yield Change("group", what, _goes_on(one), _goes_on(other), other.answer.value)
    if before.version.starts_by_page_cache != after.version.starts_by_page_cache:
        words = {False: "by the size of the log behind its first message", True: "by the page cache"}
        was, then = (words[known.version.starts_by_page_cache] for known in (before, after))
        why = "whether it starts at 0 or by its policy, where its queue begins at 0: `start-at` tells"
        yield Change("group", "a group without an offset", was, then, why)


def _goes_on(pull: NextPull) -> str:
    lost = [f"{pull.expired} expired"] if pull.expired else []
    lost += [f"at most {pull.skipped_at_most} skipped"] if pull.skipped_at_most else []
    lost += [f"at most {pull.repeated_at_most} repeated"] if pull.repeated_at_most else []
    return f"goes on at {pull.queue_offset}" + (f" ({', '.join(lost)})" if lost else "")
