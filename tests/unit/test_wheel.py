"""What is in the wheel and in the sdist, and whom their names could disturb."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

from parsers.kernels.kernel import library
from tests.support.fixtures import CHECKOUT
from tests.support.light import LINKED, WHEEL_TARGETS

PACKAGES = {"parsers", "recovery", "rebalance", "pipelines", "rocketlens"}
COMMON = (CHECKOUT / "tests" / "support" / "common_packages.txt").read_text("utf-8").split()
MOST_SDIST_BYTES = 8 << 20


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with both, built as they are for an index."""
    folder = tmp_path_factory.mktemp("dist")
    done = subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-d", str(folder)],
        cwd=CHECKOUT,
        env={**os.environ, "ROCKETLENS_TARGETS": WHEEL_TARGETS},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture(scope="module")
def wheel(built: Path) -> set[str]:
    (file,) = built.glob("*.whl")
    return set(zipfile.ZipFile(file).namelist())


@pytest.fixture(scope="module")
def sdist(built: Path) -> set[str]:
    (file,) = built.glob("*.tar.gz")
    assert file.stat().st_size < MOST_SDIST_BYTES
    with tarfile.open(file) as tar:
        return {name.partition("/")[2] for name in tar.getnames()}


def test_the_wheel_holds_its_packages_and_nothing_else_on_top(wheel: set[str]) -> None:
    tops = {name.partition("/")[0] for name in wheel}
    assert {top for top in tops if not top.endswith(".dist-info")} == PACKAGES


@pytest.mark.parametrize("room", sorted(PACKAGES))
def test_every_file_of_a_package_is_in_the_wheel(wheel: set[str], room: str) -> None:
    listed = subprocess.run(["git", "ls-files", room], cwd=CHECKOUT, capture_output=True, text=True, check=False)
    if listed.returncode:
        pytest.skip("not a git checkout")
    assert set(listed.stdout.split()) - wheel == set()


@pytest.mark.parametrize(
    "name",
    [
        "demo/rocketlens.toml",
        "demo/5.3.3-clean/store.tar.gz",
        "demo/quiet-cluster/wire.jsonl.gz",
        "notebooks/01_what_is_in_this_store.py",
        "notebooks/.jupyter/labconfig/default_setting_overrides.json",
        "docs/cli.md",
        "docs/formats/commitlog.md",
        "workspace.yaml",
        "dagster.yaml",
    ],
)
def test_what_the_commands_look_for_is_shipped(wheel: set[str], sdist: set[str], name: str) -> None:
    assert f"pipelines/share/{name}" in wheel
    assert name in sdist


@LINKED
def test_the_wheel_brings_kernels_for_its_machine(built: Path, wheel: set[str]) -> None:
    (file,) = built.glob("*.whl")
    assert file.stem.endswith(f"-py3-none-manylinux_2_17_{platform.machine()}")
    assert "parsers/kernels/built/native.so" in wheel


USE = """
import sys
from pathlib import Path
from pipelines.notebook.bundles import bundled_store
from pipelines.installed.shipped import IS_INSTALLED, DEMO_SOURCES, own_copy
from pipelines.lake.configuration.sources import demo_config, read_sources
from tests.support.cli import call
assert IS_INSTALLED
print(bundled_store("5.3.1-crashed").relative_to(Path.cwd()))
print(own_copy("demo", DEMO_SOURCES), own_copy("notebooks"))
config = demo_config()
print(config.relative_to(Path.cwd()), read_sources(config).lake.relative_to(Path.cwd()))
print(call("docs", "install").code, call("queues", bundled_store("5.3.1-crashed")).code, "numba" in sys.modules)
"""


def test_an_installed_one_writes_to_the_current_folder_only(built: Path, tmp_path: Path) -> None:
    (file,) = built.glob("*.whl")
    package, here = tmp_path / "site", tmp_path / "here"
    here.mkdir()
    zipfile.ZipFile(file).extractall(package)
    before = {path for path in package.rglob("*") if path.suffix != ".pyc"}
    environment = {**os.environ, "PYTHONPATH": f"{package}{os.pathsep}{CHECKOUT}", "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        [sys.executable, "-c", USE], cwd=here, env=environment, capture_output=True, text=True, check=False
    )
    assert done.stdout.splitlines() == [
        "lake/demo/5.3.1-crashed/store",
        f"{here / 'demo'} {here / 'notebooks'}",
        "demo/rocketlens.toml lake",
        f"0 0 {library() is None}",
    ], done.stderr
    assert sorted(path.name for path in here.iterdir()) == ["demo", "lake", "notebooks"]
    assert (here / "notebooks" / "04_how_far_behind.py").is_file()
    made = {path.suffix or path.name for path in set(package.rglob("*")) - before}
    assert made <= {"__pycache__"} | (set() if library() else {".nbi", ".nbc"})


def test_the_sdist_builds_and_runs_but_leaves_the_corpus_at_home(sdist: set[str]) -> None:
    assert {"pyproject.toml", "run.py", "requirements.lock", "README.md", "LICENSE", "PKG-INFO"} <= sdist
    assert {name for name in sdist if name.startswith(("tests/", "benchmarks/", ".ci"))} == set()


def test_an_index_would_take_both(built: Path) -> None:
    files = [str(file) for file in built.iterdir()]
    done = subprocess.run(
        [sys.executable, "-m", "twine", "check", "--strict", *files], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("PASSED") == 2


def test_no_common_package_has_one_of_our_names() -> None:
    assert len(COMMON) >= 400
    assert {name.replace("-", "_").partition(".")[0] for name in COMMON} & PACKAGES == set()


def test_no_package_that_is_installed_beside_ours_has_one_of_our_names() -> None:
    owners = importlib.metadata.packages_distributions()
    assert len(owners) > 100
    assert {name: owners[name] for name in PACKAGES if set(owners.get(name, ["rocketlens"])) != {"rocketlens"}} == {}


def test_the_version_stands_in_one_place() -> None:
    project = tomllib.loads((CHECKOUT / "pyproject.toml").read_text("utf-8"))["project"]
    assert importlib.metadata.version("rocketlens") == project["version"]
    elsewhere = [
        path
        for room in PACKAGES
        for path in (CHECKOUT / room).rglob("*.py")
        if f'"{project["version"]}"' in path.read_text("utf-8")
    ]
    assert elsewhere == []
