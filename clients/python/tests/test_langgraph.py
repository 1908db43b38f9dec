"""The checkpointer and the store of LangGraph: its own suite, real graphs, and what happens when something breaks."""

import asyncio
import uuid
from typing import Annotated, Any, AsyncIterator, Dict, List, Optional, Sequence, TypedDict

import pytest

pytest.importorskip("langgraph.checkpoint.conformance")

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, RemoveMessage
from langgraph.checkpoint.base import empty_checkpoint
from langgraph.checkpoint.conformance import checkpointer_test, validate
from langgraph.checkpoint.conformance.capabilities import ALL_CAPABILITIES
from langgraph.checkpoint.serde.encrypted import EncryptedSerializer
from langgraph.graph import END, START, StateGraph
from langgraph.graph.message import add_messages
from langgraph.store.base import GetOp, PutOp, SearchOp
from langgraph.types import Command, interrupt

from novelo import AsyncNovelo, ConnectionFailed, ConnectionLost, Novelo, errors
from novelo.langgraph import NoveloSaver, NoveloStore

from conftest import Cut, Proxy


class State(TypedDict):
    messages: Annotated[List[AnyMessage], add_messages]


def answer(state: State) -> Dict[str, Any]:
    return {"messages": [AIMessage(f"You said: {state['messages'][-1].content}")]}


def chat(saver: NoveloSaver, node: Any = answer, **given: Any) -> Any:
    builder = StateGraph(State)
    builder.add_node("answer", node)
    builder.add_edge(START, "answer")
    builder.add_edge("answer", END)
    return builder.compile(checkpointer=saver, **given)


def thread(name: str = "t") -> Any:
    return {"configurable": {"thread_id": name}}


def said(graph: Any, config: Dict[str, Any]) -> List[str]:
    return [message.content for message in graph.get_state(config).values["messages"]]


def stored_bytes(client: Novelo, user: str) -> int:
    return sum(len(line) for line in client.export_user(user))


def start_of(seen: bytes, answer: int) -> Optional[int]:
    """Where an answer begins in what a connection brought."""
    parts = seen.split(b"HTTP/1.1 ")
    return len(b"HTTP/1.1 ".join(parts[:answer])) if len(parts) > answer else None


@pytest.mark.parametrize("kind", [Novelo, AsyncNovelo])
def test_the_suite_of_langgraph_passes_in_full(url: str, kind: Any) -> None:
    @checkpointer_test(name="NoveloSaver")
    async def saver() -> AsyncIterator[NoveloSaver]:
        yield NoveloSaver(kind(url), user=f"suite-{uuid.uuid4().hex}")

    report = asyncio.run(validate(saver))
    assert {name: result.failures for name, result in report.results.items() if not result.passed} == {}
    assert set(report.results) == {capability.value for capability in ALL_CAPABILITIES}


def test_a_graph_continues_in_another_process(client: Novelo, url: str, user: str) -> None:
    graph = chat(NoveloSaver(client, user=user))
    for n in range(3):
        graph.invoke({"messages": [HumanMessage(f"hello {n} é 🌴")]}, thread())
    # One that has nothing in memory.
    with Novelo(url) as other:
        again = chat(NoveloSaver(other, user=user))
        again.invoke({"messages": [HumanMessage("and again")]}, thread())
        assert said(again, thread())[-2:] == ["and again", "You said: and again"]
    assert len(said(graph, thread())) == 8
    assert graph.get_state(thread("other")).values == {}


def test_bytes_grow_with_the_thread_and_not_faster(client: Novelo, user: str) -> None:
    graph = chat(NoveloSaver(client, user=user))
    sizes = []
    for _ in range(3):
        before = stored_bytes(client, user)
        for n in range(20):
            graph.invoke({"messages": [HumanMessage("tomatoes " * 30)]}, thread())
        sizes.append(stored_bytes(client, user) - before)
    # Checkpoints of a few more digits; a saver that stores the list again would take five times as much for the last third.
    assert sizes[2] < sizes[1] * 1.1 and sizes[1] < sizes[0] * 1.1, sizes


