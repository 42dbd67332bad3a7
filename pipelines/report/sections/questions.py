"""The questions of a report, in order, each answered from the facts."""

from __future__ import annotations

from pipelines.report.facts.model import Facts, Section
from pipelines.report.sections.backlog import backlog_section
from pipelines.report.sections.delays import delays_section
from pipelines.report.sections.episodes import episodes_section
from pipelines.report.sections.fates import POPS, RETRIES, TRACES, TRANSACTIONS
from pipelines.report.sections.forecast import forecast_section, retention_section
from pipelines.report.sections.journey import journey_sections
from pipelines.report.sections.ledger import ledger_section
from pipelines.report.sections.lives import groups_section, lives_section
from pipelines.report.sections.offsets import offsets_section
from pipelines.report.sections.ownership import ownership_section
from pipelines.report.sections.starts import starts_section
from pipelines.report.sections.store import agreement_section, contents_section, lag_section
from pipelines.report.sections.store_log import store_log_section


def sections_of(facts: Facts) -> list[Section]:
    """Every section, those without evidence included: they say what is missing. What store.log says is there where one
    was read, a message's way where it was asked for."""
    return [
        contents_section(facts),
        agreement_section(facts),
        ledger_section(facts),
        lag_section(facts),
        episodes_section(facts),
        backlog_section(facts),
        offsets_section(facts),
        starts_section(facts),
        lives_section(facts),
        groups_section(facts),
        delays_section(facts),
        RETRIES(facts),
        TRANSACTIONS(facts),
        POPS(facts),
        TRACES(facts),
        forecast_section(facts),
        retention_section(facts),
        *([] if facts.store_log is None else [store_log_section(facts.store_log)]),
        ownership_section(facts),
        *journey_sections(facts),
    ]
