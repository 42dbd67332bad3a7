"""rocketlens in Python: the store files and consumer rebalances of Apache RocketMQ.

    import rocketlens as rl

    store = rl.store("/data/store")        # messages, queues, find, lag, verify, forecast, …
    pair = rl.compare(["/data/master", "/data/slave"])  # from where replicas differ, which one to keep
    history = rl.replay(["/data/logs"])    # who owned which queue when
    lake = rl.lake()                       # SQL over what `rocketlens ingest` collected

Answers are `Rows` (an Arrow table) or documents, shown as HTML in a notebook. Evidence is only ever read.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from importlib import import_module
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rocketlens.errors import RocketlensError

if TYPE_CHECKING:
    from pipelines.notebook import bar_plots as plots
    from pipelines.notebook import lag_plot
    from pipelines.notebook.bundles import bundle, bundled_store
    from pipelines.notebook.show import show
    from rocketlens.compared import Compared
    from rocketlens.history import History
    from rocketlens.lakes import Lake
    from rocketlens.rows import Rows
    from rocketlens.stores.store import Store

__all__ = [
    "RocketlensError",
    "Rows",
    "bundle",
    "bundled_store",
    "compare",
    "explain",
    "lag_plot",
    "lake",
    "plots",
    "replay",
    "show",
    "sql",
    "store",
]

Place = str | PathLike[str]
LATER = {
    "Rows": "rocketlens.rows",
    "bundle": "pipelines.notebook.bundles",
    "bundled_store": "pipelines.notebook.bundles",
    "show": "pipelines.notebook.show",
    "plots": "pipelines.notebook.bar_plots",
    "lag_plot": "pipelines.notebook.lag_plot",
}
"""Names that are imported when they are first asked for, and from where."""
MODULES = frozenset({"plots", "lag_plot"})
"""Those of them that are a module, not a name in one."""


def store(
    path: Place,
    version: str | None = None,
    config: Mapping[str, object] | None = None,
    broker_conf: Place | None = None,
    logs: Iterable[Place] = (),
) -> Store:
    """The store of a broker. Nothing is read yet.

    Args:
        path: the store root, the folder with `commitlog` in it; or its address, `s3://bucket/store`.
        version: RocketMQ version of the broker; without it, the one that the files point to.
        config: settings by RocketMQ's own names, over those of `broker_conf` and those that the files show.
        broker_conf: the broker's own `broker.conf`.
        logs: this broker's broker.log, or its folder: says when topics were deleted and created.

    >>> rl.store("lake/demo/5.3.3-clean/store", version="5.3.3")
    <Store lake/demo/5.3.3-clean/store, version 5.3.3>
    """
    from rocketlens.gathered import broker_options
    from rocketlens.stores.store import Store

    return Store(Path(path), broker_options(version, config, broker_conf), tuple(map(Path, logs)))


def explain(file: Place, at: int = 0, count: int | None = 1, kind: str | None = None) -> Rows:
    """The bytes of one file of a store beside the fields they are (`explain`).

    Args:
        at: begin with what holds this byte of the file.
        count: so many records, units or entries; None: all to the end.
        kind: what the file is, where its place does not tell: commitlog, consumequeue, index, …
    Raises:
        RocketlensError: a file of no known kind, or a position beyond its end.

    >>> rl.explain("lake/demo/5.3.3-clean/store/checkpoint")["field"][:2]
    ['physic_msg_timestamp', 'logics_msg_timestamp']
    """
    from pipelines.cli.commands.store.explain import explain as command
    from rocketlens.gathered import rows_of

    return rows_of(command, file=Path(file), at=at, count=count, kind=kind)


def compare(
    stores: Iterable[Place],
    version: str | None = None,
    config: Mapping[str, object] | None = None,
    broker_conf: Place | None = None,
    group_size: int | None = None,
) -> Compared:
    """Replicas of one broker side by side: from where they differ, which one to keep, and what that costs.

    Args:
        stores: the store roots of two replicas or more.
        version, config, broker_conf: what is said of the broker, as for `rl.store`; it holds for every store.
        group_size: nodes of the DLedger group, which no store tells.
    Raises:
        RocketlensError: a store cannot be read, or there is only one.

    >>> rl.compare(["lake/demo/5.3.3-clean/store", "lake/demo/5.3.3-clean/store"])["mode"]
    'classic'
    """
    from rocketlens.compared import Compared
    from rocketlens.gathered import broker_options

    return Compared([Path(store) for store in stores], broker_options(version, config, broker_conf), group_size)


def replay(paths: Place | Iterable[Place]) -> History:
    """Who owned which queue when: the history that logs of brokers and clients and captures of the traffic tell.

    Args:
        paths: recordings, or folders of them.
    Raises:
        RocketlensError: nothing there is a recording.

    >>> rl.replay(rl.bundle("orders-cluster"))
    <History of 7 recordings: 39 intervals, 4 anomalies>
    """
    from rocketlens.history import read_history

    return read_history([Path(path) for path in ([paths] if isinstance(paths, str | PathLike) else paths)])


def lake(config: Place | None = None) -> Lake:
    """The lake that a `rocketlens.toml` names: the given one, else $ROCKETLENS_CONFIG, else the nearest here or above.

    Raises:
        RocketlensError: there is no such file, or it cannot be used.
    """
    from rocketlens.lakes import configured_lake

    return configured_lake(None if config is None else Path(config))


def sql(query: str, **tables: Rows) -> Rows:
    """SQL of DuckDB over answers, each by the name it is given here; times are UTC.

    Raises:
        RocketlensError: what DuckDB says of the query.

    >>> queues = rl.store("lake/demo/5.3.3-clean/store").queues()
    >>> rl.sql("SELECT count(DISTINCT topic) AS topics FROM queues", queues=queues)["topics"]
    [11]
    """
    from rocketlens.lakes import query_over

    return query_over(query, tables)


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from pipelines.installed.version import installed_version

        return installed_version()
    if name not in LATER:
        raise AttributeError(f"module 'rocketlens' has no attribute {name!r}")
    module = import_module(LATER[name])
    return module if name in MODULES else getattr(module, name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
