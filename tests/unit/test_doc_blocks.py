"""Every fenced block of README and docs is run or read by what it speaks of, or stands in a list that says why not.

Console blocks are run by tests/e2e/test_pages.py; what the block of docs/python.md calls is run by test_door.py.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from pipelines.lake.configuration.sources import read_sources
from tests.support.cli import call
from tests.support.fixtures import CHECKOUT

PAGES = [CHECKOUT / "README.md", *sorted((CHECKOUT / "docs").rglob("*.md"))]
FENCED = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
BLOCKS = [
    (page, language, text) for page in PAGES for language, text in FENCED.findall(page.read_text("utf-8")) if language
]
NOT_RUN = {
    "README.md": ["python3 run.py demo"],
    "damage.md": ["pip install atheris"],
    "resend.md": ["rocketlens dump commitlog /data/store --unread-by", "java -cp"],
    "install.md": ["python3 run.py bundle", "sh rocketlens-bundle/install.sh"],
    "scheduled.md": ["useradd --system", "rocketlens cluster"],
}
"""Blocks that need a fresh checkout, root, a broker, a network or a process without an end, by their first words."""
BROKERS = '[[broker]]\nname = "broker-a"\nstore = "a"\n[[broker]]\nname = "broker-a-slave"\nstore = "b"\n'


def of(language: str) -> list[object]:
    return [
        pytest.param(page, text, id=f"{page.stem}-{number}")
        for number, (page, its, text) in enumerate(BLOCKS)
        if its == language
    ]


def test_no_block_is_of_a_kind_that_nothing_runs() -> None:
    assert {language for _, language, _ in BLOCKS} <= {"console", "toml", "json", "python"}
    for page in PAGES:
        texts = [text for its, text in FENCED.findall(page.read_text("utf-8")) if not its]
        begins = NOT_RUN.get(page.name, [])
        assert len(texts) == len(begins), page
        for text, begin in zip(texts, begins, strict=True):
            assert text.startswith(begin), f"{page}: {text}"


@pytest.mark.parametrize(("page", "text"), of("toml"))
def test_a_configuration_is_one(page: Path, text: str, tmp_path: Path) -> None:
    config = tmp_path / "rocketlens.toml"
    config.write_text(text if "[[broker]]\n" in text else f"{text}\n{BROKERS}", "utf-8")
    assert read_sources(config).brokers, page


@pytest.mark.parametrize(("page", "text"), of("json"))
def test_records_are_read(page: Path, text: str, tmp_path: Path) -> None:
    recorded = tmp_path / "recorded.jsonl"
    recorded.write_text(text, "utf-8")
    told = call("replay", recorded)
    assert told.code in (0, 1), f"{page}: {told.err}"


@pytest.mark.parametrize(("page", "text"), of("python"))
def test_python_is_python(page: Path, text: str) -> None:
    assert ast.parse(text).body, page
