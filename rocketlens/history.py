"""One replayed history of queue ownership, and every question about it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rocketlens.errors import RocketlensError
from rocketlens.gathered import Instant, Place, at_hand, instant, sentences
from rocketlens.piece import Piece
from rocketlens.rows import Rows

if TYPE_CHECKING:
    from pipelines.notebook.cluster import Cluster
    from rebalance.replay import Replay
    from rocketlens.stores.store import Store


class History:
    """What recordings tell. Instants have an earliest and a latest bound; nothing is guessed."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster

    @property
    def replay(self) -> Replay:
        """The rows as Python objects."""
        return self._cluster.replay

    def __repr__(self) -> str:
        found = len(self._cluster.recordings), len(self.replay.intervals), len(self.replay.anomalies)
        return "<History of {:,} recordings: {:,} intervals, {:,} anomalies>".format(*found)

    def _repr_html_(self) -> str:
        return self.section()._repr_html_()

    def intervals(self) -> Rows:
        """Who owned which queue from when to when, and why it began (`replay`).

        >>> history.intervals().columns[:5]
        ['group', 'topic', 'broker', 'queue_id', 'client_id']
        """
        return self._rows("intervals", self.replay.intervals)

    def anomalies(self) -> Rows:
        """Queues with two owners or none, and what else was out of order (`replay --show anomalies`).

        >>> len(history.anomalies()) == len(history.replay.anomalies)
        True
        """
        return self._rows("anomalies", self.replay.anomalies)

    def assignments(self) -> Rows:
        """What each client should have got in each of its rounds (`replay --show assignments`)."""
        return self._rows("assignments", self.replay.assignments)

    def divergence(self) -> Rows:
        """Rounds in which a client got something else (`replay --show divergence`)."""
        return self._rows("divergence", self.replay.divergence)

    def at(self, at: Instant) -> Rows:
        """Who owned each queue at one instant, whether that is certain, and who else may have (`replay --at`).

        >>> history.at("2026-11-21T15:08:30Z")["certain"][:3]
        [True, True, True]
        """
        from pipelines.answers.recorded.ownership_rows import rows_to_batch
        from pipelines.cli.commands.ownership.ownership_rows import OWNERS
        from pipelines.cli.frame.asked.options import instant_of

        with sentences():
            at_ms = instant_of(str(instant(at)), "at")
        import pyarrow as pa

        batch = rows_to_batch(OWNERS, self.replay.ownership_at(at_ms))
        silent = self.replay.silent_at(at_ms)
        notes = () if silent is None else (silent,)
        return Rows(pa.Table.from_batches([batch]), tuple(self._cluster.problems), notes)

    def section(self) -> Piece:
        """A picture of every queue's owners, certain and possible, and the anomalies."""
        from pipelines.report.sections.ownership import ownership_section

        return Piece(ownership_section(self._cluster.facts))

    def night(self, store: Store | None = None, offsets: Place | None = None) -> Piece:
        """Lag, owners, incidents, disorders, findings and lines of logs on one time axis, and who was furthest behind.

        Args:
            store: of a broker of this history; without it lag and findings are not known.
            offsets: kept copies of its consumerOffset.json; else the store's own.

        >>> history.night().content.verdict
        'How far behind anybody was is not known; 20 things happened.'
        """
        from pipelines.notebook.night import Night, placed
        from recovery.knowledge.knowledge import open_known

        if store is None:
            return Piece(Night(self._cluster, None, ()).section())
        kept = store.path / "config" / "consumerOffset.json" if offsets is None else offsets
        lag, found = store.lag_history(kept), store.verify()
        with at_hand(store.path) as folder:
            found_at = placed(open_known(folder, store.said), found)
        return Piece(Night(self._cluster, lag.to_pylist(), found_at).section())

    def sources(self) -> Piece:
        """One row per log or capture."""
        return Piece(self._cluster.sources())

    def incidents(self) -> Piece:
        """What happened to clients, brokers and topics, each with the window it happened in."""
        return Piece(self._cluster.incidents())

    def metrics(self) -> Piece:
        """Per group and topic: hand-overs, imbalance, and seconds owned, unowned, owned twice, uncertain."""
        return Piece(self._cluster.metrics())

    def exposed(self, store: Place | None = None) -> Piece:
        """Ranges of messages that may have been consumed twice; a broker's store tells how many they hold."""
        if store is None:
            return Piece(self._cluster.exposed())
        with at_hand(Path(store)) as folder:
            return Piece(self._cluster.exposed(folder))

    def what_if(self, strategies: Iterable[str], *, more_clients: int = 0, more_queues: int = 0) -> Piece:
        """Share the memberships out by other strategies, among more clients or queues (`what-if`).

        Raises:
            RocketlensError: a name that is no strategy.

        >>> history.what_if(["AVG", "CONSISTENT_HASH"]).rows[0]["strategy"]
        'AVG'
        """
        try:
            return Piece(self._cluster.strategies(strategies, more_clients=more_clients, more_queues=more_queues))
        except ValueError as wrong:
            raise RocketlensError(str(wrong)) from wrong

    def notes(self) -> Piece:
        """What in the record makes answers wider, and why."""
        return Piece(self._cluster.notes())

    @property
    def middle(self) -> int:
        """Halfway between the first and the last certain begin of an ownership, epoch ms."""
        return self._cluster.middle_ms

    def _rows(self, table: str, found: Sequence[Any]) -> Rows:
        import pyarrow as pa

        from pipelines.answers.recorded.ownership_rows import rows_to_batches
        from pipelines.cli.commands.ownership.ownership_rows import TABLE_OF

        schema, _ = TABLE_OF[table]
        return Rows(pa.Table.from_batches(rows_to_batches(schema, found), schema), tuple(self._cluster.problems))


def read_history(places: Sequence[Path]) -> History:
    """Read and replay every recording in files and folders. Raises RocketlensError where there is none."""
    from pipelines.notebook.cluster import read_cluster

    with sentences():
        cluster = read_cluster(places)
    if not cluster.recordings:
        named = ", ".join(map(str, places))
        raise RocketlensError(
            f"{named}: no broker log, client log or wire capture there (in a folder by RocketMQ's names)"
        )
    return History(cluster)
