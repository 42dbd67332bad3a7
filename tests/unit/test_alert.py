"""What is posted to the webhook, when, and what happens where nobody takes it; against a server of this machine."""

from __future__ import annotations

import fcntl
import json
import re
import socket
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
from dagster._core.definitions.asset_checks.asset_check_evaluation import AssetCheckEvaluationPlanned
from dagster._core.events import DagsterEvent, DagsterEventType

from pipelines.cli.commands.lake import lake as lake_commands
from pipelines.definitions import defs
from pipelines.defs.checks import STORE_CHECKS
from pipelines.defs.lakehouse import Lakehouse
from pipelines.defs.runs.alerts import failed_check_alert
from pipelines.defs.runs.ingest_events import tell_dagster
from pipelines.installed.shipped import SHIPPED
from pipelines.lake import alert, lock
from pipelines.lake.alert import MOST_TROUBLES, Alert, Trouble, alert_of, tell_of_lake
from pipelines.lake.configuration.sources import SourcesError, read_sources
from pipelines.lake.delta.errors import WorkFailed
from tests.support.build_store import StoreBuilder
from tests.support.cli import call
from tests.support.plain_spark import plain_spark

NOISE = Trouble("queue_unit_wrong", "error", "broker-a", "a unit is wrong")


@dataclass
class Hook:
    """A server that keeps what it gets, and answers as it is told to."""

    address: str
    answers: int = 204
    got: list[dict[str, Any]] = field(default_factory=list)


@pytest.fixture
def hook(monkeypatch: pytest.MonkeyPatch) -> Iterator[Hook]:
    monkeypatch.setattr(alert, "PAUSES_S", (0.0, 0.0, 0.0))

    class Answer(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            if kept.answers < 300:
                kept.got.append(json.loads(body))
            self.send_response(kept.answers)
            self.send_header("Location", "/elsewhere")
            self.end_headers()

        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Answer)
    kept = Hook(f"http://127.0.0.1:{server.server_port}/secret")
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield kept
    server.shutdown()
    server.server_close()
    thread.join()


def configured(folder: Path, hook: Hook | None, *stores: Path, lake: str = "lake") -> Path:
    """A configuration with a broker for each store: broker-a, broker-b."""
    path = folder / "rocketlens.toml"
    alerts = f'[alert]\nwebhook = "{hook.address}"\n' if hook else ""
    brokers = (
        f'[[broker]]\nname = "broker-{name}"\nstore = "{store}"\n' for name, store in zip("ab", stores, strict=False)
    )
    path.write_text(f'[lake]\npath = "{lake}"\n{alerts}{"".join(brokers)}')
    return path


@pytest.fixture
def without_spark(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lake_commands, "started", lambda run, sources: plain_spark())


def built(folder: Path) -> Path:
    store = StoreBuilder(folder / "store")
    store.put("Orders", 5)
    return store.finish()


def damaged(store: Path) -> None:
    """Let the first message's CRC not fit."""
    log = next((store / "commitlog").iterdir())
    held = bytearray(log.read_bytes())
    held[8] ^= 1
    log.write_bytes(held)


def test_the_page_declares_what_is_sent() -> None:
    page = (SHIPPED / "docs" / "scheduled.md").read_text("utf-8")
    declared = set(re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE))
    assert declared == {one.name for kind in (Alert, Trouble) for one in fields(kind)}


def test_the_same_trouble_is_told_once_and_its_end_once(hook: Hook, tmp_path: Path) -> None:
    for troubles in ([], [NOISE], [NOISE], [], []):
        assert tell_of_lake(hook.address, tmp_path / "lake", "ingest", troubles) is None
    assert [(told["wrong"], told["count"]) for told in hook.got] == [(True, 1), (False, 0)]
    first = hook.got[0]
    assert first["text"] == f"rocketlens ingest of {tmp_path / 'lake'}: broker-a: a unit is wrong"
    assert first["troubles"] == [
        {"what": "queue_unit_wrong", "severity": "error", "where": "broker-a", "text": "a unit is wrong"}
    ]


def test_what_nobody_took_is_told_again_and_the_address_is_not_said(hook: Hook, tmp_path: Path) -> None:
    hook.answers = 503
    why = tell_of_lake(hook.address, tmp_path, "ingest", [NOISE])
    assert why == "the webhook at 127.0.0.1 was not told: it answers 503"
    hook.answers = 200
    assert tell_of_lake(hook.address, tmp_path, "ingest", [NOISE]) is None
    assert len(hook.got) == 1
    gone = tell_of_lake("http://127.0.0.1:1/secret", tmp_path, "other", [NOISE])
    assert gone is not None
    assert "Connection refused" in gone
    assert "secret" not in gone


