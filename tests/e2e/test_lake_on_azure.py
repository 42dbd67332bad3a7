"""A lake at az:// holds what one in a folder holds. The server is Azurite, of npm: `npm install azurite`, and
ROCKETLENS_AZURITE names its `azurite-blob` (`node_modules/.bin/azurite-blob`)."""

from __future__ import annotations

import base64
import hashlib
import hmac
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from email.utils import formatdate
from pathlib import Path
from urllib.error import URLError
from urllib.request import Request, urlopen

import pytest

pytest.importorskip("obstore", reason="the extra `objects` is not installed")

from pipelines.lake.configuration.sources import read_sources
from pipelines.lake.delta.lease import leased
from pipelines.lake.lake import Lake
from pipelines.objects.place import Changed, ObjectPlace
from pipelines.spark import session
from tests.lake_faults.world import World, content
from tests.support.cli import call, rows_of
from tests.support.plain_spark import plain_spark

AZURITE = os.environ.get("ROCKETLENS_AZURITE", "")
pytestmark = pytest.mark.skipif(not AZURITE, reason="ROCKETLENS_AZURITE names no azurite-blob")
ACCOUNT = "devstoreaccount1"
KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
"""Azurite's own account, which is the same everywhere."""
API = "2021-08-06"
ANOTHER_WRITER = """
import sys
from pathlib import Path
from pipelines.lake.configuration.sources import read_sources
from pipelines.lake.delta.errors import LakeBusy
from pipelines.lake.lock import writing
try:
    with writing(read_sources(Path(sys.argv[1])).lake, "another"):
        pass
except LakeBusy:
    sys.exit(3)
"""


@pytest.fixture(scope="module")
def azure(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    options = ["--silent", "--disableTelemetry", "--inMemoryPersistence", "--skipApiVersionCheck"]
    server = subprocess.Popen([AZURITE, *options, "--blobPort", str(port)], cwd=tmp_path_factory.mktemp("azurite"))
    try:
        url = f"http://127.0.0.1:{port}/{ACCOUNT}"
        made_container(url, "box")
        with pytest.MonkeyPatch.context() as patched:
            patched.setenv("AZURE_STORAGE_USE_EMULATOR", "true")  # Azurite leaves `startFrom` of a listing out
            patched.setenv("AZURITE_BLOB_STORAGE_URL", f"http://127.0.0.1:{port}")
            patched.setattr(session, "spark_session", plain_spark)
            yield
    finally:
        server.kill()
        server.wait()


def made_container(url: str, name: str) -> None:
    """Make a container, once the server answers."""
    when = formatdate(usegmt=True)
    signed = f"PUT{chr(10) * 12}x-ms-date:{when}\nx-ms-version:{API}\n/{ACCOUNT}/{ACCOUNT}/{name}\nrestype:container"
    signature = base64.b64encode(hmac.new(base64.b64decode(KEY), signed.encode(), hashlib.sha256).digest()).decode()
    headers = {"x-ms-date": when, "x-ms-version": API, "Authorization": f"SharedKey {ACCOUNT}:{signature}"}
    until = time.monotonic() + 30
    while True:
        try:
            with urlopen(Request(f"{url}/{name}?restype=container", method="PUT", headers=headers)) as answer:
                assert answer.status == 201
                return
        except URLError as refused:
            if not isinstance(refused.reason, ConnectionRefusedError) or time.monotonic() > until:
                raise
        time.sleep(0.2)


def test_an_ingest_and_the_next_one_end_as_into_a_folder(azure: None, tmp_path: Path) -> None:
    world = World.make(tmp_path)
    config = world.config(world.folder / "lakes" / "local", ["a"])
    remote = config.with_name("remote.toml")
    remote.write_text(config.read_text().replace(str(world.folder / "lakes" / "local"), "az://box/lakes/one"))
    lake = Lake(read_sources(remote).lake)
    for moment in ("early", "late"):
        world.move_to(moment)
        for each in (config, remote):
            told = call("ingest", "--config-file", each)
            assert told.code == 1, told.err
        assert content(lake) == content(Lake(world.folder / "lakes" / "local"))
    assert rows_of("check-lake", "--config-file", remote) == []
    removed = rows_of("vacuum", "--keep-days", "0", "--config-file", remote)
    assert removed
    assert rows_of("vacuum", "--keep-days", "0", "--config-file", remote) == []
    counted = rows_of("sql", "SELECT count(*) AS n FROM commitlog_messages", "--config-file", remote)
    assert counted == [{"n": content(lake)["commitlog_messages"][0]}]


def test_writes_on_condition_and_one_writer(azure: None, tmp_path: Path) -> None:
    config = tmp_path / "rocketlens.toml"
    config.write_text('[lake]\npath = "az://box/lakes/two"\n')
    root = read_sources(config).lake
    assert isinstance(root, ObjectPlace)
    place = root / "one"
    first = place.write_if(b"first", None)
    with pytest.raises(Changed):
        place.write_if(b"second", None)
    assert place.stat().e_tag == first == next(iter(root.rglob("one"))).stat().e_tag
    place.write_if(b"second", first)
    with pytest.raises(Changed):
        place.write_if(b"third", first)
    place.unlink()
    place.unlink()
    with leased(root, "a test"):
        lease = root / "writer.lease"
        lease.write_bytes(lease.read_bytes().replace(socket.gethostname().encode(), b"elsewhere"))
        assert subprocess.run([sys.executable, "-c", ANOTHER_WRITER, config], check=False).returncode == 3
