"""Messages that the next start of the broker would lose, and that can still be read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from parsers.store.store import Store
from recovery.forecast.forecast import Forecast, forecast
from recovery.forecast.losses import losses
from recovery.knowledge.inference import StoreKnowledge
from recovery.lives.topic_lives import StoreLives


@dataclass(frozen=True, slots=True)
class LostByStart:
    """Messages by their places, eight bytes each. `sentences`: what may be lost besides, or is already gone."""

    places: npt.NDArray[np.int64]
    sentences: Sequence[str] = ()
    columns: Sequence[str] = field(default=("physical_offset",), init=False)

    def wanted(self, batch: pa.RecordBatch) -> pa.BooleanArray:
        """The message begins at one of the places."""
        return pa.array(np.isin(batch["physical_offset"].to_numpy(), self.places))


def lost_by_start(store: Store, known: StoreKnowledge) -> LostByStart:
    """What a start of the known version loses, as `forecast` tells it."""
    told = forecast(store, known, with_advice=False)
    places, unreadable = [], 0
    for loss in losses(told.played, StoreLives(store, known)):
        if loss.what == "message" and loss.readable:
            places.append(loss.physical_offset)
        elif loss.what == "message":
            unreadable += 1
    return LostByStart(np.array(sorted(places), np.int64), list(_sentences(told, unreadable)))


def _sentences(told: Forecast, unreadable: int) -> Iterator[str]:
    if unreadable:
        yield f"{unreadable} messages that a start loses have a unit, and no record that can be read"
    if told.outcome.starts is False:
        yield "this broker does not start on these files: `rocketlens forecast` says why, and nothing is lost by it"
    if not told.outcome.losses_are_known:
        yield "not all that a start loses here is known: `rocketlens forecast` says under `unknown` what decides it"
    for other in told.otherwise:
        if other.outcome.lost_messages != told.outcome.lost_messages:
            lost = other.outcome.lost_messages
            yield f"{told.version} is assumed; {other.version} would lose {lost} messages: say which with --version"