def test_time_travel_forks_and_edits(client: Novelo, user: str, url: str) -> None:
    graph = chat(NoveloSaver(client, user=user))
    for n in range(4):
        graph.invoke({"messages": [HumanMessage(f"q{n}", id=f"h{n}")]}, thread())
    history = list(graph.get_state_history(thread()))
    assert len(history) == 12
    past = next(state for state in history if len(state.values["messages"]) == 4 and not state.next)
    graph.invoke({"messages": [HumanMessage("another way")]}, past.config)
    # A message is replaced in the middle, and one is removed.
    graph.update_state(thread(), {"messages": [HumanMessage("edited", id="h0"), RemoveMessage(id="h1")]})
    with Novelo(url) as other:
        fresh = chat(NoveloSaver(other, user=user, cache_bytes=0))
        assert said(fresh, thread()) == ["edited", "You said: q0", "You said: q1", "another way", "You said: another way"]
        old = [state.values["messages"][-1].content for state in fresh.get_state_history(thread()) if state.values["messages"]]
        assert "You said: q3" in old, "the first branch is still there"
        assert said(fresh, past.config) == ["q0", "You said: q0", "q1", "You said: q1"]


def test_lists_of_every_kind_come_back(client: Novelo, user: str, url: str) -> None:
    saver, fresh = NoveloSaver(client, user=user), NoveloSaver(Novelo(url), user=user)
    values: List[List[Any]] = [[], [1], [1, 2], [1.0, 2], [True, 2], [1], [{"a": [1]}, None], [b"\x00", "x" * 3_000_000, "y"], ["z"], [], [{1, 2}]]
    config, configs = thread(), []
    for version, value in enumerate(values, 1):
        checkpoint = empty_checkpoint()
        checkpoint["channel_values"], checkpoint["channel_versions"] = {"c": value}, {"c": version}
        config["configurable"].setdefault("checkpoint_ns", "")
        config = saver.put(config, checkpoint, {"step": version}, {"c": version})
        configs.append(config)
    for saver in (saver, fresh):
        for config, value in zip(configs, values):
            found = saver.get_tuple(config)
            assert found is not None
            read = found.checkpoint["channel_values"]["c"]
            assert read == value and [type(item) for item in read] == [type(item) for item in value]


def test_encrypted_values_grow_with_the_thread_too(client: Novelo, user: str) -> None:
    class Cipher:
        """Writes the same text differently each time, as a real one does."""

        def encrypt(self, plaintext: bytes) -> Any:
            pad = uuid.uuid4().bytes
            return "pad", pad + bytes(byte ^ pad[at % 16] for at, byte in enumerate(plaintext))

        def decrypt(self, ciphername: str, ciphertext: bytes) -> bytes:
            return bytes(byte ^ ciphertext[at % 16] for at, byte in enumerate(ciphertext[16:]))

    graph = chat(NoveloSaver(client, user=user, serde=EncryptedSerializer(Cipher())))
    sizes = []
    for n in range(20):
        graph.invoke({"messages": [HumanMessage("tomatoes " * 30)]}, thread())
        sizes.append(stored_bytes(client, user))
    assert sizes[19] - sizes[14] < (sizes[9] - sizes[4]) * 1.1
    assert "tomatoes" not in "".join(client.export_user(user))
    assert len(said(chat(NoveloSaver(client, user=user, serde=EncryptedSerializer(Cipher()), cache_bytes=0)), thread())) == 40


def test_an_interrupt_is_resumed(client: Novelo, user: str) -> None:
    def asks(state: State) -> Dict[str, Any]:
        return {"messages": [AIMessage(f"name: {interrupt('Which name?')}")]}

    graph = chat(NoveloSaver(client, user=user), asks)
    assert "__interrupt__" in graph.invoke({"messages": [HumanMessage("hi")]}, thread())
    again = chat(NoveloSaver(client, user=user), asks)
    assert again.invoke(Command(resume="Ana"), thread())["messages"][-1].content == "name: Ana"


def test_pruning_removes_what_nothing_needs(client: Novelo, user: str) -> None:
    saver = NoveloSaver(client, user=user)
    graph = chat(saver)
    for n in range(10):
        graph.invoke({"messages": [HumanMessage(f"q{n}" * 100)]}, thread())
    before = stored_bytes(client, user)
    saver.prune(["t"])
    assert len(list(saver.list(thread()))) == 1
    assert stored_bytes(client, user) < before / 2
    assert len(said(chat(NoveloSaver(client, user=user, cache_bytes=0)), thread())) == 20
    graph.invoke({"messages": [HumanMessage("on")]}, thread())
    saver.delete_thread("t")
    saver.copy_thread("none", "t2")
    assert [line for line in client.export_user(user) if "langgraph" in line] == []
    with pytest.raises(ValueError, match="strategy"):
        saver.prune(["t"], strategy="some")


