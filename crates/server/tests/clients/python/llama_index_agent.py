"""LlamaIndex's function agent, the conversation sent again from its own memory."""

import asyncio

from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.memory import ChatMemoryBuffer
from llama_index.core.tools import FunctionTool
from llama_index.llms.openai_like import OpenAILike

from task import BASE_URL, INSTRUCTIONS, KEY, MODEL, TASK, USER, tell, thread, weather


async def run(name: str, stream: bool, questions: list[str]) -> list[str]:
    llm = OpenAILike(
        model=MODEL,
        api_base=BASE_URL,
        api_key=KEY,
        default_headers=thread(name),
        additional_kwargs={"user": USER},
        is_chat_model=True,
        is_function_calling_model=True,
    )
    tools = [FunctionTool.from_defaults(weather)]
    agent = FunctionAgent(tools=tools, llm=llm, streaming=stream, system_prompt=INSTRUCTIONS)
    memory = ChatMemoryBuffer.from_defaults(token_limit=100_000)
    answers = []
    for question in questions:
        answer = await agent.run(question, memory=memory)
        answers.append(str(answer).strip())
    return answers


async def main() -> None:
    tell({one["thread"]: await run(one["thread"], one["stream"], one["questions"]) for one in TASK["runs"]})


asyncio.run(main())
