"""Checks whether a server keeps the state of Responses and Conversations. See README.md."""

from __future__ import annotations

import argparse
import concurrent.futures
import json
import subprocess
import sys
import time
import traceback
import uuid
from collections.abc import Callable
from typing import Any

import openai

TOOL = {
    "type": "function",
    "name": "lookup",
    "description": "Looks up a value by its key.",
    "parameters": {
        "type": "object",
        "properties": {"key": {"type": "string"}},
        "required": ["key"],
        "additionalProperties": False,
    },
    "strict": True,
}
ASK = "Repeat every code word that was said in this conversation, and nothing else."
DEADLINE_S = 120


class Skipped(Exception):
    """The check needs something that the command line did not give."""


class Checks:
    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.model = options.model
        self.client = self.client_with(options.api_key)

    def client_with(self, key: str) -> openai.OpenAI:
        return openai.OpenAI(base_url=self.options.base_url, api_key=key, max_retries=0, timeout=DEADLINE_S)

    def ask(self, text: Any, **more: Any) -> Any:
        return self.client.responses.create(model=self.model, input=text, **more)

    def code_word(self) -> str:
        return f"zx-{uuid.uuid4().hex[:6]}"

    def remember(self, **more: Any) -> tuple[str, Any]:
        word = self.code_word()
        return word, self.ask(f"A code word is {word}. Answer with OK.", **more)

    # Responses

    def response_is_stored(self) -> None:
        made = self.ask("Answer with OK.", metadata={"suite": "state"})
        assert made.status == "completed" and made.object == "response", made
        read = self.client.responses.retrieve(made.id)
        assert read.output_text == made.output_text and read.metadata["suite"] == "state", read
        items = self.client.responses.input_items.list(made.id).data
        assert items[0].content[0].text == "Answer with OK.", items

    def chain_remembers(self) -> None:
        first, made = self.remember()
        second, made = self.remember(previous_response_id=made.id)
        told = self.ask(ASK, previous_response_id=made.id).output_text
        assert first in told and second in told, told

    def forks_do_not_see_each_other(self) -> None:
        trunk, made = self.remember()
        left, left_made = self.remember(previous_response_id=made.id)
        right, right_made = self.remember(previous_response_id=made.id)
        for own, other, tip in ((left, right, left_made), (right, left, right_made)):
            told = self.ask(ASK, previous_response_id=tip.id).output_text
            assert trunk in told and own in told and other not in told, told

    def instructions_do_not_carry_over(self) -> None:
        word = self.code_word()
        made = self.ask("Answer with OK.", instructions=f"A code word is {word}.")
        told = self.ask(ASK, previous_response_id=made.id).output_text
        assert word not in told, told

    def tools_stay_in_the_chain(self) -> None:
        self.tool_loop(stream=False)

    def tools_stay_in_the_chain_streamed(self) -> None:
        self.tool_loop(stream=True)

    def tool_loop(self, stream: bool) -> None:
        def run(text: Any, **more: Any) -> Any:
            if not stream:
                return self.ask(text, **more)
            with self.client.responses.stream(model=self.model, input=text, **more) as events:
                for _ in events:
                    pass
                return events.get_final_response()

        word = self.code_word()
        made = run("Call lookup with the key alpha.", tools=[TOOL], tool_choice="required")
        call = next(item for item in made.output if item.type == "function_call")
        assert call.name == "lookup" and isinstance(json.loads(call.arguments), dict), call
        output = {"type": "function_call_output", "call_id": call.call_id, "output": f"A code word is {word}."}
        made = run([output], previous_response_id=made.id, tools=[TOOL], tool_choice="none")
        told = run(ASK, previous_response_id=made.id).output_text
        assert word in told, told

    def store_false_stores_nothing(self) -> None:
        word, made = self.remember()
        unstored = self.ask(ASK, previous_response_id=made.id, store=False)
        assert word in unstored.output_text, unstored.output_text
        refused(openai.NotFoundError, lambda: self.client.responses.retrieve(unstored.id))
        refused(openai.APIStatusError, lambda: self.ask("x", previous_response_id=unstored.id))

    def deleted_response_is_gone(self) -> None:
        made = self.ask("Answer with OK.")
        self.client.responses.delete(made.id)
        refused(openai.NotFoundError, lambda: self.client.responses.retrieve(made.id))
        refused(openai.APIStatusError, lambda: self.ask("x", previous_response_id=made.id))

    def successors_outlive_a_deleted_response(self) -> None:
        _, first = self.remember()
        word, second = self.remember(previous_response_id=first.id)
        self.client.responses.delete(first.id)
        assert word in self.ask(ASK, previous_response_id=second.id).output_text

    def bad_input_is_refused(self) -> None:
        error = refused(openai.BadRequestError, lambda: self.ask("x", previous_response_id="resp_nowhere"))
        assert error.code == "previous_response_not_found", error.code
        conversation = self.client.conversations.create()
        made = self.ask("Answer with OK.")
        refused(
            openai.BadRequestError,
            lambda: self.ask("x", previous_response_id=made.id, conversation=conversation.id),
        )
        refused(openai.NotFoundError, lambda: self.ask("x", conversation="conv_nowhere"))

    # Streams

    def stream_is_numbered_and_stored(self) -> None:
        events = list(self.ask("Answer with OK.", stream=True))
        assert [event.sequence_number for event in events] == list(range(len(events))), events
        assert events[0].type == "response.created" and events[-1].type == "response.completed", events
        final = events[-1].response
        text = "".join(event.delta for event in events if event.type == "response.output_text.delta")
        assert text == final.output_text == self.client.responses.retrieve(final.id).output_text, text

    def stream_is_resumed(self) -> None:
        events = list(self.ask("Answer with OK.", stream=True, background=True))
        made, after = events[0].response, events[len(events) // 2].sequence_number
        rest = list(self.client.responses.retrieve(made.id, stream=True, starting_after=after))
        expected = [(event.type, event.sequence_number) for event in events if event.sequence_number > after]
        assert [(event.type, event.sequence_number) for event in rest] == expected, rest

    def background_is_read_later(self) -> None:
        made = self.ask("Answer with OK.", background=True)
        assert made.status in ("queued", "in_progress"), made.status
        deadline = time.monotonic() + DEADLINE_S
        while made.status in ("queued", "in_progress"):
            assert time.monotonic() < deadline, "it does not end"
            time.sleep(0.1)
            made = self.client.responses.retrieve(made.id)
        assert made.status == "completed" and made.output_text, made

    def background_is_cancelled(self) -> None:
        made = self.ask("Tell me a very long story.", background=True)
        cancelled = self.client.responses.cancel(made.id)
        assert cancelled.status in ("cancelled", "completed"), cancelled.status
        assert self.client.responses.retrieve(made.id).status == cancelled.status

    # Conversations

    def conversation_remembers(self) -> None:
        word = self.code_word()
        item = {"type": "message", "role": "user", "content": f"A code word is {word}."}
        conversation = self.client.conversations.create(items=[item], metadata={"topic": "state"})
        other, _ = self.remember(conversation=conversation.id)
        told = self.ask(ASK, conversation=conversation.id).output_text
        assert word in told and other in told, told
        assert self.client.conversations.retrieve(conversation.id).metadata["topic"] == "state"
        items = list(self.client.conversations.items.list(conversation.id, order="asc", limit=2))
        roles = [item.role for item in items]
        assert roles == ["user", "user", "assistant", "user", "assistant"], roles

    def items_come_back_as_they_were(self) -> None:
        conversation = self.client.conversations.create()
        given: list[Any] = [
            {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Look it up."}]},
            {"type": "function_call", "call_id": "call_1", "name": "lookup", "arguments": '{"key": "a"}'},
            {"type": "function_call_output", "call_id": "call_1", "output": "7"},
            {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "It is 7.", "annotations": []}]},
        ]
        self.client.conversations.items.create(conversation.id, items=given)
        items = list(self.client.conversations.items.list(conversation.id, order="asc"))
        assert [item.type for item in items] == [item["type"] for item in given], items
        assert items[1].arguments == '{"key": "a"}' and items[2].output == "7", items
        for item in items:
            read = self.client.conversations.items.retrieve(item.id, conversation_id=conversation.id)
            assert read.id == item.id and read.type == item.type, read
        self.client.conversations.items.delete(items[0].id, conversation_id=conversation.id)
        left = list(self.client.conversations.items.list(conversation.id, order="asc"))
        assert [item.id for item in left] == [item.id for item in items[1:]], left

    def conversation_is_changed_and_deleted(self) -> None:
        conversation = self.client.conversations.create(metadata={"a": "1"})
        changed = self.client.conversations.update(conversation.id, metadata={"b": "2"})
        assert changed.metadata == {"b": "2"}, changed
        self.client.conversations.delete(conversation.id)
        refused(openai.NotFoundError, lambda: self.client.conversations.retrieve(conversation.id))

    def answers_do_not_interleave(self) -> None:
        conversation = self.client.conversations.create()

        def one(_: int) -> bool:
            try:
                self.ask("Answer with OK.", conversation=conversation.id)
                return True
            except openai.ConflictError:
                return False

        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            answered = sum(pool.map(one, range(4)))
        items = list(self.client.conversations.items.list(conversation.id, order="asc"))
        assert answered >= 1 and [item.role for item in items] == ["user", "assistant"] * answered, items

    # Around them

    def tenants_are_apart(self) -> None:
        if not self.options.other_key:
            raise Skipped("needs --other-key")
        other = self.client_with(self.options.other_key)
        _, made = self.remember()
        conversation = self.client.conversations.create()
        refused(openai.NotFoundError, lambda: other.responses.retrieve(made.id))
        refused(openai.NotFoundError, lambda: other.conversations.retrieve(conversation.id))
        refused(
            openai.APIStatusError,
            lambda: other.responses.create(model=self.model, input=ASK, previous_response_id=made.id),
        )
        refused(openai.APIStatusError, lambda: other.responses.delete(made.id))
        assert self.client.responses.retrieve(made.id).id == made.id

    def state_survives_a_kill(self) -> None:
        if not self.options.restart:
            raise Skipped("needs --restart")
        word, made = self.remember()
        conversation = self.client.conversations.create()
        other, _ = self.remember(conversation=conversation.id)
        subprocess.run(self.options.restart, shell=True, check=True, stdin=subprocess.DEVNULL)
        self.wait_until_it_answers(made.id)
        assert word in self.ask(ASK, previous_response_id=made.id).output_text
        assert other in self.ask(ASK, conversation=conversation.id).output_text

    def wait_until_it_answers(self, response: str) -> None:
        deadline = time.monotonic() + DEADLINE_S
        while True:
            try:
                self.client.responses.retrieve(response)
                return
            except openai.APIConnectionError:
                assert time.monotonic() < deadline, "it does not come back"
                time.sleep(0.1)

    def truncation_is_asked_for(self) -> None:
        if not self.options.too_long:
            raise Skipped("needs --too-long")
        long = "tea " * (self.options.too_long // 4)
        made = self.ask("Answer with OK.")
        error = refused(openai.BadRequestError, lambda: self.ask(long, previous_response_id=made.id))
        assert error.code == "context_length_exceeded", error.code
        half = self.ask(long[: len(long) // 2], previous_response_id=made.id)
        word, made = self.remember(previous_response_id=half.id, truncation="auto")
        more = self.ask(long[: len(long) // 2], previous_response_id=made.id, truncation="auto")
        assert more.status == "completed", more


def refused(kind: type[openai.APIStatusError], call: Callable[[], Any]) -> openai.APIStatusError:
    """The error of a call that must be refused."""
    try:
        made = call()
    except kind as error:
        return error
    raise AssertionError(f"{kind.__name__} was expected, but it answered {made}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--base-url", required=True)
    parser.add_argument("--model", required=True)
    parser.add_argument("--api-key", default="none")
    parser.add_argument("--other-key")
    parser.add_argument("--restart")
    parser.add_argument("--too-long", type=int)
    parser.add_argument("--only", default="")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    checks = Checks(options)
    helpers = {"ask", "code_word", "remember", "tool_loop", "client_with", "wait_until_it_answers"}
    results: dict[str, str] = {}
    for name in (name for name in vars(Checks) if not name.startswith("_") and name not in helpers):
        if options.only not in name:
            continue
        try:
            getattr(checks, name)()
            results[name] = "pass"
        except Skipped as skipped:
            results[name] = f"skip: {skipped}"
        except Exception as error:  # noqa: BLE001
            results[name] = f"fail: {type(error).__name__}: {error}"
            traceback.print_exc()
        if not options.json:
            print(f"{results[name][:4]}  {name}  {results[name][6:200]}", flush=True)
    if options.json:
        print(json.dumps(results))
    return sum(result.startswith("fail") for result in results.values())


if __name__ == "__main__":
    sys.exit(main())
