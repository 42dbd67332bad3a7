"""Items with a key and a window of time, kept so that those of one key around an instant are found at once."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
T = TypeVar("T")
Span = tuple[int, int]
"""The first and the last instant, epoch ms, at which an item can have happened."""


class InTime(Generic[K, T]):
    """Items by key, those of each key in order of time.

    Args:
        key: of an item; where it is None, the item is left out.
        span: the window of time of an item.
    """

    def __init__(self, things: Iterable[T], key: Callable[[T], K | None], span: Callable[[T], Span]) -> None:
        self._span = span
        self._by_key: dict[K, list[T]] = {}
        self._longest_ms = 0
        for thing in things:
            of = key(thing)
            if of is not None:
                self._by_key.setdefault(of, []).append(thing)
                self._longest_ms = max(self._longest_ms, span(thing)[1] - span(thing)[0])
        for kept in self._by_key.values():
            kept.sort(key=self._begin)

    def of(self, key: K) -> Sequence[T]:
        """All of one key, in order of time."""
        return self._by_key.get(key, ())

    def touching(self, key: K, from_ms: int, until_ms: int) -> Iterator[T]:
        """Items of one key that can have happened within [from_ms, until_ms]."""
        kept = self._by_key.get(key, [])
        return (kept[place] for place in self._places(kept, from_ms, until_ms))

    def take(self, key: K, from_ms: int, until_ms: int, fits: Callable[[T], bool] = lambda thing: True) -> T | None:
        """Remove and return the first item of one key that can have happened within [from_ms, until_ms] and fits."""
        kept = self._by_key.get(key, [])
        place = next((place for place in self._places(kept, from_ms, until_ms) if fits(kept[place])), None)
        return None if place is None else kept.pop(place)

    def rest(self) -> Iterator[T]:
        """All that is still here, key by key."""
        for kept in self._by_key.values():
            yield from kept

    def _places(self, kept: Sequence[T], from_ms: int, until_ms: int) -> Iterator[int]:
        first = bisect_left(kept, from_ms - self._longest_ms, key=self._begin)
        for place in range(first, bisect_right(kept, until_ms, key=self._begin)):
            if self._span(kept[place])[1] >= from_ms:
                yield place

    def _begin(self, thing: T) -> int:
        return self._span(thing)[0]
