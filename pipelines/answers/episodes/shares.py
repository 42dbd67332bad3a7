"""What share each cause has in the area under a curve of lag: message-seconds, split so that the parts are the whole.

Each step between two instants either adds lag or takes some away. What it adds is given to causes in the order of how
sure they are: an offset that went back; messages that came in while nobody had the queue, while its lock was waited
for, or while dispatch was behind; messages beyond the usual traffic, in one queue (hot queue) or in all (burst); and
what the owner consumed less than usual (slow client). The rest is unexplained. What a step takes away goes from what
was added last. Lag that was there before the first instant is unexplained.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pipelines.answers.episodes.conditions import Conditions, shares
from pipelines.answers.episodes.curve import Floats, TopicCurve
from recovery.query.lag_cause import LagCause

BURST = 1.5
"""Traffic above so many times the usual one is a burst."""


CAUSES = tuple(LagCause)


@dataclass(frozen=True, slots=True)
class Shares:
    """Shapes: `area` (causes, queues, steps): message-seconds."""

    area: Floats


def split(curve: TopicCurve, conditions: Conditions, quiet: np.ndarray) -> Shares:
    """The area of each step, cause by cause; `quiet` (steps): those from which the usual traffic is taken.

    Without any the usual traffic is unknown: bursts, hot queues and slow clients are unexplained.
    """
    _, group, topic = curve.key
    seconds = np.diff(curve.at_ms) / 1000
    told = curve.held[:, :-1] & curve.held[:, 1:]
    arrivals = np.where(told, np.clip(np.diff(curve.ends), 0, None), 0).astype(np.float64)
    read = np.where(told, np.diff(curve.offsets), 0).astype(np.float64)
    usual = _usual(arrivals, seconds, quiet)
    extra = np.where(arrivals > BURST * usual * seconds, arrivals - usual * seconds, 0.0) * quiet.any()
    hot = _hot(extra)
    delayed = _delayed(curve, conditions, arrivals)
    area = np.zeros((len(CAUSES), *arrivals.shape))
    for row, queue_id in enumerate(curve.queue_ids):
        key = group, topic, queue_id
        unowned, owned = conditions.ownership(key, curve.at_ms)
        waited = shares(conditions.waits.get(key, ()), curve.at_ms)
        left = np.clip(np.diff(curve.lag[row]), 0, None).astype(np.float64)
        nobody = np.clip(unowned - waited, 0, None)
        short = np.clip(usual[row] * seconds - np.clip(read[row], 0, None), 0, None) * owned * told[row]
        wanted = (
            np.clip(-read[row], 0, None),
            arrivals[row] * nobody,
            arrivals[row] * waited,
            delayed[row],
            extra[row] * hot[row],
            extra[row] * ~hot[row],
            short,
        )
        added = np.zeros((len(CAUSES), len(left)))
        for cause, most in enumerate(wanted):
            added[cause] = np.minimum(left, most)
            left = left - added[cause]
        added[-1] = left
        area[:, row] = _area(curve.lag[row].astype(np.float64), added, seconds)
    return Shares(area)


def _delayed(curve: TopicCurve, conditions: Conditions, arrivals: Floats) -> Floats:
    """Messages of each queue and step that dispatch may have held back: of all that made a lag grow while it was behind
    no more than the broker said, the first ones."""
    found = np.zeros_like(arrivals)
    grown = np.clip(np.diff(curve.lag), 0, None)
    for span in conditions.behind:
        held = np.minimum(grown, arrivals * shares([(span.begin, span.end)], curve.at_ms))
        of_step = held.sum(axis=0)
        allowed = np.clip(span.messages - (np.cumsum(of_step) - of_step), 0, of_step)
        found += held * np.divide(allowed, of_step, out=np.zeros_like(of_step), where=of_step > 0)
    return found


def _usual(arrivals: Floats, seconds: Floats, quiet: np.ndarray) -> Floats:
    """Messages a second that usually come into each queue, as a column; 0 where no step is quiet: it is not known."""
    total = arrivals[:, quiet].sum(axis=1) / max(seconds[quiet].sum(), 1e-3)
    column: Floats = total[:, None]
    return column


def _hot(extra: Floats) -> np.ndarray:
    """Where most of what a topic got beyond the usual came into one queue."""
    queues = len(extra)
    if queues < 2:
        return np.zeros(extra.shape, bool)
    least = 1 / queues + (1 - 1 / queues) / 2
    hot: np.ndarray = (extra > 0) & (extra >= least * extra.sum(axis=0))
    return hot


def _area(lag: Floats, added: Floats, seconds: Floats) -> Floats:
    """Message-seconds of each cause in each step of one queue."""
    area = np.zeros_like(added)
    standing = np.zeros(len(added))
    standing[-1] = lag[0]
    layers: list[tuple[Floats, float]] = [(standing.copy(), float(lag[0]))]
    for step in range(added.shape[1]):
        before = standing.copy()
        grown = lag[step + 1] - lag[step]
        if grown > 0:
            layers.append((added[:, step], float(grown)))
            standing = standing + added[:, step]
        elif grown < 0:
            standing = _taken(layers, standing, -float(grown))
        area[:, step] = (before + standing) / 2 * seconds[step]
    return area


def _taken(layers: list[tuple[Floats, float]], standing: Floats, taken: float) -> Floats:
    """What is left when so many messages go from what was added last."""
    while taken > 0 and layers:
        parts, size = layers.pop()
        gone = min(size, taken)
        standing = standing - parts * (gone / size if size else 0.0)
        if gone < size:
            layers.append((parts * (1 - gone / size), size - gone))
        taken -= gone
    cleared: Floats = np.clip(standing, 0, None)
    return cleared
