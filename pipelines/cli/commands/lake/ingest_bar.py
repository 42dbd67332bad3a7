"""How far `rocketlens ingest` is: files done of all, bytes per second, time left; a line for each table elsewhere."""

from __future__ import annotations

import threading
from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING

from pipelines.cli.frame.call.progress import byte_bar, wanted
from pipelines.cli.frame.call.run import Run

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

    from pipelines.ingest.reading import Reading

SECONDS_BETWEEN_LOOKS = 0.5


class IngestBar:
    """Told of each table before it is read; where a person watches it draws a bar for each broker.

    Args:
        share_done: of the table that is read now, the share that is done.
    """

    def __init__(self, run: Run, share_done: Callable[[], float]) -> None:
        self._run, self._share_done = run, share_done
        self._bar: Progress | None = None
        self._task: TaskID | None = None
        self._reading: Reading | None = None
        self._share = 0.0
        self._drawing = threading.Lock()
        self._ended = threading.Event()
        self._looks = threading.Thread(target=self._look, daemon=True)

    def __enter__(self) -> IngestBar:
        if wanted(self._run, table_follows=True):
            self._bar = byte_bar("{task.fields[files]}")
            self._bar.start()
            self._looks.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ended.set()
        if self._bar is not None:
            self._looks.join()
            self._bar.stop()

    def __call__(self, reading: Reading) -> None:
        """A table begins to be read."""
        if self._bar is None:
            self._run.note(f"{reading.broker}: {reading.table}")
            return
        with self._drawing:
            before, self._reading, self._share = self._reading, reading, 0.0
            if self._task is None or before is None or before.broker != reading.broker:
                if self._task is not None:
                    self._bar.remove_task(self._task)
                self._task = self._bar.add_task(reading.broker, total=reading.of_all.size, files="")
            self._draw(reading)

    def _look(self) -> None:
        while not self._ended.wait(SECONDS_BETWEEN_LOOKS):
            if (reading := self._reading) is None:
                continue
            share = self._share_now()
            with self._drawing:
                if reading is self._reading:
                    self._share = max(self._share, share)  # a table may be several jobs, each of which begins at 0
                    self._draw(reading)

    def _share_now(self) -> float:
        try:
            return self._share_done()
        except Exception:  # noqa: BLE001 - a driver that ends raises what it likes; the ingest itself tells why
            return 0.0

    def _draw(self, reading: Reading) -> None:
        if self._bar is None or self._task is None:
            return
        files = reading.done.files + int(reading.here.files * self._share)
        self._bar.update(
            self._task,
            description=f"{reading.broker}: {reading.table}",
            completed=reading.done.size + reading.here.size * self._share,
            files=f"{files:,} of {reading.of_all.files:,} files",
        )
