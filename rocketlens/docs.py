"""docs/python.md, printed from the classes themselves: `python -m rocketlens.docs docs/python.md`."""

from __future__ import annotations

import inspect
from argparse import ArgumentParser
from collections.abc import Callable, Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

import rocketlens
from rocketlens.compared import Compared
from rocketlens.forecast import Forecast
from rocketlens.history import History
from rocketlens.lakes import Lake
from rocketlens.retention import Retention
from rocketlens.rows import Rows
from rocketlens.stores.store import Store

DOORS: tuple[tuple[Callable[..., Any], type], ...] = (
    (rocketlens.store, Store),
    (rocketlens.compare, Compared),
    (rocketlens.replay, History),
    (rocketlens.lake, Lake),
)
"""What is called first, and what it gives to ask further."""
ALONE = (rocketlens.explain, rocketlens.sql)
"""What answers at once."""
ANSWERS = (Rows, Forecast, Retention)
HEAD = """# rocketlens in Python

Printed from the classes by `python -m rocketlens.docs docs/python.md`; a test holds the two in step.

```python
import rocketlens as rl

store = rl.store("/data/store", version="5.3.3", broker_conf="/data/conf/broker.conf", logs=["/data/logs"])
store.verify()  # where its files disagree; no rows: they agree
store.find(topic="Orders", key="order-4711")  # as the broker's index query finds it
store.forecast()["lost"]  # what a start would lose

rl.compare(["/data/master", "/data/slave"])["conclusion"]  # which replica has every message

history = rl.replay(["/data/broker-a/logs", "/data/clients"])
history.at("2026-11-21T03:12:00Z")  # who owned each queue then, and how sure that is

rl.lake().sql("lag_by_group")  # what `rocketlens ingest` collected
```

Importing it takes a few milliseconds; Arrow and the compiled readers are loaded with the first question. It needs no
extra: pandas, and plots of matplotlib, come with `rocketlens[platform]`.

* A question is the command of that name, with its rules, columns and defaults: `help(rl.store)` and [cli.md](cli.md)
  say the same.
* **Rows** are an Arrow table (`.table`) that pandas, polars and DuckDB take as it is; `.to_pandas()`, `.to_pylist()`,
  `rows["column"]`. `.unread` names every range that could not be read, empty when the answer is complete;
  `.notes` what was assumed.
* `forecast()` and `retention()` are the documents of those commands, by field, with `.unread`, `.notes` and
  methods that show parts of them.
* What goes wrong is one `rl.RocketlensError` with one sentence. Evidence is opened read-only, and nothing is
  written beside it.
* Instants are epoch milliseconds, ISO 8601, or a `datetime`; without a zone they are UTC."""


def page() -> str:
    """The whole page."""
    parts = [HEAD]
    for door, asked in DOORS:
        parts.append(f"## `rl.{door.__name__}{_parameters(door)}`\n\n{_first(door)}\n\n{_table(asked)}")
    parts += [f"## `rl.{each.__name__}{_parameters(each)}`\n\n{_first(each)}" for each in ALONE]
    parts.append("## Answers")
    parts += [f"### `{answer.__name__}`\n\n{_first(answer)}\n\n{_table(answer)}" for answer in ANSWERS]
    return "\n\n".join(parts) + "\n"


def questions(asked: type) -> Iterator[tuple[str, Any]]:
    """The public methods and properties of a class and of its bases, in the order in which they name them."""
    own = (each for each in asked.__mro__ if each.__module__.startswith(f"{rocketlens.__name__}."))
    for name, member in (pair for each in own for pair in vars(each).items()):
        if not name.startswith("_") and (callable(member) or isinstance(member, property | cached_property)):
            yield name, member


def _table(asked: type) -> str:
    rows = [f"| `{name}{_parameters(member)}` | {_first(member)} |" for name, member in questions(asked)]
    return "\n".join(["| question | answer |", "|---|---|", *rows])


def _parameters(member: Any) -> str:
    """Names and defaults as they are called; nothing of a property."""
    if not callable(member):
        return ""
    found = [p for p in inspect.signature(member).parameters.values() if p.name != "self"]
    bare = [p.replace(annotation=inspect.Parameter.empty) for p in found]
    return str(inspect.Signature(bare))


def _first(member: Any) -> str:
    """The first paragraph of its docstring, as one line of a table."""
    paragraph = (inspect.getdoc(member) or "").split("\n\n")[0].split("\nArgs:")[0]
    return " ".join(paragraph.split()).replace("|", "\\|")


if __name__ == "__main__":
    asked = ArgumentParser(description=__doc__)
    asked.add_argument("file", type=Path, help="the page to write")
    asked.parse_args().file.write_text(page(), "utf-8")
