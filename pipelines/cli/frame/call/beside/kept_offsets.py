"""`--offsets` of the commands that need what groups have stored: a kept copy, else the store's own."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pipelines.cli.frame.call.run import Run
from pipelines.cli.frame.errors import Unreadable

if TYPE_CHECKING:
    from parsers.store.store import Store
    from pipelines.answers.offsets.saved import OffsetsAt

OF_CLIENTS = "{}: offsets.json of clients, each as it is now: nothing of what moved offsets is taken from them"
NO_COPY = "{}: no copy of consumerOffset.json there"


def kept_copies(run: Run, place: Path) -> list[OffsetsAt]:
    """The kept copies at a place, oldest first, of a command that answers without them as well: that there is none
    counts as not read. Raises OSError: the place is not there."""
    from pipelines.answers.offsets.saved import offsets_in

    place.stat()
    run.reads(place)
    problems: list[str] = []
    copies = offsets_in(place, problems.append)
    if any(copy.is_clients for copy in copies):
        run.note(OF_CLIENTS.format(place))
        return []
    for sentence in problems if copies or problems else [NO_COPY.format(place)]:
        run.not_read(sentence)
    return copies


def offsets_at(run: Run, store: Store, place: Path | None, at_ms: int | None = None) -> OffsetsAt:
    """The newest copy written by `at_ms`; the oldest there is when all are younger.

    Raises:
        Unreadable: there is no copy at `place`; without a place, the store has no consumerOffset.json.
        OSError: the place is not there.
    """
    from pipelines.answers.offsets.saved import offsets_in, offsets_of_store

    if place is None:
        own = offsets_of_store(store, run.damage)
        if own is None:
            raise Unreadable(f"{store.root}: no config/consumerOffset.json there; name a copy of it with --offsets")
        return _named_if_empty(run, store, own)
    place.stat()
    copies = offsets_in(place, run.not_read)
    if not copies:
        raise Unreadable(NO_COPY.format(place))
    return next((copy for copy in reversed(copies) if at_ms is None or copy.written_ms <= at_ms), copies[0])


def offsets_if_any(run: Run, store: Store, place: Path | None, lack: str) -> OffsetsAt | None:
    """The newest copy at `place`, else the store's own offsets; None where the store has none, which a note says.

    `lack`: what the answer then does not tell.

    Raises:
        Unreadable: there is no copy at `place`.
        OSError: the place is not there.
    """
    from pipelines.answers.offsets.saved import offsets_of_store

    if place is not None:
        return offsets_at(run, store, place)
    own = offsets_of_store(store, run.damage)
    if own is None:
        run.note(f"{store.root}: no consumerOffset.json, so {lack}; name a copy of it with --offsets")
        return None
    return _named_if_empty(run, store, own)


def _named_if_empty(run: Run, store: Store, own: OffsetsAt) -> OffsetsAt:
    if not own.offsets and not run.unread:
        run.note(
            f"{store.root}: its consumerOffset.json holds no offset, so there is nothing to tell of any group: none "
            "ever stored one, or the file was emptied (`verify --explained`); name a copy of it with --offsets"
        )
    return own
