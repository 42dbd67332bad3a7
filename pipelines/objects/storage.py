"""How the server of an object store is reached: the table [lake.storage] of `rocketlens.toml` over the environment.

The usual variables count, as each store's own tools read them (AWS_ENDPOINT_URL, AWS_REGION, AWS_ACCESS_KEY_ID,
AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN; AZURE_STORAGE_ACCOUNT_NAME, AZURE_STORAGE_ACCOUNT_KEY, AZURE_STORAGE_SAS_KEY,
AZURE_TENANT_ID, AZURE_CLIENT_ID, AZURE_CLIENT_SECRET; and the roles of machines and containers). obstore reads and
writes objects, deltalake the logs of tables; both speak through the same library, and take the same settings.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from pipelines.objects.protocols import PROTOCOLS, Protocol

if TYPE_CHECKING:
    from obstore.store import AzureStore, S3Store

NUMBERS = ("max_retries", "retry_timeout_s")
"""How often, and for how many seconds at most, a request is tried again that the server did not answer or failed at."""
DEFAULTS: Mapping[str, int] = {"max_retries": 10, "retry_timeout_s": 60}


@dataclass(frozen=True, slots=True, order=True)
class Storage:
    """Settings of one server, as pairs; nothing of them is ever printed. It travels to Spark's workers."""

    settings: tuple[tuple[str, str | int], ...] = field(default=(), repr=False)
    scheme: str = "s3"

    @classmethod
    def read(cls, table: Mapping[str, Any], scheme: str = "s3") -> Storage:
        """The settings in [lake.storage]. Raises ValueError: one sentence that repeats no value of a secret."""
        texts = PROTOCOLS[scheme].texts
        for key, value in table.items():
            if key not in (*texts, *NUMBERS):
                known = ", ".join((*texts, *NUMBERS))
                raise ValueError(f"[lake.storage]: unknown key {key!r} for {scheme}:// (known: {known})")
            if key in texts and (not isinstance(value, str) or not value or not value.isprintable()):
                raise ValueError(f"[lake.storage]: {key} must be text in quotes")
            if key in NUMBERS and (type(value) is not int or value < 0):
                raise ValueError(f"[lake.storage]: {key} must be a whole number from 0")
        return cls(tuple(sorted(table.items())), scheme)

    @property
    def protocol(self) -> Protocol:
        return PROTOCOLS[self.scheme]

    def for_delta(self) -> dict[str, str]:
        """Options of deltalake. The same server is spoken to in the same way."""
        retries = self._retries()
        options = {f"{self.protocol.delta_prefix}{name}": str(value) for name, value in self._config().items()}
        return {
            **options,
            **self.protocol.delta_options,
            "allow_http": str(self._is_plain_http()).lower(),
            "max_retries": str(retries["max_retries"]),
            "retry_timeout": f"{retries['retry_timeout_s']}s",
        }

    def open(self, bucket: str) -> S3Store | AzureStore:
        """The bucket, whose server is asked nothing yet."""
        return _opened(self, bucket, self._endpoint())

    def _config(self) -> dict[str, Any]:
        said = {name: value for name, value in self.settings if name in self.protocol.texts}
        endpoint = self._endpoint()
        return said | ({} if endpoint is None else {"endpoint": endpoint})

    def _endpoint(self) -> str | None:
        said = dict(self.settings).get("endpoint")
        named = (os.environ.get(name) for name in self.protocol.endpoint_variables)
        return str(said) if said is not None else next((address for address in named if address), None)

    def _is_plain_http(self) -> bool:
        """An address of http:// is meant so; every other one is spoken to over TLS."""
        return (self._endpoint() or "").startswith("http://")

    def _retries(self) -> dict[str, int]:
        return {name: int(dict(self.settings).get(name, DEFAULTS[name])) for name in NUMBERS}


@lru_cache(maxsize=64)
def _opened(storage: Storage, bucket: str, endpoint: str | None) -> S3Store | AzureStore:
    retries = storage._retries()
    return storage.protocol.open(
        bucket,
        storage._config(),
        client_options={"allow_http": storage._is_plain_http()},
        retry_config={
            "max_retries": retries["max_retries"],
            "retry_timeout": timedelta(seconds=retries["retry_timeout_s"]),
        },
    )
