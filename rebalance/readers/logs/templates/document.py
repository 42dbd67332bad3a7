"""The table of log texts as a page of the documentation."""

from __future__ import annotations

from collections.abc import Iterator

from rebalance.readers.logs.templates.beside import BESIDE_MEANINGS
from rebalance.readers.logs.templates.stats import STATISTICS
from rebalance.readers.logs.templates.store import STORE_MEANINGS
from rebalance.readers.logs.templates.table import TEMPLATES
from rebalance.readers.logs.templates.template import Template

_TITLES = {
    "broker": "Broker: broker.log",
    "lock": "Broker: lock.log (4.x), filter.log (5.x)",
    "store": "Broker: store.log, storeerror.log",
    "transaction": "Broker: transaction.log",
    "protection": "Broker: protection.log",
    "proxy": "Proxy: proxy.log",
    "client": "Client: rocketmq_client.log",
    "stats": "Broker: stats.log",
    "watermark": "Broker: watermark.log; name server: namesrv.log or its default log",
    "go": "Go client",
    "cpp": "C++ client",
    "grpc": "Java client for gRPC: rocketmq-client.log",
}
_INTRODUCTION = """# Log texts

What `rebalance/readers/logs` recognises, printed from its table:
`python -c "from rebalance.readers.logs.templates.document import page; print(page(), end='')" > docs/log-templates.md`.

`{field}` stands where Java has `{}`. *Yields* is the fact an entry becomes (`rebalance/facts`), and `OffsetLine` what
`rocketlens offsets` is told of an offset; entries without either are rows of `log_events` all the same. Lines of no
template are counted and sampled; an entry that starts like a template and does not end like it is reported as
unreadable, with its line.

Of the Go client (logrus: `time="…" level=… msg="…" key=value`) the text is that of `msg`, then ` key=value` for each
field, without quotes. Its rounds are lines of level INFO since v2.1.2, of level DEBUG before: a log without them is
recognised and gives no facts. What an application's own logger writes is not recognised.

Of the C++ client (`[2020-Mar-28 08:42:42.124297](info):text[function:line]`) versions count as its releases do, 1.2.0
to 2.2.0. Its texts were read by specification, from its source: no log of one was recorded. Only since 1.2.5 a line
names group and queue together, so only since then a log gives facts of queues. Its instants are local time: the zone is
taken from the first pull that expired (`cpp_pull_expired` prints an epoch time), or from a broker's record of the same
client.

Of the Java client for gRPC (rocketmq-client-java, its releases 5.0.0 to 5.2.1) a log of 5.0.7 was recorded; other
releases were read by specification. Its consumers pop through a proxy, and share queues: its lines are rows of
`log_events`, and no facts of who owns what. What a POP group acknowledged, and what comes again, the broker's store
tells (`pop`). Texts of gRPC clients in other languages are not recognised.

Of transaction.log, protection.log and a proxy's proxy.log those texts are here that tell what became of a transaction
or a group (`replay --show store`); all others are passed over. What brokers and consumers count, in stats.log,
watermark.log and the logs of consumers, `replay --show counted` lists. The lake's
`log_events` has the lines of all of them, and of store.log. Logs of 5.3.3 were recorded, with consumers behind a proxy;
other releases were read by specification, from their source.
"""


def page() -> str:
    """The whole page, Markdown."""
    return "\n".join([_INTRODUCTION, *(line for log in _TITLES for line in _section(log))]) + "\n"


def _section(log: str) -> Iterator[str]:
    yield f"## {_TITLES[log]}\n"
    yield "| template | level | versions | text | yields |"
    yield "|---|---|---|---|---|"
    yield from (_row(template) for template in TEMPLATES if template.log == log)
    if log == "store":
        yield "\nWhat they mean (`replay --show store`):\n"
        yield from (f"* `{name}`: {means}." for name, means in STORE_MEANINGS.items())
    if log == "proxy":
        yield "\nWhat those of these three logs mean (`replay --show store`):\n"
        yield from (f"* `{name}`: {means}." for name, means in BESIDE_MEANINGS.items())
    if log == "watermark":
        yield "\nWhat is counted, by consumers too (`replay --show counted`):\n"
        yield from (f"* `{name}`: {statistic.means}." for name, statistic in STATISTICS.items())
    yield ""


def _row(template: Template) -> str:
    return f"| `{template.name}` | {template.levels} | {template.versions} | `{template.text}` | {template.yields} |"
