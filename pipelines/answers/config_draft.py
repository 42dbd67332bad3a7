"""A first `rocketlens.toml`, drafted from stores and from what lies beside them.

Only what the files say is set. What can be no more than likely stands in the draft as a comment, with its reason.
"""

from __future__ import annotations

import glob
import json
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from pipelines.recordings.kinds import BROKER_STEMS, CLIENT_STEMS, log_stem
from recovery.knowledge.knowledge import Said, knowledge_of, open_known
from recovery.knowledge.setting_signs import HALVES_SETTING, INDEX_SETTING
from recovery.knowledge.signs import Inferred
from recovery.rules.settings import broker_conf_pairs

CONF_FOLDERS = (".", "conf")
LOG_FOLDERS = ("logs/rocketmqlogs", "logs", "log")
"""Places beside a store: RocketMQ itself logs to `logs/rocketmqlogs` of the folder that holds its default `store`."""
CONF_NAMES = ("broker*.conf", "broker*.properties")
WIDTH = 100
HEAD = """\
# What rocketlens looks at. Relative paths count from this file's folder. Store files are only ever read.
# `rocketlens ingest` brings the lake up to date, `rocketlens tables` says what is in it.

[lake]
path = "lake"              # everything that is written goes here; keep it: what brokers delete is then only there
# path = "s3://bucket/lake"  # or there: see docs/lake.md
# bodies = true            # keep message bodies in the lake; they are most of the bytes
# spark_master = "local[*]"  # or a cluster, "spark://host:7077"; [spark] takes Spark's own properties

# [alert]
# webhook = "https://…"      # told when something is wrong, and when it is over
"""
NO_CLIENTS = """
# Logs of consumers and captures of the traffic say who owned which queue; name yours here:
# [[client]]
# logs = "/data/clients/*/logs"
# [[capture]]
# files = "/data/captures/*.pcap"
"""


@dataclass(frozen=True, slots=True)
class DraftedBroker:
    """One broker as its files show it.

    Attributes:
        doubts: a sentence for each setting that was found and not taken, or was not found.
        facts: what the store's own files tell of the version and the settings.
        client_logs: the folder of logs beside the store, where consumers' logs lie in it.
    """

    name: str
    store: Path
    broker_id: int | None
    cluster: str | None
    broker_conf: Path | None
    logs: Path | None
    client_logs: Path | None
    facts: tuple[Inferred, ...]
    doubts: tuple[str, ...]

    @property
    def version(self) -> Inferred:
        return next(fact for fact in self.facts if fact.what == "version")


def draft_brokers(stores: Sequence[Path]) -> list[DraftedBroker]:
    """What is found of the broker of each store; no two get one name.

    Raises:
        NotAStore: one sentence.
        ValueError, OSError: the broker.conf beside a store cannot be read, or has a value of the wrong kind.
    """
    roots = list(dict.fromkeys(store.resolve() for store in stores))
    parents = [root.parent for root in roots]
    brokers: list[DraftedBroker] = []
    for root in roots:
        is_alone = parents.count(root.parent) == 1
        brokers.append(_drafted(root, {broker.name for broker in brokers}, is_alone=is_alone))
    return brokers


def _drafted(root: Path, taken: set[str], *, is_alone: bool) -> DraftedBroker:
    """One broker. Beside a store that shares its folder only a broker.conf that names the store is its own."""
    conf, doubts = _broker_conf(root, is_alone=is_alone)
    pairs = {} if conf is None else broker_conf_pairs(conf)
    said = Said.read(None, conf)
    known = knowledge_of(open_known(root, said), said)
    number = pairs.get("brokerId", "")
    return DraftedBroker(
        name=_free_name(pairs.get("brokerName") or _name_of_place(root), taken),
        store=root,
        broker_id=int(number) if number.isdecimal() else None,
        cluster=pairs.get("brokerClusterName") or None,
        broker_conf=conf,
        logs=_folder_with_logs(root, BROKER_STEMS) if is_alone else None,
        client_logs=_folder_with_logs(root, CLIENT_STEMS),
        facts=known.facts,
        doubts=(*doubts, *said.ignored, *(f"{f.what} = {f.value}: {f.why}" for f in known.facts if _is_unread(f))),
    )


def _is_unread(fact: Inferred) -> bool:
    """What would show the setting is there, and cannot be read."""
    return not fact.certain and fact.what in (INDEX_SETTING, HALVES_SETTING)


