"""What would this broker do with these files if it were started now?

`forecast` plays the start in memory, asks what it loses, and tries repairs the same way. Nothing is touched or copied.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from parsers.store.store import Store
from recovery.broker.memory import BrokerMemory, Reason
from recovery.broker.store_folder import Evidence, read_evidence
from recovery.config.start import config_start_of
from recovery.forecast.advice import Advice, advise
from recovery.forecast.losses import Loss, LossCounts, losses
from recovery.forecast.missing_log import MissingLog, missing_log, missing_tail
from recovery.forecast.outcome import Outcome, outcome_of
from recovery.forecast.queue_rows import QueueRow, Renumbered, queue_rows, renumbered
from recovery.forecast.returns import Return, TimersAgain, brought_back, returns, timers_again
from recovery.forecast.unknowns import Unknown, unknowns
from recovery.knowledge.inference import StoreKnowledge
from recovery.knowledge.setting_signs import INDEX_SETTING, STORE_TYPE
from recovery.lives.life import TopicLives
from recovery.lives.topic_lives import StoreLives
from recovery.rules.settings import StoreSettings
from recovery.rules.versions import PROVEN, BrokerVersion
from recovery.start.not_played import NotPlayed
from recovery.start.restart import Restart, memory_before_load, restart

LISTED = 100_000
"""Lost messages listed one by one; more are counted."""


@dataclass(frozen=True, slots=True)
class Forecast:
    """The forecast of one start, for one version and one set of settings.

    Attributes:
        missing: bytes of the log that no file has, before the start and after it; None where load() fails.
        renumbered: queues that go on with a lower number than they had.
        brought_back: messages of deleted topics and former lives that queues have again.
        timers_again: timers that come again; None where there are none.
        crash_brings_back: what a start after a crash would bring back, where this one follows an orderly shutdown.
        holds_for: the versions whose starts end the same; the version asked for alone when one was.
        otherwise: forecasts of other versions that end in another way, when no version was said.
    """

    version: BrokerVersion
    settings: StoreSettings
    played: Restart
    before_dispatch: tuple[QueueRow, ...] | None
    lost: tuple[Loss, ...]
    missing: tuple[MissingLog, ...] | None
    renumbered: tuple[Renumbered, ...]
    brought_back: tuple[Return, ...]
    timers_again: TimersAgain | None
    crash_brings_back: tuple[Return, ...]
    outcome: Outcome
    unknown: tuple[Unknown, ...]
    holds_for: tuple[BrokerVersion, ...]
    advice: tuple[Advice, ...] = ()
    otherwise: tuple[Forecast, ...] = ()

    @property
    def has_loss(self) -> bool:
        """Whether somebody should look before starting: no start, something lost for good, queues that go on with
        a lower number, files of the log that are missing, or deleted messages or timers that are served again."""
        lost = any(self.outcome.lost.values()) or bool(self.outcome.lost_config) or bool(self.played.not_played)
        others = self.renumbered or self.missing or self.brought_back or self.timers_again
        return not self.outcome.starts or lost or bool(others)

    @property
    def has_loss_for_certain(self) -> bool:
        """`has_loss`, whichever of the versions it is that the broker may be of."""
        return self.has_loss and all(other.has_loss for other in self.otherwise)

    @property
    def reasons(self) -> Sequence[Reason]:
        return self.played.memory.reasons


def forecast(
    store: Store, known: StoreKnowledge, *, heap_bytes: int | None = None, with_advice: bool = True
) -> Forecast:
    """Forecast a start of the broker on this store, of the version that is given, else of the one that the files
    suggest.

    Then `otherwise` has the starts that end in another way, of every recorded version that the files leave open.

    Args:
        heap_bytes: the broker's Java heap, where known.
        with_advice: also play the repairs that may lose less.
    """
    evidence = read_evidence(store.root, known.settings)
    lives = StoreLives(store, known)
    if known.version_is_said:
        told = _forecast_of(evidence, known.version, known, heap_bytes, lives)
        return _with_advice(told, lives) if with_advice else told
    groups: dict[Outcome, list[Forecast]] = {}
    for each in (
        known.version,
        *(version for version in PROVEN if version in known.may_be and version != known.version),
    ):
        told = _forecast_of(evidence, each, known, heap_bytes, lives)
        groups.setdefault(told.outcome, []).append(told)
    suggested, *others = (_of_group(group, lives if with_advice else None) for group in groups.values())
    return replace(suggested, otherwise=tuple(sorted(others, key=_version, reverse=True)))


def _after_a_crash(played: Restart, lives: TopicLives | None) -> tuple[Return, ...]:
    """What the same start would bring back if the broker had not shut down; nothing where no life is over."""
    memory = played.memory
    if memory.evidence.abort or played.not_played or lives is None or not lives.living_from:
        return ()
    evidence, heap_bytes = replace(memory.evidence, abort=True), memory.check.heap_bytes
    crashed = memory_before_load(evidence, memory.version, memory.settings, heap_bytes=heap_bytes)
    return tuple(returns(restart(crashed), lives))


def _version(told: Forecast) -> BrokerVersion:
    return told.version


def _of_group(group: list[Forecast], lives: StoreLives | None) -> Forecast:
    """The first version's forecast for all versions that end the same; without `lives` it comes without advice."""
    told = replace(group[0], holds_for=tuple(sorted(map(_version, group))))
    return told if lives is None else _with_advice(told, lives)


