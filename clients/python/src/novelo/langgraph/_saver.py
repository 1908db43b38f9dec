"""The checkpointer.

All of a thread lies below the thread `langgraph.THREAD` of one user, so that forgetting it removes everything at once:

    langgraph/NS                      the namespace
    langgraph/NS/checkpoints/ID       a checkpoint, with references to its values
    langgraph/NS/writes/…             pending writes
    langgraph/NS/blobs/…, list.…/…    values

The newest checkpoint comes first in its collection, because its time is negative. A checkpoint is written last, with all that it
refers to in the same batch or before it: one that can be read is whole.
"""

from __future__ import annotations

import threading
import uuid
from typing import Any, AsyncIterator, Collection, Dict, Iterator, List, Optional, Sequence, Set, Tuple, Union, cast

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    WRITES_IDX_MAP,
    BaseCheckpointSaver,
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
    get_checkpoint_id,
    get_checkpoint_metadata,
    writes_sort_key,
)
from langgraph.checkpoint.serde.base import SerializerProtocol

from .._client import AsyncNovelo, Novelo
from .._steps import Clients, Steps, arun, call, delete_op, in_batches, put_op, run, whole_collection
from ..errors import NotFound, Stale
from ._values import Cache, Values, digest, list_name

# 100 ns from 1582, which is where UUIDs count from, to 2020.
EPOCH_TICKS = 0x01B21DD213814000 + 1_577_836_800 * 10_000_000
TICKS_MAX = 2**53
CACHE_BYTES = 64 * 1024 * 1024
Document = Dict[str, Any]


def ticks_of(checkpoint_id: str) -> int:
    """The time in a checkpoint's id, by which ids are ordered."""
    try:
        value = uuid.UUID(checkpoint_id)
        if value.version != 6 or str(value) != checkpoint_id:
            raise ValueError
    except (ValueError, AttributeError, TypeError):
        raise ValueError(f"a checkpoint id is a UUID of version 6, as LangGraph makes them, not {checkpoint_id!r}") from None
    ticks = ((value.time_low << 28) | (value.time_mid << 12) | (value.time_hi_version & 0x0FFF)) - EPOCH_TICKS
    if not 0 < ticks < TICKS_MAX:
        raise ValueError(f"the time of the checkpoint id {checkpoint_id} is not between 2020 and 2048")
    return ticks


