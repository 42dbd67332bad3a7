"""The kinds of cases, and the judge of how a lake ends."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from pipelines.cli.frame.errors import ExitCode
from tests.lake_faults.processes import ended, forked, ingest, killed_after
from tests.lake_faults.stream import BATCHES
from tests.lake_faults.strikes import REFUSALS, STEPS, Strike
from tests.lake_faults.world import BROKERS, World, content
from tests.support.copies import copy_tree

WELL = (0, 1)
"""Exit codes of an ingest that read everything: without findings, and with."""
MOST_TIMES = 24
"""A step is struck at one of its first so many times."""
FILES = ("commitlog/00000000000000000000", "commitlog/00000000000003145728", "consumequeue/OrderTopic0")
TOO_BUSY = "Python worker failed to connect back"
"""What Spark says where a worker takes more than ten seconds to start, which no setting changes."""
UNTOLD = (99, ExitCode.FAULT)
"""How a process ends on an error that nobody foresaw."""


@dataclass(slots=True)
class Judge:
    """Draws cases of one world. `ended` counts how struck processes ended."""

    world: World
    draw: random.Random = field(default_factory=random.Random)
    ended: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0
    stream_seconds: float | None = None
    derived_seconds: float | None = None
    expected: str = ""

    def prepare(self) -> None:
        """Make the undisturbed lakes of both moments, and the tables that every other lake must end with."""
        early, late = self.lake("early"), self.lake("late")
        if (code := ended(ingest(self.world.config(early)))) not in WELL:
            raise RuntimeError(f"an undisturbed ingest ended with {code}")
        self.world.move_to("late")
        began = time.monotonic()
        if (code := ended(ingest(self.world.config(late)))) not in WELL:
            raise RuntimeError(f"an undisturbed ingest ended with {code}")
        self.seconds = time.monotonic() - began
        self.expected = self.told(late)

    def lake(self, name: str) -> Path:
        return self.world.folder / "lakes" / name

    def begin(self) -> Path:
        """A lake to be struck: empty, or with the stores as they were earlier."""
        lake = self.lake("struck")
        shutil.rmtree(lake, ignore_errors=True)
        if self.draw.random() < 0.5:
            copy_tree(self.lake("early"), lake)
        return lake

    def told(self, lake: Path) -> str:
        """The content of a lake, summed up in a process of its own."""
        return self._asked(lake, "content")

    def _asked(self, lake: Path, question: str) -> str:
        answer = self.world.folder / "answer"

        def body() -> int:
            from pipelines.lake.check import faults
            from pipelines.lake.lake import Lake
            from pipelines.lake.vacuum import leftovers, remove

            if question == "faults":
                answer.write_text("; ".join(f"{fault.table}: {fault.what}" for fault in faults(Lake(lake))))
            elif question == "vacuum":
                for left in list(leftovers(Lake(lake), keep_days=0)):
                    remove(left)
                answer.write_text("; ".join(str(left.path) for left in leftovers(Lake(lake), keep_days=0)))
            else:
                answer.write_text("\n".join(f"{name} {told}" for name, told in content(Lake(lake)).items()))
            return 0

        if code := ended(forked(body)):
            raise RuntimeError(f"{question} of {lake} ended with {code}")
        return answer.read_text()

    def judged(self, lake: Path, *, whole_now: bool = True) -> list[str]:
        """What is wrong with a lake that was struck, after an ingest that nothing disturbs: sentences."""
        wrong = []
        if whole_now and (found := self._asked(lake, "faults")):
            wrong.append(f"after the strike: {found}")
        says = self.world.folder / "says"
        if (code := ended(ingest(self.world.config(lake), say=says))) not in WELL:
            return [*wrong, f"the next ingest ended with {code}: {says.read_text()[-300:]}"]
        if found := self._asked(lake, "vacuum"):
            wrong.append(f"not removed: {found}")
        expected, told = self.expected.splitlines(), self.told(lake).splitlines()
        wrong += [f"{now} where {then} is expected" for now, then in zip(told, expected, strict=True) if now != then]
        return wrong

    def note(self, how: str, code: int) -> None:
        self.ended[f"{how} ended with {code}"] += 1


def killed_at_a_step(judge: Judge) -> list[str]:
    """The process is killed before or after a named step."""
    return _struck(judge, "kill")


def refused_at_a_step(judge: Judge) -> list[str]:
    """The system refuses with a full disk or an I/O error before or after a named step."""
    return _struck(judge, judge.draw.choice(list(REFUSALS)))


def _struck(judge: Judge, what: str) -> list[str]:
    lake, draw = judge.begin(), judge.draw
    strike = Strike(what, draw.choice(list(STEPS)), draw.random() < 0.5, draw.randint(1, draw.choice((1, MOST_TIMES))))
    code = ended(ingest(judge.world.config(lake), strike))
    judge.note(what, code)
    if code in UNTOLD:
        return [f"{strike}: an error that no sentence tells"]
    return [f"{strike}: {sentence}" for sentence in judge.judged(lake)]


def killed_at_an_instant(judge: Judge) -> list[str]:
    """The process is killed at any instant."""
    lake, after_s = judge.begin(), judge.draw.uniform(0, judge.seconds)
    code = killed_after(ingest(judge.world.config(lake)), after_s)
    judge.note("kill", code)
    return [f"killed after {after_s:.2f} s: {sentence}" for sentence in judge.judged(lake)]


def several_at_once(judge: Judge) -> list[str]:
    """Two or three ingests at once; one of them may be killed."""
    lake, draw = judge.begin(), judge.draw
    config = judge.world.config(lake)
    started = [ingest(config, wait_s=draw.choice((0, 60))) for _ in range(draw.choice((2, 3)))]
    codes = [killed_after(started[0], draw.uniform(0, judge.seconds))] if draw.random() < 0.5 else []
    codes += [ended(child) for child in started[len(codes) :]]
    for code in codes:
        judge.note("one of several", code)
    strange = [f"one of several ingests ended with {code}" for code in codes if code not in (*WELL, 3, -9)]
    return strange + judge.judged(lake)


def store_that_changes(judge: Judge) -> list[str]:
    """Files of the stores vanish, shrink and grow while they are read, and come back."""
    lake, draw = judge.begin(), judge.draw
    child = ingest(judge.world.config(lake))
    for _ in range(draw.randint(1, 3)):
        time.sleep(draw.uniform(0, judge.seconds / 3))
        path = judge.world.store(draw.choice(BROKERS)) / draw.choice(FILES)
        if draw.random() < 0.5 or path.is_dir():
            aside = judge.world.folder / "aside"
            path.rename(aside)
            time.sleep(draw.uniform(0, judge.seconds / 3))
            aside.rename(path)
        else:
            _cut_and_restored(path, draw.uniform(0, judge.seconds / 3))
    judge.note("reading what changes", ended(child))
    return judge.judged(lake)


def _cut_and_restored(path: Path, seconds: float) -> None:
    seen, content_ = path.stat(), path.read_bytes()
    os.truncate(path, len(content_) // 2)
    time.sleep(seconds)
    path.write_bytes(content_)
    os.utime(path, ns=(seen.st_atime_ns, seen.st_mtime_ns))


def full_disk(judge: Judge) -> list[str]:
    """The lake is on a file system of its own that is too small, and is made larger for the next ingest."""
    lake, kib = judge.begin(), judge.draw.randint(64, 4096)
    config = judge.world.config(lake)
    lake.mkdir(exist_ok=True)
    kept = lake.with_name("kept")
    shutil.rmtree(kept, ignore_errors=True)
    ingesting = f"{sys.executable} -m tests.lake_faults.plain_ingest {config}"
    script = (
        f"mount -t tmpfs -o size={kib}k none {lake} && {{ {ingesting}; echo $? >{judge.world.folder}/code; "
        f"mount -o remount,size=1g {lake} && cp -a {lake} {kept}; }}"
    )
    made = subprocess.run(["unshare", "--mount", "sh", "-c", script], capture_output=True, check=False)
    if made.returncode:
        judge.ended["full disks that this user may not make"] += 1
        return []
    code = int((judge.world.folder / "code").read_text())
    judge.note("full disk", code)
    shutil.rmtree(lake)
    kept.rename(lake)
    untold = ["an error that no sentence tells"] if code in UNTOLD else []
    return [f"disk of {kib} KiB: {sentence}" for sentence in (*untold, *judge.judged(lake))]


def killed_stream(judge: Judge) -> list[str]:
    """A stream into a Delta table is killed once or twice, at a step or an instant, and ends with each message once."""
    table, draw = judge.world.folder / "stream/table", judge.draw
    if judge.stream_seconds is None:
        began = time.monotonic()
        if wrong := _streamed(judge, table):
            return wrong
        judge.stream_seconds = time.monotonic() - began
    shutil.rmtree(table.parent)
    for _ in range(draw.randint(1, 2)):
        child = _stream(judge, table, draw.choice(("before", "after")), draw.randrange(BATCHES))
        try:
            child.wait(draw.uniform(0, 2 * judge.stream_seconds))
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, signal.SIGKILL)  # not waited for yet, so the number is still its own
        judge.note("a stream", child.wait())
    return _streamed(judge, table)


def _stream(judge: Judge, table: Path, *strike: object) -> subprocess.Popen[bytes]:
    """Start a stream, in a session of its own; what it says is in the file `says`."""
    given = [judge.world.store(BROKERS[0]), table, *strike]
    command = [sys.executable, "-m", "tests.lake_faults.stream", *map(str, given)]
    with (judge.world.folder / "says").open("wb") as says:
        return subprocess.Popen(command, start_new_session=True, stderr=says)


def _streamed(judge: Judge, table: Path) -> list[str]:
    """A stream that nothing disturbs goes on from there; again where Spark gave up waiting for a busy machine."""
    while code := _stream(judge, table).wait():
        says = (judge.world.folder / "says").read_text()
        if TOO_BUSY not in says:
            return [f"the stream ended with {code}: {says[-600:]}"]
        judge.ended["streams that a busy machine kept from beginning"] += 1
    return []


INGESTS: Mapping[str, Callable[[Judge], list[str]]] = {
    "killed at a step": killed_at_a_step,
    "killed at an instant": killed_at_an_instant,
    "refused at a step": refused_at_a_step,
    "several at once": several_at_once,
    "a store that changes": store_that_changes,
    "a full disk": full_disk,
}
STREAM = "a stream that is killed"
CASES = {**INGESTS, STREAM: killed_stream}
STREAM_EVERY = 20
"""Two or three starts of Java make a stream's case as dear as eight ingests'."""


def kind_of(number: int) -> str:
    """The kind of the case of a number (from 0)."""
    return STREAM if number % STREAM_EVERY == STREAM_EVERY - 1 else list(INGESTS)[number % len(INGESTS)]
