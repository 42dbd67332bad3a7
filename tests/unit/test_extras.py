"""What `pip install rocketlens` can do without its extra, and what it says where it cannot."""

from __future__ import annotations

from pathlib import Path

import pytest

from parsers.checkpoints.epochs import Epoch, encode_epochs
from pipelines.cli.docs import leaves
from pipelines.installed.extras import PLATFORM, missing_extra, need
from pipelines.installed.shipped import DEMO
from tests.support.fixtures import unpack_store
from tests.support.light import call_light, light_distributions, run_light, withheld_modules

OF_THE_PLATFORM = ("ingest", "demo", "ui", "lab", "tables", "check-lake", "vacuum", "cluster")
ORDERS = str(DEMO / "orders-cluster")
ARGUMENTS: dict[str, list[str]] = {
    "explain": ["{store}/checkpoint"],
    "find": ["{store}", "--topic", "OrderTopic0", "--key", "cAaAa"],
    "compare": ["{store}", "{store}"],
    "offset-at": ["{store}", "--topic", "OrderTopic0", "--queue", "0", "--at", "2026-11-21T15:14:00Z"],
    "rebuild": ["{store}", "--to", "{out}/rebuilt"],
    "allocate": [],
    "replay": [ORDERS],
    "what-if": [ORDERS, "--strategy", "AVG_BY_CIRCLE"],
    "who": ["{store}", "--message-id", "7F00000100002A9F0000000000000000", "--logs", ORDERS],
    "report": ["{store}", "--logs", ORDERS, "--out", "{out}/report.html"],
    "docs": ["recovery"],
    "completion": ["bash"],
    "watch": ["{store}", "--times", "1"],
    "episodes": ["{store}", "--offsets", "{store}/config/consumerOffset.json"],
    "upgrade": ["{store}", "--to", "5.5.0"],
    "start-at": ["{store}", "--topic", "OrderTopic0"],
    "init": ["{store}", "--to", "{out}/drafted.toml"],
}
"""Of commands that take more, or other things, than a store."""


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = unpack_store(DEMO / "5.3.3-clean" / "store.tar.gz", tmp_path_factory.mktemp("light"))
    (root / "epochFileCheckpoint").write_bytes(encode_epochs([Epoch(1, 0)]))
    return root


def test_every_other_command_works_without_the_extra(store: Path, tmp_path: Path) -> None:
    names = [name for name in leaves() if name not in (*OF_THE_PLATFORM, "sql")]
    calls = [
        [*name.split(), *(part.format(store=store, out=tmp_path) for part in ARGUMENTS.get(name, ["{store}"]))]
        for name in names
    ]
    ended = dict(zip(names, call_light(calls, cwd=tmp_path), strict=True))
    assert {name: said for name, (_, said) in ended.items() if "is not installed" in said} == {}
    assert {name: said for name, (code, said) in ended.items() if code not in (0, 1)} == {}


@pytest.mark.parametrize("name", OF_THE_PLATFORM)
def test_a_command_of_the_platform_names_the_extra(name: str, tmp_path: Path) -> None:
    ((code, said),) = call_light([[name]], cwd=tmp_path)
    assert code == 2
    assert said.count("\n") == 1
    assert "pip install 'rocketlens[platform]'" in said


def test_a_lake_is_asked_in_sql_without_the_extra(tmp_path: Path) -> None:
    from pipelines.lake.catalog import publish
    from pipelines.lake.lake import Lake

    publish(Lake(tmp_path / "lake"))
    (tmp_path / "rocketlens.toml").write_text('[lake]\npath = "lake"\n')
    assert call_light([["sql", "SELECT count(*) FROM lag"]], cwd=tmp_path) == [(0, "")]


def test_what_is_withheld_here_is_what_the_extra_brings() -> None:
    assert {"pyspark", "dagster", "deltalake", "jupyterlab", "pandas", "matplotlib"} <= set(withheld_modules())
    assert {"pyarrow", "duckdb", "rocksdict", "typer"} <= light_distributions()
    assert run_light("import dagster", cwd=Path.cwd()).returncode != 0


def test_only_a_module_of_the_extra_is_told_so() -> None:
    for module in PLATFORM:
        assert "rocketlens[platform]" in str(missing_extra(ModuleNotFoundError(name=f"{module}.inner")))
    assert missing_extra(ModuleNotFoundError("No module named 'nowhere'", name="nowhere")) is None
    assert missing_extra(ValueError("pyspark")) is None
    assert "pip install numba" in str(missing_extra(ModuleNotFoundError(name="llvmlite.binding")))
    with pytest.raises(ModuleNotFoundError) as refused:
        need("sys", "no_such_module_at_all")
    assert refused.value.name == "no_such_module_at_all"
