"""Adapters that are written once for both kinds of client.

The work of an adapter is a generator of calls. `run` makes them with a `Novelo`, `arun` with an `AsyncNovelo`.
"""

from __future__ import annotations

import asyncio
import threading
import weakref
from dataclasses import dataclass, field
from typing import Any, Dict, Generator, List, Optional, Sequence, Tuple, TypeVar, Union

from ._client import AsyncNovelo, Novelo
from ._errors import NoveloError
from ._request import Path, to_json

T = TypeVar("T")

BATCH_OPS_MAX = 400
"""What one batch of the server takes."""
BATCH_BYTES = 4_000_000
"""Past this a batch is split; the server takes 16 MiB."""
PAGE = 1000


@dataclass(frozen=True)
class Call:
    """A method of a client and its arguments."""

    method: str
    args: Tuple[Any, ...] = ()
    kwargs: Dict[str, Any] = field(default_factory=dict)


Steps = Generator[Call, Any, T]


def call(method: str, *args: Any, **kwargs: Any) -> Call:
    return Call(method, args, kwargs)


def run(client: Novelo, steps: Steps[T]) -> T:
    try:
        wanted = next(steps)
        while True:
            try:
                result = getattr(client, wanted.method)(*wanted.args, **wanted.kwargs)
            except NoveloError as error:
                wanted = steps.throw(error)
            else:
                wanted = steps.send(result)
    except StopIteration as end:
        value: T = end.value
        return value


async def arun(client: AsyncNovelo, steps: Steps[T]) -> T:
    try:
        wanted = next(steps)
        while True:
            try:
                result = await getattr(client, wanted.method)(*wanted.args, **wanted.kwargs)
            except NoveloError as error:
                wanted = steps.throw(error)
            else:
                wanted = steps.send(result)
    except StopIteration as end:
        value: T = end.value
        return value


class Clients:
    """The client that an adapter was given, and one of the other kind with the same settings where that is needed."""

    def __init__(self, client: Union[Novelo, AsyncNovelo]) -> None:
        if not isinstance(client, (Novelo, AsyncNovelo)):
            raise TypeError(f"client must be a Novelo or an AsyncNovelo, not {type(client).__name__}")
        self._given = client
        self._lock = threading.Lock()
        self._sync: Optional[Novelo] = client if isinstance(client, Novelo) else None
        # Connections belong to the event loop that opened them.
        self._awaited: "weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, AsyncNovelo]" = weakref.WeakKeyDictionary()

    def sync(self) -> Novelo:
        with self._lock:
            if self._sync is None:
                self._sync = Novelo(**self._settings())
            return self._sync

    def awaited(self) -> AsyncNovelo:
        if isinstance(self._given, AsyncNovelo):
            return self._given
        loop = asyncio.get_running_loop()
        with self._lock:
            if loop not in self._awaited:
                self._awaited[loop] = AsyncNovelo(**self._settings())
            return self._awaited[loop]

    def _settings(self) -> Dict[str, Any]:
        given = self._given
        return {
            "base_url": given.base_url,
            "api_key": given._api_key,
            "timeout": given.timeout,
            "max_retries": given.max_retries,
        }


def whole_collection(path: Path, **window: Any) -> Steps[List[Dict[str, Any]]]:
    """All documents of a collection, by time."""
    documents: List[Dict[str, Any]] = []
    after = None
    while True:
        page = yield call("list_collection", path, limit=PAGE, after=after, **window)
        documents += page["documents"]
        if not page["has_more"] or not page["documents"]:
            return documents
        after = documents[-1]["id"]


def put_op(path: Sequence[str], value: Any) -> Dict[str, Any]:
    return {"op": "put", "path": joined(path), "value": value}


def delete_op(path: Sequence[str]) -> Dict[str, Any]:
    return {"op": "delete", "path": joined(path)}


def joined(path: Sequence[str]) -> str:
    """The path of a batch: its segments percent-encoded, as in an address."""
    from ._request import segment

    return "/".join(segment("a segment of the path", part) for part in path)


def in_batches(ops: Sequence[Dict[str, Any]]) -> Steps[None]:
    """Writes them in their order: at once where they fit into one batch, which is all or nothing."""
    batch: List[Dict[str, Any]] = []
    size = 0
    for op in ops:
        length = len(to_json(op))
        if batch and (len(batch) >= BATCH_OPS_MAX or size + length > BATCH_BYTES):
            yield call("batch_documents", batch)
            batch, size = [], 0
        batch.append(op)
        size += length
    if batch:
        yield call("batch_documents", batch)
