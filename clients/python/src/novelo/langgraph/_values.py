"""How the values of channels are stored: once, however many checkpoints have them.

A small plain value stands in the checkpoint itself. Any other value is a blob, named after its content. A list is a chain of
segments: each says how many items of the one before it stay, and which follow. A list that grows by an item costs that item.
"""

from __future__ import annotations

import base64
import hashlib
import json
import math
import threading
from collections import OrderedDict
from dataclasses import dataclass
from typing import Any, Dict, List, Optional, Sequence, Tuple

from langgraph.checkpoint.serde.base import SerializerProtocol
from langgraph.checkpoint.serde.encrypted import EncryptedSerializer

from .._steps import Steps, call, put_op, whole_collection
from ..errors import NotFound

INLINE_CHARS_MAX = 256
SEGMENT_BYTES = 1_000_000
SINGLE_READS = 3
"""Segments that are read one by one before the whole chain is."""

Typed = Tuple[str, bytes]
Reference = Dict[str, Any]


@dataclass(frozen=True)
class Segment:
    prev: Optional[str]
    at: int
    """How many items of the chain up to `prev` stay."""
    items: Tuple[Typed, ...]

    @property
    def size(self) -> int:
        return 200 + sum(len(data) + 60 for _, data in self.items)


class Cache:
    """Segments and blobs by name. Their names are made from their content, so that none is ever out of date."""

    def __init__(self, bytes_max: int) -> None:
        self._bytes_max = bytes_max
        self._bytes = 0
        self._entries: "OrderedDict[str, Tuple[Any, int]]" = OrderedDict()
        self._lock = threading.Lock()

    def get(self, name: str) -> Any:
        with self._lock:
            if name not in self._entries:
                return None
            self._entries.move_to_end(name)
            return self._entries[name][0]

    def add(self, name: str, value: Any, size: int) -> None:
        with self._lock:
            if name in self._entries:
                return
            self._entries[name] = (value, size)
            self._bytes += size
            while self._bytes > self._bytes_max and self._entries:
                self._bytes -= self._entries.popitem(last=False)[1][1]


def encode(typed: Typed) -> List[str]:
    return [typed[0], base64.b64encode(typed[1]).decode("ascii")]


def decode(stored: Sequence[str]) -> Typed:
    return stored[0], base64.b64decode(stored[1])


