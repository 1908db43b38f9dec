"""OpenAI's own client: a loop over the tools, with `create` and with the helper `stream`."""

import json

from openai import OpenAI

from task import BASE_URL, INSTRUCTIONS, KEY, MODEL, TASK, TOOLS, USER, tell, thread, weather


def ask(client: OpenAI, stream: bool, messages: list) -> object:
    request = {"model": MODEL, "user": USER, "messages": messages, "tools": TOOLS}
    if not stream:
        return client.chat.completions.create(**request).choices[0].message
    with client.chat.completions.stream(**request) as events:
        for _ in events:
            pass
        return events.get_final_completion().choices[0].message


def run(name: str, stream: bool, questions: list[str]) -> list[str]:
    client = OpenAI(base_url=BASE_URL, api_key=KEY, default_headers=thread(name))
    messages, answers = [{"role": "system", "content": INSTRUCTIONS}], []
    for question in questions:
        messages.append({"role": "user", "content": question})
        while True:
            message = ask(client, stream, messages)
            # As most programs do it: the object itself goes back, with its empty members.
            messages.append(message)
            if not message.tool_calls:
                break
            for call in message.tool_calls:
                result = weather(**json.loads(call.function.arguments))
                messages.append({"role": "tool", "tool_call_id": call.id, "content": result})
        answers.append(message.content.strip())
    return answers


tell({one["thread"]: run(one["thread"], one["stream"], one["questions"]) for one in TASK["runs"]})
