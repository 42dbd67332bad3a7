"""What the store classes make of a DLedger node that is alone in its group: damaged copies of one small store.

`python -m tests.golden.make.dledger.starts > tests/golden/recovery/dledger_starts.jsonl` (needs a JDK 17 and Maven).
Nodes of several stores in one process wait for one another: they are started one after another.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from tests.support.dledger_starts import DAMAGES, EXITS, SETTINGS, VERSIONS, damage, node_store
from tests.support.java_lab import recover_all

FIRST_PORT = 42_100
KEPT = ("load", "start", "leads", "reputStartPositions", "abortAfter")
COUNTED = ("dispatchedInLoad", "dispatchedInReput")


def main(versions: list[str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        whole = Path(folder) / "whole"
        places = node_store(whole)
        for version in versions:
            for case in _cases(version, Path(folder) / version, whole, places):
                print(json.dumps(case, separators=(",", ":")))


def _cases(version: str, folder: Path, whole: Path, places: list[int]) -> list[dict[str, Any]]:
    folder.mkdir()
    asked = {folder / f"{n}-{exit}": (name, exit) for n, name in enumerate(DAMAGES) for exit in EXITS}
    for root, (name, exit) in asked.items():
        subprocess.run(["cp", "-a", "--sparse=always", str(whole), str(root)], check=True)
        damage(root, places, name, exit)
    alone = {"dLegerGroup": "g", "dLegerSelfId": "n0"}
    peers = {root: f"n0-127.0.0.1:{FIRST_PORT + number}" for number, root in enumerate(asked)}
    settings = {root: {**SETTINGS, **alone, "dLegerPeers": peers[root]} for root in asked}
    found = recover_all(settings, version, at_once=1)
    return [
        {"version": version, "damage": name, "exit": exit, **_told(found[root])}
        for root, (name, exit) in asked.items()
        if root in found and found[root].get("start", True)
    ]


def _told(truth: dict[str, Any]) -> dict[str, Any]:
    told = {name: truth[name] for name in KEPT if name in truth}
    for name in COUNTED:
        if name in truth:
            told[name] = {each: truth[name].get(each) for each in ("count", "first", "last")}
    for moment in ("afterLoad", "quiet"):
        if moment in truth:
            queues = truth[moment]["queues"].items()
            told[moment] = {
                "queues": {name: [each["min"], each["max"], each["maxPhysicOffset"]] for name, each in queues},
                "index": [each["IndexCount"] for each in truth[moment]["index"]],
            }
    return told


if __name__ == "__main__":
    main(sys.argv[1:] or list(VERSIONS))
