"""The picture of a message's way has a lane for each kind of step that has an instant, and says what is not certain."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from pipelines.report.render import render_piece
from pipelines.report.sections.journey import journey_section

START = datetime(2026, 11, 22, 8, tzinfo=UTC)


def step(name: str, second: int | None, group: str | None = None, certain: bool = True) -> dict[str, Any]:
    at = None if second is None else START + timedelta(seconds=second)
    return {
        "at": at,
        "step": name,
        "group": group,
        "client_id": None,
        "certain": certain,
        "what": name,
        "evidence": "x",
    }


def test_each_dated_step_is_in_the_picture() -> None:
    steps = [step("sent", 0), step("queued", None), step("owned", 1, "G"), step("owned", 5, "G", False)]
    section = journey_section("M", steps)
    (picture,) = section.charts
    assert (">sent<" in picture, ">owned G<" in picture, ">queued<" in picture) == (True, True, False)
    assert picture.count('class="hatch"') == 2, "one step, and the legend"
    assert section.verdict == "4 steps, 1 of them not certain."
    assert "queued" in render_piece(section)


def test_steps_without_any_instant_have_no_picture() -> None:
    assert journey_section("M", [step("queued", None)]).charts == []
    assert len(journey_section("M", [step("sent", 3)]).charts) == 1
