"""`python -m tests.live --minutes 30 --rate 5000`: ingests and a watch beside a real broker that writes.

RocketMQ's broker, producers and a consumer write to small files, which roll and expire meanwhile; `rocketlens ingest`
runs again and again, and `rocketlens watch` beside it. Prints rates, how fresh the lake was, and every finding. At the
end each message must be in the lake once, and in one chain, with its unit and its entries of the index. Exit code 1
where it is not, or where anything was found. An ingest may end with 4 where each file that it names has expired. Needs
a JDK 17, Maven and `unshare -n`.

A message is fresh for so long: from its store time to the end of the first ingest that has it. The newest of each
ingest gives the least, the oldest that the ingest before had not the most.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from pipelines.cli.frame.errors import ExitCode
from pipelines.lake.lake import Lake
from tests.live.broker import LiveBroker
from tests.live.judge import findings, newest, wrong_rows

ROCKETLENS = (sys.executable, "-m", "pipelines.cli")
WELL = (0, 1)
NOT_READ = re.compile(r"^rocketlens: not read: live: (\S+): ", re.MULTILINE)


def main(arguments: list[str]) -> int:
    """0 when nothing was lost, doubled, torn or found, else 1."""
    asked = _parser().parse_args(arguments)
    folder = Path(tempfile.mkdtemp(prefix="rocketlens-live-", dir=asked.folder))
    store, config, seconds = folder / "store", folder / "rocketlens.toml", int(60 * asked.minutes)
    told = f'name = "live"\nstore = "{store}"\nversion = "{asked.rocketmq}"'
    config.write_text(f'[lake]\npath = "{folder / "lake"}"\n[[broker]]\n{told}\n')
    keep_s = int(60 * asked.keep_minutes)
    broker = LiveBroker.start(store, asked.rocketmq, rate=asked.rate, seconds=seconds, keep_s=keep_s)
    watching = None
    try:
        while broker.runs and not broker.told:
            time.sleep(0.5)
        with (folder / "watch.jsonl").open("w") as rows, (folder / "watch.stderr").open("w") as notes:
            command = [*ROCKETLENS, "watch", str(store), "--version", asked.rocketmq, "--every", "5"]
            watching = subprocess.Popen([*command, "--format", "jsonl"], stdout=rows, stderr=notes)
        rounds = Rounds(config, store, Lake(folder / "lake"))
        while broker.runs:
            rounds.ingest()
        rounds.ingest()
        watching.terminate()  # of a job in the background SIGINT is ignored
        watching.wait()
        return _told(broker, rounds, folder)
    finally:
        for process in (broker.process, watching):
            if process is not None and process.poll() is None:
                process.kill()
                process.wait()
        if not asked.keep:
            shutil.rmtree(folder, ignore_errors=True)


class Rounds:
    """Ingests, one after another, and what each left; `expired`: how many named files that had expired meanwhile."""

    def __init__(self, config: Path, store: Path, lake: Lake) -> None:
        self.config, self.store, self.lake, self.expired = config, store, lake, 0
        self.seconds: list[float] = []
        self.freshness: list[tuple[float, float]] = []
        self.wrong: list[str] = []
        self._newest_ms: int | None = None

    def ingest(self) -> None:
        began = time.time()
        command = [*ROCKETLENS, "ingest", "--config-file", str(self.config)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        ended = time.time()
        self.seconds.append(ended - began)
        place = f"ingest {len(self.seconds)}"
        if done.returncode == ExitCode.READ_IN_PART and self._have_expired(NOT_READ.findall(done.stderr)):
            self.expired += 1
        elif done.returncode not in WELL:
            self.wrong.append(f"{place} ended with {done.returncode}: {done.stderr.strip()[-600:]}")
        if self.lake.version("commitlog_messages") is None:
            return
        self.wrong += [f"{place} found {finding}" for finding in findings(self.lake)]
        before, self._newest_ms = self._newest_ms, newest(self.lake)
        if self._newest_ms is not None and before is not None:
            self.freshness.append((ended - self._newest_ms / 1000, ended - before / 1000))
        print(f"{place}: {self.seconds[-1]:.0f} s, {self.lake.rows('commitlog_messages')} messages", file=sys.stderr)

    def _have_expired(self, files: list[str]) -> bool:
        return bool(files) and not any((self.store / file).exists() for file in files)


def _told(broker: LiveBroker, rounds: Rounds, folder: Path) -> int:
    """Print what came of it; the exit code."""
    if broker.end is None:
        print(f"the broker ended with {broker.process.wait()}: {(folder / 'broker.stderr').read_text()[-600:]}")
        return 1
    numbered, sent, delayed, seconds, *doubtful = broker.end
    least, greatest = broker.told[-1][2:]
    print(f"{int(sent)} messages in {seconds} s: {int(sent) / float(seconds):.0f} a second, {delayed} of them delayed")
    print(f"{greatest / 2**20:.0f} MiB of log, of which {least / 2**20:.0f} MiB expired meanwhile")
    taken = sorted(rounds.seconds)
    print(f"{len(taken)} ingests of {statistics.median(taken):.0f} s (median), {taken[-1]:.0f} s at most")
    print(f"{rounds.expired} of them named files that had expired while they were read, and ended with 4")
    if rounds.freshness:
        best, worst = ([pair[side] for pair in rounds.freshness] for side in (0, 1))
        median = f"{statistics.median(best):.0f} to {statistics.median(worst):.0f} s"
        print(f"a message was in the lake {median} after it was stored (medians), {max(worst):.0f} s at most")
    wrong = [*rounds.wrong, *_watched(folder / "watch.jsonl")]
    lost = wrong_rows(rounds.lake, int(numbered), " ".join(doubtful))
    wrong += [f"{rows} {asked}" for asked, rows in lost.items()]
    print("\n".join(wrong) if wrong else "nothing was lost, doubled, torn or found")
    return 1 if wrong else 0


def _watched(place: Path) -> list[str]:
    """What the watch found."""
    rows = [json.loads(line) for line in place.read_text().splitlines()]
    print(f"{sum(row['what'] == 'store' for row in rows)} looks of the watch")
    return [f"watch found {row['reason']}" for row in rows if row["what"] == "finding"]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.live", description=__doc__)
    parser.add_argument("--minutes", type=float, default=30, help="for how long messages are sent (default: 30)")
    parser.add_argument("--rate", type=int, default=5000, help="messages a second (default: %(default)s)")
    parser.add_argument("--keep-minutes", type=float, default=4, help="older log files expire (default: 4)")
    parser.add_argument("--rocketmq", default="5.3.3", help="version of the broker (default: %(default)s)")
    parser.add_argument("--folder", type=Path, help="where the store and the lake are made")
    parser.add_argument("--keep", action="store_true", help="leave store and lake there")
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
