"""Who was furthest behind: never from a moment at which a queue's lag is unknown, and since when it only grew."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Any

import rocketlens as rl
from parsers.store.store import open_store
from pipelines.notebook.night import furthest_behind, placed
from pipelines.report.drawn.svg import LABELS, Lane, Mark, Tick, lanes

AT = datetime(2026, 11, 21, 3, 0, tzinfo=UTC)


def lag(*moments: tuple[int | None, ...]) -> list[dict[str, Any]]:
    """Rows of one group: the messages behind of its queues at each of the moments, five seconds apart."""
    return [
        {"group": "g", "topic": "t", "queue_id": queue, "at": AT + timedelta(seconds=5 * n), "messages_behind": behind}
        for n, behinds in enumerate(moments)
        for queue, behind in enumerate(behinds)
    ]


def test_the_peak_and_what_it_grew_from() -> None:
    worst = furthest_behind(lag((9, 1), (2, 1), (5, 1), (50, 40), (3, 1)))
    assert worst is not None
    assert (worst.messages, worst.at) == (90, AT + timedelta(seconds=15))
    assert (worst.before, worst.since) == (3, AT + timedelta(seconds=5))
    assert [row["queue_id"] for row in worst.queues] == [0, 1]


def test_a_moment_with_an_unknown_queue_is_no_peak_and_ends_the_growth() -> None:
    worst = furthest_behind(lag((1, 1), (900, None), (5, 1), (8, 1)))
    assert worst is not None
    assert (worst.messages, worst.before, worst.since) == (9, 6, AT + timedelta(seconds=10))
    assert furthest_behind(lag((0, 0), (None, 3))) is None
    assert furthest_behind([]) is None


def test_a_finding_is_placed_by_the_record_it_is_about() -> None:
    root = rl.bundled_store("5.3.1-crashed")
    store = rl.store(root, "5.3.1")
    (found,) = placed(open_store(root), store.verify())
    (stored,) = store.messages(where="physical_offset = 290351")["store_timestamp"]
    assert found["at"] == stored


def test_marks_stay_inside_the_axis_and_are_wide_enough_to_be_seen() -> None:
    picture = lanes([Lane("a<b", [Mark(-5, 5, "c1", "x"), Mark(7, 7, "c1", "y")])], [Tick(0, "0"), Tick(10, "10")], {})
    begins, ends = (int(found) for found in re.findall(r'data-(?:left|right)="(\d+)"', picture))
    assert begins == LABELS
    assert f'x="{begins}.0" y="0.0" width="{(ends - begins) / 2}"' in picture
    assert 'width="2.5"' in picture
    assert "a&lt;b" in picture
