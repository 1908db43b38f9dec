"""A request before it is sent, whether it may be repeated, and what an answer means.

Nothing here sends: the clients of both kinds share it.
"""

from __future__ import annotations

import json
import random
import uuid
from dataclasses import dataclass, field
from typing import Any, AsyncIterable, Dict, Iterable, List, Mapping, Optional, Sequence, TypeVar, Union
from urllib.parse import quote

import httpx

from ._codes import CODES
from ._errors import ApiError, BadAnswer, ConnectionFailed, ConnectionLost, NoveloError, TimedOut

RETRY_WAIT_S_MAX = 30.0
"""A server that asks for a longer pause gets no second request; the caller decides."""
BACKOFF_S = 0.2
BACKOFF_S_MAX = 5.0

# Refused before anything was done, so that any request may be sent again.
NOT_STARTED = {"busy", "rate_limited"}
# Refused for now; a request that may be repeated is.
FOR_NOW = {"timeout", "unavailable", "read_only"} | NOT_STARTED
GATEWAY = {502, 503, 504}

Path = Union[str, Sequence[str]]
"""The path of a document: `"a/b/c/d"`, or its segments where one has a slash in it."""
Lines = Union[str, bytes, Iterable[Union[str, bytes]]]
"""JSON Lines: a whole text, or line by line."""
AsyncLines = Union[Lines, AsyncIterable[Union[str, bytes]]]
T = TypeVar("T")


class Omit:
    """The type of `OMIT`: an argument that is not given, where None means null."""

    def __repr__(self) -> str:
        return "OMIT"


OMIT = Omit()


def unset(value: Optional[T]) -> Union[T, Omit]:
    """An argument that is not given where it is None."""
    return OMIT if value is None else value


def segment(name: str, value: Any) -> str:
    """One percent-encoded segment of an address."""
    if not isinstance(value, str):
        raise TypeError(f"{name} must be a str, not {type(value).__name__}")
    if not value:
        raise ValueError(f"{name} is empty")
    try:
        # A segment of dots only would be taken for a step in the tree.
        return quote(value, safe="") if value.strip(".") else value.replace(".", "%2E")
    except UnicodeEncodeError:
        raise ValueError(f"{name} is not valid Unicode") from None


def address(template: str, given: Mapping[str, Any]) -> str:
    out = template
    for name, value in given.items():
        if name == "path":
            parts = value.split("/") if isinstance(value, str) else list(value)
            if not parts:
                raise ValueError("path is empty")
            encoded = "/".join(segment("a segment of the path", part) for part in parts)
        else:
            encoded = segment(name, value)
        out = out.replace(f"{{{name}}}", encoded)
    return out


def to_json(value: Any) -> bytes:
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        return text.encode("utf-8")
    except (TypeError, ValueError, RecursionError) as error:
        raise ValueError(f"the request cannot be written as JSON: {error}") from error


@dataclass
class Request:
    """One call of the API."""

    method: str
    template: str
    given: Mapping[str, Any] = field(default_factory=dict)
    query: Mapping[str, Any] = field(default_factory=dict)
    headers: Mapping[str, Any] = field(default_factory=dict)
    members: Optional[Dict[str, Any]] = None
    json: Any = OMIT
    lines: Any = None
    repeatable: bool = True
    named: Optional[str] = None

    def __post_init__(self) -> None:
        self.path = address(self.template, self.given)
        self.sent_headers: Dict[str, str] = {}
        for name, value in self.headers.items():
            if value is not None:
                # Names of threads are percent-encoded, as in an address.
                self.sent_headers[name] = segment("thread", value) if name == "X-Novelo-Thread" else header(name, value)
        self.content = self._content()
        if "If-Match" in self.sent_headers:
            # Done and lost looks like refused when it is sent again.
            self.repeatable = False

    def _content(self) -> Any:
        if self.lines is not None:
            self.sent_headers["content-type"] = "application/x-ndjson"
            if isinstance(self.lines, str):
                return self.lines.encode("utf-8")
            if isinstance(self.lines, bytes):
                return self.lines
            if isinstance(self.lines, (list, tuple)):
                return b"".join(encoded_lines(self.lines))
            self.repeatable = False
            return self.lines
        if self.members is not None:
            body = {name: value for name, value in self.members.items() if value is not OMIT}
            if self.named and self.named not in body:
                body[self.named] = uuid.uuid4().hex
            self._name_append(body)
            self.json = body
        if self.json is OMIT:
            return None
        self.sent_headers["content-type"] = "application/json"
        return to_json(self.json)

    def _name_append(self, body: Mapping[str, Any]) -> None:
        """Gives an append a key, so that the server knows it again."""
        if "Idempotency-Key" in self.headers and "Idempotency-Key" not in self.sent_headers:
            if not all(isinstance(m, Mapping) and m.get("id") for m in body.get("messages", [])):
                self.sent_headers["Idempotency-Key"] = uuid.uuid4().hex

    @property
    def params(self) -> Dict[str, str]:
        return {name: text_of(value) for name, value in self.query.items() if value is not None}

    def __str__(self) -> str:
        return f"{self.method} {self.path}"


