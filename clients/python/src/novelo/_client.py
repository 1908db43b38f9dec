"""The clients."""

from __future__ import annotations

import copy
from types import TracebackType
from typing import Optional, Type, TypeVar

from ._async_operations import AsyncOperations
from ._base import Timeout
from ._operations import Operations


class Novelo(Operations):
    """A client of a Novelo server. It may be shared by threads.

        with Novelo("http://127.0.0.1:7420") as client:
            client.append_turns("ana", "t1", [{"role": "user", "content": "Olá!"}])
            print(client.make_context(user="ana", thread="t1")["messages"])

    A call that fails on its way is repeated up to `max_retries` times, but only if that cannot do it twice.
    """

    def with_options(self, *, timeout: Optional[Timeout] = None, max_retries: Optional[int] = None) -> "Novelo":
        """The same client with other settings, over the same connections."""
        return changed(self, timeout, max_retries)

    def __enter__(self) -> "Novelo":
        return self

    def __exit__(
        self, kind: Optional[Type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        self.close()


class AsyncNovelo(AsyncOperations):
    """As `Novelo`, with calls that are awaited. It belongs to the event loop that it is first used in."""

    def with_options(self, *, timeout: Optional[Timeout] = None, max_retries: Optional[int] = None) -> "AsyncNovelo":
        """The same client with other settings, over the same connections."""
        return changed(self, timeout, max_retries)

    async def __aenter__(self) -> "AsyncNovelo":
        return self

    async def __aexit__(
        self, kind: Optional[Type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        await self.close()


C = TypeVar("C", Novelo, AsyncNovelo)


def changed(client: C, timeout: Optional[Timeout], max_retries: Optional[int]) -> C:
    other = copy.copy(client)
    if timeout is not None:
        other.timeout = timeout
    if max_retries is not None:
        if max_retries < 0:
            raise ValueError("max_retries must be 0 or more")
        other.max_retries = max_retries
    return other
