"""`rocketlens demo`: the bundled store of a real broker, from bytes to tables to a page of answers."""

from __future__ import annotations

import argparse
import importlib
import sys
import threading
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TaskID, TextColumn, TimeElapsedColumn

from pipelines.cli.frame.errors import ExitCode
from pipelines.defs.asset_failure import AssetFailed
from pipelines.demo_page import print_answer
from pipelines.installed.extras import missing_extra, need
from pipelines.installed.shipped import DEMO, DEMO_SOURCES, own_copy
from pipelines.lake.catalog import publish
from pipelines.lake.configuration.sources import Sources, demo_config, read_sources
from pipelines.lake.lake import Lake
from pipelines.lake.lock import writing
from pipelines.notebook.bundles import bundled_store

if TYPE_CHECKING:
    from pipelines.defs.runs.materialize import Outcome

BUNDLE = DEMO / "5.3.3-clean" / "store.tar.gz"


def build(sources: Sources, console: Console) -> Outcome:
    """Bring the whole lake up to date, and publish the catalogue."""
    imports = threading.Thread(target=importlib.import_module, args=("pipelines.definitions",), daemon=True)
    imports.start()  # Dagster is imported while the JVM starts; Spark wants the main thread
    columns = (SpinnerColumn(finished_text="[green]✓[/]"), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=console) as progress:
        steps = _Steps(progress)
        steps.next("starting Spark and Dagster")
        from pipelines.spark.session import spark_session

        spark_session(sources.spark_master, sources.spark_properties, short_lived=True)
        imports.join()
        outcome = _materialize(sources, steps)
        steps.next("publishing the DuckDB catalogue")
        with writing(sources.lake, "demo"):
            publish(Lake(sources.lake))
        steps.done()
    return outcome


def _materialize(sources: Sources, steps: _Steps) -> Outcome:
    from pipelines.definitions import defs
    from pipelines.defs.dagster_home import open_instance
    from pipelines.defs.lakehouse import Lakehouse
    from pipelines.defs.runs.materialize import materialize_everything

    lakehouse = Lakehouse(config_file=str(demo_config()))
    return materialize_everything(defs, open_instance(sources.lake), lakehouse, progress=steps.next)


class _Steps:
    """Named steps one after another, each with its time."""

    def __init__(self, progress: Progress) -> None:
        self.progress = progress
        self.task: TaskID | None = None

    def next(self, title: str) -> None:
        self.done()
        self.task = self.progress.add_task(title, total=1)

    def done(self) -> None:
        if self.task is not None:
            self.progress.update(self.task, completed=1)


def tell_failure(failed: AssetFailed, *, debug: bool) -> int:
    """One sentence on stderr, the trace with `debug`; the exit code."""
    if debug:
        print(failed.trace, file=sys.stderr)
    print(f"demo: {failed}{'' if debug else ' (--debug prints where)'}", file=sys.stderr)
    return ExitCode.FAULT


def main(argv: Sequence[str] | None = None) -> int:
    """0 when every asset was made and every check of the clean store passed, 1 when a check did not."""
    parser = argparse.ArgumentParser(prog="rocketlens demo", description=__doc__)
    parser.add_argument("--debug", action="store_true", help="print the trace of an asset that could not be made")
    debug = parser.parse_args(argv).debug
    console, began = Console(), time.monotonic()
    try:
        need("pyspark", "dagster", "deltalake", "matplotlib")
    except ModuleNotFoundError as missing:
        print(f"demo: {missing_extra(missing)}", file=sys.stderr)
        return ExitCode.WRONG_USAGE
    own_copy("demo", DEMO_SOURCES)
    sources = read_sources(demo_config())
    console.print("[bold]rocketlens demo[/] · the store of a RocketMQ 5.3.3 broker, ingested through Spark\n")
    bundled_store(BUNDLE.parent.name)  # where the configuration expects it
    try:
        checked = build(sources, console)
    except AssetFailed as refused:
        return tell_failure(refused, debug=debug)
    print_answer(console, sources, checked, seconds=time.monotonic() - began)
    return 1 if checked.failed_checks else 0


if __name__ == "__main__":
    sys.exit(main())
