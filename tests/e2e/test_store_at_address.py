"""A store at s3:// answers as the same store in a folder, and of it only what is touched is fetched."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

pytest.importorskip("obstore", reason="the extra `objects` is not installed")

from pipelines.objects.faults import open_faults
from pipelines.objects.listing import PREFIX
from pipelines.objects.pager import BLOCK
from tests.lake_faults.world import World
from tests.support.copies import copy_tree
from tests.support.s3_server import WELL, Environ, S3Server, s3_server
from tests.support.stores import store_root
from tests.support.uploads import upload

CALLED = """
import json, sys
__file__ = "none"  # without one DuckDB takes the process for an interactive one, and shows progress on stdout
from pipelines.objects import faults, view
if sys.argv[1:] == ["whole"]:
    faults.SYSCALL.clear()
if sys.argv[1:] == ["deaf"]:
    view._Pager.has_ended = lambda pager: False
from tests.support.cli import Called, call

def of_python(path):
    import rocketlens as rl
    store = rl.store(path)
    found = [store.queues().to_pylist(), store.forecast()["exit"], store.verify().to_pylist(), store.last_written()]
    found += [store.key_entries("OrderTopic0", ["cAaAa"]).to_pylist(), store.forecast().bytes_at_break().rows]
    return Called(0, repr(found).replace(path, "STORE").encode(), "")

for line in sys.stdin:
    asked = json.loads(line)
    told = of_python(asked[1]) if asked[0] == "python" else call(*asked)
    print(json.dumps([told.code, told.out.decode(), told.err]), flush=True)
"""
COMMANDS = [
    ("queues",),
    ("find", "--topic", "OrderTopic0", "--key", "cAaAa"),
    ("offset-at", "--topic", "OrderTopic0", "--queue", "0", "--at", "2026-11-21T15:14:00Z"),
    ("verify",),
    ("forecast",),
    ("lag",),
    ("ledger",),
    ("dump", "consumequeue"),
    ("dump", "commitlog", "--topic", "OrderTopic1", "--tail", "20"),
]
OF_A_FILE = [("dump", "commitlog", "--limit", "3"), ("explain", "--at", "0")]


@dataclass
class Reader:
    """A process that runs commands: the server's is another one, since whoever touches a page holds its own up."""

    s3: S3Server
    store: Path
    address: str
    process: subprocess.Popen[str]

    def call(self, *arguments: object) -> tuple[int, str, str]:
        """Exit code, output and messages."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps([str(each) for each in arguments]) + "\n")
        self.process.stdin.flush()
        code, out, err = json.loads(self.process.stdout.readline())
        return code, out, err

    def fetched(self) -> dict[str, int]:
        """Bytes that were asked for, by the object's place in the store."""
        found = dict[str, int]()
        for _, path, wanted in self.s3.asked:
            if wanted is not None:
                first, last = wanted.removeprefix("bytes=").split("-")
                name = path.partition("/stores/one/")[2]
                found[name] = found.get(name, 0) + int(last) - int(first) + 1
        return found


@contextmanager
def reading(*how: str) -> Iterator[subprocess.Popen[str]]:
    """The process. As `how` says, it fetches files `whole`, or is `deaf`: no signal says that its pager has ended."""
    command = [sys.executable, "-c", CALLED, *how]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        yield process
        assert process.stdin is not None
        process.stdin.close()


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Reader]:
    world, root = World.make(tmp_path_factory.mktemp("world")), tmp_path_factory.mktemp("scratch")
    world.move_to("late")
    store = world.store("a")
    with s3_server() as s3, pytest.MonkeyPatch.context() as patched:
        patched.setenv("TMPDIR", str(root))
        address = f"{s3.bucket('box')}/stores/one"
        upload(store, address)
        with reading() as process:
            yield Reader(s3, store, address, process)
        assert list(root.iterdir()) == [], "nothing stays behind"


@pytest.fixture(autouse=True)
def well(reader: Reader) -> Iterator[None]:
    reader.s3.asked.clear()
    yield
    reader.s3.fault = lambda environ: WELL


def placed(command: Sequence[object], store: object) -> list[object]:
    """A command with its store named where stores are named."""
    names = 2 if command[0] == "dump" else 1
    return [*command[:names], store, *command[names:]]


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_it_answers_as_a_folder(reader: Reader, command: Sequence[str]) -> None:
    here = reader.call(*placed(command, reader.store))
    there = reader.call(*placed(command, reader.address))
    assert there == (here[0], here[1], here[2].replace(str(reader.store), reader.address))
    assert here[0] in (0, 1, 3)


@pytest.mark.parametrize("command", OF_A_FILE, ids=" ".join)
def test_a_file_at_an_address_answers_as_a_file(reader: Reader, command: Sequence[str]) -> None:
    name = "commitlog/00000000000000000000"
    here = reader.call(*placed(command, reader.store / name))
    reader.s3.asked.clear()
    there = reader.call(*placed(command, f"{reader.address}/{name}"))
    assert there == (here[0], here[1], here[2].replace(str(reader.store), reader.address))
    assert here[0] == 0
    assert list(reader.fetched()) == [name]


def test_a_page_and_a_configuration_name_the_address(reader: Reader, tmp_path: Path) -> None:
    assert reader.call("report", reader.address, "--out", tmp_path / "page.html")[0] == 0
    assert reader.call("init", reader.address, "--to", tmp_path / "made.toml")[0] == 0
    page, made = (tmp_path / "page.html").read_text(), (tmp_path / "made.toml").read_text()
    assert reader.address in page
    assert f'store = "{reader.address}"' in made
    assert PREFIX not in page + made


