"""The questions of a report, in order, each answered from the facts."""

from __future__ import annotations

from pipelines.report.backlog_section import backlog_section
from pipelines.report.delays_section import delays_section
from pipelines.report.episodes_section import episodes_section
from pipelines.report.fates_sections import POPS, RETRIES, TRACES, TRANSACTIONS
from pipelines.report.forecast_sections import forecast_section, retention_section
from pipelines.report.journey_section import journey_sections
from pipelines.report.ledger_section import ledger_section
from pipelines.report.lives_sections import groups_section, lives_section
from pipelines.report.model import Facts, Section
from pipelines.report.offsets_section import offsets_section
from pipelines.report.ownership_section import ownership_section
from pipelines.report.store_log_section import store_log_section
from pipelines.report.store_sections import agreement_section, contents_section, lag_section


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
