"""The protocols that object stores are spoken to in, declared once: addresses, settings, and the libraries' names."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from obstore.store import AzureStore, S3Store

PATH = r"(/[A-Za-z0-9._=+@/-]*)?"
"""No character that a URL, a pattern or a reader of either takes for another one."""


@dataclass(frozen=True, slots=True)
class Protocol:
    """One protocol.

    Attributes:
        written: how its addresses are written, for a sentence.
        address: what an address is, whole.
        texts: settings of [lake.storage] that are texts, as obstore names them.
        endpoint_variables: variables of the environment that name the server, the first that is set.
        delta_prefix: what deltalake puts before the name of a setting.
        delta_options: what else deltalake needs.
    """

    written: str
    address: re.Pattern[str]
    texts: tuple[str, ...]
    endpoint_variables: tuple[str, ...]
    delta_prefix: str
    delta_options: Mapping[str, str] = field(default_factory=dict)

    def open(self, bucket: str, config: dict[str, Any], **options: Any) -> S3Store | AzureStore:
        """The bucket, whose server is asked nothing yet."""
        from obstore.store import S3Store

        return S3Store(bucket, config=config, **options)  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class AzureProtocol(Protocol):
    """A bucket is a container, `container@account.dfs.core.windows.net` where its address names the account, too."""

    def open(self, bucket: str, config: dict[str, Any], **options: Any) -> S3Store | AzureStore:
        from obstore.store import AzureStore

        container, _, host = bucket.partition("@")
        account = {"account_name": host.partition(".")[0]} if host else {}
        return AzureStore(container, config=account | config, **options)  # type: ignore[arg-type]


S3 = Protocol(
    written="s3://bucket/folder",
    address=re.compile(rf"s3://[A-Za-z0-9][A-Za-z0-9._-]*{PATH}"),
    texts=("endpoint", "region", "access_key_id", "secret_access_key", "session_token"),
    endpoint_variables=("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_ENDPOINT"),
    delta_prefix="aws_",
    delta_options={"aws_conditional_put": "etag"},
)
AZURE = AzureProtocol(
    written="az://container/folder or abfss://container@account.dfs.core.windows.net/folder",
    address=re.compile(
        rf"(az://[a-z0-9$][a-z0-9-]*|abfss?://[a-z0-9$][a-z0-9-]*@[a-z0-9]+\.dfs\.core\.windows\.net){PATH}"
    ),
    texts=("endpoint", "account_name", "account_key", "sas_key", "tenant_id", "client_id", "client_secret"),
    endpoint_variables=("AZURE_STORAGE_ENDPOINT", "AZURE_ENDPOINT"),
    delta_prefix="azure_storage_",
)
PROTOCOLS: Mapping[str, Protocol] = {"s3": S3, "az": AZURE, "abfs": AZURE, "abfss": AZURE}
"""By the schemes of their addresses. Not gs://: Google's store takes conditions in words of its own, which no server
that can be had for tests answers."""
HOW_WRITTEN = " or ".join(dict.fromkeys(each.written for each in PROTOCOLS.values()))


def scheme_of(address: str) -> str | None:
    """The scheme of an address in one of these protocols; None of anything else."""
    scheme, separator, _ = address.partition("://")
    return scheme if separator and scheme in PROTOCOLS else None
