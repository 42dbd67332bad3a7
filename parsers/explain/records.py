"""Files of equal structures one after another: queues, timers, slots, index entries."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from parsers.commitlog.compiled.resync import written_from
from parsers.explain.line import Line, bytes_line, layout_lines
from parsers.layouts.layout import Layout

Title = Callable[[int, dict[str, int]], str]


def record_lines(
    buf: memoryview, layout: Layout, begin: int, end: int, at: int, title: Title, empty: str
) -> Iterator[Line]:
    """The structures from `begin` to `end`, starting with the one that holds byte `at`.

    A stretch of structures of zeros is one line, called `empty`; bytes that are no whole structure are named torn.
    """
    data = np.frombuffer(buf, np.uint8)[:end]
    whole_end = begin + (end - begin) // layout.size * layout.size
    pos = begin + max(0, at - begin) // layout.size * layout.size
    while pos < whole_end:
        zeros_end = begin + (written_from(data, pos, whole_end) - begin) // layout.size * layout.size
        if zeros_end > pos:
            count = (zeros_end - pos) // layout.size
            yield from bytes_line(buf, pos, zeros_end, f"{empty} at {pos}", "zeros", f"{count} × {layout.size} bytes")
            pos = zeros_end
            continue
        number = (pos - begin) // layout.size
        yield from layout_lines(buf, pos, layout, title(number, layout.unpack(buf, pos)))
        pos += layout.size
    yield from bytes_line(buf, max(pos, whole_end), end, f"torn end at {whole_end}", "torn", layout.title)
