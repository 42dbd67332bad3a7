"""Keep a case that differs, in the form of the committed ones: `bases/NAME.tar.gz`, `cases/VERSION.jsonl.xz`."""

from __future__ import annotations

import json
import lzma
import tarfile
from dataclasses import asdict
from pathlib import Path

from tests.oracle.base import Base
from tests.oracle.judge import Judged


def keep(judged: Judged, base: Base, folder: Path) -> None:
    """Add the case, and its base when that is not there yet; a case of the same name is replaced."""
    for name in ("bases", "cases"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    _keep_base(base, folder / "bases" / f"{base.root.name}.tar.gz")
    packed = folder / "cases" / f"{base.plan.version}.jsonl.xz"
    kept = lzma.decompress(packed.read_bytes()).decode().splitlines() if packed.exists() else []
    cases = {case["id"]: case for case in map(json.loads, kept)} | {judged.case["id"]: judged.case}
    lines = (json.dumps(cases[name], separators=(",", ":"), ensure_ascii=False) for name in sorted(cases))
    packed.write_bytes(lzma.compress("".join(f"{line}\n" for line in lines).encode()))


def _keep_base(base: Base, archive: Path) -> None:
    if archive.exists():
        return
    with tarfile.open(archive, "w:gz") as tar:
        tar.add(base.root, arcname=".")
    plan = asdict(base.plan)
    told = {"mode": plan.pop("exit"), "count": plan.pop("messages"), "config": plan.pop("settings"), **plan}
    archive.with_name(f"{base.root.name}.json").write_text(json.dumps(told | {"flushed": base.flushed}, indent=1))