def test_delta_channels_survive_pruning_and_copying(client: Novelo, user: str) -> None:
    from langgraph.channels.delta import DeltaChannel

    def added(state: List[int], writes: Sequence[List[int]]) -> List[int]:
        return [*state, *(number for write in writes for number in write)]

    class Numbers(TypedDict):
        numbers: Annotated[List[int], DeltaChannel(added, snapshot_frequency=4)]

    saver = NoveloSaver(client, user=user)
    builder = StateGraph(Numbers)
    builder.add_node("next", lambda state: {"numbers": [len(state["numbers"])]})
    builder.add_edge(START, "next")
    builder.add_edge("next", END)
    graph: Any = builder.compile(checkpointer=saver)
    for n in range(7):
        graph.invoke({"numbers": [100 + n]}, thread())
        before = graph.get_state(thread()).values["numbers"]
        assert len(before) == 2 * (n + 1)
        saver.copy_thread("t", f"copy {n}")
        saver.prune([f"copy {n}"])
        assert graph.get_state(thread(f"copy {n}")).values["numbers"] == before


def test_awaited_graphs(url: str, user: str) -> None:
    async def run() -> None:
        async with AsyncNovelo(url) as client:
            graph = chat(NoveloSaver(client, user=user))
            await asyncio.gather(
                *(graph.ainvoke({"messages": [HumanMessage(f"to {n}")]}, thread(f"t{n}")) for n in range(8))
            )
            for n in range(8):
                state = await graph.aget_state(thread(f"t{n}"))
                assert state.values["messages"][-1].content == f"You said: to {n}"

    asyncio.run(run())
    # A saver of a sync client, in one loop after another.
    with Novelo(url) as client:
        graph = chat(NoveloSaver(client, user=user))
        for n in range(2):
            asyncio.run(graph.ainvoke({"messages": [HumanMessage("again")]}, thread("t0")))
        assert len(said(graph, thread("t0"))) == 6


def test_a_server_that_goes_away_leaves_whole_checkpoints(client: Novelo, proxy: Proxy, gone: str, user: str) -> None:
    graph = chat(NoveloSaver(client, user=user))
    graph.invoke({"messages": [HumanMessage("one")]}, thread())
    with Novelo(gone, max_retries=0) as nowhere, pytest.raises(ConnectionFailed, match="cannot reach"):
        chat(NoveloSaver(nowhere, user=user)).invoke({"messages": [HumanMessage("two")]}, thread())
    # The answer to the first request of each connection is lost, then to the second, and so on.
    for lost in range(1, 7):
        proxy.plan = [Cut(after=lambda seen: start_of(seen, lost))] * 50
        with Novelo(proxy.url, max_retries=0) as broken, pytest.raises(ConnectionLost):
            chat(NoveloSaver(broken, user=user)).invoke({"messages": [HumanMessage("three")]}, thread())
    saver = NoveloSaver(client, user=user, cache_bytes=0)
    for found in saver.list(thread()):
        assert isinstance(found.checkpoint["channel_values"], dict)
    assert said(chat(saver), thread())[:2] == ["one", "You said: one"]
    chat(saver).invoke({"messages": [HumanMessage("on")]}, thread())
    assert said(chat(saver), thread())[-1] == "You said: on"


def test_ids_that_langgraph_does_not_make_are_refused(client: Novelo, user: str) -> None:
    checkpoint = empty_checkpoint()
    checkpoint["id"] = "first"
    with pytest.raises(ValueError, match="UUID of version 6"):
        NoveloSaver(client, user=user).put(thread(), checkpoint, {}, {})
    with pytest.raises(TypeError, match="Novelo or an AsyncNovelo, not str"):
        NoveloSaver("http://127.0.0.1:7420")  # type: ignore[arg-type]
    assert NoveloSaver(client, user=user).get_tuple({"configurable": {"thread_id": "t", "checkpoint_id": "first"}}) is None


# The store


