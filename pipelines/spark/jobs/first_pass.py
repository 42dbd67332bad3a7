"""The first pass of a verification over the logs of many brokers: a task for each slice, joined where the rules run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pipelines.lake.broker_stores import known_store_of, store_of
from pipelines.lake.sources import BrokerSource
from pipelines.spark.sources.slices import Slice, cut
from pipelines.spark.workers import on_workers

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from recovery.verify.settle.outline import Outline


def outlines(spark: SparkSession, brokers: Sequence[BrokerSource], split_bytes: int) -> list[list[Outline] | None]:
    """For each broker the outlines of its log's slices, in log order; None where the log is one slice.

    They are as large as what is out of place: see `recovery.verify.settle.outline`.
    """
    slices = [cut(store_of(broker).commitlog, split_bytes, within_files=True) for broker in brokers]
    work = [(number, slice_) for number, of_broker in enumerate(slices) if len(of_broker) > 1 for slice_ in of_broker]
    if not work:
        return [None] * len(brokers)
    asked = [(brokers[number], slice_) for number, slice_ in work]
    told = on_workers(spark, _outline, asked, "first pass of the verification")
    found: list[list[Outline] | None] = [[] if len(of_broker) > 1 else None for of_broker in slices]
    for (number, _), outlined in zip(work, told, strict=True):
        of_broker = found[number]
        if of_broker is not None:
            of_broker.append(outlined)
    return found


def _outline(asked: tuple[BrokerSource, Slice]) -> Outline:
    from recovery.verify.first_pass import files_of
    from recovery.verify.settle.outline import Part, outline

    broker, slice_ = asked
    store, known = known_store_of(broker)
    parts = [Part(piece.file, piece.start, piece.end) for piece in slice_.pieces]
    return outline(parts, known.rules, files_of(store, known))
