"""The client and a real server: what is stored, what is repeated, and what is raised."""

import asyncio
import json
from typing import Any, AsyncIterator, Dict, Iterator, List, Optional

import pytest

from novelo import OMIT, ApiError, AsyncNovelo, BadAnswer, ConnectionFailed, ConnectionLost, Novelo, TimedOut, errors

from conftest import UNANSWERED, Cut, Proxy

HELLO = {"role": "user", "content": "Olá! 🌴 \u2028 é"}


def contents(client: Novelo, user: str, thread: str) -> List[Any]:
    return [turn["message"]["content"] for turn in client.iter_turns(user, thread)]


def test_turns_come_back_as_they_were(client: Novelo, user: str) -> None:
    appended = client.append_turns(user, "a/b ?#%.é", [HELLO, {"role": "assistant", "content": None, "tool_calls": []}])
    assert [turn["seq"] for turn in appended["turns"]] == [1, 2]
    turns = client.list_turns(user, "a/b ?#%.é", last=5)["turns"]
    assert turns[0]["message"] == HELLO
    assert turns[1]["message"] == {"role": "assistant", "content": None, "tool_calls": []}
    assert [thread["id"] for thread in client.iter_threads(user)] == ["a/b ?#%.é"]
    assert client.fork_thread(user, "a/b ?#%.é", 1, "..")["turns"] == 1
    assert contents(client, user, "..") == [HELLO["content"]]


def test_pages_are_read_to_their_end(client: Novelo, user: str) -> None:
    client.append_turns(user, "t", [{"role": "user", "content": str(n)} for n in range(25)])
    assert [turn["seq"] for turn in client.iter_turns(user, "t", limit=10)] == list(range(1, 26))
    for n in range(5):
        client.add_memory(user, f"memory {n}")
        client.put_document(["users", user, "notes", f"n/{n}"], {"n": n})
    assert [m["text"] for m in client.iter_memories(user, limit=2)] == [f"memory {n}" for n in range(5)]
    assert [d["value"] for d in client.iter_collection(f"users/{user}/notes", limit=2)] == [{"n": n} for n in range(5)]
    with pytest.raises(ValueError, match="names a document"):
        list(client.iter_collection(["users", user, "notes", "n/1"]))


def test_a_context_within_its_budget(client: Novelo, user: str) -> None:
    client.append_turns(user, "t", [{"role": "user", "content": "word " * 50} for _ in range(20)])
    context = client.make_context(user=user, thread="t", budget_tokens=200, explain=True)
    assert 0 < context["tokens"] <= 200
    assert context["messages"]
    assert client.replay_trace(context["trace_id"])["identical"]


def test_every_kind_of_thing_is_stored_and_removed(client: Novelo, user: str) -> None:
    memory = client.add_memory(user, "Ana likes tea.", meta={"by": "test"})
    assert client.search_memories(user, "tea", k=1)["hits"][0]["meta"] == {"by": "test"}
    client.delete_memory(user, memory["id"])
    document = client.index_document(user, name="Garden", text="Tomatoes grow in the garden.")
    assert client.search_documents(user, "tomatoes")["hits"][0]["name"] == "Garden"
    assert client.get_text(user, document["id"])["passages"] == document["passages"]
    assert client.delete_text(user, document["id"])["deleted"]
    task = client.add_task(user, "Water them", notes="daily")
    client.add_result(user, task["id"], {"litres": 2}, name="monday")
    assert [r["content"] for r in client.iter_results(user, task["id"])] == [{"litres": 2}]
    # None is null here and removes the notes; what is left out stays.
    assert client.change_task(user, task["id"], status="done", due=OMIT)["notes"] == "daily"
    assert "notes" not in client.change_task(user, task["id"], notes=None)
    client.put_user_data(user, {"name": "Ana"})
    assert client.patch_user_data(user, {"city": "Belém"})
    assert client.get_user_data(user) == {"name": "Ana", "city": "Belém"}
    client.append_turns(user, "t", [HELLO])
    assert client.set_summary(user, "t", "They said hello.")["by"] == "caller"
    assert client.get_summary(user, "t")["text"] == "They said hello."
    assert client.search_turns(user, "Olá")["hits"]
    assert client.forget_user(user)["forgotten"]["documents"] > 0
    assert contents(client, user, "t") == []


def test_documents_and_their_versions(client: Novelo, user: str) -> None:
    path = f"users/{user}/notes/one"
    stamp = client.put_document(path, {"a": 1}, if_match=0)
    with pytest.raises(errors.Stale) as stale:
        client.put_document(path, {"a": 2}, if_match=0)
    assert (stale.value.status, stale.value.code) == (409, "stale")
    client.patch_document(path, {"b": None, "c": [1]}, if_match=stamp["version"])
    assert client.get_document(path)["value"]["a"] == 1
    ops: List[Dict[str, Any]] = [{"op": "put", "path": f"users/{user}/notes/two", "value": 2}, {"op": "delete", "path": path}]
    assert client.batch_documents(ops)["done"] == 2
    with pytest.raises(errors.NotFound):
        client.get_document(path)
    client.put_document(path, None)
    assert client.get_document(path)["value"] is None


