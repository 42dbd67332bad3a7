"""`rocketlens retention`: which files the broker's cleaners would delete, and whose unread messages with them."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from datetime import timedelta
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pipelines.cli.frame.asked.options import BROKER, BrokerOptions, Format, NowOption, StoreArgument, instant_of
from pipelines.cli.frame.call.command import command
from pipelines.cli.frame.call.opening import NOTHING_SAID, known_store_at
from pipelines.cli.frame.call.run import Run

if TYPE_CHECKING:
    import pyarrow as pa

    from parsers.store.store import Store
    from pipelines.answers.fates.held_at_risk import HeldRisk
    from recovery.knowledge.inference import StoreKnowledge
    from recovery.retention.retention import Retention
    from recovery.retention.risk import DelayRisk, RetentionRisk

FILE_BRIEF = ("order", "kind", "topic", "queue_id", "file", "due_at", "reason")
RISK_BRIEF = ("group", "topic", "queue_id", "unread_messages", "due_at", "deleted_unread", "status")


@command("retention", panel=BROKER)
def retention(
    run: Run,
    store: StoreArgument,
    now: NowOption = None,
    broker: BrokerOptions = NOTHING_SAID,
    disk_percent: Annotated[
        int | None, typer.Option(metavar="N", min=0, max=100, help="Use of the broker's disk; unknown without it.")
    ] = None,
    utc_offset: Annotated[
        float | None,
        typer.Option(
            metavar="HOURS", min=-18, max=18, help="Hours east of UTC in which deleteWhen is read; else this machine's."
        ),
    ] = None,
    manual: Annotated[bool, typer.Option("--manual", help="As after `mqadmin deleteExpiredCommitLog`.")] = False,
) -> None:
    """Which files would be deleted now and in what order, when the others are due, and what unread data goes with them.

    One JSON document: `delete_now` and `later` (files in order), `unread_at_risk` (per group and queue). As csv,
    parquet or arrow: the files alone. Without --now the instant is now.

    Messages that wait are deleted with their log file too: `delayed_at_risk` has a row for each delay level,
    `held_at_risk` one for timers of any delay and one for half messages, where there are any, with how many wait in
    files that go before they are due and the first of them by name. `delays` and `transactions --open` list them all.

    Example: `rocketlens retention /data/store --config fileReservedTime=48 --disk-percent 80`
    """
    from recovery.retention.retention import retention as play

    opened, known = known_store_at(run, store, broker, names_version=True)
    now_ms = int(time.time() * 1000) if now is None else instant_of(now, "--now")
    zone = None if utc_offset is None else timedelta(hours=utc_offset)
    kept = play(opened, known, now_ms, disk_percent, utc_offset=zone, manual=manual)
    files = [_file_row(file) for file in kept.rows()]
    if run.format_ in (Format.JSON, Format.JSONL):
        run.emit_documents([_document(run, opened, known, kept, files, now_ms)], one=True)
        return
    run.emit_rows(file_schema(), files, brief=FILE_BRIEF)
    if run.format_ is Format.TABLE:
        run.print("")
        waiting = (risk_row(risk) for risk in risks_of(run, opened, kept) if risk.status != "zero")
        run.emit_rows(risk_schema(), waiting, brief=RISK_BRIEF)


def risks_of(run: Run, store: Store, kept: Retention) -> list[RetentionRisk]:
    """Per group and queue, when its unread messages are due; nothing where no offsets are stored."""
    from pipelines.answers.lag.lag import store_positions
    from pipelines.answers.offsets.saved import offsets_of_store
    from recovery.retention.risk import retention_risks

    offsets = offsets_of_store(store, run.damage)
    if offsets is None or not offsets.offsets:
        lack = "no consumerOffset.json" if offsets is None else "its consumerOffset.json holds no offset"
        run.note(f"{store.root}: {lack}, so what is unread is unknown")
        return []
    return list(retention_risks(kept, store_positions(store, offsets, run.damage)))


def _document(
    run: Run, store: Store, known: StoreKnowledge, kept: Retention, files: list[dict[str, Any]], now_ms: int
) -> dict[str, Any]:
    decided = kept.decided
    return {
        "now": _iso(now_ms),
        "version": str(kept.played.memory.version),
        "decided": None if decided is None else asdict(decided),
        "why_not": kept.why_not,
        "bytes_per_s": kept.bytes_per_s,
        "rate_reason": kept.rate_reason,
        "delete_now": [_with_iso(file) for file in files if file["order"] is not None],
        "later": [_with_iso(file) for file in files if file["order"] is None],
        "unread_at_risk": [_with_iso(risk_row(risk)) for risk in risks_of(run, store, kept)],
        "delayed_at_risk": [_with_iso(_file_row(asdict(risk))) for risk in _delays_of(run, store, kept)],
        "held_at_risk": [_held_row(asdict(risk)) for risk in _held_of(run, store, known, kept)],
    }


def _held_of(run: Run, store: Store, known: StoreKnowledge, kept: Retention) -> Iterator[HeldRisk]:
    from pipelines.answers.fates.held_at_risk import held_risks
    from pipelines.answers.offsets.saved import offsets_of_store

    offsets = offsets_of_store(store, run.damage)
    yield from held_risks(store, known, kept, None if offsets is None else offsets.offsets, run.damage)


def _held_row(risk: Mapping[str, Any]) -> dict[str, Any]:
    messages = [_in_iso(message) for message in risk["messages"]]
    return {**_in_iso(risk), "messages": messages}


def _in_iso(row: Mapping[str, Any]) -> dict[str, Any]:
    """The row with its instants as text."""
    return {name.removesuffix("_ms"): _iso(value) if name.endswith("_at_ms") else value for name, value in row.items()}


def _delays_of(run: Run, store: Store, kept: Retention) -> list[DelayRisk]:
    from parsers.config.offsets import read_delay_offsets
    from recovery.retention.risk import delay_risks

    unread = run.unread
    offsets = read_delay_offsets(store.config, damage=run.damage)
    return list(delay_risks(kept, None if run.unread > unread and not offsets else offsets))


def _file_row(file: Mapping[str, Any]) -> dict[str, Any]:
    return {"due_at" if name == "due_at_ms" else name: value for name, value in file.items()}


def _with_iso(row: Mapping[str, Any]) -> dict[str, Any]:
    return {**row, "due_at": _iso(row["due_at"])}


def _iso(epoch_ms: int | None) -> str | None:
    from pipelines.answers.instants import iso_instant

    return iso_instant(epoch_ms)


def risk_row(risk: RetentionRisk) -> dict[str, Any]:
    """A row of the table `retention_risk`; which broker it is, a store does not say."""
    row = asdict(risk)
    return {"broker": None, **{"due_at" if name == "due_at_ms" else name: value for name, value in row.items()}}


def risk_schema() -> pa.Schema:
    """The table `retention_risk`, its instants in milliseconds."""
    from pipelines.lake.tables.judgements import RETENTION_RISK

    return _in_milliseconds(RETENTION_RISK.bare_schema)


def file_schema() -> pa.Schema:
    """A row per file that goes now or later; instants in milliseconds."""
    from parsers.layouts.columns import schema_from

    return schema_from(
        "order i32, kind text, file text, topic text, queue_id i32, round i32, certain flag, due_at time_ms, "
        "log_min i64, reason text"
    )


def _in_milliseconds(schema: pa.Schema) -> pa.Schema:
    import pyarrow as pa

    return pa.schema(
        [field.with_type(pa.timestamp("ms", "UTC")) if pa.types.is_timestamp(field.type) else field for field in schema]
    )
