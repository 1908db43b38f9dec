"""A real server, named by NOVELO_URL, and a proxy that breaks connections to it."""

import json
import os
import socket
import threading
import uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Callable, Dict, Iterator, List, Optional, Tuple
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


class Upstream:
    """A model's server that calls the tools that it is offered, and answers with what they returned."""

    def __init__(self) -> None:
        self.asked: List[Dict[str, Any]] = []
        upstream = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                upstream.asked.append(body)
                answer = json.dumps(upstream.complete(body)).encode()
                self.send_response(200)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

            def log_message(self, format: str, *args: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/v1"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def complete(self, body: Dict[str, Any]) -> Dict[str, Any]:
        messages = body["messages"]
        last = max(at for at, message in enumerate(messages) if message["role"] == "user")
        results = [message["content"] for message in messages[last:] if message["role"] == "tool"]
        said: Dict[str, Any] = {"role": "assistant", "content": None}
        if results:
            said["content"] = f"It is {' and '.join(results)}."
        elif body.get("tools"):
            function = {"name": body["tools"][0]["function"]["name"], "arguments": '{"city": "Bel\\u00e9m"}'}
            said["tool_calls"] = [{"id": f"call_{len(self.asked)}", "type": "function", "function": function}]
        else:
            said["content"] = f"You said: {messages[last]['content']}"
        reason = "tool_calls" if "tool_calls" in said else "stop"
        return {
            "id": "x", "object": "chat.completion", "created": 1, "model": "scripted",
            "choices": [{"index": 0, "message": said, "finish_reason": reason}],
            "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
        }

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def upstream() -> Iterator[Upstream]:
    upstream = Upstream()
    yield upstream
    upstream.close()
