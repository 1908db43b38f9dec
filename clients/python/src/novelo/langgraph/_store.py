"""The store: items in namespaces, found by the server's own search."""

from __future__ import annotations

import json
from datetime import datetime, timezone
from typing import Any, Callable, Dict, Iterable, List, Literal, Optional, Sequence, Tuple, Union

from langgraph.store.base import (
    BaseStore,
    GetOp,
    Item,
    ListNamespacesOp,
    MatchCondition,
    Op,
    PutOp,
    Result,
    SearchItem,
    SearchOp,
    get_text_at_path,
    tokenize_path,
)

from .._client import AsyncNovelo, Novelo
from .._steps import Clients, Steps, arun, call, delete_op, in_batches, put_op, run, whole_collection
from ..errors import NotFound, Stale
from ._values import digest

HITS_MAX = 100
"""The passages that one search of the server gives at most."""

Namespace = Tuple[str, ...]
OPERATORS: Dict[str, Callable[[Any, Any], bool]] = {
    "$eq": lambda value, other: bool(value == other),
    "$ne": lambda value, other: bool(value != other),
    "$gt": lambda value, other: bool(value is not None and value > other),
    "$gte": lambda value, other: bool(value is not None and value >= other),
    "$lt": lambda value, other: bool(value is not None and value < other),
    "$lte": lambda value, other: bool(value is not None and value <= other),
}


class NoveloStore(BaseStore):
    """Keeps the long-term memory of agents in Novelo.

    A search with a `query` uses the index of the server, which needs no embedding model; without one it lists. The index is the
    user's: a search takes the 100 best passages of the user and of these the items of the namespace. So give each of your users
    a store of its own: `NoveloStore(client, user="ana")`.

    Args:
        client: a `Novelo` or an `AsyncNovelo`; both kinds of methods work with either.
        user: the user of Novelo whose documents the items are. Forgetting the user removes them.
        index: the fields that are searched, as paths; by default the whole value. False: none.
    """

    def __init__(
        self,
        client: Union[Novelo, AsyncNovelo],
        *,
        user: str = "langgraph",
        index: Union[Sequence[str], Literal[False]] = ("$",),
    ) -> None:
        self._clients = Clients(client)
        self._user = user
        self._index = index

    def batch(self, ops: Iterable[Op]) -> List[Result]:
        return run(self._clients.sync(), self._batch(list(ops)))

    async def abatch(self, ops: Iterable[Op]) -> List[Result]:
        return await arun(self._clients.awaited(), self._batch(list(ops)))

    def _batch(self, ops: Sequence[Op]) -> Steps[List[Result]]:
        """Reads see what was there before; of several writes of a key the last stands."""
        results: List[Result] = []
        writes: Dict[Tuple[Namespace, str], PutOp] = {}
        for op in ops:
            if isinstance(op, PutOp):
                if op.ttl is not None:
                    raise NotImplementedError("NoveloStore does not let items expire: ttl must be None")
                writes[op.namespace, op.key] = op
                results.append(None)
            elif isinstance(op, GetOp):
                results.append((yield from self._get(op.namespace, op.key)))
            elif isinstance(op, SearchOp):
                results.append((yield from self._search(op)))
            elif isinstance(op, ListNamespacesOp):
                results.append((yield from self._list_namespaces(op)))
            else:
                raise TypeError(f"{type(op).__name__} is no operation of a store")
        for write in writes.values():
            if write.value is None:
                yield from self._delete(write.namespace, write.key)
            else:
                yield from self._put(write)
        return results

    # Where things are

    def _root(self) -> List[str]:
        return ["users", self._user, "langgraph.store"]

    def _folder(self, namespace: Namespace) -> List[str]:
        return [*self._root(), digest(list(namespace))]

    def _path(self, namespace: Namespace, key: str) -> List[str]:
        return [*self._folder(namespace), "items", digest(key)]

    @staticmethod
    def _passages(namespace: Namespace, key: str) -> str:
        """The id of the searched text of an item."""
        return f"langgraph.{digest([list(namespace), key])}"

    # Writing

    def _put(self, op: PutOp) -> Steps[None]:
        value = dict(op.value or {})
        now = datetime.now(timezone.utc).isoformat()
        path = self._path(op.namespace, op.key)
        before = yield from self._document(path)
        document = {
            "namespace": list(op.namespace),
            "key": op.key,
            "value": value,
            "created_at": before["created_at"] if before else now,
            "updated_at": now,
        }
        # The index first: a hit whose item is not stored is left out of every answer.
        yield from self._write_index(op, value, before is not None)
        yield from in_batches([put_op(self._folder(op.namespace), {"namespace": list(op.namespace)}), put_op(path, document)])

    def _write_index(self, op: PutOp, value: Dict[str, Any], existed: bool) -> Steps[None]:
        fields = self._index if op.index is None else op.index
        texts: List[str] = []
        for field in fields or []:
            texts += [readable(value)] if field == "$" else get_text_at_path(value, tokenize_path(field))
        text = "\n".join(part for part in texts if part.strip())
        if text:
            meta = {"langgraph": {"namespace": list(op.namespace), "key": op.key}}
            yield call(
                "index_document", self._user, name=op.key, text=text, meta=meta, id=self._passages(op.namespace, op.key)
            )
        elif existed:
            yield from self._unindex(op.namespace, op.key)

    def _delete(self, namespace: Namespace, key: str) -> Steps[None]:
        yield from in_batches([delete_op(self._path(namespace, key))])
        yield from self._unindex(namespace, key)
        # An empty namespace is no longer listed, unless something was put into it in the meantime.
        try:
            folder = yield call("get_document", self._folder(namespace))
            page = yield call("list_collection", [*self._folder(namespace), "items"], limit=1)
            if not page["documents"]:
                yield call("delete_document", self._folder(namespace), if_match=folder["version"])
        except (NotFound, Stale):
            return

    def _unindex(self, namespace: Namespace, key: str) -> Steps[None]:
        try:
            yield call("delete_text", self._user, self._passages(namespace, key))
        except NotFound:
            return

    # Reading

    def _document(self, path: Sequence[str]) -> Steps[Optional[Dict[str, Any]]]:
        try:
            found: Dict[str, Any] = yield call("get_document", path)
        except NotFound:
            return None
        value: Dict[str, Any] = found["value"]
        return value

    def _get(self, namespace: Namespace, key: str) -> Steps[Optional[Item]]:
        document = yield from self._document(self._path(namespace, key))
        return Item(**fields_of(document)) if document else None

    def _namespaces(self) -> Steps[List[Namespace]]:
        documents = yield from whole_collection(self._root())
        return [tuple(document["value"]["namespace"]) for document in documents]

    def _search(self, op: SearchOp) -> Steps[List[SearchItem]]:
        found = yield from (self._ranked(op) if op.query else self._listed(op))
        fitting = [item for item in found if fits(item.value, op.filter)]
        return fitting[op.offset : op.offset + op.limit]

    def _listed(self, op: SearchOp) -> Steps[List[SearchItem]]:
        items: List[SearchItem] = []
        for namespace in (yield from self._namespaces()):
            if namespace[: len(op.namespace_prefix)] == op.namespace_prefix:
                documents = yield from whole_collection([*self._folder(namespace), "items"])
                items += [SearchItem(**fields_of(document["value"])) for document in documents]
        return items

    def _ranked(self, op: SearchOp) -> Steps[List[SearchItem]]:
        answer = yield call("search_documents", self._user, op.query, k=HITS_MAX, kind="document")
        items: Dict[Tuple[Namespace, str], SearchItem] = {}
        for hit in answer["hits"]:
            about = (hit["meta"] or {}).get("langgraph")
            if not about:
                continue
            place = (tuple(about["namespace"]), about["key"])
            if place in items or place[0][: len(op.namespace_prefix)] != op.namespace_prefix:
                continue
            document = yield from self._document(self._path(*place))
            if document:
                items[place] = SearchItem(**fields_of(document), score=float(hit["score"]))
        return list(items.values())

    def _list_namespaces(self, op: ListNamespacesOp) -> Steps[List[Namespace]]:
        found = yield from self._namespaces()
        chosen = {
            namespace[: op.max_depth] if op.max_depth is not None else namespace
            for namespace in found
            if all(matches(namespace, condition) for condition in op.match_conditions or ())
        }
        return sorted(chosen)[op.offset : op.offset + op.limit]


