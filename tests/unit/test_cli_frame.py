"""What every command shares: formats, options on both sides, sentences, exit codes."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path
from resource import RUSAGE_SELF, getrusage

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pipelines.cli.frame.call.start import with_room
from pipelines.cli.frame.error_sentence import explain_error
from pipelines.cli.frame.errors import ExitCode
from tests.support.cli import call, rows_of, small_store

QUEUE_COLUMNS = [
    "topic",
    "queue_id",
    "min_queue_offset",
    "max_queue_offset",
    "max_physical_offset",
    "units",
    "files",
    "messages",
    "reason",
]


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return small_store(tmp_path / "store")


def test_jsonl_in_a_pipe(store: Path) -> None:
    assert rows_of("queues", store) == [
        {
            "topic": "Orders",
            "queue_id": 0,
            "min_queue_offset": 0,
            "max_queue_offset": 2,
            "max_physical_offset": 500,
            "units": 2,
            "files": 1,
            "messages": 2,
            "reason": None,
        }
    ]


def test_shared_options_before_and_after_the_command(store: Path) -> None:
    after = call("queues", store, "--format", "csv", "--columns", "topic,units")
    before = call("--format", "csv", "--columns", "topic,units", "queues", store)
    assert after.out == before.out == b'"topic","units"\n"Orders",2\n'


def test_json_is_one_array(store: Path) -> None:
    called = call("dump", "consumequeue", store, "--format", "json")
    assert [row["physical_offset"] for row in json.loads(called.out)] == [0, 200]
    assert json.loads(call("dump", "consumequeue", store, "--topic", "None", "--format", "json").out) == []


def test_parquet_and_arrow_read_back(store: Path, tmp_path: Path) -> None:
    target = tmp_path / "units.parquet"
    assert call("dump", "consumequeue", store, "--out", target).code == 0
    assert pq.read_table(target).column("msg_size").to_pylist() == [200, 300]
    assert [left.name for left in tmp_path.iterdir() if left.name.endswith(".part")] == []
    stream = call("dump", "consumequeue", store, "--format", "arrow").out
    assert pa.ipc.open_stream(io.BytesIO(stream)).read_all().column("queue_offset").to_pylist() == [0, 1]
    target = tmp_path / "units.arrow"
    assert call("dump", "consumequeue", store, "--out", target).code == 0
    assert pa.ipc.open_file(target).read_all().num_rows == 2


def test_table_is_aligned_and_cut_to_the_width(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    called = call("dump", "consumequeue", store, "--format", "table")
    *heading, header, first, second = called.out.decode().splitlines()
    assert [line.split() for line in (*heading, header)] == [
        ["queue_", "physical_", "msg_", "tags_"],
        ["offset", "offset", "size", "code"],
    ]
    assert max(map(len, (*heading, header, first, second))) <= 40
    assert "in every row: topic Orders, queue_id 0" in called.err
    end = header.index("offset") + len("offset")
    assert (first[:end].split()[-1], second[:end].split()[-1]) == ("0", "1")
    assert "not shown: broker, " in called.err


def test_a_single_wide_row_is_printed_downwards(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    lines = call("queues", store, "--format", "table").out.decode().splitlines()
    assert [line.split()[0] for line in lines] == QUEUE_COLUMNS


def test_limit_stops_the_stream(store: Path) -> None:
    assert len(rows_of("dump", "consumequeue", store, "--limit", "1")) == 1
    assert rows_of("dump", "consumequeue", store, "--limit", "0") == []


@pytest.mark.parametrize(
    ("arguments", "code", "sentence"),
    [
        (["queues"], 2, "Missing argument 'STORE'"),
        (["quues"], 2, "Did you mean 'queues'?"),
        (["queues", "nowhere"], 3, "nowhere: no such folder"),
        (["queues", "{store}", "--columns", "topc"], 2, "no column topc here; there are topic, queue_id"),
        (["queues", "{store}", "--format", "xml"], 2, "xml"),
        (["queues", "{store}", "--out", "{store}/x.csv"], 2, "inside what is read"),
        (["queues", "{store}/consumequeue/Orders/0/00000000000000000000"], 3, "not a store folder"),
        (["queues", "{empty}"], 3, "holds no commitlog"),
        (["dump", "consumequeue", "{store}/nothing"], 3, "no such file or folder"),
    ],
)
def test_one_sentence_and_the_right_code(
    store: Path, tmp_path: Path, arguments: list[str], code: int, sentence: str
) -> None:
    (tmp_path / "empty").mkdir()
    called = call(*(a.format(store=store, empty=tmp_path / "empty") for a in arguments))
    assert called.code == code
    assert sentence in called.err
    assert called.err.count("\n") == 1
    assert "Traceback" not in called.err


def test_debug_adds_the_traceback(tmp_path: Path) -> None:
    assert "Traceback" in call("queues", tmp_path / "nowhere", "--debug").err


def test_what_is_readable_is_delivered_and_the_rest_named(store: Path) -> None:
    file = store / "consumequeue" / "Orders" / "0" / f"{0:020d}"
    file.write_bytes(file.read_bytes()[:33])
    called = call("dump", "consumequeue", store)
    assert called.code == 4
    assert [row["physical_offset"] for row in called.rows] == [0]
    assert f"not read: {file} bytes 20..33" in called.err


def test_a_failed_call_leaves_no_output_file(store: Path, tmp_path: Path) -> None:
    target = tmp_path / "out.jsonl"
    assert call("queues", tmp_path / "nowhere", "--out", target).code == 3
    assert not target.exists()


def test_a_file_away_from_its_place_says_what_is_unknown(store: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copied.bin"
    copy.write_bytes((store / "consumequeue" / "Orders" / "0" / f"{0:020d}").read_bytes())
    called = call("dump", "consumequeue", copy)
    assert [row["physical_offset"] for row in called.rows] == [0, 200]
    assert {(row["topic"], row["queue_id"], row["queue_offset"]) for row in called.rows} == {(None, None, None)}
    assert "are unknown" in called.err


def test_a_closed_pipe_is_quiet(store: Path) -> None:
    read_end, write_end = os.pipe()
    os.close(read_end)
    command = [sys.executable, "-m", "pipelines.cli", "queues", str(store)]
    done = subprocess.run(command, stdout=write_end, stderr=subprocess.PIPE, check=False)
    os.close(write_end)
    assert (done.returncode, done.stderr) == (0, b"")


def test_starting_imports_no_heavy_library() -> None:
    heavy = "pyarrow", "numpy", "numba", "duckdb", "pyspark", "dagster", "matplotlib", "rich"
    program = f"import sys, pipelines.cli.app; print([m for m in {heavy!r} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def _faults_of_calls(levels: int) -> int:
    """The most page faults that 500 calls of nothing take, made from any of so many levels of calls."""

    def nothing() -> None:
        return

    before = getrusage(RUSAGE_SELF).ru_minflt
    for _ in range(500):
        nothing()
    here = getrusage(RUSAGE_SELF).ru_minflt - before
    return max(here, _faults_of_calls(levels - 1)) if levels else here


def test_no_depth_of_calls_takes_memory_from_the_system_for_each() -> None:
    @with_room
    def entered() -> int:
        return _faults_of_calls(200)

    assert entered() < 250


def test_the_program_says_its_version() -> None:
    command = [sys.executable, "-m", "pipelines.cli", "--version"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("rocketlens ")


@pytest.mark.parametrize("arguments", [["--help"], ["dump", "consumequeue"], ["queues"]], ids=" ".join)
def test_a_start_does_without_what_nobody_needs(store: Path, arguments: list[str]) -> None:
    arguments = arguments if arguments == ["--help"] else [*arguments, str(store)]
    code = (
        "import sys\n"
        "from pipelines.cli.app import main\n"
        "from pipelines.cli.frame.call.start import UNNEEDED\n"
        f"sys.argv[1:] = {arguments!r}\n"
        "assert main() == 0\n"
        "assert not UNNEEDED & sys.modules.keys()\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)


@pytest.mark.parametrize("own", [None, "3"])
@pytest.mark.parametrize(("command", "without"), [("queues", "1"), ("lab", None)])
def test_other_programs_get_the_threads_that_the_user_has_said(
    command: str, without: str | None, own: str | None
) -> None:
    """A light start keeps numpy from starting threads; the kernels of JupyterLab may have use for them."""
    code = (
        "import os, sys\n"
        "from pipelines.cli.app import main\n"
        f"sys.argv[1:] = [{command!r}, *{['--config-file', '/nowhere'] if command == 'lab' else ['/nowhere']}]\n"
        "assert main() > 1\n"
        "print(os.environ.get('OPENBLAS_NUM_THREADS'))\n"
    )
    environment = {name: value for name, value in os.environ.items() if name != "OPENBLAS_NUM_THREADS"}
    environment |= {} if own is None else {"OPENBLAS_NUM_THREADS": own}
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True, env=environment)
    assert done.stdout.split()[-1] == str(own or without)


def test_the_declarations_do_without_pandas_and_kernels() -> None:
    code = "import sys, pipelines.lake.tables.raw; assert not {'pandas', 'parsers.kernels.kernel'} & sys.modules.keys()"
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)


def test_a_failed_task_in_spark_is_one_sentence() -> None:
    from pyspark.errors import PythonException

    trace = 'Job aborted.\nTraceback (most recent call last):\n  File "worker.py", line 1\nValueError: a cause\n'
    sentence, code = explain_error(PythonException(trace))
    assert "ValueError: a cause" in sentence
    assert "\n" not in sentence
    assert code == ExitCode.UNREADABLE
