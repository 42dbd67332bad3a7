"""The broker that writes: RocketMQ's own, with producers and a consumer, in a Java process of a network of its own."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from threading import Thread

from tests.support.java_lab import MAKE, OPENED, WORK

SOURCE, POM = MAKE / "live" / "Live.java", MAKE / "stores" / "pom.xml"
LOOPBACK = 'ip link set lo up 2>/dev/null; exec "$@"'


def class_path(version: str) -> str:
    """Jars and classes of a version, made where they are missing. Needs a JDK 17 and Maven."""
    jars, classes = WORK / "live" / "jars" / version, WORK / "live" / "classes" / version
    if not any(jars.glob("rocketmq-broker-*.jar")):
        copied = ["dependency:copy-dependencies", f"-DoutputDirectory={jars}", "-DincludeScope=runtime"]
        subprocess.run(["mvn", "-q", "-B", "-f", str(POM), f"-Drmq.version={version}", *copied], check=True)
    made = classes / "Live.class"
    if not made.exists() or made.stat().st_mtime < SOURCE.stat().st_mtime:
        classes.mkdir(parents=True, exist_ok=True)
        compiled = ["javac", "-nowarn", "-proc:none", "-cp", f"{jars}/*", "-d", str(classes), str(SOURCE)]
        subprocess.run(compiled, check=True)
    return f"{classes}:{jars}/*"


@dataclass(slots=True)
class LiveBroker:
    """What the broker's process has told: seconds, messages sent, least and greatest physical offset; at last `end`."""

    process: subprocess.Popen[str]
    told: list[tuple[float, int, int, int]] = field(default_factory=list)
    end: list[str] | None = None

    @classmethod
    def start(cls, store: Path, version: str, *, rate: int, seconds: int, keep_s: int) -> LiveBroker:
        opens = [word for module in OPENED for word in ("--add-opens", f"java.base/{module}=ALL-UNNAMED")]
        given = [str(store), str(rate), str(seconds), str(keep_s)]
        exports = ["--add-exports", "java.base/jdk.internal.ref=ALL-UNNAMED"]
        home = f"-Duser.home={store.parent}"
        java = ["java", "-Xmx512m", *opens, *exports, home, "-cp", class_path(version), "Live", *given]
        command = ["unshare", "-n", "bash", "-c", LOOPBACK, "live", *java]
        with (store.parent / "broker.stderr").open("w") as stderr:
            process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=stderr, text=True)
        broker = cls(process)
        Thread(target=broker._listen, daemon=True).start()
        return broker

    def _listen(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            match line.split():
                case ["now", seconds, *counts]:
                    sent, least, greatest = map(int, counts)
                    self.told.append((float(seconds), sent, least, greatest))
                case ["end", *rest]:
                    self.end = rest

    @property
    def runs(self) -> bool:
        return self.process.poll() is None

    @property
    def seconds_and_sent(self) -> tuple[float, int]:
        """As of the last line: for how long messages have been sent, and how many."""
        return (self.told[-1][0], self.told[-1][1]) if self.told else (0.0, 0)
