"""`{{name}}` in a notebook's `%sql` is the value of a variable, as a literal that stays one."""

from __future__ import annotations

from datetime import UTC, datetime

import duckdb
import pytest

from rocketlens.errors import RocketlensError
from rocketlens.magic import with_values

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
