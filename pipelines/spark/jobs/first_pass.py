"""The first pass of a verification over the logs of many brokers: a task for each slice, joined where the rules run."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING

from pipelines.lake.configuration.addressed_stores import at_hand
from pipelines.lake.configuration.broker_stores import known_store_of, store_of
from pipelines.lake.configuration.sources import BrokerSource
from pipelines.spark.sources.slices import Slice, cut
from pipelines.spark.workers import on_workers

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from recovery.verify.in_motion import SlicedPass
    from recovery.verify.settle.outline import Outline


def outlines(spark: SparkSession, brokers: Sequence[BrokerSource], split_bytes: int) -> list[SlicedPass | None]:
    """For each broker what the slices of its log tell; None where the log is one slice.

    They are as large as what is out of place: see `recovery.verify.settle.outline`.
    """
    from recovery.verify.in_motion import Moment, SlicedPass

    stores = [store_of(broker) for broker in brokers]
    slices = [cut(store.commitlog, split_bytes, within_files=True) for store in stores]
    work = [(number, slice_) for number, of_broker in enumerate(slices) if len(of_broker) > 1 for slice_ in of_broker]
    if not work:
        return [None] * len(brokers)
    asked = [(brokers[number], slice_) for number, slice_ in work]
    since = {number: Moment.of(stores[number]) for number, _ in work}
    found: defaultdict[int, list[Outline]] = defaultdict(list)
    told = on_workers(spark, _outline, asked, "first pass of the verification")
    for (number, _), outlined in zip(work, told, strict=True):
        found[number].append(outlined)
    return [SlicedPass(since[n], found[n]) if n in found else None for n in range(len(brokers))]


def _outline(asked: tuple[BrokerSource, Slice]) -> Outline:
    from recovery.verify.first_pass import files_of
    from recovery.verify.settle.log_pass import Outlines
    from recovery.verify.settle.outline import Part

    broker, slice_ = asked
    with at_hand(broker.view):
        store, known = known_store_of(broker)
        parts = [Part(piece.file, piece.start, piece.end) for piece in slice_.pieces]
        return Outlines(known.as_written.rules, files_of(store, known)).of(parts)
