"""The OpenAI Agents SDK: a session.

    from agents import Agent, Runner
    from novelo import AsyncNovelo
    from novelo.agents import NoveloSession

    session = NoveloSession("garden", AsyncNovelo("http://127.0.0.1:7420"), user="ana")
    result = await Runner.run(agent, "What did I plant?", session=session)

A session is a thread of the user: its items become turns, which all other surfaces see, and come back as they were.
"""

from __future__ import annotations

import time
import uuid
from typing import TYPE_CHECKING, Any, Dict, List, Optional, Sequence, Union

from agents.memory.session_settings import SessionSettings, resolve_session_limit

from ._client import AsyncNovelo, Novelo
from ._errors import ApiError, ConnectionLost
from ._steps import Clients, Steps, arun, call

if TYPE_CHECKING:
    from agents import TResponseInputItem

__all__ = ["NoveloSession"]

ITEMS_MAX = 20
"""Items in one request of the server."""
PAGE = 1000
OURS = "nvl_"
"""Begins the ids that are made here, for items that have none; they are taken off again."""
FAKE = "__fake_id__"
"""What the SDK writes where a model gives no ids."""


class NoveloSession:
    """The history of an agent, in a thread of Novelo.

    Args:
        session_id: the thread.
        client: a `Novelo` or an `AsyncNovelo`.
        user: the user of Novelo whom the thread belongs to.
        session_settings: the SDK's, such as how many items a run reads.
    """

    def __init__(
        self,
        session_id: str,
        client: Union[Novelo, AsyncNovelo],
        *,
        user: str = "agents",
        session_settings: Optional[SessionSettings] = None,
    ) -> None:
        self.session_id = session_id
        self.session_settings: Optional[SessionSettings] = session_settings or SessionSettings()
        self._clients = Clients(client)
        self._user = user
        self._conversation = conversation_id(session_id)

    async def get_items(self, limit: Optional[int] = None) -> List["TResponseInputItem"]:
        """The items, oldest first; with a limit the newest."""
        wanted = resolve_session_limit(limit, self.session_settings)
        return await arun(self._clients.awaited(), self._get(wanted))

    async def add_items(self, items: List["TResponseInputItem"]) -> None:
        """Adds items: up to 20 at once, all or none; more in several steps."""
        await arun(self._clients.awaited(), self._add(items))

    async def pop_item(self) -> Optional["TResponseInputItem"]:
        """Removes the newest item."""
        return await arun(self._clients.awaited(), self._pop())

    async def clear_session(self) -> None:
        """Forgets the thread."""
        await self._clients.awaited().forget_thread(self._user, self.session_id)

    def _get(self, limit: Optional[int]) -> Steps[List[Any]]:
        if limit is not None and limit <= 0:
            return []
        if limit is not None and limit <= PAGE:
            page = yield call("list_turns", self._user, self.session_id, last=limit)
            return items_of(page["turns"])[-limit:]
        turns: List[Dict[str, Any]] = []
        after = 0
        while True:
            page = yield call("list_turns", self._user, self.session_id, after=after, limit=PAGE)
            turns += page["turns"]
            if not page["has_more"] or not page["turns"]:
                break
            after = turns[-1]["seq"]
        items = items_of(turns)
        return items if limit is None else items[-limit:]

    def _add(self, items: Sequence[Any]) -> Steps[None]:
        named = [with_id(item) for item in items]
        for start in range(0, len(named), ITEMS_MAX):
            yield from self._add_once(named[start : start + ITEMS_MAX])

    def _add_once(self, items: List[Dict[str, Any]]) -> Steps[None]:
        for last_try in (False, True):
            try:
                yield call("create_items", self._conversation, items, user=self._user)
                return
            except ConnectionLost:
                # Stored or not: the id of the last item tells.
                if (yield from self._has(items[-1]["id"])):
                    return
                if last_try:
                    raise
            except ApiError as error:
                if error.status != 404 or last_try:
                    raise
                path = ["users", self._user, "convo.sessions", self.session_id]
                yield call("patch_document", path, {"conversation": {"created_at": int(time.time())}})

    def _has(self, item_id: str) -> Steps[bool]:
        try:
            yield call("get_item", self._conversation, item_id, user=self._user)
            return True
        except ApiError as error:
            if error.status == 404:
                return False
            raise

    def _pop(self) -> Steps[Optional[Any]]:
        page = yield call("list_turns", self._user, self.session_id, last=1)
        items = items_of(page["turns"])
        if not items:
            return None
        listed = yield call("list_items", self._conversation, limit=1, user=self._user)
        yield call("delete_item", self._conversation, listed["data"][0]["id"], user=self._user)
        return items[-1]


def conversation_id(thread: str) -> str:
    """The id that a thread has as a conversation."""
    if not isinstance(thread, str) or not thread:
        raise ValueError("session_id is a text that is not empty")
    kept = "".join(
        chr(byte) if byte < 128 and (chr(byte).isalnum() or chr(byte) in ".-") else f"~{byte:02x}"
        for byte in thread.encode("utf-8")
    )
    return f"conv_{kept}"


def with_id(item: Any) -> Dict[str, Any]:
    """An item by which a repeated request is known. The id also says which members the item had, because the server writes them
    out when it removes another item of the same turn."""
    if not isinstance(item, dict):
        raise TypeError(f"an item is a dict, not {type(item).__name__}")
    given = item.get("id")
    if given and given != FAKE:
        return dict(item)
    had = [("f", given == FAKE), ("s", "status" in item), ("t", "type" in item), ("c", isinstance(item.get("content"), str))]
    return {**item, "id": f"{OURS}{''.join(flag for flag, has in had if has)}_{uuid.uuid4().hex}"}


def without_id(item: Dict[str, Any]) -> Dict[str, Any]:
    given = str(item.get("id", ""))
    if not given.startswith(OURS):
        return item
    had = given[len(OURS) :].split("_", 1)[0]
    shown = {key: value for key, value in item.items() if key != "id"}
    if "f" in had:
        shown["id"] = FAKE
    for flag, member in (("s", "status"), ("t", "type")):
        if flag not in had:
            shown.pop(member, None)
    content = shown.get("content")
    if "c" in had and isinstance(content, list):
        shown["content"] = "".join(part.get("text", "") for part in content)
    return shown


def items_of(turns: Sequence[Dict[str, Any]]) -> List[Any]:
    items: List[Any] = []
    for turn in turns:
        message = turn["message"]
        items += [without_id(item) for item in message["items"]] if "items" in message else from_message(message)
    return items


def from_message(message: Dict[str, Any]) -> List[Dict[str, Any]]:
    """The items of a turn that another surface wrote."""
    content = message.get("content")
    if message["role"] == "tool":
        return [{"type": "function_call_output", "call_id": message.get("tool_call_id"), "output": content or ""}]
    items: List[Dict[str, Any]] = []
    if content:
        items.append({"role": message["role"], "content": content})
    for made in message.get("tool_calls") or []:
        function = made["function"]
        items.append(
            {"type": "function_call", "call_id": made["id"], "name": function["name"], "arguments": function["arguments"]}
        )
    return items