def _with_advice(told: Forecast, lives: StoreLives) -> Forecast:
    missing = tuple(missing_tail(told.played)) if told.missing is None else told.missing
    found = advise(told.played, told.outcome, missing, lives, told.renumbered)
    return replace(told, advice=tuple(found))


def _undecided(listed: Sequence[Loss], lives: StoreLives) -> Iterator[Unknown]:
    """The topics with messages in no queue of which the store does not tell whether they were deleted."""
    topics = {loss.topic for loss in listed if loss.what == "queue_unit"}
    for life in lives().undecided if topics else ():
        if life.topic in topics:
            yield Unknown(f"whether {life.topic} was deleted", f"{life.ground.value}; if it was, nothing of it is lost")


def _assumed(known: StoreKnowledge, version: BrokerVersion) -> Iterator[NotPlayed]:
    """What is assumed of storeType: without it, the files of a moved broker do not say where it keeps its queues. And
    of rocksdbstore where it cannot be read."""
    assumed = {fact.what: fact for fact in known.facts if not fact.certain}
    if (fact := assumed.get(STORE_TYPE)) is not None and version.keeps_queues_in_rocksdb:
        yield NotPlayed("whether this broker keeps its queues in files or in the database", fact.why)
    if (fact := assumed.get(INDEX_SETTING)) is not None and version.keeps_messages_in_database:
        yield NotPlayed("from which file on the log is read", f"{INDEX_SETTING} is {fact.why}")


def _forecast_of(
    evidence: Evidence, version: BrokerVersion, known: StoreKnowledge, heap_bytes: int | None, lives: StoreLives
) -> Forecast:
    before: list[tuple[QueueRow, ...]] = []

    def look(memory: BrokerMemory) -> None:
        before.append(queue_rows(memory))

    settings = known.settings
    config = config_start_of(evidence, version, settings)
    played = restart(
        memory_before_load(evidence, version, settings, heap_bytes=heap_bytes),
        after_load=look,
        config=config,
        also_open=tuple(_assumed(known, version)),
    )
    counts = LossCounts()
    found = counts.passing(losses(played, lives))
    listed = tuple(islice(found, LISTED))
    deque(found, maxlen=0)
    back = tuple(returns(played, lives()) if brought_back(played, lives) else ())
    lower = tuple(renumbered(played, evidence))
    outcome = outcome_of(played, counts, sum(each.messages for each in back), len(lower))
    return Forecast(
        version=version,
        settings=settings,
        played=played,
        before_dispatch=before[0] if before and played.memory.queues_are_known else None,
        lost=listed,
        missing=missing_log(played),
        renumbered=lower,
        brought_back=back,
        timers_again=timers_again(played),
        crash_brings_back=_after_a_crash(played, lives.found),
        outcome=outcome,
        unknown=(*unknowns(played, counts.of.total() - len(listed)), *_undecided(listed, lives)),
        holds_for=(version,),
    )