def fields_of(document: Dict[str, Any]) -> Dict[str, Any]:
    return {
        "namespace": tuple(document["namespace"]),
        "key": document["key"],
        "value": document["value"],
        "created_at": datetime.fromisoformat(document["created_at"]),
        "updated_at": datetime.fromisoformat(document["updated_at"]),
    }


def readable(value: Any) -> str:
    """The text of a value: its members, a line each."""
    if isinstance(value, str):
        return value
    if isinstance(value, dict):
        return "\n".join(f"{key}: {readable(of)}" for key, of in value.items())
    if isinstance(value, list):
        return "\n".join(readable(of) for of in value)
    return json.dumps(value, ensure_ascii=False)


def fits(value: Dict[str, Any], filter: Optional[Dict[str, Any]]) -> bool:
    return all(compares(value.get(key), wanted) for key, wanted in (filter or {}).items())


def compares(value: Any, wanted: Any) -> bool:
    if isinstance(wanted, dict) and any(str(name).startswith("$") for name in wanted):
        for name, operand in wanted.items():
            if name not in OPERATORS:
                raise ValueError(f"{name} is no operator of a filter: {', '.join(OPERATORS)}")
            if not OPERATORS[name](value, operand):
                return False
        return True
    return bool(value == wanted)


def matches(namespace: Namespace, condition: MatchCondition) -> bool:
    path = tuple(condition.path)
    if len(namespace) < len(path):
        return False
    part = namespace[: len(path)] if condition.match_type == "prefix" else namespace[len(namespace) - len(path) :]
    return all(wanted in ("*", label) for label, wanted in zip(part, path))
