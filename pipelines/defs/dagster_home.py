"""Where Dagster keeps its history: beside the lake it belongs to, set up from the dagster.yaml of the project."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from pipelines.installed.shipped import SHIPPED
from pipelines.lake.delta.errors import LakeError
from pipelines.objects.place import Place

if TYPE_CHECKING:
    import dagster as dg

SETTINGS = SHIPPED / "dagster.yaml"


def dagster_home(lake_root: Place) -> Path:
    """Make `<lake>/dagster` a Dagster home, point DAGSTER_HOME there unless it is set, and return the one in use."""
    if named := os.environ.get("DAGSTER_HOME"):
        return Path(named)
    home = _made_home(lake_root)
    os.environ["DAGSTER_HOME"] = str(home)
    return home


def has_home(lake_root: Place) -> bool:
    """Whether there is a Dagster to tell: DAGSTER_HOME names it, or `rocketlens ui` was started over the lake."""
    return bool(os.environ.get("DAGSTER_HOME")) or (isinstance(lake_root, Path) and _home_of(lake_root).is_dir())


def _home_of(lake_root: Path) -> Path:
    return lake_root.resolve() / "dagster"


def _made_home(lake_root: Place) -> Path:
    """The home, made where there is none; settings that stand there are the user's and stay as they are.

    Raises LakeError: a lake on an object store has no folder that Dagster's database could be in.
    """
    if not isinstance(lake_root, Path):
        raise LakeError(f"{lake_root}: Dagster keeps its history in a folder of this machine: set DAGSTER_HOME to one")
    home = _home_of(lake_root)
    home.mkdir(parents=True, exist_ok=True)
    settings = home / SETTINGS.name
    if SETTINGS.is_file() and not settings.exists():
        settings.write_text(SETTINGS.read_text("utf-8"), "utf-8")
    return home


def instance_of(lake_root: Place) -> dg.DagsterInstance:
    """The Dagster instance of a lake, or the one that DAGSTER_HOME names; this process's environment stays as it is."""
    import dagster as dg

    named = os.environ.get("DAGSTER_HOME")
    return dg.DagsterInstance.from_config(named or str(_made_home(lake_root)))


def open_instance(lake_root: Place) -> dg.DagsterInstance:
    """The Dagster instance of a lake."""
    import dagster as dg

    dagster_home(lake_root)
    return dg.DagsterInstance.get()
