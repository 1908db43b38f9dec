"""The session of the OpenAI Agents SDK: real agents with tools, a model that is scripted, and a real server."""

import asyncio
from typing import Any, Dict, List

import pytest

agents = pytest.importorskip("agents")

from agents import Agent, OpenAIChatCompletionsModel, Runner, function_tool, set_tracing_disabled
from agents.memory import Session, SessionSettings
from openai import AsyncOpenAI

from novelo import AsyncNovelo, ConnectionFailed, ConnectionLost, Novelo
from novelo.agents import NoveloSession, conversation_id

from conftest import UNANSWERED, Cut, Proxy, Upstream

set_tracing_disabled(True)

ITEMS: List[Any] = [
    {"role": "user", "content": "What is the weather?"},
    {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed",
     "content": [{"type": "output_text", "text": "Let me look.", "annotations": [], "logprobs": []}]},
    {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "hm"}], "encrypted_content": "gAAA"},
    {"type": "function_call", "id": "__fake_id__", "call_id": "c1", "name": "weather", "arguments": '{ "city":"Belém" }'},
    {"type": "function_call", "id": "__fake_id__", "call_id": "c2", "name": "weather", "arguments": "{}"},
    {"type": "function_call_output", "call_id": "c1", "output": "31"},
    {"type": "function_call_output", "call_id": "c2", "output": [{"type": "input_text", "text": "é"}]},
    {"role": "user", "content": [{"type": "input_text", "text": "and this?"}]},
    {"type": "item_of_tomorrow", "x": [1, None]},
    {"role": "assistant", "content": "short"},
    {"type": "function_call", "call_id": "c3", "name": "weather", "arguments": "{}", "status": "completed"},
]


@function_tool
def weather(city: str) -> str:
    """The weather in a city."""
    return f"31 degrees in {city}"


def agent(upstream: Upstream, tools: bool = True) -> Any:
    model = OpenAIChatCompletionsModel("scripted", AsyncOpenAI(base_url=upstream.url, api_key="none"))
    return Agent(name="helper", instructions="Be brief.", model=model, tools=[weather] if tools else [])


async def test_an_agent_continues_its_conversation(url: str, client: Novelo, user: str, upstream: Upstream) -> None:
    async with AsyncNovelo(url) as awaited:
        first = await Runner.run(agent(upstream), "And in Belem?", session=NoveloSession("t é/1", awaited, user=user))
        assert first.final_output == "It is 31 degrees in Belém."
    # Another process, with a client of the other kind.
    session = NoveloSession("t é/1", client, user=user)
    second = await Runner.run(agent(upstream, tools=False), "Thanks", session=session)
    assert second.final_output == "You said: Thanks"
    asked = [(message["role"], message.get("content")) for message in upstream.asked[-1]["messages"]]
    assert asked == [
        ("system", "Be brief."), ("user", "And in Belem?"), ("assistant", None), ("tool", "31 degrees in Belém"),
        ("assistant", "It is 31 degrees in Belém."), ("user", "Thanks"),
    ]
    # It is a thread as any other: contexts and searches see it.
    context = client.make_context(user=user, thread="t é/1", budget_tokens=1000)
    roles = [message["role"] for message in context["messages"]]
    assert roles == ["user", "assistant", "tool", "assistant", "user", "assistant"]
    assert client.search_turns(user, "Belem")["hits"]


async def test_items_come_back_as_they_were(url: str, user: str) -> None:
    async with AsyncNovelo(url) as client:
        session = NoveloSession("t", client, user=user)
        assert isinstance(session, Session)
        assert await session.get_items() == [] and await session.pop_item() is None
        await session.add_items([])
        await session.add_items(ITEMS)
        assert await session.get_items() == ITEMS
        for limit in range(len(ITEMS) + 2):
            assert await session.get_items(limit) == ITEMS[max(0, len(ITEMS) - limit) :]
        assert await NoveloSession("t", client, user=user, session_settings=SessionSettings(limit=2)).get_items() == ITEMS[-2:]
        for left in range(len(ITEMS), 0, -1):
            assert await session.pop_item() == ITEMS[left - 1]
            assert await session.get_items() == ITEMS[: left - 1]
        await session.add_items(ITEMS * 5)
        assert await session.get_items() == ITEMS * 5, "more than one request takes"
        await session.clear_session()
        assert await session.get_items() == []
        await session.add_items(ITEMS[:1])
        assert await session.get_items() == ITEMS[:1]


async def test_turns_of_other_surfaces_are_items(client: Novelo, user: str) -> None:
    calls = [{"id": "c", "type": "function", "function": {"name": "weather", "arguments": "{}"}}]
    client.append_turns(user, "t", [
        {"role": "user", "content": "hi"}, {"role": "assistant", "content": "let me", "tool_calls": calls},
        {"role": "tool", "tool_call_id": "c", "content": "31"},
    ])
    session = NoveloSession("t", client, user=user)
    assert await session.get_items() == [
        {"role": "user", "content": "hi"}, {"role": "assistant", "content": "let me"},
        {"type": "function_call", "call_id": "c", "name": "weather", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c", "output": "31"},
    ]
    await session.add_items(ITEMS[:1])
    assert (await session.get_items())[-1] == ITEMS[0]


async def test_a_lost_answer_adds_nothing_twice(client: Novelo, proxy: Proxy, gone: str, user: str) -> None:
    session = NoveloSession("t", client, user=user)
    await session.add_items(ITEMS[:1])
    proxy.plan = [UNANSWERED]
    async with AsyncNovelo(proxy.url) as broken:
        await NoveloSession("t", broken, user=user).add_items(ITEMS[1:3])
    assert await session.get_items() == ITEMS[:3]
    proxy.plan = [UNANSWERED] * 9
    async with AsyncNovelo(proxy.url, max_retries=0) as broken:
        with pytest.raises(ConnectionLost):
            await NoveloSession("t", broken, user=user).add_items(ITEMS[3:4])
    async with AsyncNovelo(gone, max_retries=0) as nowhere:
        with pytest.raises(ConnectionFailed, match="cannot reach"):
            await NoveloSession("t", nowhere, user=user).get_items()


async def test_bad_input_is_refused(client: Novelo, user: str) -> None:
    with pytest.raises(ValueError, match="session_id"):
        NoveloSession("", client)
    with pytest.raises(TypeError, match="an item is a dict"):
        await NoveloSession("t", client, user=user).add_items(["hello"])  # type: ignore[list-item]
    assert await NoveloSession("t", client, user=user).get_items() == []
    assert conversation_id("t é/1") == "conv_t~20~c3~a9~2f1"