def draft_text(brokers: Sequence[DraftedBroker]) -> str:
    """The text of a `rocketlens.toml` for these brokers."""
    parts = [HEAD, *("\n" + "\n".join(_broker_lines(broker)) + "\n" for broker in brokers)]
    of_brokers = {broker.logs for broker in brokers}
    clients = sorted({b.client_logs for b in brokers if b.client_logs is not None and b.client_logs not in of_brokers})
    parts += [f"\n[[client]]\nlogs = {_text(glob.escape(str(folder)))}\n" for folder in clients]
    return "".join(parts) if clients else "".join(parts) + NO_CLIENTS


def _broker_lines(broker: DraftedBroker) -> Iterator[str]:
    yield "[[broker]]"
    yield f"name = {_text(broker.name)}"
    yield f"store = {_text(broker.store)}"
    if broker.cluster is not None:
        yield f"cluster = {_text(broker.cluster)}"
    else:
        yield '# cluster = "DefaultCluster"'
    if broker.broker_id is not None:
        yield f"id = {broker.broker_id}                     # 0 is the master"
    else:
        yield "# id = 0                   # 0 is the master"
    yield f"# version = {_text(broker.version.value)}        # set it when you know it: no file of a store proves it"
    yield from _remark(broker.version.why, "#   ")
    if broker.broker_conf is not None:
        yield f"broker_conf = {_text(broker.broker_conf)}"
    else:
        yield '# broker_conf = "conf/broker.conf"   # settings are read from it; else from the files'
    if broker.logs is not None:
        yield f"logs = {_text(broker.logs)}"
    else:
        yield '# logs = "logs"            # the folder of broker.log'
    for doubt in broker.doubts:
        yield from _remark(doubt, "# ")
    traces = [fact for fact in broker.facts if fact.certain and fact.what != "version"]
    if traces:
        yield "# The files show these settings by themselves; [broker.settings] would overrule them:"
        for fact in traces:
            yield from _remark(f"{fact.what} = {fact.value}: {fact.why}", "#   ")


def _remark(text: str, head: str) -> list[str]:
    """A comment of as many lines as it needs."""
    shown = "".join(c if c.isprintable() else "?" for c in text)
    return textwrap.wrap(shown, WIDTH, initial_indent=head, subsequent_indent="#     ", break_on_hyphens=False)


def _broker_conf(root: Path, *, is_alone: bool) -> tuple[Path | None, list[str]]:
    """The one settings file beside the store that is its own; else None, and why."""
    folders = [root.parent / folder for folder in CONF_FOLDERS]
    found = sorted({path.resolve() for folder in folders for name in CONF_NAMES for path in folder.glob(name)})
    owners = {path: _is_of(path, root) for path in found if path.is_file()}
    own = [path for path, mine in owners.items() if mine or (mine is None and is_alone)]
    if len(own) == 1:
        return own[0], []
    if own:
        return None, [f"several files may be its broker.conf: {', '.join(map(str, own))}"]
    return None, [f"not known to be its broker.conf: {path}" for path in owners]


def _is_of(conf: Path, root: Path) -> bool | None:
    """Whether the file's storePathRootDir is this store; None where it names none, or one that is not here."""
    said = broker_conf_pairs(conf).get("storePathRootDir")
    return None if not said or not Path(said).is_dir() else Path(said).resolve() == root


def _folder_with_logs(root: Path, stems: set[str]) -> Path | None:
    """The first of the usual places that holds a log of one of these names."""
    for folder in (root.parent / place for place in LOG_FOLDERS):
        if folder.is_dir() and any(log_stem(path) in stems for path in folder.iterdir() if path.is_file()):
            return folder.resolve()
    return None


def _name_of_place(root: Path) -> str:
    """The folder's own name, or that of the folder around it where it is just called `store`."""
    return (root.parent.name if root.name == "store" else root.name) or "broker"


def _free_name(wanted: str, taken: set[str]) -> str:
    name = "".join(c if c.isprintable() and c != "/" else "_" for c in wanted)
    candidates = (name, *(f"{name}-{number}" for number in range(2, len(taken) + 3)))
    return next(candidate for candidate in candidates if candidate not in taken)


def _text(value: object) -> str:
    """A basic string of TOML, whose escapes are those of JSON."""
    return json.dumps(str(value), ensure_ascii=False).replace("\x7f", "\\u007f")
