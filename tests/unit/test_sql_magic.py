"""`{{name}}` in a notebook's `%sql` is the value of a variable, as a literal that stays one."""

from __future__ import annotations

import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import duckdb
import pytest

from pipelines.lake.catalog import publish
from pipelines.lake.lake import Lake
from rocketlens.errors import RocketlensError
from rocketlens.magic import Names, completions, sql_after, sql_before, with_values, word_before

VALUES = {"topic": "It's {odd}", "n": 3, "x": 0.5, "on": True, "no": None, "at": datetime(2026, 11, 21, tzinfo=UTC)}


@pytest.mark.parametrize("name", ["topic", "n", "x", "on", "no"])
@pytest.mark.parametrize("form", ["{{%s}}", "{%s}"], ids=["in a cell", "in a line"])
def test_a_variable_comes_through_as_it_is(name: str, form: str) -> None:
    found = duckdb.sql(with_values(f"SELECT {form % name} AS v", VALUES)).fetchall()
    assert [(float(v) if name == "x" else v) for (v,) in found] == [VALUES[name]]


def test_quotes_around_a_parameter_do_no_harm() -> None:
    assert with_values("SELECT '{{topic}}'", VALUES) == with_values("SELECT {{topic}}", VALUES)
    assert "TIMESTAMPTZ '2026-11-21 00:00:00+00:00'" in with_values("SELECT TIMESTAMPTZ {{at}}", VALUES)


def test_what_is_no_parameter_stays() -> None:
    query = "SELECT {'a': 1}, '{}', 'x{1}'"
    assert with_values(query, VALUES) == query


@pytest.mark.parametrize(("variables", "said"), [({}, "no variable 'topic'"), ({"topic": [1]}, "holds a list")])
def test_what_cannot_be_put_there_is_said(variables: dict[str, object], said: str) -> None:
    with pytest.raises(RocketlensError, match=said):
        with_values("SELECT {{topic}}", variables)


NAMES = Names({"lag": ["group", "messages_behind"], "topic_lives": ["topic", "life"]}, ["lag_by_group"])


@pytest.mark.parametrize(
    ("sql", "offered"),
    [
        ("lag_", [("lag_by_group", "question")]),
        ("SELECT * FROM la", [("lag", "table")]),
        ("SELECT mess", [("messages_behind", "column")]),
        ("SELECT * FROM lag WHERE ", [("group", "column"), ("messages_behind", "column")]),
        ("SELECT * FROM topic_lives AS t WHERE t.", [("topic", "column"), ("life", "column")]),
        ("SELECT nobody.x", []),
    ],
)
def test_names_are_completed(sql: str, offered: list[tuple[str, str]]) -> None:
    assert completions(sql, NAMES)[: len(offered) or None] == offered


def test_only_a_question_is_completed() -> None:
    assert sql_before("%%sql found\nSELECT 1,\nto", 2, "to") == "SELECT 1,\nto"
    assert sql_before("%%sql fou", 0, "%%sql fou") is None
    assert sql_after("%%sql found\nSELECT l.a\nFROM lag l", 1, "SELECT l.") == "a\nFROM lag l"
    assert sql_before("x = %sql SELECT a", 0, "x = %sql SELECT a") == "SELECT a"
    assert sql_before("lag.", 0, "lag.") is None
    assert word_before("SELECT l.mess") == "mess"


def test_ipython_offers_the_names_of_the_lake(tmp_path: Path) -> None:
    """In an IPython of its own, as a notebook's kernel asks."""
    publish(Lake(tmp_path / "lake"))
    (tmp_path / "rocketlens.toml").write_text('[lake]\npath = "lake"\n')
    code = (
        "from IPython.core.interactiveshell import InteractiveShell\n"
        "from IPython.core.completer import provisionalcompleter\n"
        "shell = InteractiveShell.instance()\n"
        "shell.run_cell('import rocketlens as rl; lake = rl.lake(); rl.lake()')\n"
        "with provisionalcompleter():\n"
        "    for cell in ('%%sql found\\nSELECT l.messages_b', 'rl.sto'):\n"
        "        said = cell + ' FROM lag l' if cell.startswith('%') else cell\n"
        "        print([c.text for c in shell.Completer.completions(said, len(cell)) if '__' not in c.text])\n"
        "shell.run_line_magic('sql', 'SELECT 1 AS one').table\n"
        "shell.run_cell('%sql SELEC')\n"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    *offered, error = [line for line in done.stdout.splitlines() if not line.startswith("Out[")]
    assert offered == ["['messages_behind']", "['store']"], done.stderr
    assert error.startswith("RocketlensError: DuckDB: "), "one line"
