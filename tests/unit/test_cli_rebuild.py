"""`rocketlens rebuild`: what it assumed is in the report; without a store, the brokers of rocketlens.toml are meant."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pipelines.cli.app import main
from tests.support.build_store import shop


def test_the_report_says_what_was_taken_for_granted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store = shop(tmp_path / "store").finish()
    assert main(["rebuild", str(store), "--to", str(tmp_path / "new")]) == 0
    report = json.loads(capsys.readouterr().out)
    assert {"version", "mappedFileSizeConsumeQueue"} <= {fact["what"] for fact in report["inferred"]}
    assert "broker" not in report


def test_the_report_for_a_person_fits_the_terminal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    store = shop(tmp_path / "store").finish()
    assert main(["rebuild", str(store), "--to", str(tmp_path / "new"), "--format", "table"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["written", "to", str(tmp_path / "new")]
    assert [line for line in lines if len(line) > 80 and " " in line.strip() and str(tmp_path) not in line] == []
    assert any("mappedFileSizeConsumeQueue = 200" in line for line in lines)


@pytest.mark.parametrize(
    ("brokers", "given", "said"),
    [
        ("", [], "names no [[broker]]"),
        ('[[broker]]\nname = "a"\nstore = "store"', ["--version", "5.3.3"], "belong to a STORE"),
        ('[[broker]]\nname = "a"\nstore = "store"', ["--config", "messageIndexEnable=false"], "belong to a STORE"),
        ('[[broker]]\nname = "a"\nstore = "."', [], "inside what is read"),
        ('[[broker]]\nname = "a"\nstore = "store"\nversion = "five"', [], "five"),
    ],
)
def test_brokers_that_cannot_be_rebuilt(
    brokers: str, given: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shop(tmp_path / "store", 3)
    (tmp_path / "rocketlens.toml").write_text(f'[lake]\npath = "lake"\n{brokers}\n')
    told = ["--config-file", str(tmp_path / "rocketlens.toml")]
    assert main(["rebuild", "--to", str(tmp_path / "new"), *told, *given]) == 2
    assert said in capsys.readouterr().err
    assert not (tmp_path / "new").exists()
