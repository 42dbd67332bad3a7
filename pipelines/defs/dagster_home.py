"""Where Dagster keeps its history: beside the lake it tells of, set up from the dagster.yaml of the project."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from pipelines.installed.shipped import SHIPPED

if TYPE_CHECKING:
    import dagster as dg

SETTINGS = SHIPPED / "dagster.yaml"


def dagster_home(lake_root: Path) -> Path:
    """Make `<lake>/dagster` a Dagster home, point DAGSTER_HOME there unless it is set, and return the one in use."""
    if named := os.environ.get("DAGSTER_HOME"):
        return Path(named)
    home = _made_home(lake_root)
    os.environ["DAGSTER_HOME"] = str(home)
    return home


def has_home(lake_root: Path) -> bool:
    """Whether there is a Dagster to tell: DAGSTER_HOME names it, or `rocketlens ui` was started over the lake."""
    return bool(os.environ.get("DAGSTER_HOME")) or _home_of(lake_root).is_dir()


def _home_of(lake_root: Path) -> Path:
    return lake_root.resolve() / "dagster"


def _made_home(lake_root: Path) -> Path:
    """The home, made where there is none; settings that stand there are the user's and stay as they are."""
    home = _home_of(lake_root)
    home.mkdir(parents=True, exist_ok=True)
    settings = home / SETTINGS.name
    if SETTINGS.is_file() and not settings.exists():
        settings.write_text(SETTINGS.read_text("utf-8"), "utf-8")
    return home


def instance_of(lake_root: Path) -> dg.DagsterInstance:
    """The Dagster instance of a lake, or the one that DAGSTER_HOME names; this process's environment stays as it is."""
    import dagster as dg

    named = os.environ.get("DAGSTER_HOME")
    return dg.DagsterInstance.from_config(named or str(_made_home(lake_root)))


def open_instance(lake_root: Path) -> dg.DagsterInstance:
    """The Dagster instance of a lake."""
    import dagster as dg

    dagster_home(lake_root)
    return dg.DagsterInstance.get()
