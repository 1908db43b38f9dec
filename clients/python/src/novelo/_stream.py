"""Streams: events that are resumed where a connection broke, and the lines of an export."""

from __future__ import annotations

import asyncio
import json
import re
import time
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Any, AsyncIterator, Dict, Iterator, List, Optional, Type

import httpx

from ._errors import ApiError, BadAnswer, ConnectionLost, NoveloError
from ._request import Request, api_error, may_repeat, pause_s, transport_error

if TYPE_CHECKING:
    from ._base import AsyncBase, Base

LAST = {"done", "response.completed", "response.failed", "response.incomplete", "response.cancelled"}
MISSED = re.compile(rb"^: missed (\d+) events")


@dataclass(frozen=True)
class Event:
    """One event of a stream."""

    event: str
    """Its name, such as `text` or `done`; `message` where it has none."""
    data: Any
    """Its data, which is JSON."""
    id: Optional[str] = None


class EventReader:
    """Bytes in, events out; knows the last id and whether the stream has come to its end."""

    def __init__(self) -> None:
        self.last_id: Optional[str] = None
        self.ended = False
        self._clear()

    def reconnected(self) -> None:
        self._clear()

    def _clear(self) -> None:
        self._rest = b""
        self._id: Optional[str] = None
        self._event: Optional[str] = None
        self._data: List[bytes] = []

    def feed(self, chunk: bytes) -> Iterator[Event]:
        *lines, self._rest = (self._rest + chunk).split(b"\n")
        for line in lines:
            event = self._line(line.rstrip(b"\r"))
            if event is not None:
                yield event
            if self.ended:
                return

    def _line(self, line: bytes) -> Optional[Event]:
        if not line:
            return self._dispatch()
        missed = MISSED.match(line)
        if missed:
            return Event("missed", {"events": int(missed.group(1))})
        name, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if name == b"id":
            self._id = value.decode("utf-8", "replace")
        elif name == b"event":
            self._event = value.decode("utf-8", "replace")
        elif name == b"data":
            self._data.append(value)
        return None

    def _dispatch(self) -> Optional[Event]:
        name, data, event_id = self._event, b"\n".join(self._data), self._id
        self._event, self._data, self._id = None, [], None
        if event_id:
            self.last_id = event_id
        if not data:
            return None
        if data == b"[DONE]":
            self.ended = True
            return None
        try:
            value = json.loads(data)
        except ValueError:
            raise BadAnswer("an event of the stream is not JSON") from None
        if isinstance(value, dict) and (name == "error" or (name is None and isinstance(value.get("error"), dict))):
            self.ended = True
            body = value if "error" in value else {"error": value}
            raise api_error(200, {}, json.dumps(body).encode())
        self.ended = name in LAST
        return Event(name or "message", value, event_id)

    def headers(self, request: Request) -> Dict[str, str]:
        resume = {"last-event-id": self.last_id} if self.last_id else {}
        return {**request.sent_headers, "accept": "text/event-stream", **resume}

    def lost(self, request: Request, why: Optional[NoveloError]) -> NoveloError:
        """The error to raise if the stream is not resumed."""
        if isinstance(why, ApiError) and why.code == "not_found" and self.last_id:
            return ConnectionLost(f"{request}: the stream broke off and can no longer be resumed")
        return why or ConnectionLost(f"{request}: the stream ended before its last event")

    def may_resume(self, request: Request, why: Optional[NoveloError]) -> bool:
        if isinstance(why, ConnectionLost) or why is None:
            return self.last_id is not None
        # Reading on is always safe; the first request only as others are.
        return may_repeat(request, why)


