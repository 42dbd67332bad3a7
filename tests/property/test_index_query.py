"""The compiled chain walk against a line-by-line transcription of IndexFile#selectPhyOffset, for any file contents."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from parsers.index.kernel import CHAIN_ENDED, CHAIN_LEAVES_FILE, CHAIN_LOOPS, select_entries
from parsers.index.layout import INDEX_ENTRY, INDEX_HEADER, INDEX_SLOT
from parsers.values.java import INT_MAX
from tests.support.files import packed

SLOTS, ENTRIES = 2, 8
small = st.integers(-1, ENTRIES + 2)
seconds = st.integers(-1, 4)
entries = st.tuples(st.integers(0, 3), st.integers(0, 99), seconds, small)
times = st.integers(0, 5000)
contents = st.tuples(
    st.tuples(times, times, st.just(0), st.just(0), st.just(0), st.one_of(small, st.just(INT_MAX))),
    st.lists(small, min_size=SLOTS, max_size=SLOTS),
    st.lists(entries, min_size=ENTRIES, max_size=ENTRIES),
)
Contents = tuple[tuple[int, ...], list[int], list[tuple[int, int, int, int]]]


class GoesRound(Exception):
    """Java would never come back."""


def java_select(content: Contents, key_hash: int, begin: int, end: int, max_num: int) -> list[int]:
    """IndexFile#isTimeMatched, then #selectPhyOffset, whose exceptions are logged and end the walk."""
    (file_begin, file_end, *_, index_count), slots, stored = content
    matched = (
        (begin < file_begin and end > file_end) or (file_begin <= begin <= file_end) or (file_begin <= end <= file_end)
    )
    offsets: list[int] = []
    slot_value = slots[key_hash % SLOTS]
    if not matched or slot_value <= 0 or slot_value > index_count or index_count <= 1:
        return offsets
    number, seen = slot_value, set[int]()
    while len(offsets) < max_num and number < ENTRIES:
        if number in seen:
            raise GoesRound
        seen.add(number)
        hash_read, place, time_diff, older = stored[number]
        if time_diff < 0:
            break
        time_read = file_begin + time_diff * 1000
        if key_hash == hash_read and begin <= time_read <= end:
            offsets.append(place)
        if older <= 0 or older > index_count or older == number or time_read < begin:
            break
        number = older
    return offsets


@given(contents, st.integers(0, 3), times, times, st.integers(0, 9))
def test_the_chain_walk_is_javas(content: Contents, key_hash: int, begin: int, end: int, max_num: int) -> None:
    header, slots, stored = content
    data = (
        packed(INDEX_HEADER, [header]) + packed(INDEX_SLOT, [(slot,) for slot in slots]) + packed(INDEX_ENTRY, stored)
    )
    places, numbers = np.empty(64, np.int64), np.empty(64, np.int64)
    array = np.frombuffer(data, np.uint8)
    found, ending, _, earlier = select_entries(array, SLOTS, key_hash, begin, end, places, numbers, 0, max_num)
    assert earlier == (header[0] < begin)
    try:
        expected = java_select(content, key_hash, begin, end, max_num)
    except GoesRound:
        assert ending == CHAIN_LOOPS or found == max_num
    else:
        assert places[:found].tolist() == expected
        assert ending in (CHAIN_ENDED, CHAIN_LEAVES_FILE)
