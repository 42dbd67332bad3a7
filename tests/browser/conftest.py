"""What the tests of pages share: a tab, and a lake to look at."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from pipelines.notebook.bundles import bundle, bundled_store
from tests.support.browser import CLI, Page, browser
from tests.support.copies import copy_tree


@pytest.fixture
def page() -> Iterator[Page]:
    with browser() as tab:
        yield tab


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The configuration of a lake of the crashed store, with logs of a cluster, as `ingest` made it."""
    folder = tmp_path_factory.mktemp("lake")
    copy_tree(bundled_store("5.3.1-crashed"), folder / "store")
    config = folder / "rocketlens.toml"
    logs = json.dumps(str(bundle("orders-cluster") / "logs"))
    config.write_text(
        '[lake]\npath = "lake"\n[[broker]]\nname = "broker-a"\nstore = "store"\nversion = "5.3.1"\n'
        f"[[client]]\nlogs = {logs}\n"
    )
    ingest = [*CLI, "ingest", "--config-file", str(config)]
    assert subprocess.run(ingest, cwd=folder, stdout=sys.stderr, check=False).returncode == 1, "findings"
    return config
