"""Sending requests, again where that is safe."""

from __future__ import annotations

import asyncio
import time
from typing import Any, AsyncIterable, AsyncIterator, Dict, Iterable, Mapping, Optional, Union

import httpx

from ._errors import NoveloError
from ._request import (
    Request,
    answer_json,
    base_address,
    check_status,
    encoded_lines,
    entries_of,
    may_repeat,
    pause_s,
    transport_error,
)
from ._stream import AsyncEventStream, AsyncLineStream, EventStream, LineStream

__all__ = ["AsyncBase", "Base", "entries_of"]

Timeout = Union[float, httpx.Timeout]
TIMEOUT = httpx.Timeout(60.0, connect=5.0)


class Settings:
    """What both kinds of client are made with."""

    def __init__(self, base_url: str, api_key: Optional[str], timeout: Timeout, max_retries: int) -> None:
        if not isinstance(max_retries, int) or max_retries < 0:
            raise ValueError("max_retries must be 0 or more")
        self.base_url = base_address(base_url)
        self.timeout = timeout
        self.max_retries = max_retries
        self._api_key = api_key

    def _request(self, http: Any, request: Request, headers: Mapping[str, str], content: Any) -> httpx.Request:
        key = {"authorization": f"Bearer {self._api_key}"} if self._api_key else {}
        built: httpx.Request = http.build_request(
            request.method,
            self.base_url + request.path,
            params=request.params or None,
            headers={"accept": "application/json", **key, **headers},
            content=content,
            timeout=self.timeout,
        )
        return built

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.base_url!r})"


class Base(Settings):
    def __init__(
        self,
        base_url: str = "http://127.0.0.1:7420",
        *,
        api_key: Optional[str] = None,
        timeout: Timeout = TIMEOUT,
        max_retries: int = 2,
        http_client: Optional[httpx.Client] = None,
    ) -> None:
        super().__init__(base_url, api_key, timeout, max_retries)
        self._http = http_client or httpx.Client()

    def _send(self, request: Request, headers: Mapping[str, str], stream: bool) -> httpx.Response:
        """One attempt."""
        content = request.content
        if content is not None and not isinstance(content, bytes):
            content = encoded_lines(content)
        try:
            response = self._http.send(self._request(self._http, request, headers, content), stream=True)
        except httpx.HTTPError as error:
            raise transport_error(request, self.base_url, error) from error
        try:
            if not stream or response.status_code >= 300:
                response.read()
                check_status(response, response.content)
        except httpx.HTTPError as error:
            raise transport_error(request, self.base_url, error) from error
        finally:
            if not stream or response.status_code >= 300:
                response.close()
        return response

    def _call(self, request: Request) -> httpx.Response:
        attempt = 0
        while True:
            try:
                return self._send(request, request.sent_headers, stream=False)
            except NoveloError as error:
                if attempt >= self.max_retries or not may_repeat(request, error):
                    raise
                time.sleep(pause_s(attempt, error))
                attempt += 1

    def _open(self, request: Request, headers: Mapping[str, str]) -> httpx.Response:
        return self._send(request, headers, stream=True)

    def _json(self, request: Request) -> Any:
        return answer_json(request, self._call(request))

    def _text(self, request: Request) -> str:
        return self._call(request).text

    def _lines(self, request: Request) -> LineStream:
        return LineStream(self, request)

    def _stream(self, request: Request) -> EventStream:
        return EventStream(self, request)

    def get_openapi(self) -> Dict[str, Any]:
        """The machine-readable description of the API."""
        description: Dict[str, Any] = self._json(Request("GET", "/openapi.json"))
        return description

    def close(self) -> None:
        """Closes the connections."""
        self._http.close()


class AsyncBase(Settings):
    def __init__(
        self,
        base_url: str = "http://127.0.0.1:7420",
        *,
        api_key: Optional[str] = None,
        timeout: Timeout = TIMEOUT,
        max_retries: int = 2,
        http_client: Optional[httpx.AsyncClient] = None,
    ) -> None:
        super().__init__(base_url, api_key, timeout, max_retries)
        self._http = http_client or httpx.AsyncClient()

    async def _send(self, request: Request, headers: Mapping[str, str], stream: bool) -> httpx.Response:
        """One attempt."""
        content = request.content
        if content is not None and not isinstance(content, bytes):
            content = async_lines(content)
        try:
            response = await self._http.send(self._request(self._http, request, headers, content), stream=True)
        except httpx.HTTPError as error:
            raise transport_error(request, self.base_url, error) from error
        try:
            if not stream or response.status_code >= 300:
                await response.aread()
                check_status(response, response.content)
        except httpx.HTTPError as error:
            raise transport_error(request, self.base_url, error) from error
        finally:
            if not stream or response.status_code >= 300:
                await response.aclose()
        return response

    async def _call(self, request: Request) -> httpx.Response:
        attempt = 0
        while True:
            try:
                return await self._send(request, request.sent_headers, stream=False)
            except NoveloError as error:
                if attempt >= self.max_retries or not may_repeat(request, error):
                    raise
                await asyncio.sleep(pause_s(attempt, error))
                attempt += 1

    async def _open(self, request: Request, headers: Mapping[str, str]) -> httpx.Response:
        return await self._send(request, headers, stream=True)

    async def _json(self, request: Request) -> Any:
        return answer_json(request, await self._call(request))

    async def _text(self, request: Request) -> str:
        return (await self._call(request)).text

    def _lines(self, request: Request) -> AsyncLineStream:
        return AsyncLineStream(self, request)

    def _stream(self, request: Request) -> AsyncEventStream:
        return AsyncEventStream(self, request)

    async def get_openapi(self) -> Dict[str, Any]:
        """The machine-readable description of the API."""
        description: Dict[str, Any] = await self._json(Request("GET", "/openapi.json"))
        return description

    async def close(self) -> None:
        """Closes the connections."""
        await self._http.aclose()


async def async_lines(lines: Union[Iterable[Union[str, bytes]], AsyncIterable[Union[str, bytes]]]) -> AsyncIterator[bytes]:
    if isinstance(lines, AsyncIterable):
        async for line in lines:
            for encoded in encoded_lines([line]):
                yield encoded
    else:
        for encoded in encoded_lines(lines):
            yield encoded
