"""Damaged copies of what Passes wrote, for `Passes … load`: python passes.py DIR SEED MOST.

DIR/cases/NAME is phase-3 with the edits of DIR/edits.json: [NAME, [[what, path, …], …]].
"""

import json
import random
import shutil
import sys
from pathlib import Path


def edits(files, rng):
    """One to three edits of files below compaction/."""
    made = []
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        path, size = rng.choice(files)
        what = rng.choice(("delete", "write", "write", "write", "cut", "empty", "zeros", "folder", "last"))
        if what == "last":  # the newest file of a queue
            path, size = max(one for one in files if one[0].rsplit("/", 1)[0] == path.rsplit("/", 1)[0])
            what = rng.choice(("delete", "zeros", "empty"))
        at = rng.randrange(size // 46) * 46 + rng.choice((0, 8, 28, 36))
        args = {
            "write": (at, rng.choice(("ffffffffffffffff", "0000", "00000000", "7f"))),
            "cut": (rng.choice((size - 46, size // 2, 0)),),
            "zeros": (at, rng.choice((46, 92, size))),
        }
        made.append([what, path, *args.get(what, ())])
    return made


def apply(root, made):
    for what, name, *args in made:
        path = root / name
        if what == "folder":
            (path.parent / "compacting").mkdir(exist_ok=True)
        if not path.is_file():
            continue
        data = bytearray(path.read_bytes())
        if what == "delete":
            path.unlink()
            continue
        if what == "write":
            data[args[0] : args[0] + len(args[1]) // 2] = bytes.fromhex(args[1])
        elif what == "cut":
            del data[args[0] :]
        elif what == "empty":
            data.clear()
        elif what == "zeros":
            end = min(len(data), args[0] + args[1])
            data[args[0] : end] = bytes(max(0, end - args[0]))
        path.write_bytes(data)


if __name__ == "__main__":
    folder, rng = Path(sys.argv[1]), random.Random(int(sys.argv[2]))
    base = folder / "phase-3"
    files = [(str(p.relative_to(base)), p.stat().st_size) for p in sorted(base.glob("compaction/*/*/*/*"))]
    shutil.rmtree(folder / "cases", ignore_errors=True)
    made = [[f"{number:03d}", edits(files, rng)] for number in range(int(sys.argv[3]))]
    for name, of_case in made:
        shutil.copytree(base, folder / "cases" / name)
        apply(folder / "cases" / name, of_case)
    (folder / "edits.json").write_text(json.dumps(made))
