"""What Dagster shows of a table: a plot where there is something to plot, labels that differ, rows as they are."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipelines.answers.derived.store_rows import JUDGES
from pipelines.definitions import DERIVED_ASSETS
from pipelines.defs.assets.evidence import KEYS
from pipelines.defs.metadata import bar_plots, cell, ranked_bars, readable_labels, sample
from pipelines.lake.lake import Lake
from pipelines.lake.tables.lag import GROUP_STARTS
from tests.support.small_lake import put


def test_the_unknown_stand_last_and_say_so() -> None:
    bars = ranked_bars(["none", "some", "nothing", "most"], [None, 3, 0, 9])
    assert bars == [("most", 9), ("some", 3), ("nothing", 0), ("none: unknown", 0)]


def test_a_plot_of_unknown_values_is_drawn() -> None:
    assert bar_plots("lag", ["a", "b"], [None, 2], "messages")["plot"].value.startswith("![lag](data:image/png;base64,")


@pytest.mark.parametrize("values", [[], [3], [0, 0], [None, None]])
def test_nothing_is_plotted_where_a_plot_shows_nothing(values: list[float | None]) -> None:
    assert bar_plots("lag", [f"group {n}" for n in range(len(values))], values, "messages") == {}


def test_labels_of_files_and_of_clients_differ() -> None:
    files = [f"broker-a/consumequeue/a-topic-with-a-very-long-name-indeed/{n}/00000000000000000000" for n in range(9)]
    assert readable_labels(files)[:2] == ["0/00000000000000000000", "1/00000000000000000000"]
    apart = ["broker-a/commitlog/00000000000000000000", "broker-a/consumequeue/T/0/00000000000000000000"]
    assert readable_labels(apart) == ["commitlog/00000000000000000000", "consumequeue/T/0/00000000000000000000"]
    clients = [f"10.0.0.{n}@a-client-with-a-name-of-many-many-characters" for n in (1, 2)]
    assert len(set(readable_labels(clients))) == 2


def test_a_cell_keeps_what_a_browser_would_change() -> None:
    assert cell(2**53 + 1) == str(2**53 + 1)
    assert (cell(7), cell(None), cell(True), cell(b"\x00\xff")) == (7, None, True, "00ff")
    assert len(str(cell("x" * 1000))) == 120


def test_sample_rows_stay_on_a_line(tmp_path: Path) -> None:
    """Rows of reasons were as high as a page, and columns without a value pushed the others out of it."""
    lake = Lake(tmp_path)
    put(lake, "group_starts", {"broker": "b", "topic": "T", "queue_id": 0, "latest": 3, "reason": "because " * 20})
    shown = sample(lake, GROUP_STARTS)
    assert [column.name for column in shown.schema.columns] == ["broker", "topic", "queue_id", "latest", "reason"]
    assert len(str(shown.records[0].data["reason"])) == 32


def test_a_table_that_is_made_with_a_broker_s_logs_has_them_before_it_in_the_graph() -> None:
    upstream = {key.to_user_string(): keys for each in DERIVED_ASSETS for key, keys in each.asset_deps.items()}
    logged = {"_known_store_of", "lives_logged", "offsets_logged", "lines_logged"}
    with_logs = [table for table, made in JUDGES.items() if logged & set(made.__code__.co_names)]
    assert "backlog" in with_logs
    assert [table for table in with_logs if KEYS["broker_logs"] not in upstream[table]] == []
