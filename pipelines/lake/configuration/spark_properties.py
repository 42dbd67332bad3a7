"""The table [spark] of `rocketlens.toml`: properties of Spark under Spark's own names.

`driver.host = "10.0.0.5"` there is `spark.driver.host`: the dots of a name are those of TOML.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

PREFIX = "spark."
MASTER = "spark.master"
FIXED: Mapping[str, str] = {
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",  # INT96, the default, loses the zone for DuckDB
    "spark.sql.sources.partitionColumnTypeInference.enabled": "false",  # a file name stays text, zeros kept
    "spark.sql.artifact.isolation.enabled": "false",
}
"""What the tables rest on, so that no configuration changes it."""


def spark_properties(table: Mapping[str, Any]) -> dict[str, str]:
    """Properties by their full names, as text. Raises ValueError: one sentence without the file's name."""
    properties = dict(_flat(PREFIX, table))
    for name, value in properties.items():
        if name == MASTER:
            raise ValueError("[spark]: the master is said as spark_master of [lake]")
        if name in FIXED:
            raise ValueError(f"[spark]: {name} stays {FIXED[name]}: the tables rest on it")
        if not value.isprintable():
            raise ValueError(f"[spark]: {name} may not hold control characters")
    return properties


def _flat(prefix: str, table: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The leaves of nested tables, each under the names that lead to it."""
    for key, value in table.items():
        if isinstance(value, Mapping):
            yield from _flat(f"{prefix}{key}.", value)
        elif isinstance(value, bool):
            yield prefix + key, str(value).lower()
        elif isinstance(value, str | int | float):
            yield prefix + key, str(value)
        else:
            raise ValueError(f"[spark]: {prefix}{key} must be text, a number, true or false, not {value!r}")
