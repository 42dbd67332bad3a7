"""Lists every golden file with its size and hash, and how each folder of them was made: `tests/golden/MANIFEST.jsonl`.

Run: python tests/golden/make/manifest.py
A line is {"folder", "made"} or {"path", "bytes", "sha256"}; paths begin at the checkout. Not listed: documents, this
folder, and the tests themselves.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[3]
MANIFEST = CHECKOUT / "tests" / "golden" / "MANIFEST.jsonl"
SETS = (
    "demo",
    *(
        f"tests/golden/{name}"
        for name in (
            "compaction",
            "episodes",
            "ext",
            "filter",
            "incidents",
            "messages",
            "pop",
            "rebalance",
            "recovery",
            "refused_starts",
            "rocksdb_tables",
            "rocksdbstore",
            "static_topics",
            "stores",
            "tiered",
            "trace",
        )
    ),
)
NOT_LISTED = (".md", ".py", ".toml")
MADE = {
    "demo/5.3.1-crashed": "make/recovery: write.sh 5.3.1, one bit of one body flipped; Lab.java told the truth",
    "demo/5.3.3-clean": "make/stores: make.sh 5.3.3 1 OUT clean",
    "demo/quiet-cluster": "what the demo reads of tests/golden/rebalance/sessions/h-533-quiet",
    "demo/orders-cluster": "make/rebalance: scenarios.py a, other seed; session.py",
    "tests/golden/compaction": "make/more_stores: mk.sh VERSION Passes 1, passes.py DIR 1 60, mk.sh … load",
    "tests/golden/episodes": "make/incidents: mk.sh VERSION SEED INCIDENT L (lock-3: 4.9.7, else 5.3.3), pack_episode.sh; INCIDENT-SEED",
    "tests/golden/ext": "make/ext: stores.sh",
    "tests/golden/filter": "make/filter: vectors.sh",
    "tests/golden/messages": "make/messages: vectors.sh",
    "tests/golden/rebalance/late-locks": "make/rebalance: session.py WORK OUT NAME c PORT 4.9.4 GMT+8; log and tables of c2",
    "tests/golden/rebalance/grpc": "make/rebalance: grpc/cluster.sh; lines of the consumers' classes",
    "tests/golden/rebalance/proxied": "make/rebalance: grpc/proxied.sh; logs of the broker and the proxy",
    "tests/golden/rebalance/sessions": "make/rebalance: scenarios.py, session.py",
    "tests/golden/rebalance/vectors": "make/rebalance: vectors.sh VERSION",
    "tests/golden/rocksdb_tables": "make/more_stores: mk.sh VERSION Meta 1 NAME; its config/ and broker_tables.json; table_loads.py",
    "tests/golden/rocksdbstore": "make/more_stores: mk.sh VERSION Rocks 2 NAME, rocks_starts.py; its store, messages, rocks.json",
    "tests/golden/refused_starts": "make/incidents: refused_starts.py, broken_files.py, with the store of tests/golden/stores/5.3.3-pop",
    "tests/golden/static_topics": "make/static_topics: mappings.sh",
    "tests/golden/tiered": "make/tiered: stores.sh",
    "tests/golden/trace": "make/trace: vectors.sh",
    "tests/golden/recovery/bases": "make/recovery: write.sh VERSION",
    "tests/golden/pop": "make/pop: states.sh JARS OUT",
    "tests/golden/recovery/cases": "make/recovery: gen.py and special.py, one JSON file a case, packed by version",
    "tests/golden/recovery/batch_queues.jsonl.xz": "make/recovery: batch_queues.py VERSION SEED 14; told by the class",
    "tests/golden/recovery/batch": "make/recovery: batch.py 5.3.3 7",
    "tests/golden/recovery/ext": "make/recovery: ext.py VERSION SEED COUNT",
    "tests/golden/recovery/rocksdb": "make/recovery: rocks.py VERSION",
    "tests/golden/recovery/dledger_recover.jsonl": "make/dledger: make.py CLASSPATH",
    "tests/golden/recovery/dledger_starts.jsonl": "make/dledger: starts.py",
    "tests/golden/recovery/log_folders.jsonl": "make/recovery: Folders.java 7 150, of 4.9.8 and of 5.3.3",
}
SCENARIOS = {
    "autoswitch": "Ctl",
    "compaction-after": "Compact",
    "compaction-before": "Compact",
    "cqext": "Cfg",
    "dledger3": "Dl",
    "ha-ahead": "Ha",
    "ha-behind": "Ha",
    "ha-clean": "Ha",
    "multipath": "Cfg",
    "pop": "Pop",
}
"""The kinds of stores that `make/more_stores` wrote, and the class of each; it wrote the old brokers' with `Old`."""
OLD = ("3.2.6", "4.2.0", "4.3.2", "4.4.0", "4.5.2", "4.7.1")


def rows() -> Iterator[dict[str, object]]:
    """Every line of the manifest."""
    made = MADE | dict(_stores()) | dict(_incidents())
    for folder in sorted(made):
        yield {"folder": folder, "made": made[folder]}
    for place in SETS:
        for path in sorted((CHECKOUT / place).rglob("*")):
            if path.is_file() and path.suffix not in NOT_LISTED:
                data = path.read_bytes()
                name = path.relative_to(CHECKOUT).as_posix()
                yield {"path": name, "bytes": len(data), "sha256": sha256(data).hexdigest()}


def _stores() -> Iterator[tuple[str, str]]:
    for folder in _folders("tests/golden/stores"):
        version, _, kind = folder.name.partition("-")
        told = next(iter(sorted(folder.glob("truth/**/store_state.json"))), None)
        state = CHECKOUT / "demo" / folder.name / "truth" / "store_state.json" if told is None else told
        said = json.loads(state.read_text("utf-8"))
        seed, scenario = said["seed"], SCENARIOS.get(kind, "Old" if version in OLD else None)
        how = f"make/stores: make.sh {version} {seed} OUT {said['kind']}"
        if scenario is not None:
            how = f"make/more_stores: mk.sh {version} {scenario} {seed} {folder.name}"
        yield folder.relative_to(CHECKOUT).as_posix(), how


def _incidents() -> Iterator[tuple[str, str]]:
    for folder in _folders("tests/golden/incidents"):
        version, _, kind = folder.name.partition("-")
        script = "cfg.sh" if kind == "config-broken" else "mk.sh"
        seed = json.loads((folder / "truth" / "store_state.json").read_text("utf-8"))["seed"]
        yield folder.relative_to(CHECKOUT).as_posix(), f"make/incidents: {script} {version} {seed} {kind}, pack.sh"


def _folders(place: str) -> list[Path]:
    return sorted(path for path in (CHECKOUT / place).iterdir() if path.is_dir())


if __name__ == "__main__":
    lines = [json.dumps(row, ensure_ascii=False) for row in rows()]
    MANIFEST.write_text("\n".join(lines) + "\n", "utf-8")
