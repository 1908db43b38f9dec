"""OpenAI's agents over chat completions, the conversation sent again with `to_input_list()`."""

import asyncio

from agents import Agent, ModelSettings, OpenAIChatCompletionsModel, Runner, function_tool
from openai import AsyncOpenAI

from task import BASE_URL, INSTRUCTIONS, KEY, MODEL, TASK, USER, tell, thread, weather


async def run(name: str, stream: bool, questions: list[str]) -> list[str]:
    client = AsyncOpenAI(base_url=BASE_URL, api_key=KEY, default_headers=thread(name))
    agent = Agent(
        name="Forecaster",
        instructions=INSTRUCTIONS,
        model=OpenAIChatCompletionsModel(model=MODEL, openai_client=client),
        model_settings=ModelSettings(extra_args={"user": USER}),
        tools=[function_tool(weather, strict_mode=False)],
    )
    messages, answers = [], []
    for question in questions:
        asked = [*messages, {"role": "user", "content": question}]
        if stream:
            result = Runner.run_streamed(agent, asked)
            async for _ in result.stream_events():
                pass
        else:
            result = await Runner.run(agent, asked)
        messages = result.to_input_list()
        answers.append(result.final_output.strip())
    return answers


async def main() -> None:
    tell({one["thread"]: await run(one["thread"], one["stream"], one["questions"]) for one in TASK["runs"]})


asyncio.run(main())
