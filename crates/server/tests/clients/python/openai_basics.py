"""OpenAI's client with nothing but its address changed."""

import json

import openai
from pydantic import BaseModel

from task import BASE_URL, KEY, MODEL, TASK, TOOLS, USER, tell, thread, weather

client = openai.OpenAI(base_url=BASE_URL, api_key=KEY)
HI = [{"role": "user", "content": "Hi"}]


def models() -> dict:
    first = client.chat.completions.create(model="gpt-4o-mini", messages=HI).choices[0].message.content
    listed = [model.id for model in client.models.list()]
    retrieved = [client.models.retrieve(name).id for name in ("answer", "gpt-4o-mini")]
    try:
        client.models.retrieve("no-such-model")
        unknown = "nothing"
    except openai.APIStatusError as error:
        unknown = type(error).__name__
    return {"first": first, "listed": listed, "retrieved": retrieved, "unknown": unknown}


def threads() -> dict:
    def used(text: str, **request) -> str | None:
        messages = [{"role": "user", "content": text}]
        raw = client.chat.completions.with_raw_response.create(model=MODEL, user=USER, messages=messages, **request)
        answer = raw.parse()
        if request.get("stream"):
            assert [chunk for chunk in answer]
        return raw.headers.get("x-novelo-thread")

    by_header, by_metadata = thread("by header"), {"thread_id": "by metadata"}
    return {
        "header": used("One", extra_headers=by_header),
        "header_streamed": used("Two", extra_headers=by_header, stream=True),
        "metadata": used("Three", metadata=by_metadata),
        "both": used("Four", extra_headers=by_header, metadata=by_metadata),
        "neither": used("Five"),
        "neither_streamed": used("Six", stream=True),
    }


def keys() -> dict:
    """A key of a user says who asks."""

    def ask(key: str, **request) -> str:
        keyed = openai.OpenAI(base_url=BASE_URL, api_key=key, default_headers=thread("keyed"))
        try:
            answer = keyed.chat.completions.create(model=MODEL, messages=HI, **request)
            return answer.choices[0].message.content
        except openai.APIStatusError as error:
            return type(error).__name__

    key = TASK["key"]
    return {"own": ask(key), "named": ask(key, user=USER), "other": ask(key, user="bob"), "wrong": ask("nvl-wrong")}


def default_thread() -> dict:
    """What one user said is in the prompt of that user alone."""

    def ask(user: str | None, text: str) -> str | None:
        messages = [{"role": "user", "content": text}]
        who = {} if user is None else {"user": user}
        return client.chat.completions.with_raw_response.create(model=MODEL, messages=messages, **who).headers.get(
            "x-novelo-thread"
        )

    return {"ana": ask(USER, "One"), "bob": ask("bob", "Two"), "nobody": ask(None, "Three"), "again": ask(USER, "Four")}


def details() -> dict:
    request = {"model": MODEL, "user": USER, "messages": HI, "logprobs": True}

    def seen(text, fingerprint, logprob, usage, role) -> dict:
        return {
            "text": text,
            "fingerprint": fingerprint,
            "logprob": logprob,
            "cached": usage.prompt_tokens_details and usage.prompt_tokens_details.cached_tokens,
            "reasoning": usage.completion_tokens_details and usage.completion_tokens_details.reasoning_tokens,
            "usage": [usage.prompt_tokens, usage.completion_tokens, usage.total_tokens],
            "first_role": role,
        }

    whole = client.chat.completions.create(**request)
    choice = whole.choices[0]
    logprob = choice.logprobs and choice.logprobs.content[0].logprob
    message = choice.message
    told = {"whole": seen(message.content, whole.system_fingerprint, logprob, whole.usage, message.role)}
    chunks = list(client.chat.completions.create(**request, stream=True, stream_options={"include_usage": True}))
    choices = [chunk.choices[0] for chunk in chunks if chunk.choices]
    text = "".join(choice.delta.content or "" for choice in choices)
    logprobs = [one.logprob for choice in choices if choice.logprobs for one in choice.logprobs.content or []]
    fingerprints = {chunk.system_fingerprint for chunk in chunks}
    assert len(fingerprints) == 1, fingerprints
    logprob = logprobs[0] if logprobs else None
    told["streamed"] = seen(text, fingerprints.pop(), logprob, chunks[-1].usage, choices[0].delta.role)
    return told


class Weather(BaseModel):
    city: str
    degrees: int


def parse() -> dict:
    def ask(text: str) -> dict:
        messages = [{"role": "user", "content": text}]
        return {"model": MODEL, "user": USER, "messages": messages, "extra_headers": thread("parse")}

    whole = client.chat.completions.parse(**ask("One"), response_format=Weather).choices[0].message.parsed
    with client.chat.completions.stream(**ask("Two"), response_format=Weather) as stream:
        streamed = stream.until_done().get_final_completion().choices[0].message.parsed
    return {"whole": [whole.city, whole.degrees], "streamed": [streamed.city, streamed.degrees]}


def turn() -> dict:
    """One question in a thread that other clients use too."""
    messages = [*TASK["messages"], {"role": "user", "content": TASK["question"]}]
    while True:
        answer = client.chat.completions.create(
            model=MODEL, user=USER, messages=messages, tools=TOOLS, extra_headers=thread(TASK["thread"])
        )
        message = answer.choices[0].message
        messages.append({"content": None, **message.model_dump(exclude_none=True)})
        if not message.tool_calls:
            return {"messages": messages}
        for call in message.tool_calls:
            result = weather(**json.loads(call.function.arguments))
            messages.append({"role": "tool", "tool_call_id": call.id, "content": result})


PARTS = {
    "models": models,
    "threads": threads,
    "keys": keys,
    "default": default_thread,
    "details": details,
    "parse": parse,
    "turn": turn,
}
tell(PARTS[TASK["part"]]())
