"""How the server of an object store is reached: the table [lake.storage] of `rocketlens.toml` over the environment.

The usual variables count, as S3's own tools read them (AWS_ENDPOINT_URL, AWS_REGION, AWS_ACCESS_KEY_ID,
AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN, and the roles of machines and containers). obstore reads and writes objects,
deltalake the logs of tables; both speak through the same library, and take the same settings.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from functools import lru_cache
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from obstore.store import S3Store

TEXTS = ("endpoint", "region", "access_key_id", "secret_access_key", "session_token")
"""Settings of S3's own."""
NUMBERS = ("max_retries", "retry_timeout_s")
"""How often, and for how many seconds at most, a request is tried again that the server did not answer or failed at."""
DEFAULTS: Mapping[str, int] = {"max_retries": 10, "retry_timeout_s": 60}
ENDPOINT_VARIABLES = ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_ENDPOINT")


@dataclass(frozen=True, slots=True, order=True)
class Storage:
    """Settings of one server, as pairs; nothing of them is ever printed. It travels to Spark's workers."""

    settings: tuple[tuple[str, str | int], ...] = field(default=(), repr=False)

    @classmethod
    def read(cls, table: Mapping[str, Any]) -> Storage:
        """The settings in [lake.storage]. Raises ValueError: one sentence that repeats no value of a secret."""
        for key, value in table.items():
            if key not in (*TEXTS, *NUMBERS):
                raise ValueError(f"[lake.storage]: unknown key {key!r} (known: {', '.join((*TEXTS, *NUMBERS))})")
            if key in TEXTS and (not isinstance(value, str) or not value or not value.isprintable()):
                raise ValueError(f"[lake.storage]: {key} must be text in quotes")
            if key in NUMBERS and (type(value) is not int or value < 0):
                raise ValueError(f"[lake.storage]: {key} must be a whole number from 0")
        return cls(tuple(sorted(table.items())))

    @property
    def is_said(self) -> bool:
        """Whether rocketlens.toml says anything."""
        return bool(self.settings)

    def for_delta(self) -> dict[str, str]:
        """Options of deltalake. The same server is spoken to in the same way."""
        config, retries = self._config(), self._retries()
        options = {f"aws_{name}": str(value) for name, value in config.items()}
        return options | {
            "allow_http": str(self._is_plain_http()).lower(),
            "aws_conditional_put": "etag",
            "max_retries": str(retries["max_retries"]),
            "retry_timeout": f"{retries['retry_timeout_s']}s",
        }

    def open(self, bucket: str) -> S3Store:
        """The bucket, whose server is asked nothing yet."""
        return _opened(self, bucket, self._endpoint())

    def _config(self) -> dict[str, Any]:
        said = {name: value for name, value in self.settings if name in TEXTS}
        endpoint = self._endpoint()
        return said | ({} if endpoint is None else {"endpoint": endpoint})

    def _endpoint(self) -> str | None:
        said = dict(self.settings).get("endpoint")
        named = (os.environ.get(name) for name in ENDPOINT_VARIABLES)
        return str(said) if said is not None else next((address for address in named if address), None)

    def _is_plain_http(self) -> bool:
        """An address of http:// is meant so; every other one is spoken to over TLS."""
        return (self._endpoint() or "").startswith("http://")

    def _retries(self) -> dict[str, int]:
        return {name: int(dict(self.settings).get(name, DEFAULTS[name])) for name in NUMBERS}


@lru_cache(maxsize=64)
def _opened(storage: Storage, bucket: str, endpoint: str | None) -> S3Store:
    from obstore.store import S3Store

    retries, config = storage._retries(), cast("Any", storage._config())
    return S3Store(
        bucket,
        config=config,
        client_options={"allow_http": storage._is_plain_http()},
        retry_config={
            "max_retries": retries["max_retries"],
            "retry_timeout": timedelta(seconds=retries["retry_timeout_s"]),
        },
    )