def text_of(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def header(name: str, value: Any) -> str:
    text = str(value)
    if not text.isascii() or not text.isprintable():
        raise ValueError(f"the header {name} takes printable ASCII only")
    return text


def encoded_lines(lines: Iterable[Union[str, bytes]]) -> Iterable[bytes]:
    """Each with its line feed."""
    for line in lines:
        encoded = line.encode("utf-8") if isinstance(line, str) else line
        yield encoded if encoded.endswith(b"\n") else encoded + b"\n"


def transport_error(request: Request, base_url: str, error: httpx.HTTPError) -> NoveloError:
    """What an exception of httpx means to the caller."""
    if isinstance(error, (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout, httpx.ProxyError)):
        return ConnectionFailed(f"cannot reach {base_url}: {error or type(error).__name__}")
    if isinstance(error, httpx.TimeoutException):
        return TimedOut(f"{request}: {base_url} did not answer in time")
    return ConnectionLost(f"{request}: the connection to {base_url} broke: {error or type(error).__name__}")


def api_error(status: int, headers: Mapping[str, str], content: bytes) -> ApiError:
    """The error that an answer holds."""
    body: Any = None
    try:
        body = json.loads(content)
    except ValueError:
        pass
    said = body.get("error") if isinstance(body, dict) else None
    about: Dict[str, Any] = said if isinstance(said, dict) else {}
    message = about.get("message") or (said if isinstance(said, str) else content[:200].decode("utf-8", "replace").strip())
    code = about.get("code")
    kind = CODES.get(code, ApiError) if isinstance(code, str) else ApiError
    return kind(
        str(message or "no message"),
        status=status,
        code=code,
        param=about.get("param"),
        request_id=headers.get("x-request-id"),
        retry_after=retry_after(headers),
        body=body,
    )


def retry_after(headers: Mapping[str, str]) -> Optional[float]:
    try:
        if "retry-after-ms" in headers:
            return float(headers["retry-after-ms"]) / 1000
        return float(headers["retry-after"])
    except (KeyError, ValueError):
        return None


def may_repeat(request: Request, error: NoveloError) -> bool:
    if isinstance(error, ConnectionFailed):
        return True
    if isinstance(error, ConnectionLost):
        return request.repeatable
    if not isinstance(error, ApiError):
        return False
    if error.retry_after is not None and error.retry_after > RETRY_WAIT_S_MAX:
        return False
    if not request.repeatable:
        return error.code in NOT_STARTED
    return error.code in FOR_NOW or (error.code is None and error.status in GATEWAY)


def pause_s(attempt: int, error: Optional[NoveloError]) -> float:
    """How long to wait before the next attempt."""
    asked = error.retry_after if isinstance(error, ApiError) else None
    if asked is not None:
        return asked
    return min(BACKOFF_S * 2.0**attempt, BACKOFF_S_MAX) * random.uniform(0.5, 1.0)


def answer_json(request: Request, response: httpx.Response) -> Any:
    try:
        return response.json()
    except ValueError:
        raise BadAnswer(f"{request}: the answer is not JSON; is this a Novelo server?") from None


def check_status(response: httpx.Response, content: bytes) -> None:
    if response.status_code >= 400:
        raise api_error(response.status_code, response.headers, content)
    if not 200 <= response.status_code < 300:
        raise BadAnswer(f"the server answered {response.status_code}, which Novelo never does")


def base_address(base_url: str) -> str:
    try:
        url = httpx.URL(base_url)
    except (httpx.InvalidURL, TypeError) as error:
        raise ValueError(f"base_url is not an address: {error}") from None
    if url.scheme not in ("http", "https") or not url.host:
        raise ValueError(f"base_url must be http://… or https://…, not {base_url!r}")
    if url.query or url.fragment:
        raise ValueError("base_url has a query or a fragment")
    return str(base_url).rstrip("/")


def entries_of(page: Mapping[str, Any], key: str) -> List[Dict[str, Any]]:
    """The entries of a page."""
    if key not in page:
        raise ValueError("the path names a document, not a collection")
    entries: List[Dict[str, Any]] = page[key]
    return entries
