"""`--config-file` of the commands that need `rocketlens.toml`: what it says, and the lake that it names."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pipelines.cli.frame.call.run import Run
from pipelines.cli.frame.errors import Unreadable, WrongUsage
from pipelines.cli.frame.visible import show_as

if TYPE_CHECKING:
    from pipelines.lake.configuration.sources import Sources
    from pipelines.lake.lake import Lake
    from pipelines.objects.place import Place

ConfigFile = Annotated[
    Path | None,
    typer.Option(
        readable=False,
        metavar="FILE",
        help="The rocketlens.toml to use; else $ROCKETLENS_CONFIG, else the nearest here or above.",
    ),
]


def config_path(run: Run, config_file: Path | None) -> Path:
    """The configuration in use. Raises WrongUsage where none is named and none is here or above."""
    from pipelines.lake.configuration.sources import NoConfiguration, configured_file

    try:
        path = configured_file(config_file)
    except NoConfiguration as missing:
        raise WrongUsage(str(missing)) from missing
    run.reads(path)
    return path


def sources_of(run: Run, config_file: Path | None) -> Sources:
    """What the configuration says. Raises WrongUsage, Unreadable: one sentence."""
    from pipelines.lake.configuration.sources import SourcesError, read_sources

    try:
        return read_sources(config_path(run, config_file))
    except SourcesError as wrong:
        raise Unreadable(str(wrong)) from wrong


@contextmanager
def with_stores(run: Run, sources: Sources) -> Iterator[Sources]:
    """The configuration with its stores at hand, those at addresses too (`addressed_stores.stores_here`), and with all
    that it reads known as evidence."""
    from pipelines.lake.configuration.addressed_stores import stores_here

    with stores_here(sources) as here:
        for broker in here.brokers:
            if broker.view is not None:
                show_as(str(broker.store), broker.place)
        for place in here.evidence():
            run.reads(place)
        yield here


def lake_of(run: Run, config_file: Path | None) -> Lake:
    """The lake that the configuration names, to be read."""
    return lake_at(run, sources_of(run, config_file).lake)


def require_lake(lake: Lake) -> None:
    """Raise Unreadable, before a folder or a lock is made, where no table was ever written."""
    if not lake.places[0].is_dir():
        raise Unreadable(f"no lake here yet: {lake.root}; run `rocketlens ingest` first")


def lake_at(run: Run, root: Place) -> Lake:
    """A lake to be read: nothing is written among its tables; what else lies in its folder is no part of it."""
    from pipelines.lake.lake import Lake

    lake = Lake(root)
    for place in lake.places:
        if isinstance(place, Path):
            run.reads(place)
    return lake
