"""LangChain's model over Responses: a tool loop along `previous_response_id`, whole and streamed."""

from langchain_core.messages import HumanMessage, SystemMessage, ToolMessage
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI

from task import BASE_URL, INSTRUCTIONS, KEY, MODEL, TASK, USER, tell
from task import weather as report


@tool
def weather(city: str, days: float = 1, options: dict | None = None, station: int | None = None) -> str:
    """The weather in a city."""
    return report(city, days, options, station)


def run(stream: bool, chained: bool, questions: list[str]) -> list[str]:
    model = ChatOpenAI(
        model=MODEL,
        base_url=BASE_URL,
        api_key=KEY,
        use_responses_api=True,
        use_previous_response_id=chained,
        output_version="responses/v1",
        default_headers={"X-Novelo-User": USER},
    ).bind_tools([weather])

    def ask(messages: list):
        if not stream:
            return model.invoke(messages)
        whole = None
        for chunk in model.stream(messages):
            whole = chunk if whole is None else whole + chunk
        return whole

    messages, answers = [SystemMessage(INSTRUCTIONS)], []
    for question in questions:
        messages.append(HumanMessage(question))
        said = ask(messages)
        messages.append(said)
        while said.tool_calls:
            for call in said.tool_calls:
                messages.append(ToolMessage(weather.invoke(call["args"]), tool_call_id=call["id"]))
            said = ask(messages)
            messages.append(said)
        answers.append(said.text.strip() if isinstance(said.text, str) else said.text().strip())
    return answers


tell({
    f"{'chained' if chained else 'resent'} {'streamed' if stream else 'whole'}": run(stream, chained, TASK["questions"])
    for chained in (True, False)
    for stream in (False, True)
})
