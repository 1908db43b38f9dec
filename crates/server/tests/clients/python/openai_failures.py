"""OpenAI's client where the model's server refuses or the client leaves."""

from concurrent.futures import ThreadPoolExecutor

import openai

from task import BASE_URL, KEY, MODEL, TASK, USER, tell, thread

client = openai.OpenAI(base_url=BASE_URL, api_key=KEY)
PIXEL = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


def refusal(**request) -> dict:
    try:
        client.chat.completions.create(model=MODEL, user=USER, **request)
    except openai.APIStatusError as error:
        return {
            "class": type(error).__name__,
            "message": str(error),
            "retry_after": error.response.headers.get("retry-after"),
        }
    raise AssertionError("nothing was refused")


def statuses() -> dict:
    questions = [(f"{way} status {status}", way) for way in ("whole", "streamed") for status in TASK["statuses"]]

    def ask(question: str, way: str) -> dict:
        return refusal(messages=[{"role": "user", "content": question}], stream=way == "streamed")

    # At once, because the client waits between its tries.
    with ThreadPoolExecutor() as pool:
        told = pool.map(lambda question: ask(*question), questions)
    return dict(zip((question for question, _ in questions), told))


def image() -> dict:
    """A client that keeps everything it said, also what was refused, and sends it again."""
    name = thread("image")
    messages: list = []

    def ask(text: str) -> str:
        messages.append({"role": "user", "content": text})
        answer = client.chat.completions.create(model=MODEL, user=USER, messages=messages, extra_headers=name)
        messages.append({"role": "assistant", "content": answer.choices[0].message.content})
        return answer.choices[0].message.content

    answers = [ask("One")]
    parts = [{"type": "text", "text": "What is this?"}, {"type": "image_url", "image_url": {"url": PIXEL}}]
    messages.append({"role": "user", "content": parts})
    told = refusal(messages=messages, extra_headers=name)
    answers += [ask("Two"), ask("Three")]
    return {**told, "answers": answers}


def cancel() -> dict:
    name = thread("cancel")
    messages: list = [{"role": "user", "content": "Tell me a long story"}]
    heard = ""
    with client.chat.completions.create(
        model=MODEL, user=USER, messages=messages, stream=True, extra_headers=name
    ) as stream:
        for chunk in stream:
            heard += chunk.choices[0].delta.content or ""
            if heard == TASK["after"]:
                break
    messages += [{"role": "assistant", "content": heard}, {"role": "user", "content": "And now?"}]
    answer = client.chat.completions.create(model=MODEL, user=USER, messages=messages, extra_headers=name)
    return {"heard": heard, "answer": answer.choices[0].message.content}


def break_off() -> dict:
    """The question is sent again with what was heard of its answer."""
    name = thread("break")
    messages: list = [{"role": "user", "content": "Please break off"}]
    heard, seen = "", None
    try:
        for chunk in client.chat.completions.create(
            model=MODEL, user=USER, messages=messages, stream=True, extra_headers=name
        ):
            heard += chunk.choices[0].delta.content or ""
    except openai.APIError as error:
        seen = type(error).__name__
    messages += [{"role": "assistant", "content": heard}, {"role": "user", "content": "And now?"}]
    answer = client.chat.completions.create(model=MODEL, user=USER, messages=messages, extra_headers=name)
    return {"class": seen, "heard": heard, "answer": answer.choices[0].message.content}


def timeout() -> dict:
    """The client tries again by itself, with the same messages."""
    hasty = client.with_options(timeout=1, default_headers=thread("timeout"))
    answer = hasty.chat.completions.create(model=MODEL, user=USER, messages=[{"role": "user", "content": "Hi"}])
    return {"answer": answer.choices[0].message.content}


def more() -> dict:
    messages = [{"role": "user", "content": TASK["question"]}]
    client.chat.completions.create(model=MODEL, user=USER, messages=messages, extra_headers=thread(TASK["thread"]))
    return {}


tell({"statuses": statuses, "image": image, "cancel": cancel, "break": break_off, "timeout": timeout, "more": more}[TASK["part"]]())
