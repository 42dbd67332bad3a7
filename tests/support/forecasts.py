"""Forecasts of stores as documents."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from recovery.forecast.document import forecast_document
from recovery.forecast.forecast import forecast
from recovery.knowledge.knowledge import Said, knowledge_of, open_known
from recovery.rules.versions import BrokerVersion


def told(root: Path, version: str | None = None, settings: dict[str, str] | None = None) -> dict[str, Any]:
    said = Said.read(None if version is None else BrokerVersion.parse(version), None, settings or {})
    store = open_known(root, said)
    return forecast_document(forecast(store, knowledge_of(store, said)))


def assert_open(document: dict[str, Any], what: str) -> None:
    """Nothing of the start is told, and nothing advised."""
    assert (document["load"]["ok"], document["start"], document["after_dispatch"]) == (None, None, None)
    assert document["config"] is None
    assert (document["commitlog"]["max_physical_offset"], document["duration"]) == (None, None)
    assert (document["losses_are_known"], document["advice"]) == (False, [])
    assert any(what in each["what"] for each in document["unknown"])