def test_items_are_put_got_searched_and_deleted(client: Novelo, user: str) -> None:
    store = NoveloStore(client, user=user)
    food, places = ("memories", "ana", "food"), ("memories", "ana", "places")
    store.put(food, "pizza", {"text": "Ana likes pizza with basil", "stars": 5})
    store.put(food, "soup", {"text": "Ana does not like soup", "stars": 1})
    store.put(places, "belém", {"text": "Ana grew up in Belém, where they eat pizza too", "stars": 3})
    item = store.get(food, "pizza")
    assert item is not None and item.value["stars"] == 5 and item.namespace == food
    assert store.get(food, "none") is None
    assert {found.key for found in store.search(("memories",))} == {"pizza", "soup", "belém"}
    hits = store.search(("memories", "ana"), query="pizza basil")
    assert [hit.key for hit in hits] == ["pizza", "belém"] and (hits[0].score or 0) > (hits[1].score or 0)
    assert [hit.key for hit in store.search(food, query="pizza")] == ["pizza"]
    assert [hit.key for hit in store.search(food, filter={"stars": {"$lt": 3}})] == ["soup"]
    assert [hit.key for hit in store.search(("memories",), filter={"stars": {"$gte": 3}}, limit=1, offset=1)] == ["belém"]
    with pytest.raises(ValueError, match="no operator"):
        store.search(food, filter={"stars": {"$near": 3}})
    # A new value takes the place of the old one, in the search too.
    store.put(food, "pizza", {"text": "Ana prefers lasagne", "stars": 5})
    again = store.get(food, "pizza")
    assert again is not None and again.created_at == item.created_at and again.updated_at > item.updated_at
    assert store.search(food, query="basil") == []
    assert store.list_namespaces() == [food, places]
    assert store.list_namespaces(max_depth=2) == [("memories", "ana")]
    assert store.list_namespaces(prefix=("*", "ana"), suffix=("food",)) == [food]
    store.delete(food, "pizza")
    store.delete(food, "soup")
    assert store.search(food) == [] and store.list_namespaces() == [places]
    assert client.search_documents(user, "lasagne")["hits"] == []


def test_only_what_is_asked_for_is_searched(client: Novelo, user: str) -> None:
    store = NoveloStore(client, user=user, index=["text", "tags[*]"])
    store.put(("a",), "one", {"text": "walnut", "note": "harbour", "tags": ["almond"]})
    store.put(("a",), "two", {"text": "walnut"}, index=False)
    store.put(("a",), "three", {"text": "walnut", "note": "harbour"}, index=["note"])
    assert [hit.key for hit in store.search(("a",), query="walnut")] == ["one"]
    assert [hit.key for hit in store.search(("a",), query="almond")] == ["one"]
    assert [hit.key for hit in store.search(("a",), query="harbour")] == ["three"]
    with pytest.raises((NotImplementedError, ValueError)):
        store.put(("a",), "four", {"text": "x"}, ttl=5)


def test_batches_and_awaited_calls(url: str, user: str) -> None:
    async def run() -> None:
        async with AsyncNovelo(url) as client:
            store = NoveloStore(client, user=user)
            await asyncio.gather(*(store.aput(("n", str(n % 3)), f"k{n}", {"n": n}) for n in range(12)))
            assert len(await store.asearch(("n",), limit=50)) == 12
            results = await store.abatch(
                [GetOp(("n", "0"), "k0"), PutOp(("n", "0"), "k0", {"n": 100}), SearchOp(("n", "0"), limit=50)]
            )
            assert results[0].value == {"n": 0} and results[1] is None and len(results[2]) == 4  # type: ignore[union-attr, arg-type]
            item = await store.aget(("n", "0"), "k0")
            assert item is not None and item.value == {"n": 100}

    asyncio.run(run())


def test_an_agent_uses_the_store(client: Novelo, user: str) -> None:
    from langgraph.config import get_store

    def remembers(state: State) -> Dict[str, Any]:
        store = get_store()
        question = str(state["messages"][-1].content)
        found = store.search(("facts",), query=question)
        store.put(("facts",), uuid.uuid4().hex, {"text": question})
        return {"messages": [AIMessage("; ".join(hit.value["text"] for hit in found) or "nothing")]}

    graph = chat(NoveloSaver(client, user=user), remembers, store=NoveloStore(client, user=user))
    assert graph.invoke({"messages": [HumanMessage("I planted tomatoes")]}, thread("a"))["messages"][-1].content == "nothing"
    found = graph.invoke({"messages": [HumanMessage("which tomatoes?")]}, thread("b"))
    assert found["messages"][-1].content == "I planted tomatoes"


def test_a_store_without_a_server(gone: str) -> None:
    with Novelo(gone, max_retries=0) as nowhere:
        with pytest.raises(ConnectionFailed):
            NoveloStore(nowhere).put(("a",), "k", {"v": 1})
        assert issubclass(errors.ConnectionFailed, errors.NoveloError)