class EventStream:
    """The events of an answer that is being made.

    Use it in a `with` block, or read it to its end. A connection that breaks is opened again and the stream continues after the
    last event that was read. Events that the server no longer has are replaced by one called `missed`. An answer that fails is
    an `ApiError`.
    """

    def __init__(self, client: "Base", request: Request) -> None:
        self._client = client
        self._request = request
        self._reader = EventReader()
        self._response: Optional[httpx.Response] = None
        self._events = self._read()

    def _read(self) -> Iterator[Event]:
        reader, attempt = self._reader, 0
        while not reader.ended:
            why: Optional[NoveloError] = None
            try:
                for event in self._connection():
                    attempt = 0
                    yield event
            except NoveloError as error:
                why = error
            if reader.ended and why is None:
                return
            if reader.ended or attempt >= self._client.max_retries or not reader.may_resume(self._request, why):
                raise reader.lost(self._request, why)
            time.sleep(pause_s(attempt, why))
            attempt += 1

    def _connection(self) -> Iterator[Event]:
        self._reader.reconnected()
        self._response = self._client._open(self._request, self._reader.headers(self._request))
        try:
            for chunk in self._response.iter_bytes():
                yield from self._reader.feed(chunk)
                if self._reader.ended:
                    return
        except httpx.HTTPError as error:
            raise transport_error(self._request, self._client.base_url, error) from error
        finally:
            self._response.close()

    def __iter__(self) -> Iterator[Event]:
        return self._events

    def __next__(self) -> Event:
        return next(self._events)

    def close(self) -> None:
        """Stops reading. The server ends the answer, unless it is read on within its patience."""
        if self._response is not None:
            self._response.close()
        self._reader.ended = True

    def __enter__(self) -> "EventStream":
        return self

    def __exit__(
        self, kind: Optional[Type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        self.close()


class AsyncEventStream:
    """As `EventStream`, for `async with` and `async for`."""

    def __init__(self, client: "AsyncBase", request: Request) -> None:
        self._client = client
        self._request = request
        self._reader = EventReader()
        self._response: Optional[httpx.Response] = None
        self._events = self._read()

    async def _read(self) -> AsyncIterator[Event]:
        reader, attempt = self._reader, 0
        while not reader.ended:
            why: Optional[NoveloError] = None
            try:
                async for event in self._connection():
                    attempt = 0
                    yield event
            except NoveloError as error:
                why = error
            if reader.ended and why is None:
                return
            if reader.ended or attempt >= self._client.max_retries or not reader.may_resume(self._request, why):
                raise reader.lost(self._request, why)
            await asyncio.sleep(pause_s(attempt, why))
            attempt += 1

    async def _connection(self) -> AsyncIterator[Event]:
        self._reader.reconnected()
        self._response = await self._client._open(self._request, self._reader.headers(self._request))
        try:
            async for chunk in self._response.aiter_bytes():
                for event in self._reader.feed(chunk):
                    yield event
                if self._reader.ended:
                    return
        except httpx.HTTPError as error:
            raise transport_error(self._request, self._client.base_url, error) from error
        finally:
            await self._response.aclose()

    def __aiter__(self) -> AsyncIterator[Event]:
        return self._events

    async def __anext__(self) -> Event:
        return await self._events.__anext__()

    async def close(self) -> None:
        """Stops reading. The server ends the answer, unless it is read on within its patience."""
        if self._response is not None:
            await self._response.aclose()
        self._reader.ended = True

    async def __aenter__(self) -> "AsyncEventStream":
        return self

    async def __aexit__(
        self, kind: Optional[Type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        await self.close()


class LineStream:
    """The lines of an export, one JSON text each. A connection that breaks is a `ConnectionLost`, never a short export."""

    def __init__(self, client: "Base", request: Request) -> None:
        self._client = client
        self._request = request

    def __iter__(self) -> Iterator[str]:
        response = self._client._open(self._request, self._request.sent_headers)
        rest = b""
        try:
            for chunk in response.iter_bytes():
                *lines, rest = (rest + chunk).split(b"\n")
                for line in lines:
                    yield line.decode("utf-8")
            if rest:
                yield rest.decode("utf-8")
        except httpx.HTTPError as error:
            raise transport_error(self._request, self._client.base_url, error) from error
        finally:
            response.close()


class AsyncLineStream:
    """As `LineStream`, for `async for`."""

    def __init__(self, client: "AsyncBase", request: Request) -> None:
        self._client = client
        self._request = request

    async def __aiter__(self) -> AsyncIterator[str]:
        response = await self._client._open(self._request, self._request.sent_headers)
        rest = b""
        try:
            async for chunk in response.aiter_bytes():
                *lines, rest = (rest + chunk).split(b"\n")
                for line in lines:
                    yield line.decode("utf-8")
            if rest:
                yield rest.decode("utf-8")
        except httpx.HTTPError as error:
            raise transport_error(self._request, self._client.base_url, error) from error
        finally:
            await response.aclose()

