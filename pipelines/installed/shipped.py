"""What comes with rocketlens beside its code: the demo's evidence, notebooks, pages, settings of Dagster.

In a checkout these are its own folders, and what is made of them is written there, too. An installed rocketlens has
them in its package, which nobody writes to: there everything is made in the current folder.
"""

from __future__ import annotations

import shutil
from pathlib import Path

PACKED = Path(__file__).resolve().parents[1] / "share"
IS_INSTALLED = PACKED.is_dir()
SHIPPED = PACKED if IS_INSTALLED else Path(__file__).resolve().parents[2]
DEMO, NOTEBOOKS, PAGES = SHIPPED / "demo", SHIPPED / "notebooks", SHIPPED / "docs"
DEMO_SOURCES = ("rocketlens.toml", "quiet-cluster")
"""What the demo's configuration consists of: itself, and the recordings that it names."""


def workplace() -> Path:
    """The folder in which the demo's lake, its configuration and the notebooks are worked with."""
    return Path.cwd() if IS_INSTALLED else SHIPPED


def own_copy(folder: str, names: tuple[str, ...] = ()) -> Path:
    """A shipped folder in the workplace, where it may be changed; what is there already is left as it is.

    Args:
        names: the entries of the folder that are wanted, all of them when there are none.
    """
    source, copy = SHIPPED / folder, workplace() / folder
    copy.mkdir(exist_ok=True)
    for name in names or sorted(entry.name for entry in source.iterdir()):
        if (copy / name).exists():
            continue
        if (source / name).is_dir():
            shutil.copytree(source / name, copy / name)
        else:
            shutil.copyfile(source / name, copy / name)
    return copy


def call_of(command: str) -> str:
    """How a person starts a command here: `ui` is `rocketlens ui`, in a checkout `python3 run.py ui`."""
    if IS_INSTALLED:
        return f"rocketlens {command}"
    is_of_run = command.partition(" ")[0] in ("demo", "ui", "lab")
    return f"python3 run.py {command if is_of_run else f'cli {command}'}"


def page_names() -> list[str]:
    """The pages of documentation, by name."""
    return sorted(str(page.relative_to(PAGES).with_suffix("")) for page in PAGES.rglob("*.md"))


def page(name: str) -> str:
    """A page, in Markdown. Raises ValueError naming the ones there are."""
    if name not in page_names():
        raise ValueError(f"no page {name!r} (there are {', '.join(page_names())})")
    return (PAGES / f"{name}.md").read_text("utf-8")
