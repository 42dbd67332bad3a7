"""Answers in output cells: unknown is named, wide things stay readable, an empty answer says so."""

from __future__ import annotations

from base64 import b64decode
from datetime import UTC, datetime, timedelta

import numpy as np
import pandas as pd
import pytest

from pipelines.notebook.bar_plots import over_time
from pipelines.notebook.lag_plot import lag_plot
from pipelines.notebook.show import show
from pipelines.report.facts.model import Column, PrintedTable, Section
from pipelines.report.render import CARRIED_CELLS

AT = datetime(2026, 11, 21, 15, 0, tzinfo=UTC)


def test_a_frame_keeps_its_integers_and_names_what_is_unknown() -> None:
    frame = pd.DataFrame(
        {"queue_id": pd.array([7, None], "Int64"), "seconds": [1.5, None], "at": [AT, pd.NaT], "why": ["a<b", None]}
    )
    shown = show(frame)._repr_html_()
    assert '<td class="n">7</td>' in shown
    assert shown.count("unknown</span>") == 4
    assert '<th class="n">queue id</th>' in shown
    assert "2026-11-21 15:00:00.000" in shown
    assert "a&lt;b" in shown


def test_lists_in_a_frame_are_shown_part_by_part() -> None:
    frame = pd.DataFrame({"offsets": [np.array([2302, 2608]), np.array([])], "topics": [["T", None], []]})
    shown = show(frame)._repr_html_()
    assert ">2302, 2608</td>" in shown
    assert ">T, unknown</td>" in shown


def test_what_names_something_is_printed_as_it_is_asked_for() -> None:
    columns = [Column(name, name, True) for name in ("physical_offset", "messages", "file_pos")]
    shown = show(PrintedTable(columns, [dict.fromkeys(("physical_offset", "messages", "file_pos"), 3298400)]))
    cells = [cell.split("</td>")[0] for cell in shown._repr_html_().split('<td class="n">')[1:]]
    assert cells == ["3298400", "3\u202f298\u202f400", "3298400"]


def test_further_rows_come_along_hidden_and_are_bounded() -> None:
    table = PrintedTable([Column("n", "n", True)], [{"n": n} for n in range(12_000)], shown=20)
    page = show(table)._repr_html_()
    assert page.count("<tr>") - 1 == 20
    assert page.count("<tr hidden>") == CARRIED_CELLS - 20
    assert 'data-left="11980"' in page
    assert page.count("<script>") == page.count("</script>") == 1


def test_what_one_types_looks_so_in_a_cell_of_advice_and_nowhere_else() -> None:
    columns = [Column("do", "do", advises=True), Column("key", "key")]
    page = show(PrintedTable(columns, [{"do": "run `dump`", "key": "`k`"}, {"do": None, "key": "k"}], "Advice"))
    assert "run <code>dump</code>" in page._repr_html_()
    assert "`k`" in page._repr_html_()


def test_a_section_and_an_empty_table() -> None:
    section = Section("a", "A", "All is well.", "good", tables=[PrintedTable([Column("x", "x")], [], "Nobody")])
    assert '<p class="verdict good">All is well.</p>' in show(section)._repr_html_()
    assert '<p class="rest">nothing</p>' in show(section)._repr_html_()


@pytest.mark.parametrize("incidents", [0, 1, 40])
def test_lag_that_is_partly_unknown_is_drawn(incidents: int) -> None:
    at = [AT + timedelta(seconds=5 * n) for n in range(4)]
    by_group = pd.DataFrame(
        {"group": "g", "at": at, "messages_behind": [1.0, None, 3.0, None], "seconds_behind": [None] * 4}
    )
    happened = [{"begin_at": at[0] + timedelta(seconds=n / 8), "kind": "client_left"} for n in range(incidents)]
    figure = lag_plot(by_group, happened)
    messages, seconds = figure.axes
    hatched = [[patch for patch in axes.patches if patch.get_hatch()] for axes in (messages, seconds)]
    assert [len(patches) for patches in hatched] == [2, 4]
    assert len(messages.texts) == {0: 0, 1: 1, 40: 14}[incidents], "words keep apart"
    assert show(figure)._repr_png_().startswith(b"\x89PNG")
    shown = show(figure)._repr_html_()
    assert 'data-jp-theme-light="false"' in shown, "the dark theme has it dark"
    assert b64decode(shown.split("base64,")[1].split('"')[0]).startswith(b"\x89PNG")


def test_a_single_instant_stands_in_its_minutes_not_in_years() -> None:
    by_group = pd.DataFrame({"group": "g", "at": [AT], "messages_behind": [1.0], "seconds_behind": [2.0]})
    begin, end = lag_plot(by_group).axes[0].get_xlim()
    assert (end - begin) * 86_400 == pytest.approx(120)


def test_without_a_history_no_scale_says_that_lag_is_0() -> None:
    figure = lag_plot(pd.DataFrame({"group": [], "at": [], "messages_behind": [], "seconds_behind": []}))
    assert [[text.get_text() for text in axes.texts] for axes in figure.axes] == [["no offsets were kept"]] * 2
    assert not any(axes.get_yticks().size or axes.xaxis.get_visible() for axes in figure.axes)


def test_times_of_few_seconds_are_told_from_each_other_and_of_a_day() -> None:
    rate = pd.DataFrame({"second": [AT + timedelta(seconds=n) for n in range(4)], "messages": [3, 5, 2, 4]})
    figure = over_time(rate, "second", "messages", "messages per second", "messages/s")
    figure.canvas.draw()
    (axes,) = figure.axes
    texts = [label.get_text() for label in axes.get_xticklabels()]
    assert len(set(texts)) == len(texts)
    assert f"{AT:%Y-%b-%d %H:%M}" in axes.xaxis.get_offset_text().get_text()


def test_a_second_without_messages_is_drawn_empty() -> None:
    rate = pd.DataFrame({"second": [AT, AT + timedelta(seconds=29)], "messages": [248, 200]})
    (axes,) = over_time(rate, "second", "messages", "messages per second", "messages/s").axes
    (filled,) = axes.collections
    highest = filled.get_paths()[0].vertices
    second = 1 / 86_400
    begin = min(x for x, _ in highest)
    between = [y for x, y in highest if begin + 1.5 * second < x < begin + 28.5 * second]
    assert max(y for _, y in highest) == 248
    assert not any(between)
    assert filled.get_paths()[0].contains_point((begin + 0.5 * second, 100))
    assert not filled.get_paths()[0].contains_point((begin + 15 * second, 100))


def test_a_log_without_messages_has_an_empty_picture() -> None:
    empty = pd.DataFrame({"second": pd.to_datetime([]), "messages": []})
    assert over_time(empty, "second", "messages", "messages per second", "messages/s").axes
