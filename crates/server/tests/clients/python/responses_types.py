"""Every body and every event of Responses and Conversations, checked against the types of OpenAI's package.

The package itself takes answers without checking them. Here each is validated strictly: a wrong type, a member
that is missing or an unknown kind of event fails. The requests are those of the Open Responses compliance
checks, written anew, with what those leave out: that the server remembers.
"""

import json
import urllib.error
import urllib.request
from typing import Any

from openai.types import CreateEmbeddingResponse
from openai.types.conversations import Conversation, ConversationDeletedResource, ConversationItem, ConversationItemList
from openai.types.responses import Response, ResponseItem, ResponseStreamEvent
from openai.types.responses.input_token_count_response import InputTokenCountResponse
from pydantic import TypeAdapter

from task import BASE_URL, KEY, MODEL, SCHEMA, TASK, USER, tell

TOOL = {"type": "function", "name": "weather", "description": "The weather.", "parameters": SCHEMA, "strict": False}
PIXEL = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
EVENT = TypeAdapter(ResponseStreamEvent)
ITEM = TypeAdapter(ResponseItem)
# Numbers that the Open Responses schema demands and OpenAI's package does not.
NUMBERS = ["temperature", "top_p", "presence_penalty", "frequency_penalty", "top_logprobs"]


def send(method: str, path: str, body: Any = None) -> bytes:
    data = None if body is None else json.dumps(body).encode()
    headers = {"Authorization": f"Bearer {KEY}", "Content-Type": "application/json", "X-Novelo-User": USER}
    request = urllib.request.Request(BASE_URL + path, data=data, headers=headers, method=method)
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.read()
    except urllib.error.HTTPError as error:
        raise AssertionError(f"{method} {path}: {error.code} {error.read().decode()}") from error


def check(model: Any, raw: bytes | str) -> Any:
    return TypeAdapter(model).validate_json(raw, strict=True)


def check_response(raw: bytes | str) -> Response:
    response = check(Response, raw)
    members = json.loads(raw)
    wrong = [name for name in NUMBERS if not isinstance(members.get(name), (int, float))]
    assert not wrong, wrong
    assert isinstance(members["created_at"], int) and response.usage is not None, members
    assert response.status == "completed" and response.output, members
    return response


def whole(**body: Any) -> Response:
    made = check_response(send("POST", "/responses", {"model": MODEL, **body}))
    assert check_response(send("GET", f"/responses/{made.id}")) == made
    return made


def streamed(**body: Any) -> tuple[Response, list[str]]:
    text = send("POST", "/responses", {"model": MODEL, "stream": True, **body}).decode()
    frames = [frame for frame in text.split("\n\n") if "data: " in frame]
    events = []
    for number, frame in enumerate(frames):
        lines = dict(line.split(": ", 1) for line in frame.splitlines() if ": " in line)
        event = EVENT.validate_json(lines["data"], strict=True)
        assert lines["event"] == event.type and event.sequence_number == number, frame
        events.append(event)
    last = json.loads(frames[-1].split("data: ", 1)[1])["response"]
    return check_response(json.dumps(last)), [event.type for event in events]


def message(role: str, content: Any) -> dict:
    return {"type": "message", "role": role, "content": content}


def checks() -> list[str]:
    done = []
    whole(input=[message("user", "Say hello.")])
    done.append("a text")
    _, kinds = streamed(input=[message("user", "Count.")])
    assert kinds[0] == "response.created" and kinds[-1] == "response.completed", kinds
    done.append("a stream")
    whole(input=[message("system", "Be a pirate."), message("user", "Say hello.")])
    done.append("a system message")
    called = whole(input=[message("user", TASK["question"])], tools=[TOOL])
    call = next(item for item in called.output if item.type == "function_call")
    output = {"type": "function_call_output", "call_id": call.call_id, "output": "31 degrees"}
    answered = whole(input=[output], previous_response_id=called.id, tools=[TOOL])
    assert "31 degrees" in answered.output_text, answered
    done.append("a call and its result")
    _, kinds = streamed(input=[message("user", TASK["question"])], tools=[TOOL])
    for kind in ["output_item.added", "function_call_arguments.delta", "function_call_arguments.done", "output_item.done"]:
        assert f"response.{kind}" in kinds, kinds
    done.append("a call in a stream")
    turns = [message("user", "The code word is zx-77."), message("assistant", "OK."), message("user", TASK["recall"])]
    assert "zx-77" in whole(input=turns).output_text
    done.append("several messages")
    first = whole(input="The code word is zx-88.")
    assert "zx-88" in whole(input=TASK["recall"], previous_response_id=first.id).output_text
    done.append("what was said before")
    inputs = json.loads(send("GET", f"/responses/{first.id}/input_items"))
    assert [ITEM.validate_json(json.dumps(item), strict=True).type for item in inputs["data"]] == ["message"]
    done.append("input items")
    check(InputTokenCountResponse, send("POST", "/responses/input_tokens", {"model": MODEL, "input": "Hi"}))
    done.append("counted tokens")
    conversation = check(Conversation, send("POST", "/conversations", {"metadata": {"a": "1"}}))
    path = f"/conversations/{conversation.id}"
    image = [{"type": "input_text", "text": "Look:"}, {"type": "input_image", "image_url": PIXEL, "detail": "auto"}]
    check(ConversationItemList, send("POST", f"{path}/items", {"items": [message("user", image)]}))
    listed = check(ConversationItemList, send("GET", f"{path}/items"))
    check(ConversationItem, send("GET", f"{path}/items/{listed.data[0].id}"))
    check(Conversation, send("POST", path, {"metadata": {"b": "2"}}))
    check(ConversationDeletedResource, send("DELETE", path))
    done.append("a conversation")
    check(CreateEmbeddingResponse, send("POST", "/embeddings", {"model": "embedding", "input": ["a boat", "a bird"]}))
    done.append("embeddings")
    return done


tell(checks())
