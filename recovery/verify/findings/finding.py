"""A proven disagreement, and a state that looks like one but is none."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from recovery.verify.findings.kind import Kind, Severity
from recovery.verify.findings.kinds import KINDS


@dataclass(frozen=True, slots=True)
class Place:
    """Bytes of one file, its path relative to the store root."""

    file: str
    file_pos: int
    length: int


@dataclass(frozen=True, slots=True)
class Span:
    """Records, units or bytes concerned, as far as they are known; ends are exclusive."""

    topic: str | None = None
    queue_id: int | None = None
    queue_offset: int | None = None
    end_queue_offset: int | None = None
    physical_offset: int | None = None
    end_physical_offset: int | None = None


@dataclass(frozen=True, slots=True)
class Finding:
    """One finding: `kind` names the rule in `KINDS`, which says what it means; here is where and by what it is proven.

    Attributes:
        places: the bytes that disagree, those to blame first when it is known which they are.
        count: units, entries, records or files of this one cause.
        evidence: what each side says, one sentence each.
        rebuilt: what was lost, as far as other files tell it; empty where nothing was.
    """

    kind: str
    span: Span
    places: tuple[Place, ...]
    count: int
    evidence: tuple[str, ...]
    rebuilt: Mapping[str, Any] = field(default_factory=dict, hash=False)

    @property
    def rule(self) -> Kind:
        return KINDS[self.kind]

    @property
    def severity(self) -> Severity:
        return self.rule.severity


@dataclass(frozen=True, slots=True)
class Explained:
    """A state that needs no repair: what it is, where, and why it is normal."""

    what: str
    why: str
    span: Span = Span()
    places: tuple[Place, ...] = ()


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a rule says about the columns it was given."""

    findings: tuple[Finding, ...] = ()
    explained: tuple[Explained, ...] = ()


def with_places(judgement: Judgement, places: tuple[Place, ...]) -> Judgement:
    """The findings with further places after their own."""
    findings = (replace(finding, places=(*finding.places, *places)) for finding in judgement.findings)
    return replace(judgement, findings=tuple(findings))


def joined(judgements: Iterable[Judgement]) -> Judgement:
    """All findings and explanations of several rules, in their order."""
    listed = list(judgements)
    return Judgement(
        tuple(finding for one in listed for finding in one.findings),
        tuple(state for one in listed for state in one.explained),
    )
