"""The chat history, the retriever and the trimmer of LangChain."""

import asyncio
from typing import Any, Dict, List, Type

import pytest

pytest.importorskip("langchain_core")

from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
    trim_messages as langchain_trim,
)
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import RunnableLambda
from langchain_core.runnables.history import RunnableWithMessageHistory
from langchain_tests.integration_tests import RetrieversIntegrationTests

from novelo import AsyncNovelo, ConnectionFailed, Novelo, errors
from novelo.langchain import NoveloChatMessageHistory, NoveloRetriever, atrim_messages, message_trimmer, trim_messages

from conftest import UNANSWERED, Proxy

CALL = {"name": "weather", "args": {"city": "Belém"}, "id": "c1", "type": "tool_call"}
EVERY_KIND: List[BaseMessage] = [
    SystemMessage("Be brief."),
    HumanMessage("Olá! 🌴"),
    HumanMessage([{"type": "text", "text": "What is this?"}, {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}}]),
    AIMessage("", tool_calls=[CALL], id="run-1", usage_metadata={"input_tokens": 1, "output_tokens": 2, "total_tokens": 3}),
    ToolMessage("31", tool_call_id="c1", name="weather", artifact={"raw": [31]}, status="error"),
    AIMessage("It is 31.", response_metadata={"model_name": "scripted"}, additional_kwargs={"x": 1}),
    HumanMessage("Thanks", name="ana", id="h1"),
]


# The history


def test_messages_come_back_as_they_were(client: Novelo, url: str, user: str) -> None:
    history = NoveloChatMessageHistory(client, "t", user=user)
    assert history.messages == []
    history.add_messages(EVERY_KIND)
    history.add_user_message("one more")
    assert NoveloChatMessageHistory(Novelo(url), "t", user=user).messages == [*EVERY_KIND, HumanMessage("one more")]
    # To all other surfaces they are turns in OpenAI's format.
    turns = [turn["message"] for turn in client.iter_turns(user, "t")]
    assert turns[1] == {"role": "user", "content": "Olá! 🌴"}
    assert turns[3]["tool_calls"][0]["function"]["name"] == "weather" and turns[3]["content"] is None
    assert "usage_metadata" not in turns[3]
    context = client.make_context(user=user, thread="t", budget_tokens=1000)
    assert [message["role"] for message in context["messages"]][-1] == "user"
    history.clear()
    assert history.messages == []
    assert [line for line in client.export_user(user) if "langchain" in line] == []


def test_messages_of_other_surfaces_are_read(client: Novelo, user: str) -> None:
    client.append_turns(user, "t", [{"role": "user", "content": "hi", "id": "m1"}, {"role": "assistant", "content": "hello"}])
    assert NoveloChatMessageHistory(client, "t", user=user).messages == [HumanMessage("hi"), AIMessage("hello")]


def test_a_chain_remembers(client: Novelo, user: str) -> None:
    model = GenericFakeChatModel(messages=iter([AIMessage("first"), AIMessage("second")]))
    chain = RunnableWithMessageHistory(model, lambda session_id: NoveloChatMessageHistory(client, session_id, user=user))
    config: Any = {"configurable": {"session_id": "s"}}
    chain.invoke([HumanMessage("one")], config)
    chain.invoke([HumanMessage("two")], config)
    assert [m.content for m in NoveloChatMessageHistory(client, "s", user=user).messages] == ["one", "first", "two", "second"]


def test_a_history_that_is_awaited_and_one_that_breaks(url: str, proxy: Proxy, gone: str, user: str) -> None:
    async def run() -> None:
        proxy.plan = [UNANSWERED]
        async with AsyncNovelo(proxy.url) as client:
            history = NoveloChatMessageHistory(client, "t", user=user)
            await history.aadd_messages(EVERY_KIND[:3])
            assert await history.aget_messages() == EVERY_KIND[:3]
            await history.aclear()
            assert await history.aget_messages() == []

    asyncio.run(run())
    with Novelo(gone, max_retries=0) as nowhere, pytest.raises(ConnectionFailed):
        NoveloChatMessageHistory(nowhere, "t").add_user_message("hi")
    with Novelo(url) as client, pytest.raises(ValueError, match="at most 1000 messages"):
        NoveloChatMessageHistory(client, "t", user=user).add_messages([HumanMessage("x")] * 1001)


# The retriever: LangChain's own tests


class TestNoveloRetriever(RetrieversIntegrationTests):
    @pytest.fixture(autouse=True)
    def documents(self, url: str, user: str) -> None:
        self.client, self.user = Novelo(url), user
        for n in range(6):
            self.client.index_document(user, name=f"Garden {n}", text=f"Tomatoes grow in garden {n}.", meta={"n": n})

    @property
    def retriever_constructor(self) -> Type[BaseRetriever]:
        return NoveloRetriever

    @property
    def retriever_constructor_params(self) -> Dict[str, Any]:
        return {"client": self.client, "user": self.user}

    @property
    def retriever_query_example(self) -> str:
        return "tomatoes in the garden"


