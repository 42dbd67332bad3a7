"""A store whose broker has static topics: a golden one, with a topicQueueMapping.json of RocketMQ's own classes."""

from __future__ import annotations

import shutil
from pathlib import Path

from tests.support.copies import copy_tree
from tests.support.fixtures import GOLDEN, move_once, run_folder
from tests.support.stores import store_root

STATIC_TOPICS = GOLDEN / "static_topics"
VERSIONS = sorted(folder.name for folder in STATIC_TOPICS.iterdir())


def static_store(version: str) -> Path:
    """Made once per test run."""
    folder = run_folder() / f"static-{version}"
    if not folder.is_dir():
        made = run_folder() / f"static-{version}-made"
        copy_tree(store_root("5.3.3-clean"), made, into_existing=True)
        shutil.copy(STATIC_TOPICS / version / "topicQueueMapping.json", made / "config")
        move_once(made, folder)
    return folder
