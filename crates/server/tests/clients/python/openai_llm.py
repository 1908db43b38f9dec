"""OpenAI's client against a real model: a chat, a stream, a chain and a conversation."""

import openai

from task import BASE_URL, KEY, MODEL, USER, tell

client = openai.OpenAI(base_url=BASE_URL, api_key=KEY, default_headers={"X-Novelo-User": USER}, timeout=300)
SHORT = {"model": MODEL, "temperature": 0}


def chat() -> str:
    messages = [{"role": "user", "content": "Name a colour."}]
    return client.chat.completions.create(**SHORT, messages=messages, max_tokens=12).choices[0].message.content


def stream() -> dict:
    with client.responses.stream(**SHORT, input="Name a fruit.", max_output_tokens=12) as events:
        pieces = [event.delta for event in events if event.type == "response.output_text.delta"]
        final = events.get_final_response()
    return {"pieces": "".join(pieces), "whole": final.output_text, "status": final.status}


def chain() -> dict:
    previous, tokens = None, []
    for text in ["My dog is called Rex.", "I live in Recife.", "What is my dog called?"]:
        made = client.responses.create(**SHORT, input=text, max_output_tokens=12, previous_response_id=previous)
        previous = made.id
        tokens.append(made.usage.input_tokens)
    read = client.responses.retrieve(previous)
    return {"tokens": tokens, "same": read.output_text == made.output_text, "text": made.output_text}


def conversation() -> list:
    place = client.conversations.create().id
    for text in ["I drink tea.", "And my sister coffee."]:
        client.responses.create(**SHORT, input=text, max_output_tokens=12, conversation=place)
    return [item.role for item in client.conversations.items.list(place, order="asc")]


tell({"chat": chat(), "stream": stream(), "chain": chain(), "conversation": conversation()})