class NoveloSaver(BaseCheckpointSaver[int]):
    """Keeps the checkpoints of a graph in Novelo.

    Args:
        client: a `Novelo` or an `AsyncNovelo`; both kinds of methods work with either.
        user: the user of Novelo whose documents the checkpoints are. Forgetting the user removes them.
        serde: LangGraph's serializer, by default its own.
        cache_bytes: what is kept in memory of values that were read or written; they never change.
    """

    def __init__(
        self,
        client: Union[Novelo, AsyncNovelo],
        *,
        user: str = "langgraph",
        serde: Optional[SerializerProtocol] = None,
        cache_bytes: int = CACHE_BYTES,
    ) -> None:
        super().__init__(serde=serde)
        self._clients = Clients(client)
        self._user = user
        self._cache = Cache(cache_bytes)
        self._listed: Set[Tuple[str, str]] = set()
        self._lock = threading.Lock()

    # The interface

    def get_tuple(self, config: RunnableConfig) -> Optional[CheckpointTuple]:
        return run(self._clients.sync(), self._get_tuple(config))

    async def aget_tuple(self, config: RunnableConfig) -> Optional[CheckpointTuple]:
        return await arun(self._clients.awaited(), self._get_tuple(config))

    def list(
        self,
        config: Optional[RunnableConfig],
        *,
        filter: Optional[Dict[str, Any]] = None,
        before: Optional[RunnableConfig] = None,
        limit: Optional[int] = None,
    ) -> Iterator[CheckpointTuple]:
        client = self._clients.sync()
        for document in run(client, self._select(config, filter, before, limit)):
            yield run(client, self._tuple_of(document))

    async def alist(
        self,
        config: Optional[RunnableConfig],
        *,
        filter: Optional[Dict[str, Any]] = None,
        before: Optional[RunnableConfig] = None,
        limit: Optional[int] = None,
    ) -> AsyncIterator[CheckpointTuple]:
        client = self._clients.awaited()
        for document in await arun(client, self._select(config, filter, before, limit)):
            yield await arun(client, self._tuple_of(document))

    def put(
        self, config: RunnableConfig, checkpoint: Checkpoint, metadata: CheckpointMetadata, new_versions: ChannelVersions
    ) -> RunnableConfig:
        return run(self._clients.sync(), self._put(config, checkpoint, metadata, new_versions))

    async def aput(
        self, config: RunnableConfig, checkpoint: Checkpoint, metadata: CheckpointMetadata, new_versions: ChannelVersions
    ) -> RunnableConfig:
        return await arun(self._clients.awaited(), self._put(config, checkpoint, metadata, new_versions))

    def put_writes(
        self, config: RunnableConfig, writes: Sequence[Tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        run(self._clients.sync(), self._put_writes(config, writes, task_id, task_path))

    async def aput_writes(
        self, config: RunnableConfig, writes: Sequence[Tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        await arun(self._clients.awaited(), self._put_writes(config, writes, task_id, task_path))

    def delete_thread(self, thread_id: str) -> None:
        run(self._clients.sync(), self._delete_thread(str(thread_id)))

    async def adelete_thread(self, thread_id: str) -> None:
        await arun(self._clients.awaited(), self._delete_thread(str(thread_id)))

    def delete_for_runs(self, run_ids: Sequence[str]) -> None:
        run(self._clients.sync(), self._delete_for_runs(run_ids))

    async def adelete_for_runs(self, run_ids: Sequence[str]) -> None:
        await arun(self._clients.awaited(), self._delete_for_runs(run_ids))

    def copy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        run(self._clients.sync(), self._copy_thread(str(source_thread_id), str(target_thread_id)))

    async def acopy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        await arun(self._clients.awaited(), self._copy_thread(str(source_thread_id), str(target_thread_id)))

    def prune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        """Removes old checkpoints. Do not prune a thread that is running."""
        run(self._clients.sync(), self._prune(thread_ids, strategy))

    async def aprune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        """Removes old checkpoints. Do not prune a thread that is running."""
        await arun(self._clients.awaited(), self._prune(thread_ids, strategy))

    # Where things are

    @property
    def _values(self) -> Values:
        return Values(self.serde, self._cache)

    def _thread(self, thread: str) -> List[str]:
        return ["users", self._user, "convo.sessions", f"langgraph.{thread}", "langgraph"]

    def _folder(self, thread: str, namespace: str) -> List[str]:
        return [*self._thread(thread), digest(namespace) if namespace else "root"]

    def _threads(self) -> List[str]:
        return ["users", self._user, "langgraph.threads"]

    def _run_threads(self, run_id: str) -> List[str]:
        return ["users", self._user, "langgraph.runs", digest(run_id), "threads"]

    # Reading

    def _get_tuple(self, config: RunnableConfig) -> Steps[Optional[CheckpointTuple]]:
        thread, namespace = place(config)
        checkpoint_id = get_checkpoint_id(config)
        if checkpoint_id:
            document = yield from self._checkpoint(thread, namespace, checkpoint_id)
        else:
            document = yield from self._newest(thread, namespace)
        return (yield from self._tuple_of(document)) if document else None

    def _checkpoint(self, thread: str, namespace: str, checkpoint_id: str) -> Steps[Optional[Document]]:
        try:
            found = yield call("get_document", [*self._folder(thread, namespace), "checkpoints", str(checkpoint_id)])
        except NotFound:
            return None
        return cast(Document, found["value"])

    def _newest(self, thread: str, namespace: str) -> Steps[Optional[Document]]:
        folder = [*self._folder(thread, namespace), "checkpoints"]
        page = yield call("list_collection", folder, limit=2)
        found = [document["value"] for document in page["documents"]]
        if len(found) == 2 and found[0]["create_time"] == found[1]["create_time"]:
            time = found[0]["create_time"]
            same = yield from whole_collection(folder, begin=time - 1, end=time)
            return cast(Document, max((document["value"] for document in same), key=lambda value: str(value["id"])))
        return found[0] if found else None

    def _tuple_of(self, document: Document) -> Steps[CheckpointTuple]:
        thread, namespace = document["thread"], document["ns"]
        folder = self._folder(thread, namespace)
        values = self._values
        checkpoint = values.loads(document["checkpoint"])
        channels = {}
        for channel, reference in document["channels"].items():
            channels[channel] = yield from values.read(folder, channel, reference)
        checkpoint["channel_values"] = channels
        writes = yield from self._pending_writes(folder, document)
        parent = document["parent"]
        return CheckpointTuple(
            config_of(thread, namespace, document["id"]),
            cast(Checkpoint, checkpoint),
            cast(CheckpointMetadata, values.loads(document["metadata"])),
            config_of(thread, namespace, parent) if parent else None,
            [(task, channel, values.loads(stored)) for task, channel, stored in writes],
        )

    def _pending_writes(self, folder: Sequence[str], document: Document) -> Steps[List[Tuple[str, str, Any]]]:
        time = document["create_time"]
        documents = yield from whole_collection([*folder, "writes"], begin=time - 1, end=time)
        rows: Dict[Tuple[str, int], Tuple[str, str, Any]] = {}
        # What replaces comes after what it replaces.
        for value in sorted((found["value"] for found in documents), key=lambda value: bool(value["replaces"])):
            if value["checkpoint"] == document["id"]:
                for index, channel, stored in value["writes"]:
                    rows[value["task"], index] = (value["path"], channel, stored)
        ordered = sorted(rows.items(), key=lambda row: writes_sort_key(row[1][0], row[0][0], row[0][1]))
        return [(task, channel, stored) for (task, _), (_, channel, stored) in ordered]

    def _namespaces(self, thread: str) -> Steps[List[str]]:
        documents = yield from whole_collection(self._thread(thread))
        return [document["value"]["ns"] for document in documents]

    def _select(
        self,
        config: Optional[RunnableConfig],
        filter: Optional[Dict[str, Any]],
        before: Optional[RunnableConfig],
        limit: Optional[int],
    ) -> Steps[List[Document]]:
        """The documents of checkpoints, newest first."""
        given = (config or {}).get("configurable", {})
        window: Dict[str, Any] = {}
        before_id = get_checkpoint_id(before) if before else None
        if before_id:
            # Times are negative, so what is older comes after; what has the same time is looked at.
            window["begin"] = -ticks_of(before_id) - 1
        if config is not None:
            threads = [str(given["thread_id"])]
        else:
            threads = [document["id"] for document in (yield from whole_collection(self._threads()))]
        found: List[Document] = []
        for thread in threads:
            named = [given["checkpoint_ns"]] if "checkpoint_ns" in given else (yield from self._namespaces(thread))
            for namespace in named:
                only = given.get("checkpoint_id") if config is not None else None
                if only:
                    one = yield from self._checkpoint(thread, namespace, only)
                    found += [one] if one else []
                else:
                    folder = [*self._folder(thread, namespace), "checkpoints"]
                    found += yield from self._newest_of(folder, window, filter, before_id, limit)
        found.sort(key=lambda value: str(value["id"]), reverse=True)
        chosen = [value for value in found if self._fits(value, filter, before_id)]
        return chosen if limit is None else chosen[:limit]

    def _newest_of(
        self,
        folder: Sequence[str],
        window: Dict[str, Any],
        filter: Optional[Dict[str, Any]],
        before_id: Optional[str],
        limit: Optional[int],
    ) -> Steps[List[Document]]:
        """Of one collection, page by page until there are enough."""
        found: List[Document] = []
        after = None
        size = 1000 if limit is None or filter else max(1, min(1000, limit + 2))
        while True:
            page = yield call("list_collection", folder, limit=size, after=after, **window)
            found += [document["value"] for document in page["documents"]]
            fitting = sum(self._fits(value, filter, before_id) for value in found)
            # One more, in case the last two have the same time.
            if not page["has_more"] or (limit is not None and fitting > limit):
                return found
            after = page["documents"][-1]["id"]

    def _fits(self, document: Document, filter: Optional[Dict[str, Any]], before_id: Optional[str]) -> bool:
        if before_id and not str(document["id"]) < before_id:
            return False
        if not filter:
            return True
        metadata = self._values.loads(document["metadata"])
        return all(key in metadata and metadata[key] == value for key, value in filter.items())

    # Writing

    def _put(
        self, config: RunnableConfig, checkpoint: Checkpoint, metadata: CheckpointMetadata, new_versions: ChannelVersions
    ) -> Steps[RunnableConfig]:
        thread, namespace = place(config)
        folder = self._folder(thread, namespace)
        values = self._values
        parent_id = get_checkpoint_id(config)
        parent = (yield from self._checkpoint(thread, namespace, parent_id)) if parent_id else None
        known: Dict[str, Any] = parent["channels"] if parent else {}
        ops: List[Dict[str, Any]] = []
        channels: Dict[str, Any] = {}
        for channel, value in checkpoint["channel_values"].items():
            version = checkpoint["channel_versions"].get(channel)
            before = known.get(channel)
            if before is not None and version is not None and channel not in new_versions and before.get("version") == version:
                channels[channel] = before
                continue
            reference = yield from values.write(folder, channel, value, before, ops)
            channels[channel] = {**reference, "version": version}
        rest = {key: value for key, value in checkpoint.items() if key != "channel_values"}
        full_metadata = get_checkpoint_metadata(config, metadata)
        run_id = full_metadata.get("run_id")
        document = {
            "create_time": -ticks_of(checkpoint["id"]),
            "id": checkpoint["id"],
            "thread": thread,
            "ns": namespace,
            "parent": parent_id,
            "run_id": run_id,
            "checkpoint": values.dumps(rest),
            "metadata": values.dumps(full_metadata),
            "channels": channels,
        }
        ops += self._listing(thread, namespace, parent is None, run_id)
        ops.append(put_op([*folder, "checkpoints", checkpoint["id"]], document))
        yield from in_batches(ops)
        with self._lock:
            self._listed.add((thread, namespace))
        return config_of(thread, namespace, checkpoint["id"])

    def _listing(self, thread: str, namespace: str, first: bool, run_id: Optional[str]) -> List[Dict[str, Any]]:
        """What lists the thread, its namespace and its run."""
        ops = []
        if first or (thread, namespace) not in self._listed:
            ops.append(put_op([*self._threads(), thread], {}))
            ops.append(put_op(self._folder(thread, namespace), {"ns": namespace}))
        if run_id:
            ops.append(put_op([*self._run_threads(str(run_id)), thread], {}))
        return ops

    def _put_writes(
        self, config: RunnableConfig, writes: Sequence[Tuple[str, Any]], task_id: str, task_path: str
    ) -> Steps[None]:
        thread, namespace = place(config)
        checkpoint_id = str(config["configurable"]["checkpoint_id"])
        folder = [*self._folder(thread, namespace), "writes"]
        replaces = all(channel in WRITES_IDX_MAP for channel, _ in writes)
        rows = [
            [WRITES_IDX_MAP.get(channel, index), channel, self._values.dumps(value)]
            for index, (channel, value) in enumerate(writes)
        ]
        document = {
            "create_time": -ticks_of(checkpoint_id),
            "checkpoint": checkpoint_id,
            "task": task_id,
            "path": task_path,
            "replaces": replaces,
            "writes": rows,
        }
        name = digest([checkpoint_id, task_id])
        if replaces:
            # One document for each special channel: a later one takes its place.
            yield from in_batches([put_op([*folder, f"{name}.{row[0]}"], {**document, "writes": [row]}) for row in rows])
            return
        yield from self._add_writes([*folder, name], document)

    def _add_writes(self, path: Sequence[str], document: Document) -> Steps[None]:
        """The first write of a task at an index stands; a task that runs again adds only what is new."""
        version, known = 0, document
        while True:
            try:
                yield call("put_document", path, known, if_match=version)
                return
            except Stale:
                found = yield call("get_document", path)
                version, stored = found["version"], found["value"]
                taken = {row[0] for row in stored["writes"]}
                new = [row for row in document["writes"] if row[0] not in taken]
                if not new:
                    return
                known = {**stored, "writes": [*stored["writes"], *new]}

    # Removing and copying

    def _delete_thread(self, thread: str) -> Steps[None]:
        yield call("forget_thread", self._user, f"langgraph.{thread}")
        yield from in_batches([delete_op([*self._threads(), thread])])
        with self._lock:
            self._listed = {place for place in self._listed if place[0] != thread}

    def _delete_for_runs(self, run_ids: Sequence[str]) -> Steps[None]:
        for run_id in run_ids:
            threads = yield from whole_collection(self._run_threads(str(run_id)))
            for thread in (document["id"] for document in threads):
                for namespace in (yield from self._namespaces(thread)):
                    documents = yield from self._all(thread, namespace)
                    keep = {value["id"] for value in documents if value["run_id"] != run_id}
                    yield from self._keep_only(thread, namespace, documents, keep)
                yield from in_batches([delete_op([*self._run_threads(str(run_id)), thread])])

    def _prune(self, thread_ids: Sequence[str], strategy: str) -> Steps[None]:
        if strategy not in ("keep_latest", "delete"):
            raise ValueError(f"strategy is keep_latest or delete, not {strategy!r}")
        for thread in map(str, thread_ids):
            if strategy == "delete":
                yield from self._delete_thread(thread)
                continue
            for namespace in (yield from self._namespaces(thread)):
                documents = yield from self._all(thread, namespace)
                yield from self._keep_only(thread, namespace, documents, self._needed(documents))

    def _needed(self, documents: Sequence[Document]) -> Set[str]:
        """The newest checkpoint, and those before it that a delta channel of it is made from."""
        by_id = {value["id"]: value for value in documents}
        if not by_id:
            return set()
        current: Optional[Document] = by_id[max(by_id)]
        deltas = set(self._values.loads(by_id[max(by_id)]["metadata"]).get("counters_since_delta_snapshot") or {})
        keep: Set[str] = set()
        while current is not None and current["id"] not in keep:
            keep.add(current["id"])
            deltas -= set(current["channels"])
            current = by_id.get(current["parent"]) if deltas else None
        return keep

    def _all(self, thread: str, namespace: str) -> Steps[List[Document]]:
        documents = yield from whole_collection([*self._folder(thread, namespace), "checkpoints"])
        return [document["value"] for document in documents]

    def _keep_only(self, thread: str, namespace: str, documents: Sequence[Document], keep: Collection[str]) -> Steps[None]:
        """Removes all checkpoints but those, their writes, and the values that nothing refers to any more."""
        folder = self._folder(thread, namespace)
        gone = [value for value in documents if value["id"] not in keep]
        if not gone:
            return
        # The checkpoints first: what is left behind by a fault is never seen.
        ops = [delete_op([*folder, "checkpoints", value["id"]]) for value in gone]
        for document in (yield from whole_collection([*folder, "writes"])):
            if document["value"]["checkpoint"] not in keep:
                ops.append(delete_op([*folder, "writes", document["id"]]))
        kept = [value["channels"] for value in documents if value["id"] in keep]
        blobs = {reference["blob"] for channels in kept for reference in channels.values() if "blob" in reference}
        for document in (yield from whole_collection([*folder, "blobs"])):
            if document["id"] not in blobs:
                ops.append(delete_op([*folder, "blobs", document["id"]]))
        for channel in sorted({channel for value in documents for channel in value["channels"]}):
            tips = {channels[channel]["list"] for channels in kept if "list" in channels.get(channel, {})}
            ops += yield from self._unreached([*folder, list_name(channel)], tips)
        if len(gone) == len(documents):
            ops.append(delete_op(folder))
        yield from in_batches(ops)

    @staticmethod
    def _unreached(folder: Sequence[str], tips: Set[str]) -> Steps[List[Dict[str, Any]]]:
        segments = {document["id"]: document["value"]["prev"] for document in (yield from whole_collection(folder))}
        reached: Set[str] = set()
        for tip in tips:
            name: Optional[str] = tip
            while name is not None and name not in reached:
                reached.add(name)
                name = segments.get(name)
        return [delete_op([*folder, name]) for name in segments if name not in reached]

    def _copy_thread(self, source: str, target: str) -> Steps[None]:
        for namespace in (yield from self._namespaces(source)):
            here, there = self._folder(source, namespace), self._folder(target, namespace)
            checkpoints = yield from whole_collection([*here, "checkpoints"])
            lists = {list_name(channel) for document in checkpoints for channel in document["value"]["channels"]}
            ops = []
            for collection in ["blobs", *sorted(lists), "writes"]:
                documents = yield from whole_collection([*here, collection])
                ops += [put_op([*there, collection, document["id"]], document["value"]) for document in documents]
            runs = {document["value"]["run_id"] for document in checkpoints}
            ops += self._listing(target, namespace, True, None)
            ops += [put_op([*self._run_threads(str(run_id)), target], {}) for run_id in runs if run_id]
            # The oldest first, so that each has its parent.
            for document in reversed(checkpoints):
                value = {**document["value"], "thread": target}
                ops.append(put_op([*there, "checkpoints", document["id"]], value))
            yield from in_batches(ops)


def place(config: RunnableConfig) -> Tuple[str, str]:
    given = config["configurable"]
    return str(given["thread_id"]), str(given.get("checkpoint_ns") or "")


def config_of(thread: str, namespace: str, checkpoint_id: str) -> RunnableConfig:
    return {"configurable": {"thread_id": thread, "checkpoint_ns": namespace, "checkpoint_id": checkpoint_id}}
