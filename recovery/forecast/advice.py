"""Which repairs lose less: each is played in memory, and those that help are offered with what they would change."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from parsers.store.places import name_below
from recovery.config.start import config_start_of
from recovery.forecast.config_repairs import copy_first
from recovery.forecast.losses import LossCounts, losses
from recovery.forecast.missing_log import MissingLog, from_a_copy, put_back
from recovery.forecast.outcome import Outcome, outcome_of
from recovery.forecast.queue_rows import Renumbered, renumbered, unit_repairs
from recovery.forecast.repair import Repair
from recovery.forecast.repairs import repairs
from recovery.forecast.returns import MAY_BE_DELETED, brought_back, with_copy
from recovery.forecast.stray_files import given_up
from recovery.lives.life import TopicLives
from recovery.rebuild.in_place import WHICH_IN_PLACE
from recovery.rules.store_paths import log_folders
from recovery.start.restart import Restart, memory_before_load, restart


@dataclass(frozen=True, slots=True)
class Advice:
    """A repair and the start after it; `then` is None for what is done beside the store."""

    repair: Repair
    then: Outcome | None


REBUILT_QUEUES = Repair(
    do=f"put the queues in place that `rocketlens rebuild` writes, instead of an `abort` file: {WHICH_IN_PLACE}",
    evidence="an `abort` file would give messages of deleted topics, or of their former lives, their queues back",
    costs="the queues are replaced while the broker is stopped; copy consumequeue/ first",
)
REBUILT_INDEX = Repair(
    do="put the index/ in place that `rocketlens rebuild` writes, instead of an `abort` file",
    evidence=REBUILT_QUEUES.evidence,
    costs="the index is replaced while the broker is stopped: move index/ out of the store first, and keep it",
)


def advise(
    played: Restart,
    outcome: Outcome,
    missing: Sequence[MissingLog],
    lives: Callable[[], TopicLives],
    lower: Sequence[Renumbered] = (),
) -> Iterator[Advice]:
    """Repairs that end better than the plain start, from the least destructive on; nothing when nothing is lost or
    missing and no queue goes on with a `lower` number.

    None that gives messages of deleted topics or former lives a queue again, none that leaves open what is lost where
    the plain start does not, and nothing at all for a start that is not played.
    """
    if played.not_played:
        return
    withheld, saved = False, 0
    folders = log_folders(played.memory.evidence.root, played.memory.settings).commitlog
    for each in missing:
        yield Advice(put_back(each, len(folders)), None)
    config_first = None if played.config is None else copy_first(played.config)
    if config_first is not None:
        yield Advice(config_first, None)
    if (check := with_copy(played)) is not None:
        yield Advice(check, None)
    if outcome.readable_messages:
        yield Advice(_copy_first(played, outcome), None)
    for repair in (*unit_repairs(played, lower), *repairs(played, outcome)):
        advice, then = _played(repair, played, lives)
        withheld |= then.brought_back > outcome.brought_back
        is_surer = then.losses_are_known or not outcome.losses_are_known or not outcome.starts
        if is_surer and then.starts is not None and then.is_better_than(outcome):
            yield advice
            saved = max(saved, outcome.lost_messages - then.lost_messages)
    told = sum(each.queue_units or 0 for each in missing if each.is_tail)
    unreadable = outcome.lost_messages - outcome.readable_messages - told
    if unreadable > 0 and saved <= 0:
        yield Advice(from_a_copy(unreadable), None)
    if withheld and outcome.lost_units and not MAY_BE_DELETED & {life.ground for life in lives().undecided}:
        yield Advice(REBUILT_QUEUES, None)
    if withheld and outcome.lost_index:
        yield Advice(REBUILT_INDEX, None)


def _copy_first(played: Restart, outcome: Outcome) -> Repair:
    store = played.memory.evidence
    folder = name_below(store.root, store.dledger[0].path.parent) if store.log_is_dledgers else "commitlog"
    lost, readable = outcome.lost_messages, outcome.readable_messages
    which = "the messages" if readable == lost else f"{readable} of the {lost} messages"
    return Repair(
        do=f"copy {folder}/ before the start: {which} listed as lost can be read from the copy with `dump commitlog`",
        evidence="their records are in the files now, and the start gives their bytes up",
        costs="disk space",
        files=(folder,),
    )


def _played(repair: Repair, played: Restart, lives: Callable[[], TopicLives]) -> tuple[Advice, Outcome]:
    """The start after a repair. What is in log files that the repair moves away is lost, too."""
    memory = played.memory
    store, version, settings = repair.store or memory.evidence, memory.version, repair.settings(memory.settings)
    config = None if played.config is None else config_start_of(store, version, settings)
    again = memory_before_load(store, version, settings, heap_bytes=memory.check.heap_bytes)
    replayed = restart(again, config=config)
    counts = LossCounts()
    lost = {loss.physical_offset for loss in counts.passing(losses(replayed, lives)) if loss.what == "message"}
    given = given_up(memory.evidence, store, memory.runs.scanner, lives, lost)
    counts.of["message"] += given.messages
    lower = sum(1 for _ in renumbered(replayed, memory.evidence))
    then = outcome_of(replayed, counts, brought_back(replayed, lives), lower)
    if given.damaged_bytes:
        then = replace(then, losses_are_known=False)
    costs = "; ".join(filter(None, (repair.costs, given.costs())))
    return Advice(replace(repair, costs=costs), then), then
