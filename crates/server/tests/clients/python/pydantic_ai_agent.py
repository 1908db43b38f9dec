"""Pydantic AI, the conversation sent again as `message_history`."""

import asyncio

from openai import AsyncOpenAI
from pydantic_ai import Agent
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIChatModelSettings
from pydantic_ai.providers.openai import OpenAIProvider

from task import BASE_URL, INSTRUCTIONS, KEY, MODEL, TASK, USER, tell, thread, weather


async def run(name: str, stream: bool, questions: list[str]) -> list[str]:
    client = AsyncOpenAI(base_url=BASE_URL, api_key=KEY, default_headers=thread(name))
    model = OpenAIChatModel(MODEL, provider=OpenAIProvider(openai_client=client))
    settings = OpenAIChatModelSettings(openai_user=USER)
    agent = Agent(model, instructions=INSTRUCTIONS, tools=[weather], model_settings=settings)
    messages, answers = [], []
    for question in questions:
        if stream:
            async with agent.run_stream(question, message_history=messages) as result:
                output = await result.get_output()
        else:
            result = await agent.run(question, message_history=messages)
            output = result.output
        messages = result.all_messages()
        answers.append(output.strip())
    return answers


async def main() -> None:
    tell({one["thread"]: await run(one["thread"], one["stream"], one["questions"]) for one in TASK["runs"]})


asyncio.run(main())
