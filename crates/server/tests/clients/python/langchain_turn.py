"""LangChain's agent for one question in a thread that other clients use too."""

from langchain.agents import create_agent
from langchain_core.messages import convert_to_openai_messages
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI

from task import BASE_URL, KEY, MODEL, TASK, USER, tell, thread, weather

model = ChatOpenAI(
    model=MODEL, base_url=BASE_URL, api_key=KEY, default_headers=thread(TASK["thread"]), model_kwargs={"user": USER}
)
# In parts, which the next client sends again as a plain text.
parts = [{"type": "text", "text": TASK["question"]}]
asked = [*TASK["messages"], {"role": "user", "content": parts}]
messages = create_agent(model, [tool(weather)]).invoke({"messages": asked})["messages"]
tell({"messages": convert_to_openai_messages(messages)})