def test_a_state_that_cannot_be_read_tells_again(hook: Hook, tmp_path: Path) -> None:
    (tmp_path / alert.TOLD).write_text("[")
    assert tell_of_lake(hook.address, tmp_path, "ingest", [NOISE]) is None
    assert len(hook.got) == 1


def test_many_troubles_are_counted_and_the_first_are_sent() -> None:
    told = alert_of("ingest", Path("lake"), [NOISE] * 70)
    assert told.count == 70
    assert len(told.troubles) == MOST_TROUBLES
    assert told.text.endswith("(and 69 more)")


@pytest.mark.parametrize(
    "said", ['webhook = "ftp://x/y"', 'webhook = "http://a b"', "webhook = 1", 'hook = "http://a"']
)
def test_a_wrong_setting_is_refused(tmp_path: Path, said: str) -> None:
    path = tmp_path / "rocketlens.toml"
    path.write_text(f"[alert]\n{said}\n")
    with pytest.raises(SourcesError, match="alert"):
        read_sources(path)


def test_verify_tells_what_it_finds_when_asked(hook: Hook, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    store = built(tmp_path)
    assert call("verify", store, "--alert").code == 2
    configured(tmp_path, hook, store)
    assert call("verify", store, "--alert").code == 0
    damaged(store)
    assert call("verify", store).code == 1
    assert hook.got == []
    rows = call("verify", store, "--alert").rows
    assert [trouble["what"] for trouble in hook.got[0]["troubles"]] == [row["kind"] for row in rows] != []
    assert hook.got[0]["place"] == str(store)
    assert call("verify", tmp_path / "nothing", "--alert").code == 3
    assert [trouble["what"] for trouble in hook.got[1]["troubles"]] == ["failed"]


@pytest.mark.usefixtures("without_spark")
def test_ingest_and_the_failed_checks_tell_once(hook: Hook, tmp_path: Path) -> None:
    store = built(tmp_path)
    config = configured(tmp_path, hook, store)
    assert call("ingest", "--config-file", config).code == 0
    damaged(store)
    for _ in range(2):
        assert call("ingest", "--config-file", config).code == 1
    assert [(told["about"], told["wrong"]) for told in hook.got] == [("ingest", True)]
    assert hook.got[0]["troubles"][0]["where"] == "broker-a"

    lakehouse = Lakehouse(config_file=str(config))
    with dg.DagsterInstance.ephemeral() as instance:
        tell_dagster(instance, lakehouse)
        looked(instance, lakehouse)
        evaluated_again(instance)
        looked(instance, lakehouse)
    assert [(told["about"], told["wrong"]) for told in hook.got[1:]] == [("check", True)]
    names = {key.name for check in STORE_CHECKS for key in check.check_keys}
    assert {trouble["what"] for trouble in hook.got[1]["troubles"]} <= names


def looked(instance: dg.DagsterInstance, lakehouse: Lakehouse) -> None:
    with dg.build_sensor_context(instance=instance, resources={"lakehouse": lakehouse}, definitions=defs) as tick:
        failed_check_alert(tick)


def evaluated_again(instance: dg.DagsterInstance) -> None:
    """Let a run begin that evaluates every check and has not come to any of them yet."""
    run = instance.create_run_for_job(defs.resolve_job_def("__ASSET_JOB"))
    for key in (key for check in STORE_CHECKS for key in check.check_keys):
        planned = AssetCheckEvaluationPlanned(asset_key=key.asset_key, check_name=key.name)
        event = DagsterEvent(
            DagsterEventType.ASSET_CHECK_EVALUATION_PLANNED.value, run.job_name, event_specific_data=planned
        )
        instance.report_dagster_event(event, run.run_id)


@pytest.mark.usefixtures("without_spark")
def test_an_ingest_of_one_broker_ends_no_trouble_of_another(hook: Hook, tmp_path: Path) -> None:
    config = configured(tmp_path, hook, built(tmp_path), tmp_path / "b" / "store")
    assert call("ingest", "--config-file", config, "--broker", "broker-b").code == 3
    assert call("ingest", "--config-file", config, "--broker", "broker-a").code == 0
    assert [(told["wrong"], told["troubles"][0]["where"]) for told in hook.got] == [(True, "broker-b")]
    assert call("ingest", "--config-file", config).code == 4
    assert [(t["what"], t["where"]) for t in hook.got[1]["troubles"]] == [("not_read", "broker-b")]
    assert call("ingest", "--config-file", config, "--broker", "broker-a").code == 0
    assert len(hook.got) == 2
    built(tmp_path / "b")
    assert call("ingest", "--config-file", config, "--broker", "broker-b").code == 0
    assert [(told["wrong"], told["count"]) for told in hook.got[2:]] == [(False, 0)]


@pytest.mark.usefixtures("without_spark")
def test_a_store_that_is_gone_has_no_end_of_its_findings(hook: Hook, tmp_path: Path) -> None:
    """Its files agree, said the verdict, for the lake has none of its findings any more."""
    store, other = built(tmp_path), built(tmp_path / "b")
    damaged(store)
    config = configured(tmp_path, hook, store, other)
    assert call("ingest", "--config-file", config).code == 1
    store.rename(tmp_path / "away")
    gone = call("ingest", "--config-file", config)
    assert "broker-a: its files were not compared" in gone.err
    finding = hook.got[0]["troubles"]
    assert [told["troubles"][-1:] for told in hook.got] == [finding, finding]
    assert [told["count"] for told in hook.got] == [1, 2]


@pytest.mark.usefixtures("without_spark")
def test_an_ingest_that_fails_keeps_what_was_told_of_findings(
    hook: Hook, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = built(tmp_path)
    damaged(store)
    config = configured(tmp_path, hook, store)
    assert call("ingest", "--config-file", config).code == 1
    with monkeypatch.context() as broken:
        broken.setattr(lake_commands, "ingested", fails)
        assert call("ingest", "--config-file", config).code == 3
    assert call("ingest", "--config-file", config).code == 1
    finding = hook.got[0]["troubles"]
    assert [told["troubles"][-1:] for told in hook.got] == [finding, finding, finding]
    assert [told["count"] for told in hook.got] == [1, 2, 1]
    assert hook.got[1]["text"].endswith("the disk is full (and 1 more)")


def fails(*arguments: object) -> None:
    raise WorkFailed("the disk is full")


@pytest.mark.usefixtures("without_spark")
def test_nothing_is_written_where_the_lake_would_lie_among_the_evidence(hook: Hook, tmp_path: Path) -> None:
    store = built(tmp_path)
    config = configured(tmp_path, hook, store, lake="store/lake")
    before = sorted(tmp_path.rglob("*"))
    for _ in range(2):
        assert call("ingest", "--config-file", config).code == 2
    assert sorted(tmp_path.rglob("*")) == before
    assert [told["troubles"][0]["what"] for told in hook.got] == ["failed", "failed"]


def test_what_cannot_be_kept_is_said_and_ends_nothing(hook: Hook, tmp_path: Path) -> None:
    (tmp_path / alert.TOLD).mkdir()
    why = tell_of_lake(hook.address, tmp_path, "ingest", [NOISE])
    assert why is not None
    assert "it will be told again" in why
    assert len(hook.got) == 1


def test_a_redirection_is_not_followed(hook: Hook, tmp_path: Path) -> None:
    """What stands there would be asked for with GET, and nobody be told."""
    hook.answers = 301
    assert (
        tell_of_lake(hook.address, tmp_path, "ingest", [NOISE])
        == "the webhook at 127.0.0.1 was not told: it answers 301"
    )


@pytest.mark.usefixtures("hook")
def test_what_answers_need_not_be_a_web_server(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        threading.Thread(target=greet, args=(server, len(alert.PAUSES_S)), daemon=True).start()
        why = tell_of_lake(f"http://127.0.0.1:{server.getsockname()[1]}/", tmp_path, "ingest", [NOISE])
    assert why == "the webhook at 127.0.0.1 was not told: what answers there is no web server (BadStatusLine)"


def greet(server: socket.socket, times: int) -> None:
    for _ in range(times):
        taken, _ = server.accept()
        with taken:
            taken.recv(1 << 16)
            taken.sendall(b"220 mail.example.com ESMTP\r\n")


@pytest.mark.usefixtures("without_spark")
@pytest.mark.parametrize(("hours", "told"), [(7, 1), (1, 0)])
def test_another_writer_is_told_of_when_it_does_not_end(hook: Hook, tmp_path: Path, hours: int, told: int) -> None:
    config = configured(tmp_path, hook, built(tmp_path))
    place = tmp_path / "lake" / lock.LOCK_NAME
    place.parent.mkdir()
    since = (datetime.now(UTC) - timedelta(hours=hours)).isoformat(timespec="seconds")
    place.write_text(json.dumps({"pid": 1, "host": "h", "since": since, "doing": "ingest"}))
    with place.open() as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        assert call("ingest", "--config-file", config).code == 3
    assert len(hook.got) == told