def test_an_export_is_imported_again(client: Novelo, user: str) -> None:
    client.append_turns(user, "t", [HELLO])
    lines = list(client.export_user(user))
    assert lines and all(json.loads(line) for line in lines)
    client.forget_user(user)

    def one_by_one() -> Iterator[str]:
        yield from lines

    assert client.import_documents(one_by_one())["documents"] > 0
    assert contents(client, user, "t") == [HELLO["content"]]
    assert client.import_documents("\n".join(lines))["new"] == 0
    assert client.import_documents(lines)["new"] == 0


def test_what_the_server_tells_about_itself(client: Novelo) -> None:
    assert client.get_ready()["status"] == "ok"
    assert "novelo_" in client.get_metrics()
    assert client.check_store()["store"] in ("local", "memory", "redis")
    assert client.list_models()["object"] == "list"
    assert "<html" in client.get_chat_page()


# Errors


def test_a_refusal_names_the_field(client: Novelo, user: str) -> None:
    with pytest.raises(errors.InvalidField) as refused:
        client.append_turns(user, "t", [HELLO, {"role": "nobody", "content": "x"}])
    error = refused.value
    assert (error.status, error.code) == (422, "invalid_field")
    assert error.param and "role" in error.param
    assert error.request_id
    assert "invalid_field" in str(error) and error.message in str(error)
    assert contents(client, user, "t") == [], "nothing is half written"


def test_bad_input_is_refused_before_it_is_sent(client: Novelo, user: str) -> None:
    with pytest.raises(ValueError, match="user is empty"):
        client.list_threads("")
    with pytest.raises(TypeError, match="thread must be a str, not int"):
        client.list_turns(user, 7)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="cannot be written as JSON"):
        client.put_document(f"users/{user}/a/b", float("nan"))
    with pytest.raises(ValueError, match="cannot be written as JSON"):
        client.add_memory(user, "\ud800")
    with pytest.raises(ValueError, match="Idempotency-Key takes printable ASCII"):
        client.append_turns(user, "t", [HELLO], idempotency_key="a\r\nx: y")
    with pytest.raises(ValueError, match="path is empty|is empty"):
        client.get_document("")
    for wrong in ["localhost:7420", "ftp://a", "http://a/?x=1", ""]:
        with pytest.raises(ValueError, match="base_url"):
            Novelo(wrong)
    with pytest.raises(ValueError, match="max_retries"):
        Novelo(max_retries=-1)


def test_keys_do_not_show(url: str) -> None:
    with Novelo(url, api_key="nvl_secret") as client:
        assert "secret" not in repr(client)
        with pytest.raises(ApiError) as refused:
            client.get_document("users/a/b/c")
    assert "secret" not in str(refused.value)


def test_a_server_that_is_not_there(gone: str) -> None:
    with Novelo(gone, max_retries=0) as client, pytest.raises(ConnectionFailed, match="cannot reach http://127.0.0.1"):
        client.get_ready()


def test_something_that_is_not_novelo(url: str) -> None:
    with Novelo(url + "/chat?".rstrip("?"), max_retries=0) as client, pytest.raises((BadAnswer, ApiError)):
        client.get_ready()


def test_a_server_that_does_not_answer_in_time(proxy: Proxy) -> None:
    import socket

    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        with Novelo(url, timeout=0.2, max_retries=0) as client, pytest.raises(TimedOut):
            client.get_ready()


# Repeating


def test_an_append_whose_answer_is_lost_is_stored_once(client: Novelo, proxy: Proxy, user: str) -> None:
    proxy.plan = [UNANSWERED, UNANSWERED]
    with Novelo(proxy.url) as broken:
        appended = broken.append_turns(user, "t", [HELLO])
    assert proxy.connections == 3
    assert appended["turns"][0]["seq"] == 1
    assert contents(client, user, "t") == [HELLO["content"]]


def test_messages_with_ids_are_stored_once(client: Novelo, proxy: Proxy, user: str) -> None:
    proxy.plan = [UNANSWERED]
    with Novelo(proxy.url) as broken:
        broken.append_turns(user, "t", [{**HELLO, "id": "m1"}], if_seq=0)
    assert contents(client, user, "t") == [HELLO["content"]]


def test_memories_and_documents_are_stored_once(client: Novelo, proxy: Proxy, user: str) -> None:
    proxy.plan = [UNANSWERED]
    with Novelo(proxy.url) as broken:
        broken.add_memory(user, "Ana likes tea.")
    proxy.plan = [UNANSWERED]
    with Novelo(proxy.url) as broken:
        broken.index_document(user, name="Garden", text="Tomatoes.")
    assert len(list(client.iter_memories(user))) == 1
    assert len(list(client.iter_texts(user))) == 1


