"""JupyterLab finds the defaults that come with the notebooks."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from pipelines.cli.commands.lake.workbench import lab_environment
from pipelines.defs.dagster_home import SETTINGS, dagster_home
from pipelines.lake.configuration.sources import DEMO_CONFIG

ASK = """
from jupyter_server.services.config.manager import ConfigManager
settings = ConfigManager(config_dir_name="labconfig").get("default_setting_overrides")
print(settings["@jupyterlab/docmanager-extension:plugin"]["defaultViewers"]["python"])
"""


def test_a_notebook_opens_as_a_notebook(tmp_path: Path) -> None:
    environment = {**os.environ, **lab_environment(), "HOME": str(tmp_path)}
    told = subprocess.run([sys.executable, "-c", ASK], env=environment, capture_output=True, text=True, check=True)
    assert told.stdout.strip() == "Jupytext Notebook"


def test_the_machines_own_settings_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JUPYTER_CONFIG_PATH", "elsewhere")
    assert lab_environment()["JUPYTER_CONFIG_PATH"].split(os.pathsep)[1:] == ["elsewhere"]


@pytest.mark.parametrize("stop", ["SIGINT", "SIGTERM"])
def test_who_ends_the_command_ends_the_program_behind_it(stop: str, tmp_path: Path) -> None:
    behind = (
        "import signal, sys, time; "
        f"signal.signal(signal.{stop}, lambda *a: sys.exit(7)); "
        "print('up', flush=True); time.sleep(60)"
    )
    code = (
        "import signal, sys; from pathlib import Path; from pipelines.cli.commands.lake.workbench import run_in_front\n"
        f"command = [sys.executable, '-c', {behind!r}]\n"
        f"place = Path({str(tmp_path)!r})\n"
        f"sys.exit(run_in_front(command, {{}}, Path({str(DEMO_CONFIG)!r}), place, stop=signal.{stop}))\n"
    )
    front = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
    assert front.stdout is not None
    with front.stdout:
        assert front.stdout.readline() == b"up\n"
        front.terminate()
        assert front.wait(timeout=30) == 7


def test_settings_of_dagster_that_a_user_changed_stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DAGSTER_HOME", "")  # put back afterwards
    settings = dagster_home(tmp_path) / "dagster.yaml"
    assert settings.read_text("utf-8") == SETTINGS.read_text("utf-8")
    settings.write_text("telemetry:\n  enabled: true\n", "utf-8")
    monkeypatch.setenv("DAGSTER_HOME", "")
    assert dagster_home(tmp_path) == settings.parent
    assert settings.read_text("utf-8") == "telemetry:\n  enabled: true\n"
