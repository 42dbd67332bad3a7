"""The stored questions, pipelines/lake/sql: one SQL file each, its first line what it asks."""

from __future__ import annotations

from pathlib import Path

from pipelines.lake.tables.raw import TABLES

QUESTIONS = Path(__file__).resolve().parent / "sql"


def question_names() -> list[str]:
    """The questions in pipelines/lake/sql, by name."""
    return sorted(path.stem for path in QUESTIONS.glob("*.sql"))


def question_views() -> list[str]:
    """The stored questions that are views; the answer to one that has a table's name is that table."""
    return [name for name in question_names() if name not in TABLES]


def asked_by(name: str) -> str:
    """What a stored question asks: the first line of its file."""
    return (QUESTIONS / f"{name}.sql").read_text("utf-8").partition("\n")[0].removeprefix("-- ")


def question_named(sql: str) -> str:
    """The SQL of a question for its name; another word alone names a table, or nothing; other SQL as it is."""
    if sql in question_names():
        return question(sql)
    return f'FROM "{sql}"' if sql.isidentifier() else sql


def question(name: str) -> str:
    """The SQL of a question. Raises ValueError naming the ones there are."""
    if name not in question_names():
        raise ValueError(f"no question {name!r} (there are {', '.join(question_names())})")
    sql = (QUESTIONS / f"{name}.sql").read_text("utf-8").rstrip().removesuffix(";")
    return _in_words(sql) if "{" in sql else sql


def _in_words(sql: str) -> str:
    """The SQL with the reasons that it names in braces, in the words that the lag of a store gives them."""
    from recovery.query import lag

    words = {
        "no_files": lag.NO_FILES,
        "ahead": lag.AHEAD,
        "became_shorter": lag.BECAME_SHORTER,
        "deleted_unread": lag.DELETED_UNREAD,
        "oldest_not_found": lag.OLDEST_NOT_FOUND,
        "not_stored": lag.NOT_STORED,
        "nothing_to_read": lag.NOTHING_TO_READ,
    }
    for name, sentence in words.items():
        sql = sql.replace(f"{{{name}}}", sentence.replace("'", "''"))
    return sql