def test_what_could_be_done_twice_is_not_repeated(client: Novelo, proxy: Proxy, user: str) -> None:
    proxy.plan = [UNANSWERED]
    with Novelo(proxy.url) as broken, pytest.raises(ConnectionLost, match="/tasks"):
        broken.add_task(user, "Once")
    assert proxy.connections == 1
    assert [task["title"] for task in client.iter_tasks(user)] == ["Once"]
    proxy.plan = [UNANSWERED]
    with Novelo(proxy.url) as broken, pytest.raises(ConnectionLost):
        broken.put_document(f"users/{user}/a/b", 1, if_match=0)
    assert proxy.connections == 2


def test_nothing_is_repeated_for_ever(proxy: Proxy, user: str) -> None:
    proxy.plan = [UNANSWERED] * 9
    with Novelo(proxy.url, max_retries=1) as broken, pytest.raises(ConnectionLost):
        broken.append_turns(user, "t", [HELLO])
    assert proxy.connections == 2


# Streams


def first_event(answer: bytes) -> Optional[int]:
    body = answer.find(b"\r\n\r\n") + 4
    end = answer.find(b"\n\n", body)
    return end + 4 if end >= 0 else None


def test_a_stream_of_events(client: Novelo) -> None:
    with client.stream_ask_thread("When does the Harbour Tea House open?") as events:
        seen = list(events)
    assert [seen[0].event, seen[-1].event] == ["question", "done"]
    told = "".join(event.data["delta"] for event in seen if event.event == "text")
    assert seen[-1].data["answer"].strip() == told.strip()


def test_a_stream_that_breaks_is_resumed(client: Novelo, proxy: Proxy, user: str) -> None:
    proxy.plan = [Cut(after=first_event), Cut(after=first_event)]
    with Novelo(proxy.url) as broken, broken.stream_ask_thread(
        "When does the Harbour Tea House open?", thread_id="t", user_id=user
    ) as events:
        seen = list(events)
    assert proxy.connections >= 2
    assert [event.event for event in seen].count("done") == 1
    ids = [int(event.id.rsplit(".", 1)[1]) for event in seen if event.id]
    assert ids == sorted(set(ids)), "no event twice"
    assert [turn["message"]["role"] for turn in client.iter_turns(user, "t")] == ["user", "assistant"]


def test_a_stream_whose_answer_never_begins_is_not_asked_twice(proxy: Proxy) -> None:
    proxy.plan = [UNANSWERED]
    with Novelo(proxy.url) as broken, pytest.raises(ConnectionLost):
        list(broken.stream_ask_thread("When does the Harbour Tea House open?"))
    assert proxy.connections == 1


def test_a_stream_that_is_refused(client: Novelo) -> None:
    with pytest.raises(errors.InvalidField):
        list(client.stream_ask_thread(""))
    with pytest.raises(errors.NoModel):
        list(client.stream_complete_chat([HELLO]))


def test_guided_answers(client: Novelo, user: str) -> None:
    whole = client.ask_guided([{"role": "user", "content": "oi"}], user_id=user)
    assert whole["type"] == "done"
    with client.stream_ask_guided([{"role": "user", "content": "oi"}], user_id=user) as events:
        assert list(events)[-1].event == "done"


def test_an_export_that_breaks_is_an_error(client: Novelo, proxy: Proxy, user: str) -> None:
    client.append_turns(user, "t", [{"role": "user", "content": "x" * 50_000} for _ in range(20)])
    proxy.plan = [Cut(after=lambda answer: 200_000 if len(answer) > 200_000 else None)]
    with Novelo(proxy.url) as broken, pytest.raises(ConnectionLost):
        list(broken.export_user(user))


# The same, awaited


def test_the_awaited_client(url: str, proxy: Proxy, gone: str, user: str) -> None:
    async def run() -> None:
        proxy.plan = [UNANSWERED]
        async with AsyncNovelo(proxy.url) as broken:
            await broken.append_turns(user, "t", [HELLO])
        async with AsyncNovelo(url) as client:
            assert [turn["message"] async for turn in client.iter_turns(user, "t")] == [HELLO]
            await asyncio.gather(*(client.add_memory(user, f"memory {n}") for n in range(20)))
            assert len([m async for m in client.iter_memories(user, limit=7)]) == 20
            with pytest.raises(errors.NotFound):
                await client.get_task(user, "none")
            lines = [line async for line in client.export_user(user)]

            async def one_by_one() -> AsyncIterator[str]:
                for line in lines:
                    yield line

            assert (await client.import_documents(one_by_one()))["new"] == 0
            async with client.stream_ask_thread("When does the Harbour Tea House open?") as events:
                assert [event.event async for event in events][-1] == "done"
        proxy.plan = [Cut(after=first_event)]
        async with AsyncNovelo(proxy.url) as broken:
            seen = [event.event async for event in broken.stream_ask_thread("When does the Harbour Tea House open?")]
            assert seen[0] == "question" and seen.count("done") == 1
        async with AsyncNovelo(gone, max_retries=0) as client:
            with pytest.raises(ConnectionFailed):
                await client.get_ready()

    asyncio.run(run())
