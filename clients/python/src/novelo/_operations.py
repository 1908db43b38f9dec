"""Every call of the API.

Written by clients/generate.py from openapi.json: do not edit.
"""

from __future__ import annotations

from typing import Any, Iterator, Dict, List, Literal, Mapping, Optional, Sequence, Union, cast

from . import _types as types
from ._base import Base, entries_of
from ._request import OMIT, Lines, Omit, Path, Request, unset
from ._stream import EventStream, LineStream


class Operations(Base):
    def append_turns(
        self,
        user: str,
        thread: str,
        messages: Sequence[Mapping[str, Any]],
        *,
        idempotency_key: Optional[str] = None,
        if_seq: Optional[int] = None,
    ) -> types.Appended:
        """Appends messages to a thread. The same id or Idempotency-Key with the same bytes gives the first answer again."""
        request = Request(
            "POST", "/v1/users/{user}/threads/{thread}/turns", {"user": user, "thread": thread},
            headers={"Idempotency-Key": idempotency_key},
            members={"messages": messages, "if_seq": unset(if_seq)},
        )
        return cast("types.Appended", self._json(request))

    def list_turns(
        self,
        user: str,
        thread: str,
        *,
        last: Optional[int] = None,
        after: Optional[Union[str, int]] = None,
        limit: Optional[int] = None,
    ) -> types.Turns:
        """Reads turns, oldest first: the last ones, or those after a seq."""
        request = Request(
            "GET", "/v1/users/{user}/threads/{thread}/turns", {"user": user, "thread": thread},
            query={"last": last, "after": after, "limit": limit},
        )
        return cast("types.Turns", self._json(request))

    def iter_turns(
        self,
        user: str,
        thread: str,
        *,
        after: Union[str, int] = 0,
        limit: Optional[int] = None,
    ) -> Iterator[Dict[str, Any]]:
        """The entries of all pages of `list_turns`, each page read when it is needed."""
        while True:
            page = cast(Dict[str, Any], self.list_turns(user, thread, after=after, limit=limit))
            entries: List[Dict[str, Any]] = entries_of(page, "turns")
            for entry in entries:
                yield entry
            if not page["has_more"] or not entries:
                return
            after = entries[-1]["seq"]

    def list_threads(
        self,
        user: str,
        *,
        after: Optional[Union[str, int]] = None,
        limit: Optional[int] = None,
    ) -> types.Threads:
        """Lists the threads of a user by id."""
        request = Request(
            "GET", "/v1/users/{user}/threads", {"user": user},
            query={"after": after, "limit": limit},
        )
        return cast("types.Threads", self._json(request))

    def iter_threads(
        self,
        user: str,
        *,
        after: Optional[Union[str, int]] = None,
        limit: Optional[int] = None,
    ) -> Iterator[Dict[str, Any]]:
        """The entries of all pages of `list_threads`, each page read when it is needed."""
        while True:
            page = cast(Dict[str, Any], self.list_threads(user, after=after, limit=limit))
            entries: List[Dict[str, Any]] = entries_of(page, "threads")
            for entry in entries:
                yield entry
            if not page["has_more"] or not entries:
                return
            after = entries[-1]["id"]

    def fork_thread(
        self,
        user: str,
        thread: str,
        at_seq: int,
        to: str,
    ) -> types.Forked:
        """Makes a thread that holds the turns up to and including at_seq."""
        request = Request(
            "POST", "/v1/users/{user}/threads/{thread}/fork", {"user": user, "thread": thread},
            members={"at_seq": at_seq, "to": to},
        )
        return cast("types.Forked", self._json(request))

    def forget_thread(
        self,
        user: str,
        thread: str,
    ) -> types.Forgotten:
        """Forgets a thread: its documents and traces, also in the raw files."""
        request = Request(
            "DELETE", "/v1/users/{user}/threads/{thread}", {"user": user, "thread": thread},
        )
        return cast("types.Forgotten", self._json(request))

    def forget_user(
        self,
        user: str,
    ) -> types.Forgotten:
        """Forgets everything of a user."""
        request = Request(
            "DELETE", "/v1/users/{user}", {"user": user},
        )
        return cast("types.Forgotten", self._json(request))

    def export_thread(
        self,
        user: str,
        thread: str,
    ) -> LineStream:
        """A thread as JSON Lines."""
        request = Request(
            "GET", "/v1/users/{user}/threads/{thread}/export", {"user": user, "thread": thread},
        )
        return self._lines(request)

    def export_user(
        self,
        user: str,
    ) -> LineStream:
        """A user's documents as JSON Lines."""
        request = Request(
            "GET", "/v1/users/{user}/export", {"user": user},
        )
        return self._lines(request)

    def export_all(
        self,
    ) -> LineStream:
        """Everything as JSON Lines: a backup, consistent while writes go on."""
        request = Request(
            "GET", "/v1/export",
        )
        return self._lines(request)

    def import_documents(
        self,
        lines: Lines,
        *,
        restore: Optional[bool] = None,
        taken_at: Optional[float] = None,
        confirm: Optional[str] = None,
    ) -> types.Imported:
        """Puts exported documents back as they were; of a backup, without what was forgotten since."""
        request = Request(
            "POST", "/v1/import",
            query={"restore": restore, "taken_at": taken_at},
            headers={"X-Novelo-Confirm": confirm},
            lines=lines,
        )
        return cast("types.Imported", self._json(request))

    def make_context(
        self,
        *,
        user: Optional[str] = None,
        thread: Optional[str] = None,
        question: Optional[str] = None,
        preset: Optional[str] = None,
        recipe: Optional[Mapping[str, Any]] = None,
        messages: Optional[Sequence[Mapping[str, Any]]] = None,
        filters: Optional[Sequence[Any]] = None,
        compact: Optional[Union[bool, Mapping[str, Any]]] = None,
        budget_tokens: Optional[int] = None,
        tokenizer: Optional[Literal['approx', 'o200k_base', 'cl100k_base']] = None,
        explain: Optional[Literal[True, False, 'text']] = None,
        as_of: Optional[Union[float, str]] = None,
    ) -> types.Context:
        """Winds a thread, or the messages given, into what a model should see next, within the budget."""
        request = Request(
            "POST", "/v1/context",
            members={"user": unset(user), "thread": unset(thread), "question": unset(question), "preset": unset(preset), "recipe": unset(recipe), "messages": unset(messages), "filters": unset(filters), "compact": unset(compact), "budget_tokens": unset(budget_tokens), "tokenizer": unset(tokenizer), "explain": unset(explain), "as_of": unset(as_of)},
        )
        return cast("types.Context", self._json(request))

    def get_document(
        self,
        path: Path,
    ) -> types.Document:
        """Reads a document."""
        request = Request(
            "GET", "/v1/docs/{path}", {"path": path},
        )
        return cast("types.Document", self._json(request))

    def list_collection(
        self,
        path: Path,
        *,
        begin: Optional[float] = None,
        end: Optional[float] = None,
        limit: Optional[int] = None,
        after: Optional[Union[str, int]] = None,
    ) -> types.Documents:
        """Lists the documents of a collection by time."""
        request = Request(
            "GET", "/v1/docs/{path}", {"path": path},
            query={"begin": begin, "end": end, "limit": limit, "after": after},
        )
        return cast("types.Documents", self._json(request))

    def iter_collection(
        self,
        path: Path,
        *,
        begin: Optional[float] = None,
        end: Optional[float] = None,
        limit: Optional[int] = None,
        after: Optional[Union[str, int]] = None,
    ) -> Iterator[Dict[str, Any]]:
        """The entries of all pages of `list_collection`, each page read when it is needed."""
        while True:
            page = cast(Dict[str, Any], self.list_collection(path, begin=begin, end=end, limit=limit, after=after))
            entries: List[Dict[str, Any]] = entries_of(page, "documents")
            for entry in entries:
                yield entry
            if not page["has_more"] or not entries:
                return
            after = entries[-1]["id"]

    def put_document(
        self,
        path: Path,
        value: Any,
        *,
        if_match: Optional[Union[str, int]] = None,
    ) -> types.Stamp:
        """Stores the body as the document."""
        request = Request(
            "PUT", "/v1/docs/{path}", {"path": path},
            headers={"If-Match": if_match},
            json=value,
        )
        return cast("types.Stamp", self._json(request))

    def patch_document(
        self,
        path: Path,
        value: Mapping[str, Any],
        *,
        if_match: Optional[Union[str, int]] = None,
    ) -> types.Stamp:
        """Merges the body into the document, deeply."""
        request = Request(
            "PATCH", "/v1/docs/{path}", {"path": path},
            headers={"If-Match": if_match},
            json=value,
        )
        return cast("types.Stamp", self._json(request))

    def delete_document(
        self,
        path: Path,
        *,
        if_match: Optional[Union[str, int]] = None,
    ) -> types.Deleted:
        """Deletes a document."""
        request = Request(
            "DELETE", "/v1/docs/{path}", {"path": path},
            headers={"If-Match": if_match},
            repeatable=False,
        )
        return cast("types.Deleted", self._json(request))

    def batch_documents(
        self,
        ops: Sequence[Mapping[str, Any]],
    ) -> types.Done:
        """Several writes, all or nothing."""
        request = Request(
            "POST", "/v1/docs:batch",
            members={"ops": ops},
        )
        return cast("types.Done", self._json(request))

    def get_user_data(
        self,
        user: str,
    ) -> Dict[str, Any]:
        """What is known of a user."""
        request = Request(
            "GET", "/v1/users/{user}/data", {"user": user},
        )
        return cast(Dict[str, Any], self._json(request))

    def put_user_data(
        self,
        user: str,
        value: Mapping[str, Any],
    ) -> Dict[str, Any]:
        """Replaces what is known of a user."""
        request = Request(
            "PUT", "/v1/users/{user}/data", {"user": user},
            json=value,
        )
        return cast(Dict[str, Any], self._json(request))

    def patch_user_data(
        self,
        user: str,
        value: Mapping[str, Any],
    ) -> Dict[str, Any]:
        """Adds to what is known of a user."""
        request = Request(
            "PATCH", "/v1/users/{user}/data", {"user": user},
            json=value,
        )
        return cast(Dict[str, Any], self._json(request))

    def get_summary(
        self,
        user: str,
        thread: str,
    ) -> types.Summary:
        """What fell out of a thread's window."""
        request = Request(
            "GET", "/v1/users/{user}/threads/{thread}/summary", {"user": user, "thread": thread},
        )
        return cast("types.Summary", self._json(request))

    def set_summary(
        self,
        user: str,
        thread: str,
        text: str,
        *,
        upto_seq: Optional[int] = None,
    ) -> types.Summary:
        """Sets a summary; later turns are added to it."""
        request = Request(
            "PUT", "/v1/users/{user}/threads/{thread}/summary", {"user": user, "thread": thread},
            members={"text": text, "upto_seq": unset(upto_seq)},
        )
        return cast("types.Summary", self._json(request))

    def delete_summary(
        self,
        user: str,
        thread: str,
    ) -> types.Deleted:
        """Deletes a summary."""
        request = Request(
            "DELETE", "/v1/users/{user}/threads/{thread}/summary", {"user": user, "thread": thread},
            repeatable=False,
        )
        return cast("types.Deleted", self._json(request))

    def compact_thread(
        self,
        user: str,
        thread: str,
        *,
        max_tokens: Optional[int] = None,
        keep: Optional[float] = None,
        recent_turns: Optional[int] = None,
        by: Optional[Literal['extract', 'model']] = None,
        max_text_tokens: Optional[int] = None,
        tokenizer: Optional[Literal['approx', 'o200k_base', 'cl100k_base']] = None,
    ) -> types.Compacted:
        """Compacts a thread that costs more than it may: old spans are shown in short, and can be had back."""
        request = Request(
            "POST", "/v1/users/{user}/threads/{thread}/compactions", {"user": user, "thread": thread},
            members={"max_tokens": unset(max_tokens), "keep": unset(keep), "recent_turns": unset(recent_turns), "by": unset(by), "max_text_tokens": unset(max_text_tokens), "tokenizer": unset(tokenizer)},
            repeatable=False,
        )
        return cast("types.Compacted", self._json(request))

    def list_compactions(
        self,
        user: str,
        thread: str,
        *,
        after: Optional[Union[str, int]] = None,
        limit: Optional[int] = None,
    ) -> types.Compactions:
        """Lists the compactions of a thread, oldest first."""
        request = Request(
            "GET", "/v1/users/{user}/threads/{thread}/compactions", {"user": user, "thread": thread},
            query={"after": after, "limit": limit},
        )
        return cast("types.Compactions", self._json(request))

    def iter_compactions(
        self,
        user: str,
        thread: str,
        *,
        after: Optional[Union[str, int]] = None,
        limit: Optional[int] = None,
    ) -> Iterator[Dict[str, Any]]:
        """The entries of all pages of `list_compactions`, each page read when it is needed."""
        while True:
            page = cast(Dict[str, Any], self.list_compactions(user, thread, after=after, limit=limit))
            entries: List[Dict[str, Any]] = entries_of(page, "compactions")
            for entry in entries:
                yield entry
            if not page["has_more"] or not entries:
                return
            after = entries[-1]["id"]

    def get_compaction(
        self,
        user: str,
        thread: str,
        id: str,
    ) -> types.Compaction:
        """Reads a compaction."""
        request = Request(
            "GET", "/v1/users/{user}/threads/{thread}/compactions/{id}", {"user": user, "thread": thread, "id": id},
        )
        return cast("types.Compaction", self._json(request))

    def undo_compaction(
        self,
        user: str,
        thread: str,
        id: str,
    ) -> types.Deleted:
        """Undoes a compaction: what it replaced is shown again."""
        request = Request(
            "DELETE", "/v1/users/{user}/threads/{thread}/compactions/{id}", {"user": user, "thread": thread, "id": id},
            repeatable=False,
        )
        return cast("types.Deleted", self._json(request))

    def get_span(
        self,
        user: str,
        thread: str,
        id: str,
    ) -> types.SpanTurns:
        """What a span replaced, word for word."""
        request = Request(
            "GET", "/v1/users/{user}/threads/{thread}/spans/{id}", {"user": user, "thread": thread, "id": id},
        )
        return cast("types.SpanTurns", self._json(request))

    def restore_span(
        self,
        user: str,
        thread: str,
        id: str,
    ) -> types.SpanTurns:
        """Shows a span word for word in prompts again."""
        request = Request(
            "POST", "/v1/users/{user}/threads/{thread}/spans/{id}/restore", {"user": user, "thread": thread, "id": id},
            repeatable=False,
        )
        return cast("types.SpanTurns", self._json(request))

    def get_pins(
        self,
        user: str,
        thread: str,
    ) -> types.Pins:
        """The turns that are never compacted."""
        request = Request(
            "GET", "/v1/users/{user}/threads/{thread}/pins", {"user": user, "thread": thread},
        )
        return cast("types.Pins", self._json(request))

    def set_pins(
        self,
        user: str,
        thread: str,
        turns: Sequence[str],
    ) -> types.Pins:
        """Pins these turns, and no others."""
        request = Request(
            "PUT", "/v1/users/{user}/threads/{thread}/pins", {"user": user, "thread": thread},
            members={"turns": turns},
        )
        return cast("types.Pins", self._json(request))

    def add_memory(
        self,
        user: str,
        text: str,
        *,
        meta: Union[Union[Mapping[str, Any], None], Omit] = OMIT,
        id: Optional[str] = None,
        valid_from: Optional[Union[float, str]] = None,
        valid_to: Optional[Union[float, str]] = None,
        supersedes: Union[Union[Sequence[Any], None], Omit] = OMIT,
        source: Optional[Mapping[str, Any]] = None,
        confidence: Optional[float] = None,
    ) -> types.Named:
        """Keeps a text for later."""
        request = Request(
            "POST", "/v1/users/{user}/memories", {"user": user},
            members={"text": text, "meta": meta, "id": unset(id), "valid_from": unset(valid_from), "valid_to": unset(valid_to), "supersedes": supersedes, "source": unset(source), "confidence": unset(confidence)},
            named="id",
        )
        return cast("types.Named", self._json(request))

    def list_memories(
        self,
        user: str,
        *,
        after: Optional[Union[str, int]] = None,
        limit: Optional[int] = None,
    ) -> types.Memories:
        """Lists memories, oldest first."""
        request = Request(
            "GET", "/v1/users/{user}/memories", {"user": user},
            query={"after": after, "limit": limit},
        )
        return cast("types.Memories", self._json(request))

    def iter_memories(
        self,
        user: str,
        *,
        after: Optional[Union[str, int]] = None,
        limit: Optional[int] = None,
    ) -> Iterator[Dict[str, Any]]:
        """The entries of all pages of `list_memories`, each page read when it is needed."""
        while True:
            page = cast(Dict[str, Any], self.list_memories(user, after=after, limit=limit))
            entries: List[Dict[str, Any]] = entries_of(page, "memories")
            for entry in entries:
                yield entry
            if not page["has_more"] or not entries:
                return
            after = entries[-1]["id"]

    def forget_memories(
        self,
        user: str,
    ) -> types.Forgotten:
        """Forgets all memories of a user."""
        request = Request(
            "DELETE", "/v1/users/{user}/memories", {"user": user},
        )
        return cast("types.Forgotten", self._json(request))

    def search_memories(
        self,
        user: str,
        query: str,
        *,
        k: Optional[int] = None,
        explain: Optional[bool] = None,
        as_of: Optional[Union[float, str]] = None,
    ) -> types.MemoryHits:
        """Finds memories."""
        request = Request(
            "POST", "/v1/users/{user}/memories/search", {"user": user},
            members={"query": query, "k": unset(k), "explain": unset(explain), "as_of": unset(as_of)},
        )
        return cast("types.MemoryHits", self._json(request))

    def get_memory(
        self,
        user: str,
        id: str,
    ) -> types.Memory:
        """A memory, with what it replaced and what replaced it."""
        request = Request(
            "GET", "/v1/users/{user}/memories/{id}", {"user": user, "id": id},
        )
        return cast("types.Memory", self._json(request))

    def change_memory(
        self,
        user: str,
        id: str,
        *,
        valid_from: Union[Union[float, str, None], Omit] = OMIT,
        valid_to: Union[Union[float, str, None], Omit] = OMIT,
        supersedes: Union[Union[Sequence[Any], None], Omit] = OMIT,
        confidence: Union[Union[float, None], Omit] = OMIT,
    ) -> types.Memory:
        """Changes since when and until when a memory is true, how sure it is, and what it replaces."""
        request = Request(
            "PATCH", "/v1/users/{user}/memories/{id}", {"user": user, "id": id},
            members={"valid_from": valid_from, "valid_to": valid_to, "supersedes": supersedes, "confidence": confidence},
            repeatable=False,
        )
        return cast("types.Memory", self._json(request))

    def delete_memory(
        self,
        user: str,
        id: str,
    ) -> types.Deleted:
        """Deletes a memory."""
        request = Request(
            "DELETE", "/v1/users/{user}/memories/{id}", {"user": user, "id": id},
            repeatable=False,
        )
        return cast("types.Deleted", self._json(request))

    def search_turns(
        self,
        user: str,
        query: str,
        *,
        k: Optional[int] = None,
        explain: Optional[bool] = None,
        thread: Optional[str] = None,
        as_of: Optional[Union[float, str]] = None,
    ) -> types.TurnHits:
        """Finds what was said, in all threads of a user or in one."""
        request = Request(
            "POST", "/v1/users/{user}/turns/search", {"user": user},
            members={"query": query, "k": unset(k), "explain": unset(explain), "thread": unset(thread), "as_of": unset(as_of)},
        )
        return cast("types.TurnHits", self._json(request))

    def index_document(
        self,
        user: str,
        *,
        name: Optional[str] = None,
        text: Optional[str] = None,
        meta: Union[Union[Mapping[str, Any], None], Omit] = OMIT,
        id: Optional[str] = None,
        path: Optional[str] = None,
    ) -> types.IndexedText:
        """Makes a text searchable, or a path of the server's disk, which is for admins. One of the same id is replaced."""
        request = Request(
            "POST", "/v1/users/{user}/documents", {"user": user},
            members={"name": unset(name), "text": unset(text), "meta": meta, "id": unset(id), "path": unset(path)},
            named="id",
        )
        return cast("types.IndexedText", self._json(request))

    def list_texts(
        self,
        user: str,
        *,
        after: Optional[Union[str, int]] = None,
        limit: Optional[int] = None,
    ) -> types.Texts:
        """Lists searchable documents."""
        request = Request(
            "GET", "/v1/users/{user}/documents", {"user": user},
            query={"after": after, "limit": limit},
        )
        return cast("types.Texts", self._json(request))

    def iter_texts(
        self,
        user: str,
        *,
        after: Optional[Union[str, int]] = None,
        limit: Optional[int] = None,
    ) -> Iterator[Dict[str, Any]]:
        """The entries of all pages of `list_texts`, each page read when it is needed."""
        while True:
            page = cast(Dict[str, Any], self.list_texts(user, after=after, limit=limit))
            entries: List[Dict[str, Any]] = entries_of(page, "documents")
            for entry in entries:
                yield entry
            if not page["has_more"] or not entries:
                return
            after = entries[-1]["id"]

    def search_documents(
        self,
        user: str,
        query: str,
        *,
        k: Optional[int] = None,
        explain: Optional[bool] = None,
        kind: Optional[Literal['document', 'repo']] = None,
        document: Optional[str] = None,
    ) -> types.PassageHits:
        """Finds passages of documents and repositories."""
        request = Request(
            "POST", "/v1/users/{user}/documents/search", {"user": user},
            members={"query": query, "k": unset(k), "explain": unset(explain), "kind": unset(kind), "document": unset(document)},
        )
        return cast("types.PassageHits", self._json(request))

    def get_text(
        self,
        user: str,
        id: str,
    ) -> types.KnownText:
        """What is known of a searchable document."""
        request = Request(
            "GET", "/v1/users/{user}/documents/{id}", {"user": user, "id": id},
        )
        return cast("types.KnownText", self._json(request))

    def delete_text(
        self,
        user: str,
        id: str,
    ) -> types.Deleted:
        """Forgets a document with its passages."""
        request = Request(
            "DELETE", "/v1/users/{user}/documents/{id}", {"user": user, "id": id},
            repeatable=False,
        )
        return cast("types.Deleted", self._json(request))

    def add_task(
        self,
        user: str,
        title: str,
        *,
        notes: Optional[str] = None,
        due: Optional[str] = None,
        id: Optional[str] = None,
    ) -> types.Task:
        """Adds a task."""
        request = Request(
            "POST", "/v1/users/{user}/tasks", {"user": user},
            members={"title": title, "notes": unset(notes), "due": unset(due), "id": unset(id)},
            repeatable=False,
        )
        return cast("types.Task", self._json(request))

    def list_tasks(
        self,
        user: str,
        *,
        status: Optional[str] = None,
        after: Optional[Union[str, int]] = None,
        limit: Optional[int] = None,
    ) -> types.Tasks:
        """Lists tasks, oldest first."""
        request = Request(
            "GET", "/v1/users/{user}/tasks", {"user": user},
            query={"status": status, "after": after, "limit": limit},
        )
        return cast("types.Tasks", self._json(request))

    def iter_tasks(
        self,
        user: str,
        *,
        status: Optional[str] = None,
        after: Optional[Union[str, int]] = None,
        limit: Optional[int] = None,
    ) -> Iterator[Dict[str, Any]]:
        """The entries of all pages of `list_tasks`, each page read when it is needed."""
        while True:
            page = cast(Dict[str, Any], self.list_tasks(user, status=status, after=after, limit=limit))
            entries: List[Dict[str, Any]] = entries_of(page, "tasks")
            for entry in entries:
                yield entry
            if not page["has_more"] or not entries:
                return
            after = entries[-1]["id"]

    def get_task(
        self,
        user: str,
        id: str,
    ) -> types.Task:
        """Reads a task."""
        request = Request(
            "GET", "/v1/users/{user}/tasks/{id}", {"user": user, "id": id},
        )
        return cast("types.Task", self._json(request))

    def change_task(
        self,
        user: str,
        id: str,
        *,
        title: Optional[str] = None,
        status: Optional[Literal['open', 'done']] = None,
        notes: Union[Union[str, None], Omit] = OMIT,
        due: Union[Union[str, None], Omit] = OMIT,
    ) -> types.Task:
        """Changes a task."""
        request = Request(
            "PATCH", "/v1/users/{user}/tasks/{id}", {"user": user, "id": id},
            members={"title": unset(title), "status": unset(status), "notes": notes, "due": due},
        )
        return cast("types.Task", self._json(request))

    def delete_task(
        self,
        user: str,
        id: str,
    ) -> types.Deleted:
        """Deletes a task."""
        request = Request(
            "DELETE", "/v1/users/{user}/tasks/{id}", {"user": user, "id": id},
            repeatable=False,
        )
        return cast("types.Deleted", self._json(request))

    def add_result(
        self,
        user: str,
        id: str,
        content: Any,
        *,
        name: Optional[str] = None,
    ) -> types.Named:
        """Keeps what a tool answered while a task was worked on."""
        request = Request(
            "POST", "/v1/users/{user}/tasks/{id}/results", {"user": user, "id": id},
            members={"name": unset(name), "content": content},
            repeatable=False,
        )
        return cast("types.Named", self._json(request))

    def list_results(
        self,
        user: str,
        id: str,
        *,
        after: Optional[Union[str, int]] = None,
        limit: Optional[int] = None,
    ) -> types.Results:
        """Lists the results of a task, oldest first."""
        request = Request(
            "GET", "/v1/users/{user}/tasks/{id}/results", {"user": user, "id": id},
            query={"after": after, "limit": limit},
        )
        return cast("types.Results", self._json(request))

    def iter_results(
        self,
        user: str,
        id: str,
        *,
        after: Optional[Union[str, int]] = None,
        limit: Optional[int] = None,
    ) -> Iterator[Dict[str, Any]]:
        """The entries of all pages of `list_results`, each page read when it is needed."""
        while True:
            page = cast(Dict[str, Any], self.list_results(user, id, after=after, limit=limit))
            entries: List[Dict[str, Any]] = entries_of(page, "results")
            for entry in entries:
                yield entry
            if not page["has_more"] or not entries:
                return
            after = entries[-1]["id"]

    def make_memory_context(
        self,
        *,
        user_id: Optional[str] = None,
        session_id: Optional[str] = None,
        task_id: Optional[str] = None,
        include_vector: Optional[bool] = None,
        query: Optional[str] = None,
        explain: Optional[Union[bool, str]] = None,
        budget_tokens: Optional[int] = None,
        tokenizer: Optional[str] = None,
        as_of: Optional[Union[float, str]] = None,
    ) -> types.Context:
        """What a model should see of a user: summary, data, newest messages, memories, conversation memory."""
        request = Request(
            "POST", "/memory/context",
            members={"user_id": unset(user_id), "session_id": unset(session_id), "task_id": unset(task_id), "include_vector": unset(include_vector), "query": unset(query), "explain": unset(explain), "budget_tokens": unset(budget_tokens), "tokenizer": unset(tokenizer), "as_of": unset(as_of)},
        )
        return cast("types.Context", self._json(request))

    def reset_memory(
        self,
        scope: Literal['all', 'vector', 'short_term', 'summary', 'user_data'],
        *,
        user_id: Optional[str] = None,
        session_id: Optional[str] = None,
    ) -> types.WasReset:
        """Forgets what a scope names."""
        request = Request(
            "POST", "/memory/reset",
            members={"user_id": unset(user_id), "session_id": unset(session_id), "scope": scope},
        )
        return cast("types.WasReset", self._json(request))

    def list_skills(
        self,
    ) -> types.Skills:
        """What a model may do with the memory, as tool definitions."""
        request = Request(
            "GET", "/memory/skills",
        )
        return cast("types.Skills", self._json(request))

    def run_skill(
        self,
        name: str,
        *,
        user_id: Optional[str] = None,
        session_id: Optional[str] = None,
        task_id: Optional[str] = None,
        arguments: Optional[Mapping[str, Any]] = None,
    ) -> types.SkillResult:
        """Runs a skill."""
        request = Request(
            "POST", "/memory/skills/{name}", {"name": name},
            members={"user_id": unset(user_id), "session_id": unset(session_id), "task_id": unset(task_id), "arguments": unset(arguments)},
            repeatable=False,
        )
        return cast("types.SkillResult", self._json(request))

    def chat_with_memory(
        self,
        message: str,
        *,
        user_id: Optional[str] = None,
        session_id: Optional[str] = None,
        task_id: Optional[str] = None,
    ) -> types.Reply:
        """Answers a message with what is remembered of a user; the model may use the skills. As a stream where that is asked for."""
        request = Request(
            "POST", "/memory/chat",
            members={"user_id": unset(user_id), "session_id": unset(session_id), "task_id": unset(task_id), "message": message, "stream": False},
            repeatable=False,
        )
        return cast("types.Reply", self._json(request))

    def stream_chat_with_memory(
        self,
        message: str,
        *,
        user_id: Optional[str] = None,
        session_id: Optional[str] = None,
        task_id: Optional[str] = None,
    ) -> EventStream:
        """Answers a message with what is remembered of a user; the model may use the skills. As a stream where that is asked for."""
        request = Request(
            "POST", "/memory/chat",
            members={"user_id": unset(user_id), "session_id": unset(session_id), "task_id": unset(task_id), "message": message, "stream": True},
            repeatable=False,
        )
        return self._stream(request)

    def ask_thread(
        self,
        question: str,
        *,
        thread_id: Optional[str] = None,
        user_id: Optional[str] = None,
    ) -> types.Reply:
        """Answers a question to a thread from the user's documents. As a stream where that is asked for."""
        request = Request(
            "POST", "/api/ask",
            members={"question": question, "thread_id": unset(thread_id), "user_id": unset(user_id), "stream": False},
            repeatable=False,
        )
        return cast("types.Reply", self._json(request))

    def stream_ask_thread(
        self,
        question: str,
        *,
        thread_id: Optional[str] = None,
        user_id: Optional[str] = None,
    ) -> EventStream:
        """Answers a question to a thread from the user's documents. As a stream where that is asked for."""
        request = Request(
            "POST", "/api/ask",
            members={"question": question, "thread_id": unset(thread_id), "user_id": unset(user_id), "stream": True},
            repeatable=False,
        )
        return self._stream(request)

    def ask_data(
        self,
        question: str,
        conversation_id: str,
        nickname: str,
        client_id: str,
    ) -> types.DataAnswer:
        """Answers a question about data by query; what it leaves out is taken from the conversation, as the policy allows."""
        request = Request(
            "POST", "/ask",
            members={"question": question, "conversation_id": conversation_id, "nickname": nickname, "client_id": client_id},
            repeatable=False,
        )
        return cast("types.DataAnswer", self._json(request))

    def ask_guided(
        self,
        messages: Sequence[Mapping[str, Any]],
        *,
        debug: Optional[str] = None,
        user_id: Optional[str] = None,
        guest_id: Optional[str] = None,
        is_guest: Optional[bool] = None,
        prompt_ready_immediate: Optional[bool] = None,
        forcar_metodo_viva: Optional[bool] = None,
        session_meta: Optional[Mapping[str, Any]] = None,
        prompt_override: Optional[str] = None,
        meta_from_builder: Optional[Mapping[str, Any]] = None,
    ) -> types.GuidedAnswer:
        """Weighs and routes a message, and answers as the moment calls for. As a stream where that is asked for."""
        request = Request(
            "POST", "/ask-eco",
            query={"debug": debug},
            members={"messages": messages, "userId": unset(user_id), "guestId": unset(guest_id), "isGuest": unset(is_guest), "promptReadyImmediate": unset(prompt_ready_immediate), "forcarMetodoViva": unset(forcar_metodo_viva), "sessionMeta": unset(session_meta), "promptOverride": unset(prompt_override), "metaFromBuilder": unset(meta_from_builder), "stream": False},
            repeatable=False,
        )
        return cast("types.GuidedAnswer", self._json(request))

    def stream_ask_guided(
        self,
        messages: Sequence[Mapping[str, Any]],
        *,
        debug: Optional[str] = None,
        user_id: Optional[str] = None,
        guest_id: Optional[str] = None,
        is_guest: Optional[bool] = None,
        prompt_ready_immediate: Optional[bool] = None,
        forcar_metodo_viva: Optional[bool] = None,
        session_meta: Optional[Mapping[str, Any]] = None,
        prompt_override: Optional[str] = None,
        meta_from_builder: Optional[Mapping[str, Any]] = None,
    ) -> EventStream:
        """Weighs and routes a message, and answers as the moment calls for. As a stream where that is asked for."""
        request = Request(
            "POST", "/ask-eco",
            query={"debug": debug},
            members={"messages": messages, "userId": unset(user_id), "guestId": unset(guest_id), "isGuest": unset(is_guest), "promptReadyImmediate": unset(prompt_ready_immediate), "forcarMetodoViva": unset(forcar_metodo_viva), "sessionMeta": unset(session_meta), "promptOverride": unset(prompt_override), "metaFromBuilder": unset(meta_from_builder), "stream": True},
            repeatable=False,
        )
        return self._stream(request)

    def complete_chat(
        self,
        messages: Sequence[Mapping[str, Any]],
        *,
        thread: Optional[str] = None,
        model: Optional[str] = None,
        user: Optional[str] = None,
        metadata: Optional[Mapping[str, Any]] = None,
        extra: Optional[Mapping[str, Any]] = None,
    ) -> types.Completed:
        """OpenAI's chat completions, by a model that a configured server knows; where a thread is named, it is behind it."""
        request = Request(
            "POST", "/v1/chat/completions",
            headers={"X-Novelo-Thread": thread},
            members={"messages": messages, "model": unset(model), "user": unset(user), "metadata": unset(metadata), **(extra or {}), "stream": False},
            repeatable=False,
        )
        return cast("types.Completed", self._json(request))

    def stream_complete_chat(
        self,
        messages: Sequence[Mapping[str, Any]],
        *,
        thread: Optional[str] = None,
        model: Optional[str] = None,
        user: Optional[str] = None,
        metadata: Optional[Mapping[str, Any]] = None,
        extra: Optional[Mapping[str, Any]] = None,
    ) -> EventStream:
        """OpenAI's chat completions, by a model that a configured server knows; where a thread is named, it is behind it."""
        request = Request(
            "POST", "/v1/chat/completions",
            headers={"X-Novelo-Thread": thread},
            members={"messages": messages, "model": unset(model), "user": unset(user), "metadata": unset(metadata), **(extra or {}), "stream": True},
            repeatable=False,
        )
        return self._stream(request)

    def create_response(
        self,
        *,
        thread: Optional[str] = None,
        model: Optional[str] = None,
        input: Optional[Union[str, Sequence[Any]]] = None,
        instructions: Union[Union[str, None], Omit] = OMIT,
        previous_response_id: Union[Union[str, None], Omit] = OMIT,
        conversation: Union[Union[str, Mapping[str, Any], None], Omit] = OMIT,
        store: Union[Union[bool, None], Omit] = OMIT,
        background: Union[Union[bool, None], Omit] = OMIT,
        tools: Optional[Sequence[Mapping[str, Any]]] = None,
        tool_choice: Optional[Union[str, Mapping[str, Any]]] = None,
        text: Optional[Mapping[str, Any]] = None,
        truncation: Union[Literal['auto', 'disabled', None], Omit] = OMIT,
        context_management: Union[Union[Sequence[Any], None], Omit] = OMIT,
        max_output_tokens: Union[Union[int, None], Omit] = OMIT,
        metadata: Union[Union[Mapping[str, Any], None], Omit] = OMIT,
        user: Optional[str] = None,
        extra: Optional[Mapping[str, Any]] = None,
    ) -> types.Response:
        """OpenAI's responses, by a model that a configured server knows. As a stream where that is asked for."""
        request = Request(
            "POST", "/v1/responses",
            headers={"X-Novelo-Thread": thread},
            members={"model": unset(model), "input": unset(input), "instructions": instructions, "previous_response_id": previous_response_id, "conversation": conversation, "store": store, "background": background, "tools": unset(tools), "tool_choice": unset(tool_choice), "text": unset(text), "truncation": truncation, "context_management": context_management, "max_output_tokens": max_output_tokens, "metadata": metadata, "user": unset(user), **(extra or {}), "stream": False},
            repeatable=False,
        )
        return cast("types.Response", self._json(request))

    def stream_create_response(
        self,
        *,
        thread: Optional[str] = None,
        model: Optional[str] = None,
        input: Optional[Union[str, Sequence[Any]]] = None,
        instructions: Union[Union[str, None], Omit] = OMIT,
        previous_response_id: Union[Union[str, None], Omit] = OMIT,
        conversation: Union[Union[str, Mapping[str, Any], None], Omit] = OMIT,
        store: Union[Union[bool, None], Omit] = OMIT,
        background: Union[Union[bool, None], Omit] = OMIT,
        tools: Optional[Sequence[Mapping[str, Any]]] = None,
        tool_choice: Optional[Union[str, Mapping[str, Any]]] = None,
        text: Optional[Mapping[str, Any]] = None,
        truncation: Union[Literal['auto', 'disabled', None], Omit] = OMIT,
        context_management: Union[Union[Sequence[Any], None], Omit] = OMIT,
        max_output_tokens: Union[Union[int, None], Omit] = OMIT,
        metadata: Union[Union[Mapping[str, Any], None], Omit] = OMIT,
        user: Optional[str] = None,
        extra: Optional[Mapping[str, Any]] = None,
    ) -> EventStream:
        """OpenAI's responses, by a model that a configured server knows. As a stream where that is asked for."""
        request = Request(
            "POST", "/v1/responses",
            headers={"X-Novelo-Thread": thread},
            members={"model": unset(model), "input": unset(input), "instructions": instructions, "previous_response_id": previous_response_id, "conversation": conversation, "store": store, "background": background, "tools": unset(tools), "tool_choice": unset(tool_choice), "text": unset(text), "truncation": truncation, "context_management": context_management, "max_output_tokens": max_output_tokens, "metadata": metadata, "user": unset(user), **(extra or {}), "stream": True},
            repeatable=False,
        )
        return self._stream(request)

    def count_input_tokens(
        self,
        *,
        model: Optional[str] = None,
        input: Optional[Union[str, Sequence[Any]]] = None,
        instructions: Union[Union[str, None], Omit] = OMIT,
        previous_response_id: Union[Union[str, None], Omit] = OMIT,
        conversation: Union[Union[str, Mapping[str, Any], None], Omit] = OMIT,
        store: Union[Union[bool, None], Omit] = OMIT,
        stream: Union[Union[bool, None], Omit] = OMIT,
        background: Union[Union[bool, None], Omit] = OMIT,
        tools: Optional[Sequence[Mapping[str, Any]]] = None,
        tool_choice: Optional[Union[str, Mapping[str, Any]]] = None,
        text: Optional[Mapping[str, Any]] = None,
        truncation: Union[Literal['auto', 'disabled', None], Omit] = OMIT,
        context_management: Union[Union[Sequence[Any], None], Omit] = OMIT,
        max_output_tokens: Union[Union[int, None], Omit] = OMIT,
        metadata: Union[Union[Mapping[str, Any], None], Omit] = OMIT,
        user: Optional[str] = None,
        extra: Optional[Mapping[str, Any]] = None,
    ) -> types.InputTokens:
        """What the input of a response would cost, without asking a model."""
        request = Request(
            "POST", "/v1/responses/input_tokens",
            members={"model": unset(model), "input": unset(input), "instructions": instructions, "previous_response_id": previous_response_id, "conversation": conversation, "store": store, "stream": stream, "background": background, "tools": unset(tools), "tool_choice": unset(tool_choice), "text": unset(text), "truncation": truncation, "context_management": context_management, "max_output_tokens": max_output_tokens, "metadata": metadata, "user": unset(user), **(extra or {})},
        )
        return cast("types.InputTokens", self._json(request))

    def compact_response(
        self,
        *,
        model: Optional[str] = None,
        input: Optional[Union[str, Sequence[Any]]] = None,
        instructions: Union[Union[str, None], Omit] = OMIT,
        previous_response_id: Union[Union[str, None], Omit] = OMIT,
        conversation: Union[Union[str, Mapping[str, Any], None], Omit] = OMIT,
        store: Union[Union[bool, None], Omit] = OMIT,
        stream: Union[Union[bool, None], Omit] = OMIT,
        background: Union[Union[bool, None], Omit] = OMIT,
        tools: Optional[Sequence[Mapping[str, Any]]] = None,
        tool_choice: Optional[Union[str, Mapping[str, Any]]] = None,
        text: Optional[Mapping[str, Any]] = None,
        truncation: Union[Literal['auto', 'disabled', None], Omit] = OMIT,
        context_management: Union[Union[Sequence[Any], None], Omit] = OMIT,
        max_output_tokens: Union[Union[int, None], Omit] = OMIT,
        metadata: Union[Union[Mapping[str, Any], None], Omit] = OMIT,
        user: Optional[str] = None,
        extra: Optional[Mapping[str, Any]] = None,
    ) -> types.CompactedResponse:
        """A conversation in short: what stays, and an item that says which spans were replaced, with what, and how."""
        request = Request(
            "POST", "/v1/responses/compact",
            members={"model": unset(model), "input": unset(input), "instructions": instructions, "previous_response_id": previous_response_id, "conversation": conversation, "store": store, "stream": stream, "background": background, "tools": unset(tools), "tool_choice": unset(tool_choice), "text": unset(text), "truncation": truncation, "context_management": context_management, "max_output_tokens": max_output_tokens, "metadata": metadata, "user": unset(user), **(extra or {})},
            repeatable=False,
        )
        return cast("types.CompactedResponse", self._json(request))

    def get_response(
        self,
        id: str,
        *,
        user: Optional[str] = None,
    ) -> types.Response:
        """Reads a response, or resumes its stream after an event."""
        request = Request(
            "GET", "/v1/responses/{id}", {"id": id},
            query={"user": user},
        )
        return cast("types.Response", self._json(request))

    def stream_get_response(
        self,
        id: str,
        *,
        starting_after: Optional[int] = None,
        user: Optional[str] = None,
    ) -> EventStream:
        """Reads a response, or resumes its stream after an event."""
        request = Request(
            "GET", "/v1/responses/{id}", {"id": id},
            query={"starting_after": starting_after, "user": user, "stream": True},
        )
        return self._stream(request)

    def delete_response(
        self,
        id: str,
        *,
        user: Optional[str] = None,
    ) -> types.DeletedResponse:
        """Deletes a response."""
        request = Request(
            "DELETE", "/v1/responses/{id}", {"id": id},
            query={"user": user},
            repeatable=False,
        )
        return cast("types.DeletedResponse", self._json(request))

    def cancel_response(
        self,
        id: str,
        *,
        user: Optional[str] = None,
    ) -> types.Response:
        """Ends a background response."""
        request = Request(
            "POST", "/v1/responses/{id}/cancel", {"id": id},
            query={"user": user},
            repeatable=False,
        )
        return cast("types.Response", self._json(request))

    def list_input_items(
        self,
        id: str,
        *,
        after: Optional[Union[str, int]] = None,
        limit: Optional[int] = None,
        order: Optional[str] = None,
        user: Optional[str] = None,
    ) -> types.ItemList:
        """Lists the items that the request of a response added."""
        request = Request(
            "GET", "/v1/responses/{id}/input_items", {"id": id},
            query={"after": after, "limit": limit, "order": order, "user": user},
        )
        return cast("types.ItemList", self._json(request))

    def iter_input_items(
        self,
        id: str,
        *,
        after: Optional[Union[str, int]] = None,
        limit: Optional[int] = None,
        order: Optional[str] = None,
        user: Optional[str] = None,
    ) -> Iterator[Dict[str, Any]]:
        """The entries of all pages of `list_input_items`, each page read when it is needed."""
        while True:
            page = cast(Dict[str, Any], self.list_input_items(id, after=after, limit=limit, order=order, user=user))
            entries: List[Dict[str, Any]] = entries_of(page, "data")
            for entry in entries:
                yield entry
            if not page["has_more"] or not entries:
                return
            after = entries[-1]["id"]

    def explain_response(
        self,
        id: str,
        *,
        user: Optional[str] = None,
    ) -> Dict[str, Any]:
        """What of the conversation the model saw, and why: the trace of the prompt."""
        request = Request(
            "GET", "/v1/responses/{id}/explain", {"id": id},
            query={"user": user},
        )
        return cast(Dict[str, Any], self._json(request))

    def create_conversation(
        self,
        *,
        items: Optional[Sequence[Mapping[str, Any]]] = None,
        metadata: Union[Union[Mapping[str, Any], None], Omit] = OMIT,
        user: Optional[str] = None,
    ) -> types.Conversation:
        """Makes a conversation, which is a thread."""
        request = Request(
            "POST", "/v1/conversations",
            members={"items": unset(items), "metadata": metadata, "user": unset(user)},
            repeatable=False,
        )
        return cast("types.Conversation", self._json(request))

    def list_conversations(
        self,
        *,
        after: Optional[Union[str, int]] = None,
        limit: Optional[int] = None,
        user: Optional[str] = None,
    ) -> types.ConversationList:
        """Lists the conversations of a user."""
        request = Request(
            "GET", "/v1/conversations",
            query={"after": after, "limit": limit, "user": user},
        )
        return cast("types.ConversationList", self._json(request))

    def iter_conversations(
        self,
        *,
        after: Optional[Union[str, int]] = None,
        limit: Optional[int] = None,
        user: Optional[str] = None,
    ) -> Iterator[Dict[str, Any]]:
        """The entries of all pages of `list_conversations`, each page read when it is needed."""
        while True:
            page = cast(Dict[str, Any], self.list_conversations(after=after, limit=limit, user=user))
            entries: List[Dict[str, Any]] = entries_of(page, "data")
            for entry in entries:
                yield entry
            if not page["has_more"] or not entries:
                return
            after = entries[-1]["id"]

    def get_conversation(
        self,
        id: str,
        *,
        user: Optional[str] = None,
    ) -> types.Conversation:
        """Reads a conversation."""
        request = Request(
            "GET", "/v1/conversations/{id}", {"id": id},
            query={"user": user},
        )
        return cast("types.Conversation", self._json(request))

    def update_conversation(
        self,
        id: str,
        metadata: Union[Mapping[str, Any], None],
        *,
        user: Optional[str] = None,
    ) -> types.Conversation:
        """Sets the metadata of a conversation."""
        request = Request(
            "POST", "/v1/conversations/{id}", {"id": id},
            members={"metadata": metadata, "user": unset(user)},
        )
        return cast("types.Conversation", self._json(request))

    def delete_conversation(
        self,
        id: str,
        *,
        user: Optional[str] = None,
    ) -> types.DeletedConversation:
        """Forgets a conversation: its thread, with all that was made from it."""
        request = Request(
            "DELETE", "/v1/conversations/{id}", {"id": id},
            query={"user": user},
            repeatable=False,
        )
        return cast("types.DeletedConversation", self._json(request))

    def create_items(
        self,
        id: str,
        items: Sequence[Mapping[str, Any]],
        *,
        user: Optional[str] = None,
    ) -> types.ItemList:
        """Adds items to a conversation."""
        request = Request(
            "POST", "/v1/conversations/{id}/items", {"id": id},
            members={"items": items, "user": unset(user)},
            repeatable=False,
        )
        return cast("types.ItemList", self._json(request))

    def list_items(
        self,
        id: str,
        *,
        after: Optional[Union[str, int]] = None,
        limit: Optional[int] = None,
        order: Optional[str] = None,
        user: Optional[str] = None,
    ) -> types.ItemList:
        """Lists the items of a conversation, newest first unless order is asc."""
        request = Request(
            "GET", "/v1/conversations/{id}/items", {"id": id},
            query={"after": after, "limit": limit, "order": order, "user": user},
        )
        return cast("types.ItemList", self._json(request))

    def iter_items(
        self,
        id: str,
        *,
        after: Optional[Union[str, int]] = None,
        limit: Optional[int] = None,
        order: Optional[str] = None,
        user: Optional[str] = None,
    ) -> Iterator[Dict[str, Any]]:
        """The entries of all pages of `list_items`, each page read when it is needed."""
        while True:
            page = cast(Dict[str, Any], self.list_items(id, after=after, limit=limit, order=order, user=user))
            entries: List[Dict[str, Any]] = entries_of(page, "data")
            for entry in entries:
                yield entry
            if not page["has_more"] or not entries:
                return
            after = entries[-1]["id"]

    def get_item(
        self,
        id: str,
        item: str,
        *,
        user: Optional[str] = None,
    ) -> types.Item:
        """Reads an item."""
        request = Request(
            "GET", "/v1/conversations/{id}/items/{item}", {"id": id, "item": item},
            query={"user": user},
        )
        return cast("types.Item", self._json(request))

    def delete_item(
        self,
        id: str,
        item: str,
        *,
        user: Optional[str] = None,
    ) -> types.Conversation:
        """Deletes an item; the conversation is returned."""
        request = Request(
            "DELETE", "/v1/conversations/{id}/items/{item}", {"id": id, "item": item},
            query={"user": user},
            repeatable=False,
        )
        return cast("types.Conversation", self._json(request))

    def create_embeddings(
        self,
        input: Union[str, Sequence[Any]],
        *,
        model: Optional[str] = None,
        encoding_format: Optional[Literal['float', 'base64']] = None,
        dimensions: Optional[int] = None,
        user: Optional[str] = None,
    ) -> types.Embeddings:
        """OpenAI's embeddings, by the embedder of the searches. Nothing is stored."""
        request = Request(
            "POST", "/v1/embeddings",
            members={"input": input, "model": unset(model), "encoding_format": unset(encoding_format), "dimensions": unset(dimensions), "user": unset(user)},
        )
        return cast("types.Embeddings", self._json(request))

    def get_trace(
        self,
        id: str,
    ) -> Dict[str, Any]:
        """What was recorded of a prompt, with its explanation, or of the course of a request."""
        request = Request(
            "GET", "/v1/traces/{id}", {"id": id},
        )
        return cast(Dict[str, Any], self._json(request))

    def replay_trace(
        self,
        id: str,
    ) -> types.Replay:
        """Makes an old prompt again and compares the bytes; of a request, the last one that was made for it."""
        request = Request(
            "POST", "/v1/traces/{id}/replay", {"id": id},
        )
        return cast("types.Replay", self._json(request))

    def debug_trace(
        self,
        id: str,
    ) -> types.Course:
        """The course of a request, for an admin: caches, heuristics, modules, latency, errors. A browser gets a page that reads it, which needs no key itself."""
        request = Request(
            "GET", "/debug/trace/{id}", {"id": id},
        )
        return cast("types.Course", self._json(request))

    def list_keys(
        self,
    ) -> types.Keys:
        """Lists keys; their secrets are not kept."""
        request = Request(
            "GET", "/v1/keys",
        )
        return cast("types.Keys", self._json(request))

    def create_key(
        self,
        *,
        confirm: Optional[str] = None,
        kind: Optional[Literal['user', 'guest', 'service', 'admin']] = None,
        user: Optional[str] = None,
        admin: Optional[bool] = None,
        name: Optional[str] = None,
        ttl_seconds: Optional[int] = None,
    ) -> types.Key:
        """Makes a key; the secret is in this answer only."""
        request = Request(
            "POST", "/v1/keys",
            headers={"X-Novelo-Confirm": confirm},
            members={"kind": unset(kind), "user": unset(user), "admin": unset(admin), "name": unset(name), "ttl_seconds": unset(ttl_seconds)},
            repeatable=False,
        )
        return cast("types.Key", self._json(request))

    def revoke_key(
        self,
        id: str,
    ) -> Dict[str, Any]:
        """Revokes a key."""
        request = Request(
            "DELETE", "/v1/keys/{id}", {"id": id},
            repeatable=False,
        )
        return cast(Dict[str, Any], self._json(request))

    def list_models(
        self,
    ) -> types.Models:
        """Lists the models that a caller may name: the jobs, what their servers list, and the embedder."""
        request = Request(
            "GET", "/v1/models",
        )
        return cast("types.Models", self._json(request))

    def get_model(
        self,
        model: str,
    ) -> types.Model:
        """One of the models that a caller may name."""
        request = Request(
            "GET", "/v1/models/{model}", {"model": model},
        )
        return cast("types.Model", self._json(request))

    def rebuild_index(
        self,
        *,
        user: Optional[str] = None,
        anew: Optional[bool] = None,
    ) -> types.Rebuilt:
        """Makes the points in Qdrant anew: of one user, or of the next of all, until it is finished."""
        request = Request(
            "POST", "/v1/index/rebuild",
            members={"user": unset(user), "anew": unset(anew)},
            repeatable=False,
        )
        return cast("types.Rebuilt", self._json(request))

    def check_store(
        self,
    ) -> types.Doctor:
        """Reads and cross-checks every record, and asks the model servers whether they are there."""
        request = Request(
            "GET", "/v1/doctor",
        )
        return cast("types.Doctor", self._json(request))

    def get_live(
        self,
    ) -> Dict[str, Any]:
        """Whether the process answers."""
        request = Request(
            "GET", "/health/live",
        )
        return cast(Dict[str, Any], self._json(request))

    def get_ready(
        self,
    ) -> Dict[str, Any]:
        """Whether it would take a write."""
        request = Request(
            "GET", "/health/ready",
        )
        return cast(Dict[str, Any], self._json(request))

    def get_metrics(
        self,
    ) -> str:
        """Counters for Prometheus."""
        request = Request(
            "GET", "/metrics",
        )
        return self._text(request)

    def get_chat_page(
        self,
    ) -> str:
        """The chat page."""
        request = Request(
            "GET", "/chat",
        )
        return self._text(request)

    def get_asset(
        self,
        name: str,
    ) -> str:
        """A file of the pages."""
        request = Request(
            "GET", "/assets/{name}", {"name": name},
        )
        return self._text(request)

    def run_topic_context(
        self,
        kala: Mapping[str, Any],
        *,
        model: Optional[Mapping[str, Any]] = None,
        preset_id: Optional[str] = None,
        include_doc_id: Optional[bool] = None,
        user_id: Optional[str] = None,
    ) -> types.Yoj:
        """Winds what a kala reads into messages, by a model or a preset."""
        request = Request(
            "POST", "/context/topicContextYoj/run",
            members={"kala": kala, "model": unset(model), "presetId": unset(preset_id), "includeDocId": unset(include_doc_id), "userId": unset(user_id)},
            repeatable=False,
        )
        return cast("types.Yoj", self._json(request))

    def run_collapse_indexer(
        self,
        session_id: str,
        *,
        response_id: Optional[str] = None,
        groups: Optional[Sequence[Mapping[str, Any]]] = None,
        user_id: Optional[str] = None,
    ) -> types.Indexed:
        """Makes the index of a session's groups say what a response says."""
        request = Request(
            "POST", "/jobs/context/collapse/indexer/run",
            members={"sessionId": session_id, "responseId": unset(response_id), "groups": unset(groups), "userId": unset(user_id)},
            repeatable=False,
        )
        return cast("types.Indexed", self._json(request))

    def set_group_state(
        self,
        session_id: str,
        group: str,
        *,
        expanded: Optional[bool] = None,
        state: Optional[Literal['expanded', 'collapsed']] = None,
        response_id: Optional[str] = None,
        user_id: Optional[str] = None,
    ) -> types.GroupStateSet:
        """Expands or collapses a group."""
        request = Request(
            "POST", "/jobs/context/collapse/state/set",
            members={"sessionId": session_id, "group": group, "expanded": unset(expanded), "state": unset(state), "responseId": unset(response_id), "userId": unset(user_id)},
        )
        return cast("types.GroupStateSet", self._json(request))
