"""The list of commands is known without loading one, and a command loads no more than it needs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from pipelines.cli import commands
from pipelines.cli.contents import MODULES, of_the_commands, printed
from tests.support.cli import call, small_store

FOLDER = Path(commands.__file__).parent
LOADED = "pipelines.cli.commands.", "pydantic", "rich", "numpy", "recovery.knowledge."


def loaded_by(*arguments: str, **variables: str) -> set[str]:
    """Which modules the program has loaded of LOADED, when it ends."""
    code = (
        "import json, sys\n"
        "from pipelines.cli.app import main\n"
        f"sys.argv[1:] = {list(arguments)!r}\n"
        "try:\n    main()\n"
        f"finally:\n    print(json.dumps([m for m in sys.modules if m.startswith({LOADED!r})]), file=sys.stderr)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, **variables}, capture_output=True, text=True, check=False
    )
    return set(json.loads(done.stderr.splitlines()[-1]))


def test_the_printed_list_is_in_step() -> None:
    """Otherwise: python -m pipelines.cli.docs docs/cli.md"""
    assert printed() == of_the_commands()


def test_every_module_that_declares_commands_is_listed() -> None:
    declaring = [path for path in FOLDER.rglob("*.py") if "panel=" in path.read_text("utf-8")]
    assert {".".join(path.relative_to(FOLDER).with_suffix("").parts) for path in declaring} == set(MODULES)


@pytest.mark.parametrize("arguments", [(), ("--help",), ("no-such-command",)], ids=" ".join)
def test_the_list_loads_no_command(arguments: tuple[str, ...]) -> None:
    assert loaded_by(*arguments) == set()


def test_a_shell_that_completes_a_name_loads_no_command() -> None:
    asked = {"COMP_WORDS": "rocketlens ", "COMP_CWORD": "1", "_ROCKETLENS_COMPLETE": "complete_bash"}
    assert {name for name in loaded_by(**asked) if name.startswith(LOADED[0])} == set()


def test_a_shell_completes_the_options_of_a_command() -> None:
    asked = {"COMP_WORDS": "rocketlens find --uni", "COMP_CWORD": "2", "_ROCKETLENS_COMPLETE": "complete_bash"}
    program = "import sys; from pipelines.cli.app import main; sys.argv = ['rocketlens']; sys.exit(main())"
    done = subprocess.run(
        [sys.executable, "-c", program], env={**os.environ, **asked}, capture_output=True, text=True, check=False
    )
    assert done.stdout.split() == ["--unique-id"]


@pytest.mark.parametrize(
    ("arguments", "module"),
    [
        (("lag", "--help"), "groups.lag"),
        (("completion", "bash"), "completion"),
        (("allocate", "--format", "json", "--limit", "0"), "ownership.allocate"),
    ],
    ids=str,
)
def test_a_command_loads_itself_alone(arguments: tuple[str, ...], module: str) -> None:
    chapter = module.split(".")[0]
    assert loaded_by(*arguments) == {f"{LOADED[0]}{chapter}", f"{LOADED[0]}{module}"}


def test_the_first_row_of_a_dump_loads_nothing_that_asks_the_files_for_a_version(tmp_path: Path) -> None:
    found = loaded_by("dump", "commitlog", str(small_store(tmp_path / "store")), "--limit", "1")
    assert {name for name in found if "knowledge" in name} == {"recovery.knowledge.knowledge"}


def test_help_names_each_command_under_its_head() -> None:
    shown = call("--help").out.decode()
    for entry in printed():
        under = shown.split(f"\n{entry.panel}\n", 1)[1].split("\n\n", 1)[0]
        assert f"\n  {entry.name}  " in f"\n{under}"


def test_a_group_shows_its_help_where_nothing_is_asked() -> None:
    for arguments in ((), ("dump",)):
        shown = call(*arguments)
        assert (shown.code, shown.err) == (2, "")
        assert shown.out == call(*arguments, "--help").out


@pytest.mark.parametrize(
    ("command", "option", "value", "why"),
    [
        ("queues", "--limit", "x", "'x' is not a whole number"),
        ("queues", "--limit", "-4", "-4 is less than 0"),
        ("queues", "--limit", str(2**63), f"{2**63} is more than {2**63 - 1}"),
        ("queues", "--limit", "9" * 400, f"{'9' * 400} is more than {2**63 - 1}"),
        ("queues", "--format", "xml", "'xml' is not one of 'table', 'jsonl', 'json', 'csv', 'parquet', 'arrow'"),
        ("watch", "--every", "0", "0.0 is less than 0.1"),
        ("watch", "--every", "often", "'often' is not a number"),
        ("watch", "--every", "inf", "'inf' is no number to count with"),
        ("watch", "--every", "1e300", "1e+300 is more than 86400"),
        ("retention", "--utc-offset", "nan", "'nan' is no number to count with"),
        ("retention", "--utc-offset", "999999", "999999.0 is more than 18"),
    ],
)
def test_a_value_that_is_none_of_its_option_is_one_sentence(command: str, option: str, value: str, why: str) -> None:
    refused = call(command, ".", option, value)
    assert refused.code == 2
    assert refused.err == f"rocketlens: Invalid value for '{option}': {why}; see `rocketlens {command} --help`\n"
