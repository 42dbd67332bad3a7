"""`rocketlens demo | docs`: what comes with rocketlens."""

from __future__ import annotations

from typing import Annotated

import typer

from pipelines.cli.frame.asked.options import LAKE, TEXT
from pipelines.cli.frame.call.command import command
from pipelines.cli.frame.call.run import Run
from pipelines.cli.frame.errors import WrongUsage


@command("demo", panel=LAKE)
def demo(run: Run) -> None:
    """Ingest the bundled store of a real broker through Spark, build every table, and answer in a page.

    The lake goes to `lake` in the current folder and its configuration to `demo/rocketlens.toml`; in a checkout both
    are the checkout's own. `sql`, `tables`, `ui` and `lab` take it with `--config-file demo/rocketlens.toml`.

    Example: `rocketlens demo`
    """
    from pipelines.demo import main

    run.ends_with(main(["--debug"] if run.options.debug else []))


@command("docs", panel=LAKE, answer=TEXT)
def docs(
    run: Run,
    page: Annotated[
        str | None, typer.Argument(metavar="[PAGE]", help="Name of a page; without it, the names there are.")
    ] = None,
) -> None:
    """Print a page of the documentation of this version, in Markdown.

    Example: `rocketlens docs recovery`
    """
    from pipelines.installed.shipped import page as text_of
    from pipelines.installed.shipped import page_names

    if page is None:
        run.write_lines(page_names())
        return
    try:
        run.write_lines(text_of(page).splitlines())
    except ValueError as unknown:
        raise WrongUsage(str(unknown)) from unknown
