"""What a command tells the webhook of `rocketlens.toml` when it found something wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from parsers.evidence.guard import WouldTouchEvidence
from pipelines.cli.frame.call.run import Run
from pipelines.cli.frame.error_sentence import explain_error
from pipelines.lake.alert import FAILED, NOT_READ, Trouble, alert_of, post, tell_of_lake
from pipelines.lake.delta.errors import LakeBusy

if TYPE_CHECKING:
    from pipelines.answers.verdicts import BrokerVerdict
    from pipelines.lake.configuration.sources import Sources


Tell = Callable[[Sequence[Trouble]], str | None]
"""Posts what is wrong; why it could not, or None."""
STUCK = timedelta(hours=6)
"""A process that has had the lock of a lake for so long tells nobody any more."""


@contextmanager
def alerting(run: Run, place: str, tell: Tell | None, part: str | None = None) -> Iterator[list[Trouble]]:
    """Gather what is wrong at a place, and tell it at the end, with what could not be read and the error that ended it.

    A lake that another process writes to is no trouble before it has done so for long: that process tells of it. None
    tells nobody.

    Args:
        part: what of the place an error is of; all of it without.
    """
    troubles: list[Trouble] = []
    try:
        yield troubles
    except Exception as error:
        if not isinstance(error, LakeBusy) or (error.held_for is not None and error.held_for > STUCK):
            _tell(run, tell, [*_not_read(run, place), Trouble(FAILED, "error", part or place, explain_error(error)[0])])
        raise
    _tell(run, tell, [*troubles, *_not_read(run, place)])


def _not_read(run: Run, place: str) -> Iterator[Trouble]:
    return (Trouble(NOT_READ, "warning", broker or place, sentence) for broker, sentence in run.not_read_of)


def _tell(run: Run, tell: Tell | None, troubles: Sequence[Trouble]) -> None:
    if tell is not None and (why := tell(troubles)):
        run.warn(why)


def to_lake(sources: Sources, brokers: Sequence[str], not_compared: Set[str] = frozenset()) -> Tell | None:
    """Tells of an ingest of these brokers, or of all, what was not told before; None where no webhook is named.

    An ingest that failed has looked at nothing, and one of some brokers has not tried to read the others. Nothing is
    kept in a lake that lies among the evidence: that is told each time.

    Args:
        not_compared: brokers whose findings are not known when it is told; what they had goes on.
    """
    from pipelines.lake.lake import lake_to_write

    webhook, lake = sources.webhook, sources.lake
    if webhook is None:
        return None
    others = {broker.name for broker in sources.brokers} - set(brokers) if brokers else set[str]()

    def tell(troubles: Sequence[Trouble]) -> str | None:
        failed = any(trouble.what == FAILED for trouble in troubles)

        def looked_at(told: Trouble) -> bool:
            if told.what == FAILED:
                return not others or told.where == named(brokers)
            return not failed and told.where not in (others if told.what == NOT_READ else not_compared)

        try:
            if failed:
                lake_to_write(sources)
        except WouldTouchEvidence:
            return post(webhook, alert_of("ingest", lake, troubles))
        return tell_of_lake(webhook, lake, "ingest", troubles, looked_at)

    return tell


def named(brokers: Sequence[str]) -> str | None:
    """The part of a lake that some brokers are, for `alerting`."""
    return ", ".join(brokers) or None


def to_webhook(webhook: str, store: Path) -> Tell:
    """Tells of a store that was verified whatever is wrong with it."""

    def tell(troubles: Sequence[Trouble]) -> str | None:
        return post(webhook, alert_of("verify", store.resolve(), troubles)) if troubles else None

    return tell


def troubles_of(verdicts: Iterable[BrokerVerdict]) -> Iterator[Trouble]:
    """A trouble for each broker with findings: the worst one, and what a start would lose."""
    for verdict in verdicts:
        if verdict.findings and verdict.worst is not None:
            worst = verdict.worst
            yield Trouble(worst["kind"], worst["severity"], verdict.broker, verdict.damage())


def trouble_of_finding(row: Mapping[str, Any]) -> Trouble:
    """The trouble that a row of `verify` is."""
    return Trouble(row["kind"], row["severity"], row["place"], row["evidence"])
