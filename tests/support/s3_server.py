"""A server of S3's protocol in this process (moto's), which can be told to fail."""

from __future__ import annotations

import logging
import socket
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.request import Request, urlopen

import pytest
from moto.server import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import make_server

Environ = dict[str, Any]
WELL = None
"""What a fault says of a request that is answered."""
KEYS = {
    "AWS_ACCESS_KEY_ID": "key-of-the-test",
    "AWS_SECRET_ACCESS_KEY": "secret-of-the-test",
    "AWS_REGION": "us-east-1",
}


@dataclass
class S3Server:
    """A server that runs, and what it was asked.

    Attributes:
        fault: asked before each request: WELL, a status to answer with instead ("500 …"), or `drop before`, `drop
            after`: the connection is lost before the request is carried out, or after it, without an answer.
        asked: method, path and range of each request, in order.
    """

    url: str = ""
    fault: Callable[[Environ], str | None] = lambda environ: WELL
    asked: list[tuple[str, str, str | None]] = field(default_factory=list)
    _one_at_a_time: threading.Lock = field(default_factory=threading.Lock)
    _answering: Any = field(default_factory=lambda: DomainDispatcherApplication(create_backend_app))

    def __call__(self, environ: Environ, start_response: Callable[..., Any]) -> Iterable[bytes]:
        with self._one_at_a_time:  # moto looks at a condition and writes in two steps
            self.asked.append((environ["REQUEST_METHOD"], environ["PATH_INFO"], environ.get("HTTP_RANGE")))
            fault = self.fault(environ)
            if fault == "drop after":
                self.answer(environ)
            if fault in ("drop before", "drop after"):
                environ["werkzeug.socket"].shutdown(socket.SHUT_RDWR)
                raise ConnectionAbortedError
            if fault is not None:
                start_response(fault, [("Content-Type", "application/xml")])
                return [b"<?xml version='1.0'?><Error><StringToSign>secret-of-the-test</StringToSign></Error>"]
            return list(self._answering(environ, start_response))

    def answer(self, environ: Environ) -> None:
        """Carry a request out and tell nobody."""
        list(self._answering(environ, lambda *of_the_answer: None))

    def bucket(self, name: str) -> str:
        """Make a bucket; its address."""
        with urlopen(Request(f"{self.url}/{name}", method="PUT", headers={"Authorization": "AWS x"})) as answer:
            assert answer.status == 200
        return f"s3://{name}"


@contextmanager
def s3_server() -> Iterator[S3Server]:
    """A server that the settings of the environment lead to, while it runs."""
    logging.getLogger("werkzeug").setLevel(logging.CRITICAL)
    server = S3Server()
    listening = make_server("127.0.0.1", 0, server, threaded=True)
    server.url = f"http://127.0.0.1:{listening.server_port}"
    thread = threading.Thread(target=listening.serve_forever, daemon=True)
    thread.start()
    try:
        with pytest.MonkeyPatch.context() as patched:
            for name, value in {**KEYS, "AWS_ENDPOINT_URL": server.url}.items():
                patched.setenv(name, value)
            yield server
    finally:
        listening.shutdown()
        thread.join()