def test_what_a_retriever_finds(client: Novelo, user: str) -> None:
    client.add_memory(user, "Ana likes tea.", meta={"by": "ana"})
    client.append_turns(user, "t", [{"role": "user", "content": "I drink tea."}])
    [memory] = NoveloRetriever(client=client, user=user, source="memories").invoke("tea")
    assert memory.page_content == "Ana likes tea." and memory.metadata["by"] == "ana" and memory.metadata["score"] > 0
    [turn] = NoveloRetriever(client=client, user=user, source="turns").invoke("tea")
    assert turn.metadata["thread"] == "t" and turn.metadata["role"] == "user"
    with pytest.raises(ValueError, match="k"):
        NoveloRetriever(client=client, user=user, k=101)


# The trimmer


def conversation(pairs: int, tools: bool = False) -> List[BaseMessage]:
    messages: List[BaseMessage] = [SystemMessage("Be brief.")]
    for n in range(pairs):
        messages.append(HumanMessage(f"question {n} " + "palavra é 🌴 " * (n % 7)))
        if tools and n % 2:
            calls: Any = [{**CALL, "id": f"c{n}"}, {**CALL, "id": f"d{n}"}]
            messages += [
                AIMessage("", tool_calls=calls),
                ToolMessage("31 " * 9, tool_call_id=f"d{n}"),
                ToolMessage("30", tool_call_id=f"c{n}"),
            ]
        messages.append(AIMessage(f"answer {n} " + "word " * (n % 5)))
    return messages


def costs(client: Novelo, messages: List[BaseMessage]) -> Dict[int, int]:
    """What the server counts for each message."""
    from novelo.langchain import to_openai

    context = client.make_context(
        messages=[to_openai(message) for message in messages], budget_tokens=1_000_000, tokenizer="o200k_base", explain=True
    )
    explained: Any = context["explain"]
    return {id(messages[piece["index"]]): piece["tokens"] for piece in explained["pieces"]}


def test_it_trims_as_langchain_does(client: Novelo) -> None:
    messages = conversation(30)
    cost = costs(client, messages)

    def counter(given: List[BaseMessage]) -> int:
        return sum(cost[id(message)] for message in given)

    least = counter([messages[0], messages[-2], messages[-1]])
    for budget in [*range(least, least + 200, 7), counter(messages) - 1, counter(messages)]:
        ours = trim_messages(client, messages, max_tokens=budget)
        theirs = langchain_trim(messages, max_tokens=budget, token_counter=counter, include_system=True)
        assert ours == theirs, budget
        assert all(any(kept is given for given in messages) for kept in ours), "the objects that were given"
        ours = trim_messages(client, messages, max_tokens=budget, start_on="human", end_on="ai")
        theirs = langchain_trim(
            messages, max_tokens=budget, token_counter=counter, include_system=True, start_on="human", end_on="ai"
        )
        assert ours == theirs, budget


def test_calls_and_their_results_stay_together(client: Novelo) -> None:
    messages = conversation(20, tools=True)
    cost = costs(client, messages)
    for budget in range(150, 900, 31):
        kept = trim_messages(client, messages, max_tokens=budget)
        assert sum(cost[id(message)] for message in kept) <= budget
        called = [call["id"] for message in kept if isinstance(message, AIMessage) for call in message.tool_calls]
        answered = [message.tool_call_id for message in kept if isinstance(message, ToolMessage)]
        assert sorted(map(str, called)) == sorted(answered)
        newest = [message for message in messages if isinstance(message, HumanMessage)][-1]
        assert kept[0] is messages[0] and any(message is newest for message in kept)


def test_what_must_stay_and_does_not_fit_is_an_error(client: Novelo) -> None:
    with pytest.raises(errors.OverBudget):
        trim_messages(client, conversation(3), max_tokens=20)
    assert trim_messages(client, [], max_tokens=20) == []


def test_a_trimmer_in_a_chain(client: Novelo, url: str) -> None:
    seen: List[Any] = []
    def see(messages: Any) -> str:
        seen.append(messages)
        return "done"

    chain: Any = message_trimmer(client, max_tokens=120, start_on="human") | RunnableLambda(see)
    assert chain.invoke(conversation(9)) == "done"

    async def run() -> None:
        assert await chain.ainvoke(conversation(9)) == "done"
        async with AsyncNovelo(url) as awaited:
            seen.append(await atrim_messages(awaited, conversation(9), max_tokens=120, start_on="human"))

    asyncio.run(run())
    assert seen[0] == seen[1] == seen[2] and 1 < len(seen[0]) < 19


