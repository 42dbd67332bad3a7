"""SQL92 filters give what RocketMQ's own SelectorParser and expressions give (tests/golden/make/filter)."""

from __future__ import annotations

from typing import Any

import pytest

from recovery.filter.errors import FilterTooLarge, InvalidFilter
from recovery.filter.expressions import Expression, Properties
from recovery.filter.sql92 import DEEPEST, parse_sql92
from recovery.filter.values import EvaluationError
from recovery.rules.versions import BrokerVersion
from tests.support.fixtures import CHECKOUT
from tests.support.vectors import iter_vectors

NEWEST = BrokerVersion.parse("5.3.3")
BETWEENS = "-(" * 40 + "a" + " BETWEEN 1 AND 2)" * 40 + " > 1"
"""Each BETWEEN asks its value twice: 2**40 questions."""


@pytest.mark.parametrize("version", ["4.9.7", "5.3.3"])
def test_every_filter_says_what_java_says(version: str) -> None:
    asked = 0
    for vector in iter_vectors(CHECKOUT / "tests" / "golden" / "filter" / f"{version}.jsonl.gz"):
        try:
            expression = parse_sql92(vector["sql"], BrokerVersion.parse(version))
        except InvalidFilter:
            assert vector["rows"] is None, vector["sql"]
            continue
        assert vector["rows"] is not None, vector["sql"]
        for properties, expected in vector["rows"]:
            assert answer(expression, properties) is expected or expected == "error", (vector["sql"], properties)
            assert (answer(expression, properties) == "error") == (expected == "error"), (vector["sql"], properties)
            asked += 1
    assert asked > 5000


def answer(expression: Expression, properties: Properties) -> Any:
    try:
        return expression.evaluate(properties)
    except EvaluationError:
        return "error"


@pytest.mark.parametrize("deep", ["(" * 5000 + "a" + ")" * 5000, "-" * 5000 + "a = 1", "a" + " = 1" * 5000, BETWEENS])
def test_a_filter_that_nests_too_deep_is_said_to(deep: str) -> None:
    with pytest.raises(FilterTooLarge):
        parse_sql92(deep, NEWEST)


def test_many_alternatives_are_no_depth() -> None:
    expression = parse_sql92(" OR ".join(f"a = {number}" for number in range(50 * DEEPEST)), NEWEST)
    assert expression.evaluate({"a": str(50 * DEEPEST - 1)}) is True
