"""What a command tells the webhook of `rocketlens.toml` when it found something wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pipelines.cli.frame.error_sentence import explain_error
from pipelines.cli.frame.run import Run
from pipelines.lake.alert import Trouble, alert_of, post, tell_of_lake

if TYPE_CHECKING:
    from pipelines.answers.verdicts import BrokerVerdict
    from pipelines.lake.sources import Sources


Tell = Callable[[Sequence[Trouble]], str | None]
"""Posts what is wrong; why it could not, or None."""


@contextmanager
def alerting(run: Run, place: Path, tell: Tell | None) -> Iterator[list[Trouble]]:
    """Gather what is wrong at a place, and tell it at the end, with what could not be read and the error that ended it.

    A lake that another process writes to is no trouble: that process tells of it. None tells nobody.
    """
    from pipelines.lake.lock import LakeBusy

    troubles: list[Trouble] = []
    try:
        yield troubles
    except LakeBusy:
        raise
    except Exception as error:
        troubles.append(Trouble("failed", "error", str(place), explain_error(error)[0]))
        _tell(run, tell, troubles)
        raise
    troubles += [Trouble("not_read", "warning", str(place), sentence) for sentence in run.unread_sentences]
    _tell(run, tell, troubles)


def _tell(run: Run, tell: Tell | None, troubles: Sequence[Trouble]) -> None:
    if tell is not None and (why := tell(troubles)):
        run.warn(why)


def to_lake(sources: Sources, about: str) -> Tell | None:
    """Tells of a lake what was not told of it before; None where no webhook is named."""
    return None if sources.webhook is None else partial(tell_of_lake, sources.webhook, sources.lake, about)


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
