"""Pydantic AI, the conversation sent again as `message_history`."""

import asyncio

from openai import AsyncOpenAI
from pydantic_ai import Agent
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIChatModelSettings
from pydantic_ai.providers.openai import OpenAIProvider

from task import BASE_URL, INSTRUCTIONS, KEY, MODEL, TASK, USER, tell, thread, weather


async def drain(_, events) -> None:
    async for _ in events:
        pass


async def run(name: str, stream: bool, questions: list[str]) -> list[str]:
    client = AsyncOpenAI(base_url=BASE_URL, api_key=KEY, default_headers=thread(name))
    model = OpenAIChatModel(MODEL, provider=OpenAIProvider(openai_client=client))
    settings = OpenAIChatModelSettings(openai_user=USER)
    agent = Agent(model, instructions=INSTRUCTIONS, tools=[weather], model_settings=settings)
    messages, answers = [], []
    for question in questions:
        # With a handler of events the model is asked for streams; `run_stream` would take the text before a call for the answer.
        handler = drain if stream else None
        result = await agent.run(question, message_history=messages, event_stream_handler=handler)
        messages = result.all_messages()
        answers.append(result.output.strip())
    return answers


async def main() -> None:
    tell({one["thread"]: await run(one["thread"], one["stream"], one["questions"]) for one in TASK["runs"]})


asyncio.run(main())