def digest(value: Any) -> str:
    """A name made from content."""
    return hashlib.sha256(json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass")).hexdigest()[:32]


class Values:
    """Reads and writes values with a serializer."""

    def __init__(self, serde: SerializerProtocol, cache: Cache) -> None:
        self.serde = serde
        # Ciphers write the same value differently each time; what is compared is the plain text.
        self.plain: SerializerProtocol = serde.serde if isinstance(serde, EncryptedSerializer) else serde
        self._encrypts = isinstance(serde, EncryptedSerializer)
        self._cache = cache

    def dumps(self, value: Any) -> List[str]:
        return encode(self.serde.dumps_typed(value))

    def loads(self, stored: Sequence[str]) -> Any:
        return self.serde.loads_typed(decode(stored))

    def _stored_item(self, plain: Typed) -> List[str]:
        return self.dumps(self.plain.loads_typed(plain)) if self._encrypts else encode(plain)

    def _plain_item(self, stored: Sequence[str]) -> Typed:
        return self.plain.dumps_typed(self.loads(stored)) if self._encrypts else decode(stored)

    # Writing

    def write(
        self, folder: Sequence[str], channel: str, value: Any, before: Optional[Reference], ops: List[Dict[str, Any]]
    ) -> Steps[Reference]:
        """The reference to a value; what must be written for it is added to `ops`."""
        if is_inline(value):
            return {"value": value}
        if type(value) is list and value:
            return (yield from self._write_list([*folder, list_name(channel)], value, before, ops))
        stored = self.dumps(value)
        name = digest(stored)
        ops.append(put_op([*folder, "blobs", name], {"blob": stored}))
        self._cache.add(name, stored, len(stored[1]))
        return {"blob": name}

    def _write_list(
        self, folder: Sequence[str], value: List[Any], before: Optional[Reference], ops: List[Dict[str, Any]]
    ) -> Steps[Reference]:
        items = [self.plain.dumps_typed(item) for item in value]
        prev: Optional[str] = None
        keep = 0
        if before is not None and "list" in before:
            chain = yield from self._chain(folder, before["list"])
            old = flat(chain, before["items"])
            while keep < min(len(old), len(items)) and old[keep] == items[keep]:
                keep += 1
            if keep == len(items) == len(old):
                return {"list": before["list"], "items": len(items)}
            # What lies wholly behind the items that stay is not part of this list.
            prev = next((name for name, segment in chain if segment.at < keep), None)
        for start, part in parts(items, keep):
            segment = Segment(prev, start, part)
            document = {"prev": prev, "at": start, "items": [self._stored_item(item) for item in part]}
            prev = digest(document)
            self._cache.add(prev, segment, segment.size)
            ops.append(put_op([*folder, prev], document))
        if prev is None:
            raise AssertionError("a list that is not empty has a segment")
        return {"list": prev, "items": len(items)}

    # Reading

    def read(self, folder: Sequence[str], channel: str, reference: Reference) -> Steps[Any]:
        if "value" in reference:
            return reference["value"]
        if "list" in reference:
            chain = yield from self._chain([*folder, list_name(channel)], reference["list"])
            return [self.plain.loads_typed(item) for item in flat(chain, reference["items"])]
        stored = self._cache.get(reference["blob"])
        if stored is None:
            stored = (yield call("get_document", [*folder, "blobs", reference["blob"]]))["value"]["blob"]
            self._cache.add(reference["blob"], stored, len(stored[1]))
        return self.loads(stored)

    def _chain(self, folder: Sequence[str], tip: str) -> Steps[List[Tuple[str, Segment]]]:
        """The segments of a list, from its end to its beginning."""
        chain: List[Tuple[str, Segment]] = []
        read: Dict[str, Segment] = {}
        singles = 0
        name: Optional[str] = tip
        while name is not None:
            segment = read.get(name) or self._cache.get(name)
            if segment is None and singles < SINGLE_READS:
                singles += 1
                document = yield call("get_document", [*folder, name])
                segment = self._keep(document)
            elif segment is None:
                if read:
                    raise NotFound(f"a part of the list {tip} is missing", status=404, code="not_found")
                documents = yield from whole_collection(folder)
                read = {document["id"]: self._keep(document) for document in documents}
                continue
            chain.append((name, segment))
            name = segment.prev
        return chain

    def _keep(self, document: Dict[str, Any]) -> Segment:
        value = document["value"]
        segment = Segment(value["prev"], value["at"], tuple(self._plain_item(item) for item in value["items"]))
        self._cache.add(document["id"], segment, segment.size)
        return segment


def is_inline(value: Any) -> bool:
    if value is None or type(value) is bool:
        return True
    if type(value) is int:
        return abs(value) < 2**53
    if type(value) is float:
        return math.isfinite(value)
    return type(value) is str and len(value) <= INLINE_CHARS_MAX and value.isprintable()


def list_name(channel: str) -> str:
    """The collection of the segments of a channel, whose name may be any text."""
    return f"list.{digest(channel)}"


def flat(chain: Sequence[Tuple[str, Segment]], count: int) -> List[Typed]:
    """The items of a chain."""
    runs: List[Sequence[Typed]] = []
    end = count
    for _, segment in chain:
        runs.append(segment.items[: max(0, end - segment.at)])
        end = min(end, segment.at)
    return [item for run in reversed(runs) for item in run]


def parts(items: Sequence[Typed], start: int) -> List[Tuple[int, Tuple[Typed, ...]]]:
    """The items from `start` on, in segments that are not too large; one that may be empty where a list only became shorter."""
    out: List[Tuple[int, Tuple[Typed, ...]]] = []
    at, size = start, 0
    for index in range(start, len(items)):
        length = len(items[index][1])
        if index > at and size + length > SEGMENT_BYTES:
            out.append((at, tuple(items[at:index])))
            at, size = index, 0
        size += length
    return [*out, (at, tuple(items[at:]))]
