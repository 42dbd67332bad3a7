"""Which repairs lose less: each is played in memory, and those that help are offered with what they would change."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from recovery.config_repairs import copy_first
from recovery.config_start import config_start_of
from recovery.losses import losses
from recovery.outcome import Outcome, outcome_of
from recovery.repair import Repair
from recovery.repairs import repairs
from recovery.restart import Restart, restart


@dataclass(frozen=True, slots=True)
class Advice:
    """A repair and the start after it; `then` is None for what is done beside the store."""

    repair: Repair
    then: Outcome | None


COPY_FIRST = Repair(
    do="copy commitlog/ before the start: the messages listed as lost can be read from the copy with `dump commitlog`",
    evidence="their records are in the files now, and the start gives their bytes up",
    costs="disk space",
    files=("commitlog",),
)


def advise(played: Restart, outcome: Outcome) -> Iterator[Advice]:
    """Repairs that end better than the plain start, from the least destructive on; nothing when nothing is lost."""
    config_first = None if played.config is None else copy_first(played.config)
    if config_first is not None:
        yield Advice(config_first, None)
    if outcome.lost_messages:
        yield Advice(COPY_FIRST, None)
    for repair in repairs(played, outcome):
        then = _after(repair, played)
        if then.is_better_than(outcome):
            yield Advice(repair, then)


def _after(repair: Repair, played: Restart) -> Outcome:
    memory = played.memory
    store, version, settings = repair.store or memory.evidence, memory.version, repair.settings(memory.settings)
    config = None if played.config is None else config_start_of(store, version, settings)
    replayed = restart(store, version, settings, heap_bytes=memory.check.heap_bytes, config=config)
    return outcome_of(replayed, Counter(loss.what for loss in losses(replayed)))
