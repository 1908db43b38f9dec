"""LangChain: a chat history, a retriever, and a trimmer.

    from novelo import Novelo
    from novelo.langchain import NoveloChatMessageHistory, NoveloRetriever, trim_messages
"""

from __future__ import annotations

import uuid
from typing import Any, Dict, List, Literal, Optional, Sequence, Union

from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun, CallbackManagerForRetrieverRun
from langchain_core.chat_history import BaseChatMessageHistory
from langchain_core.documents import Document
from langchain_core.messages import (
    AnyMessage,
    BaseMessage,
    convert_to_messages,
    convert_to_openai_messages,
    message_to_dict,
    messages_from_dict,
)
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import Runnable, RunnableLambda
from pydantic import ConfigDict, Field, PrivateAttr

from ._client import AsyncNovelo, Novelo
from ._steps import Clients, Steps, arun, call, in_batches, put_op, run, whole_collection

__all__ = ["NoveloChatMessageHistory", "NoveloRetriever", "message_trimmer", "trim_messages", "atrim_messages"]

APPEND_MAX = 1000
"""Messages in one append of the server."""
Tokenizer = Literal["o200k_base", "cl100k_base", "approx"]


class NoveloChatMessageHistory(BaseChatMessageHistory):
    """The messages of a thread.

    They are stored as turns in OpenAI's format, so that contexts, searches and all other surfaces work on them. What that format
    cannot say of a message, such as usage metadata, lies in a document beside the turn; what is read is equal to what was added.

    Args:
        client: a `Novelo` or an `AsyncNovelo`; both kinds of methods work with either.
        thread: the thread of the conversation.
        user: the user of Novelo whom the thread belongs to.
    """

    def __init__(self, client: Union[Novelo, AsyncNovelo], thread: str, *, user: str = "langchain") -> None:
        self._clients = Clients(client)
        self._thread = thread
        self._user = user

    @property
    def messages(self) -> List[BaseMessage]:  # type: ignore[override]
        return run(self._clients.sync(), self._read())

    async def aget_messages(self) -> List[BaseMessage]:
        return await arun(self._clients.awaited(), self._read())

    def add_messages(self, messages: Sequence[BaseMessage]) -> None:
        """Adds them, all or none."""
        run(self._clients.sync(), self._add(messages))

    async def aadd_messages(self, messages: Sequence[BaseMessage]) -> None:
        """Adds them, all or none."""
        await arun(self._clients.awaited(), self._add(messages))

    def clear(self) -> None:
        """Forgets the thread."""
        self._clients.sync().forget_thread(self._user, self._thread)

    async def aclear(self) -> None:
        """Forgets the thread."""
        await self._clients.awaited().forget_thread(self._user, self._thread)

    def _beside(self) -> List[str]:
        return ["users", self._user, "convo.sessions", self._thread, "langchain"]

    def _read(self) -> Steps[List[BaseMessage]]:
        turns: List[Dict[str, Any]] = []
        after = 0
        while True:
            page = yield call("list_turns", self._user, self._thread, after=after, limit=APPEND_MAX)
            turns += page["turns"]
            if not page["has_more"] or not page["turns"]:
                break
            after = turns[-1]["seq"]
        beside: Dict[str, Any] = {}
        if any("id" in turn["message"] for turn in turns):
            beside = {document["id"]: document["value"] for document in (yield from whole_collection(self._beside()))}
        return [from_turn(turn["message"], beside.get(turn["id"])) for turn in turns]

    def _add(self, messages: Sequence[BaseMessage]) -> Steps[None]:
        if len(messages) > APPEND_MAX:
            raise ValueError(f"at most {APPEND_MAX} messages are added at once, not {len(messages)}")
        turns, ops = [], []
        for message in messages:
            turn = to_openai(message)
            if from_turn(turn, None) != message:
                turn["id"] = uuid.uuid4().hex
                ops.append(put_op([*self._beside(), turn["id"]], message_to_dict(message)))
            turns.append(turn)
        # What lies beside a turn that was never stored is not seen.
        yield from in_batches(ops)
        if turns:
            yield call("append_turns", self._user, self._thread, turns)


def to_openai(message: BaseMessage) -> Dict[str, Any]:
    turn: Dict[str, Any] = convert_to_openai_messages(message)
    # OpenAI's models take null where there are only calls, and so do others.
    if turn.get("tool_calls") and turn.get("content") == "":
        turn["content"] = None
    return turn


