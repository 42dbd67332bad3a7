"""Verification of stores: silent on every one that a broker left, exact on every one that was damaged.

Run with `-s` to see the table by class of damage: edits inside a finding, inside an explained state, inside neither,
and findings that no edit touches.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator

import pytest

from recovery.rules.versions import BrokerVersion
from recovery.verify.findings.kinds import KINDS
from recovery.verify.verify import verify
from tests.support.opened import opened, opened_golden
from tests.support.recovery_cases import golden_cases
from tests.support.stores import NEVER, store_names, truth, truth_lines
from tests.support.verify_judge import Verdict, judge_case

CASES = golden_cases()

RIGHT_KINDS = {
    "checkpoint.deleted": "checkpoint_missing",
    "checkpoint.future": "checkpoint_later_than_data",
    "checkpoint.logics_offset_future": "checkpoint_later_than_data",
    "checkpoint.past": "checkpoint_earlier_than_data",
    "checkpoint.short": "checkpoint_unreadable",
    "config.corrupt_delay_offset": "config_unreadable",
    "config.corrupt_delay_offset_both": "config_unreadable",
    "config.no_crc": "body_crc_wrong",
    "cq.bad_queue_dir": "unexpected_file",
    "cq.deleted_all": "queue_missing",
    "cq.deleted_queue": "queue_missing",
    "cq.deleted_topic": "queue_missing",
    "cq.extra_empty_file": "queue_file_superfluous",
    "cq.file_deleted_last": "queue_file_missing",
    "cq.last_record_prepared": "record_contradicts_itself",
    "cq.middle_file_deleted": "queue_file_missing",
    "cq.truncated_file": "file_size_wrong",
    "cq.unit_past_end": "unit_beyond_log",
    "cq.unit_wrong": "unit_of_other_message queue_order",
    "cq.unit_zeroed": "unit_invalid",
    "cq.unknown_topic": "unit_of_other_message",
    "cq.zero_length_file": "file_size_wrong",
    "file.bad_name": "unexpected_file",
    "file.extra_after_gap": "log_file_out_of_place",
    "file.missing_first": "log_begins_late log_head_missing",
    "file.missing_last": "log_tail_missing",
    "file.missing_middle": "log_file_missing log_tail_missing",
    "file.no_commitlog": "log_tail_missing",
    "file.truncated_last": "file_size_wrong",
    "file.truncated_middle": "file_size_wrong",
    "file.zero_length_extra": "file_size_wrong",
    "file.zero_length_last": "file_size_wrong",
    "file_head.body_flip": "body_crc_wrong",
    "file_head.magic": "log_damaged",
    "file_head.size_zero": "log_damaged",
    "file_head.storetime_future": "store_timestamp_disorder",
    "file_head.storetime_zero": "store_timestamp_disorder",
    "index.bad_name": "unexpected_file",
    "index.deleted_all": "index_keys_missing",
    "index.deleted_one": "index_keys_missing",
    "index.end_zero": "index_header_wrong",
    "index.future_end": "index_header_wrong",
    "index.header_count": "index_header_wrong index_unreadable",
    "index.truncated": "file_size_wrong index_unreadable",
    "powerloss.deeper": "log_damaged log_tail_missing",
    "powerloss.holes": "log_damaged",
    "record.body_flip": "body_crc_wrong",
    "record.body_length": "log_damaged",
    "record.magic": "log_damaged",
    "record.magic_blank": "log_damaged",
    "record.physicaloffset": "log_damaged",
    "record.prepared_type": "record_contradicts_itself unit_unexpected index_keys_missing",
    "record.properties_flip": "index_entry_wrong unit_wrong_tags_code",
    "record.queueid": "unit_of_other_message",
    "record.queueoffset": "queue_order record_contradicts_itself",
    "record.size_huge": "log_damaged",
    "record.size_negative": "log_damaged",
    "record.size_plus1": "log_damaged",
    "record.size_zero": "log_damaged",
    "record.store_timestamp": "store_timestamp_disorder",
    "record.topic_length": "log_damaged",
    "stale_tail": "stale_tail",
    "store.checkpoint_only": "checkpoint_later_than_data",
    "store.cq_only": "unit_beyond_log",
    "store.one_byte_tail": "log_damaged",
    "zero_page": "log_damaged",
}
"""Class of damage -> the kinds of which every case of it has at least one."""

MAY_BE_FORGIVEN = (
    "checkpoint.logics_offset",
    "checkpoint.zeroed",
    "combo",
    "config.recheck_reput_tail",
    "cq.empty_last_file",
    "cq.last_file_zeroed",
    "cq.obstructed",
    "cq.tail_zeroed",
    "dup.v2",
    "file.extra_empty",
    "file.swapped",
    "file_head.body_flip",
    "powerloss.",
    "probe.cqpre",
    "store.",
)
"""Classes of damage with edits that leave a state a broker could have left; everywhere else each edit is found."""


TRUE_OF_A_STORE = {
    "4.9.7-dledger3/n1": {"index_keys_missing"},  # its broker made no index again for messages of before the kill
    "4.9.7-dledger3/n2": {"index_keys_missing"},
    "5.3.3-dledger3/n0": {"queue_offset_taken"},  # never dispatched 7 messages, and gave their queue offsets again
    "5.3.3-dledger3/n1": {"queue_offset_taken"},
    "5.3.3-ha-behind/slave": {"queue_without_topic_config"},  # halted before it had its master's configuration
}
"""What is wrong with a store as its broker left it."""
TRUE_OF_A_BASE = {
    "r498-clean-9101002": {"log_begins_late"},
    "r498-halt-8506001": {"log_begins_late"},
    "r531-clean-8506002": {"log_begins_late"},
    "r533-clean-72": {"log_begins_late"},
    "r533-clean-7304000": {"log_begins_late"},
    "r551-halt-8506001": {"log_begins_late"},
    "r551-halt-9102001": {"log_begins_late"},
}
"""A cleaner deleted the first files of so small a log that nothing else shows it."""


@pytest.mark.parametrize("name", store_names(subject="verify"))
def test_a_store_that_its_broker_left_has_no_finding(name: str) -> None:
    verification = verify(*opened_golden(name))
    assert {found.kind for found in verification.findings} == TRUE_OF_A_STORE.get(name, set())
    assert verification.inferred


@pytest.mark.parametrize("name", ["5.3.3-dledger3/n0", "5.3.3-dledger3/n1"])
def test_messages_whose_queue_offsets_were_given_again_are_in_no_queue_of_the_truth(name: str) -> None:
    findings = verify(*opened_golden(name)).findings
    assert sum(finding.count for finding in findings) == 7
    served = {unit[0] for queue in truth_lines(name, "queues.jsonl.gz") for unit in queue["units"]}
    assert served.isdisjoint(finding.span.physical_offset for finding in findings)


@pytest.mark.parametrize("name", store_names("clean", subject="verify"))
def test_a_store_has_no_finding_when_its_version_is_given(name: str) -> None:
    version = BrokerVersion.parse(name.partition("-")[0])
    assert verify(*opened_golden(name, version)).findings == ()


@pytest.mark.parametrize("name", NEVER)
def test_a_lost_tail_begins_where_the_broker_ends_its_log(name: str) -> None:
    lost = [found for found in verify(*opened_golden(name)).findings if found.kind == "log_tail_missing"]
    assert [found.span.physical_offset for found in lost] == [truth(name, "recovered.json")["maxPhy"]]


@pytest.mark.parametrize("base", sorted({CASES.case(name)["base"] for name in CASES.names()} - {"empty"}))
def test_an_undamaged_base_has_no_finding(base: str) -> None:
    assert {found.kind for found in verify(*opened(CASES.base(base))).findings} == TRUE_OF_A_BASE.get(base, set())


@pytest.fixture(scope="module")
def verdicts() -> Iterator[list[Verdict]]:
    judged: list[Verdict] = []
    yield judged
    print(f"\n{len(judged)} cases\n{table(judged)}")


@pytest.mark.parametrize("name", CASES.names())
def test_a_damaged_store_is_found_out(name: str, verdicts: list[Verdict]) -> None:
    verdict = judge_case(CASES, name)
    verdicts.append(verdict)
    assert_exact(verdict)


def assert_exact(verdict: Verdict) -> None:
    assert (verdict.name, verdict.missed) == (verdict.name, [])
    assert (verdict.name, verdict.outside) == (verdict.name, [])
    forgiven = verdict.explained + verdict.traceless
    assert not forgiven or verdict.damage_class.startswith(MAY_BE_FORGIVEN), (verdict.name, verdict.damage_class)
    right = RIGHT_KINDS.get(verdict.damage_class)
    if right is not None:
        assert set(right.split()) & set(verdict.kinds), (verdict.name, verdict.damage_class, verdict.kinds)
    assert set(verdict.kinds) <= KINDS.keys()


def table(verdicts: list[Verdict]) -> str:
    """One line per class of damage."""
    by_class: defaultdict[str, list[Verdict]] = defaultdict(list)
    for verdict in verdicts:
        by_class[verdict.damage_class].append(verdict)
    lines = [f"{'class':34} {'cases':>5} {'found':>5} {'expl.':>5} {'missed':>6} {'outside':>7}  kinds"]
    for name, group in sorted(by_class.items()):
        kinds = Counter(kind for verdict in group for kind in verdict.kinds)
        numbers = [sum(verdict.found for verdict in group), sum(verdict.explained for verdict in group)]
        numbers += [sum(len(verdict.missed) for verdict in group), sum(len(verdict.outside) for verdict in group)]
        listed = ", ".join(f"{kind} {count}" for kind, count in kinds.most_common(4))
        lines.append(f"{name:34} {len(group):5} {numbers[0]:5} {numbers[1]:5} {numbers[2]:6} {numbers[3]:7}  {listed}")
    return "\n".join(lines)
