"""A start without pandas, for commands that do without it.

Arrow asks of every list it converts whether it is a pandas object, and imports pandas to find out: 0.3 s, a third of
the time to the first row. In a process of its own the command line says there is none, until a command wants Spark.
"""

from __future__ import annotations

import sys


class _NoPandas:
    """An import finder that refuses one name."""

    @staticmethod
    def find_spec(name: str, path: object = None, target: object = None) -> None:
        if name == "pandas":
            raise ModuleNotFoundError(name, name=name)


def forgo_pandas() -> None:
    """From now on `import pandas` fails in this process."""
    sys.meta_path.insert(0, _NoPandas)


def allow_pandas() -> None:
    """Take that back; in time only before Arrow has converted anything."""
    if _NoPandas in sys.meta_path:
        sys.meta_path.remove(_NoPandas)
