"""The kinds of cases of ingests on real Spark, whose derived tables are made several at a time."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path

from pipelines.cli.frame.errors import ExitCode
from pipelines.ingest.derive import JUDGED
from pipelines.spark import session
from tests.lake_faults.cases import UNTOLD, WELL, Judge
from tests.lake_faults.processes import ended, forked
from tests.lake_faults.strikes import OF_DERIVED, REFUSALS, STEPS, Strike, note_beginning, strike_in_workers
from tests.lake_faults.victims import EVERYBODY, end, left_after
from tests.support.cli import call

MOST_S = 300.0
"""An ingest that has not ended after so long hangs."""
MASTERS = ("local[2]", "local[4]")
"""With these two, and four, derived tables are made at once."""
TABLES = [table.name for table in JUDGED]


def spark_ingest(judge: Judge, lake: Path, arm: Callable[[], None], master: str) -> int:
    """Start `rocketlens ingest` on Spark, in a session of its own; its process id. The file `says` is what it says."""
    config, says = judge.world.config(lake, spark_master=master), judge.world.folder / "says"
    _begun(judge).unlink(missing_ok=True)

    def body() -> int:
        os.setsid()
        with (judge.world.folder / "stderr").open("wb") as stderr:
            os.dup2(stderr.fileno(), 2)  # of Java, too
        session.spark_session = partial(session.spark_session, short_lived=True)
        arm()
        done = call("ingest", "--config-file", config)
        says.write_text(done.err)
        return done.code

    says.unlink(missing_ok=True)
    return forked(body)


def _begun(judge: Judge) -> Path:
    return judge.world.folder / "begun"


def at_a_step(judge: Judge) -> list[str]:
    """Driver, Java, workers or all are ended, or the system refuses, at a step that the driver takes."""
    draw, of_derived = judge.draw, judge.draw.random() < 0.75
    step = draw.choice(OF_DERIVED if of_derived else list(STEPS))
    what = draw.choice([*EVERYBODY, *REFUSALS])
    number = draw.randint(1, draw.choice((1, len(TABLES))))
    strike = Strike(what, step, draw.random() < 0.5, number, _begun(judge) if of_derived else None)
    return _struck(judge, strike.arm, what, str(strike))


def in_a_worker(judge: Judge) -> list[str]:
    """A worker ends itself, or somebody else, before or after it has written the parts of a derived table."""
    draw = judge.draw
    what, table, after = draw.choice(list(EVERYBODY)), draw.choice(TABLES), draw.random() < 0.5
    told = f"{what} {'after' if after else 'before'} a worker wrote {table}"
    return _struck(judge, partial(strike_in_workers, what, table, after=after), what, told)


def at_an_instant(judge: Judge) -> list[str]:
    """Driver, Java, workers or all are ended at any instant while derived tables are made."""
    draw = judge.draw
    if judge.derived_seconds is None:
        judge.derived_seconds = _undisturbed(judge)
    what, after_s = draw.choice(list(EVERYBODY)), draw.uniform(0, judge.derived_seconds)

    def strike(session: int) -> None:
        _wait_for(_begun(judge))
        time.sleep(after_s)
        end(what, session)

    told = f"{what} {after_s:.2f} s after derived tables were begun"
    return _struck(judge, partial(note_beginning, _begun(judge)), what, told, strike)


def _undisturbed(judge: Judge) -> float:
    """The seconds from the first derived table to the end of an ingest that nothing disturbs."""
    lake = judge.begin()
    child = spark_ingest(judge, lake, partial(note_beginning, _begun(judge)), MASTERS[0])
    _wait_for(_begun(judge))
    began = time.monotonic()
    if (code := ended(child)) not in WELL:
        raise RuntimeError(f"an undisturbed ingest on Spark ended with {code}")
    return time.monotonic() - began


def _wait_for(place: Path) -> None:
    until = time.monotonic() + MOST_S
    while not place.exists() and time.monotonic() < until:
        time.sleep(0.01)


def _struck(
    judge: Judge,
    arm: Callable[[], None],
    what: str,
    told: str,
    from_outside: Callable[[int], None] = lambda session: None,
) -> list[str]:
    lake, master = judge.begin(), judge.draw.choice(MASTERS)
    child = spark_ingest(judge, lake, arm, master)
    from_outside(child)
    code = _ended_in_time(child)
    if code is not None:
        judge.note(what, code)
    begun = _begun(judge)
    if code in WELL and judge.derived_seconds is not None and begun.exists():  # the strike came too late
        judge.derived_seconds = min(judge.derived_seconds, time.time() - begun.stat().st_mtime)
    says = judge.world.folder / "says"
    said = says.read_text() if says.exists() else ""
    wrong = [f"{who} did not end" for who in left_after(child)]
    if code is None:
        wrong.append("it hung")
    elif code in UNTOLD:
        wrong.append(f"an error that no sentence tells: {said[-600:]}")
    elif code == ExitCode.INTERRUPTED and "Traceback" in said:
        wrong.append(f"a traceback: {said[-600:]}")
    return [f"{told}, {master}: {sentence}" for sentence in (*wrong, *judge.judged(lake))]


def _ended_in_time(child: int) -> int | None:
    """How a process ended; None, and it is killed, where it hangs."""
    until = time.monotonic() + MOST_S
    while time.monotonic() < until:
        if os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT):
            return ended(child)
        time.sleep(0.02)
    with suppress(ProcessLookupError):
        os.kill(child, signal.SIGKILL)
    ended(child)
    return None


SPARK_CASES: Mapping[str, Callable[[Judge], list[str]]] = {
    "Spark, at a step": at_a_step,
    "Spark, in a worker": in_a_worker,
    "Spark, at an instant": at_an_instant,
}
