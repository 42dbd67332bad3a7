"""What a start would lose, by the document of a forecast: whether it is anything, how many messages, and in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Document = Mapping[str, Any]
WHERE = {"message": "", "queue_unit": " missing in the queue", "index_entries": " missing in the index"}
"""What a message loses, as the document's `lost_counts` names it -> the words for it."""
CONFIG = {
    "topics": ("topic", "without a configuration: clients find no route to them"),
    "groups": ("group", "without their settings"),
    "groups_without_offsets": ("group", "without their committed offsets, of which no copy is left"),
    "delay_levels": ("delay level", "delivered anew from their queue's minimum"),
}
"""A list of `config.lost` -> one of it in words, and what becomes of it."""


def counted(number: int, noun: str) -> str:
    """`1 message`, `2,000 messages`, for a terminal."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def starts(document: Document) -> bool | None:
    """Whether the broker comes up; None where that is not decided."""
    if document["load"]["ok"] is None:
        return None
    return bool(document["load"]["ok"] and (document["start"] or {"returns": True})["returns"])


def loses(document: Document) -> bool | None:
    """Whether anything is lost: messages, their places in queues or index, or configuration; None where not known."""
    if any(document["lost_counts"].values()) or lost_config(document["config"]) or document.get("renumbered"):
        return True
    return False if document["losses_are_known"] else None


def messages_lost(document: Document) -> int | None:
    """Messages lost for good; None where not all losses are known."""
    return int(document["lost_counts"]["message"]) if document["losses_are_known"] else None


def lost_messages(document: Document) -> str:
    """What messages lose; empty only where nothing is lost."""
    counts = places_lost(document["lost_counts"])
    if document["losses_are_known"]:
        return counts
    return f"at least {counts}" if counts else "not known"


def places_lost(counts: Mapping[str, int | None]) -> str:
    """`3 messages, 1 message missing in the index`; empty for zeros, and for None, which is not known."""
    return ", ".join(f"{counted(number, 'message')}{WHERE[what]}" for what, number in counts.items() if number)


def lost_config(config: Document | None) -> str:
    """What the configuration loses, counted; empty where nothing is lost."""
    if config is None:
        return ""
    counts, listed = config["lost_counts"], config["lost"]["offsets"] or ()
    told = [f"{counted(counts[name], one)} {what}" for name, (one, what) in CONFIG.items() if counts[name]]
    if offsets := counts["offsets"] or len(listed):
        told.insert(0, f"{'' if counts['offsets'] else 'at least '}{counted(offsets, 'committed offset')}")
    if counts["gone_back"]:
        told.append(f"{counted(counts['gone_back'], 'offset')} gone back")
    return "; ".join(told)


def all_lost(document: Document) -> str:
    """Everything that is lost; empty only where nothing is."""
    queues = renumbered(len(document.get("renumbered") or ()))  # a lake may hold documents of an earlier version
    return "; ".join(filter(None, (lost_messages(document), lost_config(document["config"]), queues)))


def renumbered(queues: int) -> str:
    """So many queues that go on with a lower number, in words; empty for none."""
    return f"the numbers of {counted(queues, 'queue')}, which new messages get again" if queues else ""


def missing(document: Document) -> list[str]:
    """Bytes of the log that no file has, before the start and after it, in words."""
    gaps = (document.get("commitlog") or {}).get("missing") or ()  # a lake may hold documents of an earlier version
    return [f"no file has bytes {each['begin']:,} to {each['end']:,} of the log" for each in gaps]


def lost_or_nothing(document: Document) -> str:
    """Everything that is lost, or the word for nothing: of a log that lacks files it is nothing more."""
    return all_lost(document) or ("nothing more than what is missing already" if missing(document) else "nothing")


def lost_then(then: Document) -> str:
    """What is lost after a repair, by `then` of an advice; empty only where nothing is."""
    config = f"{counted(then['lost_config'], 'row')} of config/" if then["lost_config"] else ""
    queues = renumbered(then.get("renumbered_queues") or 0)
    return "; ".join(filter(None, (lost_messages(then), config, queues)))