def test_python_asks_it_as_a_folder(reader: Reader) -> None:
    assert reader.call("python", reader.store) == reader.call("python", reader.address)


def test_without_page_faults_the_touched_files_are_fetched_whole(reader: Reader) -> None:
    with reading("whole") as process:
        whole = replace(reader, process=process)
        for command in COMMANDS[:4]:
            reader.s3.asked.clear()
            here, there = reader.call(*placed(command, reader.store)), whole.call(*placed(command, reader.address))
            assert there == (here[0], here[1], here[2].replace(str(reader.store), reader.address))
            fetched = reader.fetched()
            assert fetched == {name: (reader.store / name).stat().st_size for name in fetched}


@pytest.mark.skipif(open_faults() is None, reason="needs page faults that another process serves (userfaultfd)")
def test_a_message_is_found_with_a_few_blocks(reader: Reader) -> None:
    code, out, _ = reader.call("dump", "commitlog", reader.address, "--limit", "1", "--format", "jsonl")
    assert code == 0
    message_id = json.loads(out)["message_id"]
    reader.s3.asked.clear()
    assert reader.call("find", reader.address, "--message-id", message_id)[0] == 0
    of_queues = {name: size for name, size in reader.fetched().items() if name.startswith("consumequeue/")}
    assert sum(of_queues.values()) <= 2 * BLOCK * len(of_queues)
    whole = sum(file.stat().st_size for file in reader.store.rglob("*") if file.is_file())
    assert sum(reader.fetched().values()) < whole


def test_nothing_is_fetched_twice(reader: Reader) -> None:
    assert reader.call("verify", reader.address)[0] == 1
    fetched = reader.fetched()
    assert fetched == {name: (reader.store / name).stat().st_size for name in fetched}


def test_a_database_of_queues(reader: Reader, tmp_path: Path) -> None:
    store, address = tmp_path / "store", reader.address.replace("one", "database")
    copy_tree(store_root("5.5.0-rocksdb"), store, ignore=shutil.ignore_patterns("timer*"))
    upload(store, address)
    here, there = reader.call("queues", store), reader.call("queues", address)
    assert there == (here[0], here[1], here[2].replace(str(store), address))
    assert here[0] == 0


def test_two_at_one_address(reader: Reader) -> None:
    code, out, _ = reader.call("compare", reader.address, reader.address)
    assert code == 0
    assert {each["store"] for each in json.loads(out)["replicas"]} == {reader.address}


def refuses_the_log(environ: Environ) -> str | None:
    return "500 Internal Server Error" if "/commitlog/" in environ["PATH_INFO"] else WELL


def was_replaced(environ: Environ) -> str | None:
    """As of an object that is another one now: a range is asked for on condition that it is not."""
    asks = "/commitlog/" in environ["PATH_INFO"] and "HTTP_IF_MATCH" in environ
    return "412 Precondition Failed" if asks else WELL


@pytest.mark.parametrize(
    ("fault", "told"),
    [(refuses_the_log, "answers 500 Internal Server Error"), (was_replaced, "was written anew meanwhile")],
)
def test_what_is_refused_ends_the_command(
    reader: Reader, tmp_path: Path, fault: Callable[[Environ], str | None], told: str
) -> None:
    reader.s3.fault = fault
    code, out, err = reader.call("dump", "commitlog", reader.address, "--out", tmp_path / "rows.jsonl")
    assert (code, out) == (3, "")
    assert err.startswith(f"rocketlens: {reader.address}/commitlog/0")
    assert err.endswith(f"{told}\n")
    assert err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def killing(process: subprocess.Popen[str]) -> Callable[[Environ], str | None]:
    """Kills the pager of a reader that is in the log."""

    def kills(environ: Environ) -> str | None:
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text()
        for child in map(int, children.split() if "/commitlog/" in environ["PATH_INFO"] else ()):
            os.kill(child, signal.SIGKILL)
        return WELL

    return kills


def test_a_reader_whose_pager_is_killed_ends(reader: Reader) -> None:
    reader.s3.fault = killing(reader.process)
    code, out, err = reader.call("verify", reader.address)
    assert (code, out) == (3, "")
    assert err.endswith("the process that fetches the bytes of stores at addresses has ended\n")


def test_nothing_is_told_of_zeros_before_the_end_of_the_pager_is_known(reader: Reader, tmp_path: Path) -> None:
    """The pages of a killed pager become zeros before the system says that it has ended."""
    with reading("deaf") as process:
        deaf = replace(reader, process=process)
        reader.s3.fault = killing(process)
        for command in [("verify",), ("forecast",), ("dump", "commitlog"), ("rebuild", "--to", tmp_path / "rebuilt")]:
            code, out, err = deaf.call(*placed(command, reader.address))
            assert (code, out) == (3, "")
            assert err.endswith("the process that fetches the bytes of stores at addresses has ended\n")
    assert list(tmp_path.iterdir()) == []


def test_what_is_no_store(reader: Reader) -> None:
    code, _, err = reader.call("verify", "s3://box/stores/two")
    assert code == 3
    assert err.startswith("rocketlens: s3://box/stores/two: nothing is there; an address names the root of a store, or")
    code, _, err = reader.call("verify", "gs://box/stores/one")
    assert code == 2
    assert "no addresses" in err
