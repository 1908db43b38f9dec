"""LangChain's agent, which runs as a LangGraph: it parses the arguments of each call and writes them anew."""

from langchain.agents import create_agent
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI

from task import BASE_URL, INSTRUCTIONS, KEY, MODEL, TASK, USER, tell, thread, weather


def run(name: str, stream: bool, questions: list[str]) -> list[str]:
    model = ChatOpenAI(
        model=MODEL,
        base_url=BASE_URL,
        api_key=KEY,
        default_headers=thread(name),
        model_kwargs={"user": USER},
        streaming=stream,
    )
    agent = create_agent(model, [tool(weather)], system_prompt=INSTRUCTIONS)
    messages, answers = [], []
    for question in questions:
        asked = {"messages": [*messages, {"role": "user", "content": question}]}
        if stream:
            for state in agent.stream(asked, stream_mode="values"):
                messages = state["messages"]
        else:
            messages = agent.invoke(asked)["messages"]
        answers.append(messages[-1].content.strip())
    return answers


tell({one["thread"]: run(one["thread"], one["stream"], one["questions"]) for one in TASK["runs"]})
