"""A real server, named by NOVELO_URL, and a proxy that breaks connections to it."""

import os
import socket
import threading
import uuid
from typing import Callable, Iterator, List, Optional, Tuple
from urllib.parse import urlsplit

import pytest

from novelo import Novelo


@pytest.fixture(scope="session")
def url() -> str:
    url = os.environ.get("NOVELO_URL")
    if not url:
        pytest.fail("NOVELO_URL names no server: NOVELO_URL=http://127.0.0.1:7420 pytest clients/python/tests")
    return url


@pytest.fixture
def client(url: str) -> Iterator[Novelo]:
    with Novelo(url) as client:
        yield client


@pytest.fixture
def user() -> str:
    """A user of this test alone."""
    return f"ana-{uuid.uuid4().hex}"


class Cut:
    """What happens to a connection: how much of the answer passes before it is closed."""

    def __init__(self, after: Optional[Callable[[bytes], Optional[int]]] = None) -> None:
        self.after = after
        """What was answered so far; the bytes of it that pass, or None to go on."""


UNANSWERED = Cut(after=lambda _: 0)
"""The server does the request, and its answer is lost."""


class Proxy:
    """Passes bytes on to the server; the first connections are broken as planned."""

    def __init__(self, url: str) -> None:
        target = urlsplit(url)
        self._target = (str(target.hostname), int(target.port or 80))
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self.plan: List[Cut] = []
        self.connections = 0
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                near, _ = self._listener.accept()
            except OSError:
                return
            self.connections += 1
            cut = self.plan.pop(0) if self.plan else Cut()
            far = socket.create_connection(self._target)
            # A server without keys answers to its own name alone.
            names = (urlsplit(self.url).netloc.encode(), "{}:{}".format(*self._target).encode())
            threading.Thread(target=self._pass, args=(near, far, None, names), daemon=True).start()
            threading.Thread(target=self._pass, args=(far, near, cut.after), daemon=True).start()

    @staticmethod
    def _pass(
        source: socket.socket,
        sink: socket.socket,
        after: Optional[Callable[[bytes], Optional[int]]],
        names: Tuple[bytes, bytes] = (b"", b""),
    ) -> None:
        seen = b""
        try:
            while chunk := source.recv(65536):
                passed, seen = len(seen), seen + chunk
                limit = after(seen) if after is not None else None
                if limit is not None:
                    sink.sendall(seen[passed:limit])
                    break
                sink.sendall(chunk.replace(*names) if names[0] else chunk)
        except OSError:
            pass
        for end in (source, sink):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def close(self) -> None:
        self._listener.close()


@pytest.fixture
def proxy(url: str) -> Iterator[Proxy]:
    proxy = Proxy(url)
    yield proxy
    proxy.close()


@pytest.fixture
def gone() -> str:
    """An address at which nothing listens."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return f"http://127.0.0.1:{listener.getsockname()[1]}"
