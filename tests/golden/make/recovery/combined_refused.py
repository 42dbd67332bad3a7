"""combined_refused.py OUT: which stores of queues combined by settings the classes of 5.5.0 and 5.5.1 refuse to make.

From the checkout: `python -m tests.golden.make.recovery.combined_refused tests/golden/refused_starts/combined.jsonl`.
"""
import json, sys, tempfile
from pathlib import Path

from tests.support.build_store import SETTINGS, shop
from tests.support.java_lab import recover_all

ROCKS, LMQ, SOME = "defaultRocksDB", {"combineCQUseRocksdbForLmq": "true"}, {"rocksdbCQSelectiveDoubleWriteEnable": "true"}
ASSIGNS, ANSWERS, LOADED = {"combineAssignOffsetCQType": ROCKS}, {"combineCQPreferCQType": ROCKS}, {"combineCQLoadingCQTypes": "default"}
OTHERWISE = ({}, LOADED, ANSWERS, ASSIGNS | ANSWERS)
CASES = {"5.5.0": (LMQ,), "5.5.1": (LMQ, SOME)}

if __name__ == "__main__":
    rows, sizes = [], {name: str(value) for name, value in SETTINGS.as_config().items() if name.startswith(("mappedFileSizeCommitLog", "maxHash", "maxIndex"))}
    for version, settings in CASES.items():
        with tempfile.TemporaryDirectory() as folder:
            asked = [{"rocksdbCQDoubleWriteEnable": "true", **setting, **other} for setting in settings for other in OTHERWISE]
            stores = {shop(Path(folder, str(number))).finish(): config for number, config in enumerate(asked)}
            told = recover_all({root: {**sizes, "mappedFileSizeConsumeQueue": "200", **config} for root, config in stores.items()}, version)
            rows += [{"version": version, "settings": config, "exception": told[root].get("exception")} for root, config in stores.items()]
    Path(sys.argv[1]).write_text("".join(json.dumps(row) + "\n" for row in rows))
