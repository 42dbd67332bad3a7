"""A recorded cluster's requests, put into a capture and read back, give the facts of its recording."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipelines.recordings.pcap import CaptureCounts, records_from_pcap
from rebalance.readers.wire.facts import facts_from_wire
from rebalance.readers.wire.remoting import JSON_HEADER, ROCKETMQ_HEADER
from tests.support.fixtures import GOLDEN
from tests.support.pcap import BROKER, as_pcap, packets_of
from tests.support.rebalance_sessions import json_lines


@pytest.mark.parametrize("form", [JSON_HEADER, ROCKETMQ_HEADER])
@pytest.mark.parametrize(
    "capture",
    sorted((GOLDEN / "rebalance" / "sessions").glob("*/wire*.gz")),
    ids=lambda p: f"{p.parent.name}-{p.name}",
)
def test_a_capture_gives_the_facts_of_the_recording(capture: Path, form: int) -> None:
    recorded = [record for record in json_lines(capture) if record["dir"] != "lifecycle"]
    oneway = {(record["remote"], record["opaque"]) for record in recorded if record.get("oneway")}
    recorded = [r for r in recorded if r["dir"] == "request" or (r["remote"], r["opaque"]) not in oneway]
    counts: list[CaptureCounts] = []
    records = list(
        records_from_pcap(
            as_pcap(packets_of(recorded, header_form=form)), broker_ports=[BROKER[1]], on_end=counts.append
        )
    )
    assert len(records) == len(recorded) > 0
    ours = list(facts_from_wire(records, broker="b", file="f"))
    assert ours == list(facts_from_wire(recorded, broker="b", file="f"))
    assert counts[0].records.answers_without_request == 0
