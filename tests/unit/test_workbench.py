"""JupyterLab finds the defaults that come with the notebooks."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from pipelines.workbench import lab_environment

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
