"""What a report is made of. Values are kept as they are; the template decides how unknown looks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

State = Literal["good", "finding", "unknown", "plain"]
"""good: looked at, nothing wrong; finding: look at it; unknown: not enough evidence; plain: no judgement."""

Row = Mapping[str, Any]

ROWS_SHOWN = 60
"""Rows of a table that are printed; the rest is counted."""

MOST_IN_CELLS = 12
"""Notes that all differ and stand in their rows; more of them make the rows too high to look along."""

IDENTIFIERS = frozenset(("offset", "id", "pos", "ms", "code", "hash", "flag", "port", "term", "epoch", "begin", "end"))
"""Words of a column's key after which its numbers are names: places, ids, instants, codes."""


@dataclass(frozen=True, slots=True)
class Figure:
    """One number of the first screen; `number` None is unknown and `note` says why."""

    label: str
    number: str | None
    note: str = ""
    state: State = "plain"


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a printed table. `blank`: null is nothing to say (a remark), not an unknown value.

    `mono`: every character as wide as the next, spaces kept, as bytes in hex want it. `advises`: sentences that
    say what to do, with what one types between backticks.
    """

    key: str
    heading: str
    numeric: bool = False
    blank: bool = False
    mono: bool = False
    advises: bool = False

    @property
    def is_identifier(self) -> bool:
        """Whether its numbers name something, to be asked for as they are, instead of counting it."""
        return not IDENTIFIERS.isdisjoint(self.key.lower().split("_"))

    @property
    def css(self) -> str:
        """The class of its cells in the page."""
        return "n" if self.numeric else "mono" if self.mono else ""


def texts(*keys: str) -> list[Column]:
    """Columns of words under their own names: `first_at` under "first at"."""
    return [Column(key, key.replace("_", " ")) for key in keys]


def numbers(*keys: str) -> list[Column]:
    """Columns of numbers under their own names: `dead_letters` under "dead letters"."""
    return [Column(key, key.replace("_", " "), numeric=True) for key in keys]


QUEUE = Column("queue_id", "queue", numeric=True)


class Link(NamedTuple):
    """A cell that leads to another place of the page."""

    text: str
    address: str


@dataclass(frozen=True, slots=True)
class PrintedTable:
    """Rows for reading: the first `shown` are printed, the rest are counted.

    `total`: how many there are, where `rows` are only the first of them.
    """

    columns: Sequence[Column]
    rows: Sequence[Row]
    caption: str = ""
    shown: int = ROWS_SHOWN
    total: int | None = None

    @property
    def telling(self) -> list[Column]:
        """The columns without those of remarks that no row has."""
        return [
            c
            for c in self.columns
            if not c.blank or not self.rows or any(r[c.key] not in (None, "") for r in self.rows)
        ]

    @property
    def left_out(self) -> int:
        """Rows that are not printed."""
        return max(0, (len(self.rows) if self.total is None else self.total) - self.shown)


def with_notes(rows: Sequence[Row], key: str = "reason") -> tuple[list[Row], list[str]]:
    """The rows with long repeated texts under `key` replaced by `note N`, and the notes.

    A text that every row has is said once below them, as a note without a number; texts that all differ stay.
    """
    noted = [row[key] for row in rows if row[key]]
    notes = list(dict.fromkeys(noted))
    if len(notes) == 1 and all(row[key] for row in rows):
        return [{**row, key: None} for row in rows], [notes[0] if len(rows) == 1 else f"every row: {notes[0]}"]
    if len(notes) == len(noted) <= MOST_IN_CELLS:
        return list(rows), []
    numbers = {text: f"note {number}" for number, text in enumerate(notes, start=1)}
    return [{**row, key: numbers.get(row[key])} for row in rows], [
        f"note {n}: {t}" for n, t in enumerate(notes, start=1)
    ]


@dataclass(frozen=True, slots=True)
class Section:
    """One question and its answer: a verdict sentence, pictures, tables, remarks."""

    anchor: str
    title: str
    verdict: str
    state: State = "plain"
    charts: Sequence[str] = ()
    tables: Sequence[PrintedTable] = ()
    remarks: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Part:
    """Sections under one heading: those of a broker, or those of all."""

    anchor: str
    title: str
    state: State
    subtitle: str
    sections: Sequence[Section]

    @property
    def is_well(self) -> bool:
        """Whether all was looked at and there is nothing to look at more closely."""
        return self.state in ("good", "plain")


@dataclass(slots=True)
class Facts:
    """What the engines said about one store, or about one lake, as rows of the tables of that name.

    None: nobody looked, or it could not be looked at (then `unread` says why). An empty list: nothing is there.
    `left_out` names files that are not of a kind that is read.
    """

    source: str
    read_at_ms: int
    version: str | None = None
    files: list[Row] = field(default_factory=list)
    regions: list[Row] | None = None
    topics: list[Row] | None = None
    queues: list[Row] | None = None
    findings: list[Row] | None = None
    explained: list[Row] | None = None
    lag: list[Row] | None = None
    forecast: Mapping[str, Any] | None = None
    retention: Mapping[str, Any] | None = None
    retention_risk: list[Row] | None = None
    ledger: list[Row] | None = None
    backlog: list[Row] | None = None
    starts: list[Row] | None = None
    offset_events: list[Row] | None = None
    life_events: list[Row] | None = None
    groups: list[Row] | None = None
    lag_episodes: list[Row] | None = None
    delays: list[Row] | None = None
    retries: list[Row] | None = None
    transactions: list[Row] | None = None
    pops: list[Row] | None = None
    traces: list[Row] | None = None
    delay_notes: list[str] = field(default_factory=list)
    intervals: list[Row] | None = None
    anomalies: list[Row] | None = None
    ownership_notes: list[Row] = field(default_factory=list)
    replicas: list[Row] | None = None
    store_log: list[Row] | None = None
    journeys: dict[str, list[Row] | None] = field(default_factory=dict)
    unread: list[str] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)

    @property
    def why_not_all(self) -> str | None:
        """Why nothing that was found in the log is no proof that nothing is there; None: the log was read in full."""
        if self.regions is None:
            return "no log was read"
        is_damaged = any(region["kind"] == "damage" for region in self.regions)
        return "damaged bytes of the log may hold some" if is_damaged else None


def nothing_found(words: str, state: State, why_not_all: str | None) -> tuple[str, State]:
    """What a section says that found nothing: its words and state, or that it is not known."""
    return (words, state) if why_not_all is None else (f"{words.removesuffix('.')}; {why_not_all}.", "unknown")
