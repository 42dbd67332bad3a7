"""One event that a wire capture and a log both tell is one event, and counted once."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import Protocol, TypeVar

from rebalance.model.timing import LINE_AFTER_REQUEST_MS


class _Told(Protocol):
    @property
    def at_ms(self) -> int: ...

    @property
    def late_ms(self) -> int: ...


_Event = TypeVar("_Event", bound=_Told)


def told_twice(
    wired: Iterable[_Event], logged: Iterable[_Event], what: Callable[[_Event], Hashable]
) -> Iterator[tuple[_Event | None, _Event | None]]:
    """Each event as (fact of the wire, fact of the log), None where one of them lacks it.

    A line is of a request if both say the same and the request lies in the line's time, [at_ms, at_ms + late_ms]; no
    line is of two.

    Args:
        wired, logged: in time order.
        what: is equal for tellings of one event.
    """
    lines: dict[Hashable, list[_Event]] = {}
    for line in logged:
        lines.setdefault(what(line), []).append(line)
    for request in wired:
        same = lines.get(what(request), [])
        near = (
            line
            for line in same
            if -LINE_AFTER_REQUEST_MS <= request.at_ms - line.at_ms <= line.late_ms + LINE_AFTER_REQUEST_MS
        )
        told = next(near, None)
        if told is not None:
            same.remove(told)
        yield request, told
    for left in lines.values():
        yield from ((None, line) for line in left)
