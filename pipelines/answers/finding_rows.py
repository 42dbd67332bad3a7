"""Findings of a verification as rows of `consistency_findings`."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from recovery.verify.findings.finding import Explained, Finding


def finding_row(finding: Finding, *, broker: str | None = None, watermark: int | None = None) -> dict[str, Any]:
    """One row: the first place in plain columns, every further fact as JSON. `watermark` is that of the ingest."""
    first = finding.places[0] if finding.places else None
    return {
        "broker": broker,
        "kind": finding.kind,
        "severity": finding.severity,
        "place": _place(finding) if first is None else first.file,
        "begin": None if first is None else first.file_pos,
        "end": None if first is None else first.file_pos + first.length,
        "evidence": "; ".join(finding.evidence),
        "repair": finding.rule.repair,
        "document": json.dumps(finding_document(finding), ensure_ascii=False),
        "watermark": watermark,
    }


def finding_document(finding: Finding) -> dict[str, Any]:
    """The whole finding as plain values."""
    rule = finding.rule
    return {
        "count": finding.count,
        "span": {name: value for name, value in asdict(finding.span).items() if value is not None},
        "places": [asdict(place) for place in finding.places],
        "right": rule.right,
        "why": rule.why,
        "broker_would": rule.broker_would,
        **({"rebuilt": dict(finding.rebuilt)} if finding.rebuilt else {}),
    }


def explained_row(state: Explained) -> dict[str, Any]:
    """A state that looks like a finding and is none."""
    first = state.places[0] if state.places else None
    return {
        "what": state.what,
        "why": state.why,
        "place": None if first is None else first.file,
        "begin": None if first is None else first.file_pos,
        "end": None if first is None else first.file_pos + first.length,
    }


def _place(finding: Finding) -> str | None:
    span = finding.span
    return None if span.topic is None else f"queue {span.topic}/{span.queue_id}"
