"""Cases that differ, kept in the form of the committed ones: `bases/NAME.tar.gz`, `cases/VERSION.jsonl.xz`."""

from __future__ import annotations

import json
import lzma
import tarfile
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

from tests.oracle.base import Base, Life, Plan, read_base
from tests.oracle.batch_queues import is_of_batches
from tests.oracle.damage import Damage
from tests.oracle.judge import Judged
from tests.oracle.timers import is_of_timers
from tests.support.recovery_cases import Case


def keep(judged: Judged, base: Base, folder: Path) -> None:
    """Add the case, and its base when that is not there yet; a case of the same name is replaced."""
    for name in ("bases", "cases"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    _keep_base(base, folder / "bases" / f"{base.root.name}.tar.gz")
    packed = folder / "cases" / f"{base.plan.version}.jsonl.xz"
    cases = {case["id"]: case for case in _cases(packed)} | {judged.case["id"]: judged.case}
    lines = (json.dumps(cases[name], separators=(",", ":"), ensure_ascii=False) for name in sorted(cases))
    packed.write_bytes(lzma.compress("".join(f"{line}\n" for line in lines).encode()))


def kept(folder: Path, only: str, version: str | None) -> Iterator[tuple[str, list[tuple[str, Damage]]]]:
    """The name of each base, and the damages (id, damage) that were kept of it.

    Args:
        only: how the id of a case or the name of its damage begins.
        version: only cases of that version; None for all.
    """
    of_bases = defaultdict[str, list[tuple[str, Damage]]](list)
    for packed in sorted((folder / "cases").glob("*.jsonl.xz")):
        for case in _cases(packed):
            wanted = case["id"].startswith(only) or case["damageClass"].startswith(only)
            if wanted and version in (None, case["version"]):
                damage = Damage(case["damageClass"], case["edits"], case["configOverrides"])
                of_bases[case["base"]].append((case["id"], damage))
    yield from of_bases.items()


def kept_base(folder: Path, name: str, into: Path) -> Base:
    """A base unpacked below `into`, as it was when its case was kept."""
    told = json.loads((folder / "bases" / f"{name}.json").read_text())
    flushed, former = told.pop("flushed"), tuple(Life(**life) for life in told.pop("former"))
    renamed = {"exit": told.pop("mode"), "messages": told.pop("count"), "settings": told.pop("config")}
    plan, root = Plan(**renamed, **told, former=former), into / name
    with tarfile.open(folder / "bases" / f"{name}.tar.gz") as tar:
        tar.extractall(root, filter="data")
    records = [] if is_of_batches(name) or is_of_timers(name) else read_base(plan, root).records
    return Base(plan, root, records, flushed)


def _cases(packed: Path) -> list[Case]:
    lines = lzma.decompress(packed.read_bytes()).decode().splitlines() if packed.exists() else []
    return [json.loads(line) for line in lines]


def _keep_base(base: Base, archive: Path) -> None:
    if archive.exists():
        return
    with tarfile.open(archive, "w:gz") as tar:
        tar.add(base.root, arcname=".")
    plan = asdict(base.plan)
    told = {"mode": plan.pop("exit"), "count": plan.pop("messages"), "config": plan.pop("settings"), **plan}
    archive.with_name(f"{base.root.name}.json").write_text(json.dumps(told | {"flushed": base.flushed}, indent=1))
