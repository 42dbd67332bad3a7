"""The two windows on a lake: Dagster's UI and JupyterLab. Both run until they are interrupted."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from pipelines.installed.shipped import NOTEBOOKS, SHIPPED, own_copy
from pipelines.lake.configuration.sources import CONFIG_VARIABLE, read_sources
from pipelines.lake.lake import lake_to_write

LAB_SETTINGS = NOTEBOOKS / ".jupyter"
"""A .py opens as a notebook, and nothing is fetched from the network."""


def launch_ui(config_file: Path, *, port: int = 3000, host: str = "127.0.0.1") -> int:
    """Dagster's web server and daemon over the configuration's lake; the exit code once it ends."""
    from pipelines.defs.dagster_home import dagster_home

    home = dagster_home(lake_to_write(read_sources(config_file)).root).resolve()
    command = [sys.executable, "-W", "ignore", "-m", "dagster", "dev", "-w", str(SHIPPED / "workspace.yaml")]
    command += ["-h", host, "-p", str(port)]
    return run_in_front(command, {"DAGSTER_HOME": str(home)}, config_file, home, stop=signal.SIGINT)


def why_not_listening(host: str, port: int) -> str | None:
    """Why nothing can listen at this address and port now, in the system's words; None where it can."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind, protocol) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
    except (OSError, OverflowError) as refused:
        return refused.strerror if isinstance(refused, OSError) and refused.strerror else str(refused)
    return None


def is_root() -> bool:
    """Whether this process runs as root, where there is one."""
    return hasattr(os, "geteuid") and os.geteuid() == 0


def launch_lab(config_file: Path, *, port: int = 8888, browser: bool = True, as_root: bool = False) -> int:
    """JupyterLab in the folder of the notebooks; a .py there opens as a notebook (jupytext). The exit code.

    Args:
        as_root: start for root too, which Jupyter refuses otherwise.
    """
    notebooks = own_copy("notebooks")
    command = [sys.executable, "-m", "jupyterlab", f"--port={port}", f"--notebook-dir={notebooks}"]
    command += [] if browser else ["--no-browser"]
    command += ["--allow-root"] if as_root else []
    return run_in_front(command, lab_environment(), config_file, notebooks, stop=signal.SIGTERM)


def lab_environment() -> dict[str, str]:
    """Our defaults of JupyterLab's settings before those of the machine; the user's own settings win over both."""
    further = os.environ.get("JUPYTER_CONFIG_PATH")
    return {"JUPYTER_CONFIG_PATH": os.pathsep.join([str(LAB_SETTINGS), *([further] if further else [])])}


def run_in_front(
    command: Sequence[str], extra: Mapping[str, str], config_file: Path, folder: Path, *, stop: signal.Signals
) -> int:
    """Run in the foreground; who ends this process ends that one, by the signal `stop` that it obeys."""
    environment = {**os.environ, **extra, CONFIG_VARIABLE: str(config_file.resolve())}
    running = subprocess.Popen(command, env=environment, cwd=folder, preexec_fn=_interruptible)
    signal.signal(signal.SIGTERM, lambda number, frame: running.send_signal(stop))
    while True:
        try:
            return running.wait()
        except KeyboardInterrupt:
            continue  # the child got the same interrupt and is shutting down


def _interruptible() -> None:
    """A shell's background job ignores SIGINT, and Dagster stops by nothing else."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
