"""The one alert: a JSON document that is posted to `[alert] webhook` of `rocketlens.toml` when something is wrong.

A chat takes it as it is: `text` says all of it in one line. An ingest or a check posts its troubles when they are
not those of its last post, and when all are over, with `wrong` false. A trouble that was not looked at since is neither
new nor over.
"""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from http.client import HTTPException
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from pipelines.objects.both import write_whole
from pipelines.objects.place import Place

TOLD = "alerted.json"
"""File of a lake's folder: for each command, the troubles that were posted last."""
NOT_READ, FAILED = "not_read", "failed"
"""`Trouble.what` of a trouble that is neither a finding nor a check."""
MOST_TROUBLES = 50
TIMEOUT_S = 10
PAUSES_S = (0.0, 1.0, 4.0)
"""A webhook that does not answer is asked again after each of these."""


@dataclass(frozen=True, slots=True)
class Trouble:
    """One trouble: a finding, a failed check, evidence that was not read, or a command that ended with an error.

    Attributes:
        what: kind of the finding, name of the check, `not_read`, or `failed` of a command that ended with an error.
        severity: critical, error, warning or info.
        where: the broker, the store or the table.
        text: a sentence.
    """

    what: str
    severity: str
    where: str
    text: str


@dataclass(frozen=True, slots=True)
class Alert:
    """What is posted.

    Attributes:
        about: ingest, verify or check.
        place: the folder of the lake, or of the store that was verified.
        wrong: whether something is wrong now; false when it is over.
        text: all of it in one line.
        count: how many troubles there are.
        troubles: the first MOST_TROUBLES of them.
        source, host, at: `rocketlens`, the machine's name, and when it was posted, ISO 8601 in UTC.
    """

    about: str
    place: str
    wrong: bool
    text: str
    count: int
    troubles: tuple[Trouble, ...]
    source: str = "rocketlens"
    host: str = field(default_factory=socket.gethostname)
    at: str = field(default_factory=lambda: datetime.now(UTC).isoformat(timespec="seconds"))


def alert_of(about: str, place: Place, troubles: Sequence[Trouble]) -> Alert:
    """The alert for what is wrong now; with no troubles, that it is over."""
    first = f"{troubles[0].where}: {troubles[0].text}" if troubles else "nothing is wrong any more"
    more = f" (and {len(troubles) - 1} more)" if len(troubles) > 1 else ""
    text = f"rocketlens {about} of {place}: {first}{more}"
    return Alert(about, str(place), bool(troubles), text, len(troubles), tuple(troubles[:MOST_TROUBLES]))


def tell_of_lake(
    webhook: str,
    lake: Place,
    about: str,
    troubles: Sequence[Trouble],
    looked_at: Callable[[Trouble], bool] = lambda told: True,
) -> str | None:
    """Post the troubles of a lake, unless the last post had them all and no others.

    Returns None, or in words why nothing could be posted. New troubles stand first. Troubles that could not be posted
    count as new the next time.

    Args:
        looked_at: whether a trouble that was posted before would be among `troubles` if it were still there; a trouble
            that was not looked at goes on.
    """
    known = _told(lake)
    told = known.get(about, [])
    now = list(dict.fromkeys([*troubles, *(trouble for trouble in told if not looked_at(trouble))]))
    if set(now) == set(told):
        return None
    now.sort(key=lambda trouble: trouble in set(told))
    why = post(webhook, alert_of(about, lake, now))
    return why if why is not None else _remember(lake, {**known, about: now})


def post(webhook: str, alert: Alert) -> str | None:
    """Post one alert; why that was not possible, in words that do not repeat the address, or None."""
    body = json.dumps(asdict(alert)).encode()
    headers = {"Content-Type": "application/json", "User-Agent": "rocketlens"}
    why = None
    for pause in PAUSES_S:
        time.sleep(pause)
        why = _posted(Request(webhook, data=body, headers=headers, method="POST"))
        if why is None:
            return None
    return f"the webhook at {urlsplit(webhook).hostname} was not told: {why}"


class _Stay(HTTPRedirectHandler):
    """Follows no redirection: what is posted would be asked for there instead, without its body."""

    def redirect_request(self, *of_the_answer: object) -> None:
        return None


def _posted(request: Request) -> str | None:
    try:
        with build_opener(_Stay).open(request, timeout=TIMEOUT_S):
            return None
    except HTTPError as refused:
        return f"it answers {refused.code}"
    except HTTPException as strange:
        return f"what answers there is no web server ({type(strange).__name__})"
    except (URLError, OSError, ValueError) as error:
        reason = error.reason if isinstance(error, URLError) else error
        return str(getattr(reason, "strerror", None) or reason)


def _told(lake: Place) -> dict[str, list[Trouble]]:
    """The troubles that were posted last, by command; empty where the file cannot be read, so that all are posted
    again."""
    try:
        known = json.loads((lake / TOLD).read_text("utf-8"))
        return {about: [Trouble(**trouble) for trouble in troubles] for about, troubles in known.items()}
    except (OSError, ValueError, TypeError, AttributeError):
        return {}


def _remember(lake: Place, told: Mapping[str, Sequence[Trouble]]) -> str | None:
    """Keep the troubles that were posted. Returns None, or in words why that was not possible."""
    kept = {about: [asdict(one) for one in troubles] for about, troubles in told.items()}
    try:
        write_whole(lake / TOLD, json.dumps(kept))
    except OSError as refused:
        return f"{lake / TOLD}: what the webhook was told cannot be kept ({refused.strerror}): it will be told again"
    return None
