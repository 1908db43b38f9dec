"""OpenAI's agents with their default model: in a session of conversations, as a chain, and sent again."""

import asyncio

from agents import Agent, OpenAIConversationsSession, OpenAIResponsesModel, Runner, function_tool
from openai import AsyncOpenAI

from task import BASE_URL, INSTRUCTIONS, KEY, MODEL, TASK, USER, tell, thread, weather


async def run(way: str, stream: bool, questions: list[str]) -> dict:
    headers = {"X-Novelo-User": USER} | (thread(f"agents {stream}") if way == "resent" else {})
    client = AsyncOpenAI(base_url=BASE_URL, api_key=KEY, default_headers=headers)
    agent = Agent(
        name="Forecaster",
        instructions=INSTRUCTIONS,
        model=OpenAIResponsesModel(model=MODEL, openai_client=client),
        tools=[function_tool(weather, strict_mode=False)],
    )
    session = OpenAIConversationsSession(openai_client=client) if way == "session" else None
    previous, messages, answers = None, [], []
    for question in questions:
        asked = [*messages, {"role": "user", "content": question}] if way == "resent" else question
        more = {"session": session} if session else {"previous_response_id": previous} if way == "chain" else {}
        if stream:
            result = Runner.run_streamed(agent, asked, **more)
            async for _ in result.stream_events():
                pass
        else:
            result = await Runner.run(agent, asked, **more)
        previous, messages = result.last_response_id, result.to_input_list()
        answers.append(result.final_output.strip())
    conversation = await session._get_session_id() if session else None
    return {"answers": answers, "conversation": conversation, "last": previous}


async def main() -> None:
    seen = {}
    for way in ("session", "chain", "resent"):
        for stream in (False, True):
            seen[f"{way} {'streamed' if stream else 'whole'}"] = await run(way, stream, TASK["questions"])
    tell(seen)


asyncio.run(main())
