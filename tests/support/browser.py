"""A headless Chromium, driven through its DevTools protocol: pages as a person sees them.

Runs where `ROCKETLENS_BROWSER=1` asks for it and a Chromium is installed (Debian: `apt-get install chromium`).
"""

from __future__ import annotations

import base64
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

import pytest

ASKED = os.environ.get("ROCKETLENS_BROWSER") == "1"
FOUND = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
needs_browser = pytest.mark.skipif(
    not (ASKED and FOUND),
    reason="looks at pages in a browser: set ROCKETLENS_BROWSER=1 where Chromium is installed"
    if not ASKED
    else "no chromium, chromium-browser or google-chrome on the PATH",
)
FLAGS = (
    *("--headless", "--disable-gpu", "--hide-scrollbars", "--no-first-run", "--disable-dev-shm-usage"),
    *("--no-sandbox", "--disable-extensions", "--remote-allow-origins=*", "--remote-debugging-port=0"),
)
SECONDS = 120
KEPT = os.environ.get("ROCKETLENS_PICTURES")
CLI = (sys.executable, "-c", "import sys; from pipelines.cli.app import main; sys.exit(main())")
"""`rocketlens` of this checkout, in a process of its own."""


class Page:
    """One tab. Every wait ends after SECONDS with what was waited for."""

    def __init__(self, address: str) -> None:
        import websocket

        self._socket = websocket.create_connection(address, timeout=SECONDS, suppress_origin=True)
        self._numbers = count(1)
        self.errors: list[str] = []
        for domain in ("Page", "Runtime"):
            self._call(f"{domain}.enable")

    def _call(self, method: str, **given: Any) -> dict[str, Any]:
        number = next(self._numbers)
        self._socket.send(json.dumps({"id": number, "method": method, "params": given}))
        while True:
            told = json.loads(self._socket.recv())
            if told.get("method") == "Runtime.exceptionThrown":
                self.errors.append(str(told["params"]["exceptionDetails"].get("exception", {}).get("description")))
            if told.get("id") == number:
                assert "error" not in told, told["error"]
                return dict(told["result"])

    def open(self, address: str, *, width: int = 1200, height: int = 900) -> None:
        """Go there, in a window of that size, and wait until it is loaded."""
        self.resize(width, height)
        self._call("Page.navigate", url=address)
        self.wait_for("document.readyState === 'complete'")

    def resize(self, width: int, height: int) -> None:
        """Make the window so large, in CSS pixels."""
        self._call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def dark(self, on: bool = True) -> None:
        """Prefer dark pages, or light ones."""
        features = [{"name": "prefers-color-scheme", "value": "dark" if on else "light"}]
        self._call("Emulation.setEmulatedMedia", features=features)

    def run(self, script: str) -> Any:
        """The value of an expression in the page."""
        told = self._call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in told, told["exceptionDetails"]
        return told["result"].get("value")

    def wait_for(self, condition: str, seconds: float = SECONDS) -> None:
        """Wait until an expression is true in the page."""
        until = time.monotonic() + seconds
        while not self.run(f"Boolean({condition})"):
            assert time.monotonic() < until, f"not within {seconds:.0f} s: {condition}"
            time.sleep(0.2)

    def drag(self, x: float, y: float, to_x: float) -> None:
        """Press the mouse at a place of the window, move it to the side and let go."""
        for kind, at in (("mousePressed", x), ("mouseMoved", to_x), ("mouseReleased", to_x)):
            self._call("Input.dispatchMouseEvent", type=kind, x=at, y=y, button="left", clickCount=1)

    def point_at(self, x: float, y: float) -> None:
        """Move the mouse there."""
        self._call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def type_into(self, field: str, text: str) -> None:
        """Type a text into the field that a selector finds."""
        self._call("Emulation.setFocusEmulationEnabled", enabled=True)
        self.run(f"document.querySelector({json.dumps(field)}).focus()")
        self._call("Input.insertText", text=text)

    def picture(self, to: Path) -> None:
        """What is in the window now, as a PNG."""
        told = self._call("Page.captureScreenshot", format="png")
        to.write_bytes(base64.b64decode(told["data"]))

    def as_printed(self, on: bool = True) -> None:
        """Look in the window as the page does on paper."""
        self._call("Emulation.setEmulatedMedia", media="print" if on else "")

    def printed(self) -> bytes:
        """The page as it is printed: a PDF."""
        return base64.b64decode(self._call("Page.printToPDF", printBackground=True)["data"])

    def close(self) -> None:
        """Let go of the tab."""
        self._socket.close()


@contextmanager
def browser() -> Iterator[Page]:
    """A tab of a browser of its own, with nothing in its profile."""
    assert FOUND is not None
    with tempfile.TemporaryDirectory(prefix="rocketlens-chromium-", ignore_cleanup_errors=True) as profile:
        command = [FOUND, *FLAGS, f"--user-data-dir={profile}", "about:blank"]
        running = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            page = Page(_address(Path(profile)))
            try:
                yield page
            finally:
                page.close()
        finally:
            running.terminate()
            running.wait(timeout=30)


def _address(profile: Path) -> str:
    """Where the tab listens, once the browser has written its port."""
    said, until = profile / "DevToolsActivePort", time.monotonic() + SECONDS
    while not (said.exists() and said.read_text().strip()):
        assert time.monotonic() < until, "Chromium did not start"
        time.sleep(0.1)
    port = int(said.read_text().split()[0])
    while True:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/json/list", timeout=30) as answer:
            tabs = [tab for tab in json.load(answer) if tab["type"] == "page"]
        if tabs:
            return str(tabs[0]["webSocketDebuggerUrl"])
        assert time.monotonic() < until, "Chromium opened no tab"
        time.sleep(0.1)


def keep(page: Page, name: str) -> None:
    """Keep a picture of what is in the window, where pictures are kept."""
    if KEPT:
        Path(KEPT).mkdir(parents=True, exist_ok=True)
        page.picture(Path(KEPT) / f"{name}.png")


@contextmanager
def serving(
    command: Sequence[str],
    address: str,
    folder: Path,
    *,
    seconds: float = 180,
    environment: Mapping[str, str] | None = None,
) -> Iterator[None]:
    """A web server, from when it answers to the end of the block."""
    with (folder / "server.log").open("wb") as log:
        running = subprocess.Popen(
            command,
            cwd=folder,
            env={**os.environ, **(environment or {})},
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    try:
        until = time.monotonic() + seconds
        while True:
            try:
                urllib.request.urlopen(address, timeout=10).close()
                break
            except OSError:
                assert running.poll() is None, (folder / "server.log").read_text("utf-8")[-2000:]
                assert time.monotonic() < until, f"no answer from {address}"
                time.sleep(0.5)
        yield
    finally:
        os.killpg(running.pid, signal.SIGTERM)
        running.wait(timeout=60)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