def from_turn(turn: Dict[str, Any], beside: Optional[Dict[str, Any]]) -> BaseMessage:
    if beside is not None:
        [message] = messages_from_dict([beside])
        return message
    # A turn that was made from items of a response has its message within.
    shown = {key: value for key, value in turn.get("value", turn).items() if key not in ("id", "create_time")}
    [message] = convert_to_messages([{**shown, "content": shown.get("content") or ""}])
    return message


class NoveloRetriever(BaseRetriever):
    """Finds passages of a user: in documents, memories or turns. No embedding model is needed."""

    model_config = ConfigDict(arbitrary_types_allowed=True)

    client: Any
    """A `Novelo` or an `AsyncNovelo`."""
    user: str
    k: int = Field(default=10, ge=1, le=100)
    """How many passages at most."""
    source: Literal["documents", "memories", "turns"] = "documents"
    _clients: Clients = PrivateAttr()

    def model_post_init(self, context: Any) -> None:
        super().model_post_init(context)
        self._clients = Clients(self.client)

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun, k: Optional[int] = None
    ) -> List[Document]:
        return run(self._clients.sync(), self._search(query, k))

    async def _aget_relevant_documents(
        self, query: str, *, run_manager: AsyncCallbackManagerForRetrieverRun, k: Optional[int] = None
    ) -> List[Document]:
        return await arun(self._clients.awaited(), self._search(query, k))

    def _search(self, query: str, k: Optional[int]) -> Steps[List[Document]]:
        found = yield call(f"search_{self.source}", self.user, query, k=k or self.k)
        return [document_of(hit) for hit in found["hits"]]


def document_of(hit: Dict[str, Any]) -> Document:
    about = {key: value for key, value in hit.items() if key not in ("id", "text", "meta")}
    return Document(id=hit["id"], page_content=hit["text"], metadata={**(hit.get("meta") or {}), **about})


# Trimming


def trim_messages(
    client: Novelo,
    messages: Sequence[BaseMessage],
    *,
    max_tokens: int,
    tokenizer: Tokenizer = "o200k_base",
    start_on: Optional[str] = None,
    end_on: Optional[str] = None,
) -> List[AnyMessage]:
    """The newest messages that fit, as LangChain's function of this name with `strategy="last"` and `include_system=True`.

    Leading instructions and the newest question always stay; if they alone do not fit, `OverBudget` is raised. A call of a tool
    and its results stay or go together. Tokens are counted by the server: of the compact JSON of each message in OpenAI's format,
    and 8 for each message. The messages that stay are the objects that were given.

    Args:
        start_on: the type, such as `human`, that the first message after the instructions must have; those before it go.
        end_on: the type that the last message must have; those after it go.
    """
    return run(client, trimming(messages, max_tokens, tokenizer, start_on, end_on))


async def atrim_messages(
    client: AsyncNovelo,
    messages: Sequence[BaseMessage],
    *,
    max_tokens: int,
    tokenizer: Tokenizer = "o200k_base",
    start_on: Optional[str] = None,
    end_on: Optional[str] = None,
) -> List[AnyMessage]:
    """As `trim_messages`, awaited."""
    return await arun(client, trimming(messages, max_tokens, tokenizer, start_on, end_on))


def message_trimmer(
    client: Union[Novelo, AsyncNovelo], **options: Any
) -> Runnable[Sequence[BaseMessage], List[AnyMessage]]:
    """`trim_messages` as a step of a chain: `message_trimmer(client, max_tokens=2000) | model`."""
    clients = Clients(client)
    return RunnableLambda(
        lambda messages: trim_messages(clients.sync(), messages, **options),
        afunc=lambda messages: atrim_messages(clients.awaited(), messages, **options),
        name="trim_messages",
    )


def trimming(
    messages: Sequence[BaseMessage], max_tokens: int, tokenizer: Tokenizer, start_on: Optional[str], end_on: Optional[str]
) -> Steps[List[AnyMessage]]:
    given = list(messages)
    while end_on and given and given[-1].type != end_on:
        given.pop()
    if not given:
        return []
    turns = [to_openai(message) for message in given]
    context = yield call("make_context", messages=turns, budget_tokens=max_tokens, tokenizer=tokenizer, explain=True)
    pieces = context["explain"]["pieces"]
    kept: List[Any] = [given[piece["index"]] for piece in pieces if piece["fate"] == "kept"]
    if start_on:
        first = next((at for at, message in enumerate(kept) if message.type != "system"), len(kept))
        while first < len(kept) and kept[first].type != start_on:
            del kept[first]
    return kept
