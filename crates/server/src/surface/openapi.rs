//! The OpenAPI document, made from one table of operations.
//!
//! Owns the public description of the API; each surface has its schemas in its own `schema.rs`.
//! `tests/openapi.json` is the golden copy, and a test calls every operation of the table on a running
//! server.

use serde_json::{Map, Value, json};

use super::{ask, eco, memory, native, responses, thread, topic};

/// One operation: method, path, what it does, its parameters, and the names of the schemas it takes and
/// gives.
pub struct Operation {
    pub method: &'static str,
    pub path: &'static str,
    pub id: &'static str,
    pub about: &'static str,
    pub query: &'static [&'static str],
    pub takes: Option<&'static str>,
    pub gives: &'static str,
}

macro_rules! operations {
    ($($method:ident $path:literal $id:ident [$($query:literal),*] $takes:tt => $gives:literal, $about:literal;)*) => {
        pub const OPERATIONS: &[Operation] = &[$(Operation {
            method: stringify!($method), path: $path, id: stringify!($id), about: $about,
            query: &[$($query),*], takes: operations!(@takes $takes), gives: $gives,
        }),*];
    };
    (@takes -) => { None };
    (@takes $name:literal) => { Some($name) };
}

operations! {
    post "/v1/users/{user}/threads/{thread}/turns" appendTurns [] "Append" => "Appended",
        "Appends messages to a thread. The same id or Idempotency-Key with the same bytes gives the first answer again.";
    get "/v1/users/{user}/threads/{thread}/turns" listTurns ["last", "after", "limit"] - => "Turns",
        "Reads turns, oldest first: the last ones, or those after a seq.";
    get "/v1/users/{user}/threads" listThreads ["after", "limit"] - => "Threads", "Lists the threads of a user by id.";
    post "/v1/users/{user}/threads/{thread}/fork" forkThread [] "Fork" => "Forked",
        "Makes a thread that holds the turns up to and including at_seq.";
    delete "/v1/users/{user}/threads/{thread}" forgetThread [] - => "Forgotten",
        "Forgets a thread: its documents and traces, also in the raw files.";
    delete "/v1/users/{user}" forgetUser [] - => "Forgotten", "Forgets everything of a user.";
    get "/v1/users/{user}/threads/{thread}/export" exportThread [] - => "Lines", "A thread as JSON Lines.";
    get "/v1/users/{user}/export" exportUser [] - => "Lines", "A user's documents as JSON Lines.";
    get "/v1/export" exportAll [] - => "Lines", "Everything as JSON Lines: a backup, consistent while writes go on.";
    post "/v1/import" importDocuments ["restore", "taken_at"] "Lines" => "Imported", "Puts exported documents back as they were; of a backup, without what was forgotten since.";
    post "/v1/context" makeContext [] "ContextRequest" => "Context",
        "Winds a thread, or the messages given, into what a model should see next, within the budget.";
    get "/v1/docs/{path}" getDocument ["begin", "end", "limit", "after"] - => "DocumentOrList",
        "Reads a document, or lists a collection by time.";
    put "/v1/docs/{path}" putDocument [] "Any" => "Stamp", "Stores the body as the document.";
    patch "/v1/docs/{path}" patchDocument [] "Object" => "Stamp", "Merges the body into the document, deeply.";
    delete "/v1/docs/{path}" deleteDocument [] - => "Deleted", "Deletes a document.";
    post "/v1/docs:batch" batchDocuments [] "Batch" => "Done", "Several writes, all or nothing.";
    get "/v1/users/{user}/data" getUserData [] - => "Object", "What is known of a user.";
    put "/v1/users/{user}/data" putUserData [] "Object" => "Object", "Replaces what is known of a user.";
    patch "/v1/users/{user}/data" patchUserData [] "Object" => "Object", "Adds to what is known of a user.";
    get "/v1/users/{user}/threads/{thread}/summary" getSummary [] - => "Summary", "What fell out of a thread's window.";
    put "/v1/users/{user}/threads/{thread}/summary" setSummary [] "NewSummary" => "Summary",
        "Sets a summary; later turns are added to it.";
    delete "/v1/users/{user}/threads/{thread}/summary" deleteSummary [] - => "Deleted", "Deletes a summary.";
    post "/v1/users/{user}/threads/{thread}/compactions" compactThread [] "NewCompaction" => "Compacted",
        "Compacts a thread that costs more than it may: old spans are shown in short, and can be had back.";
    get "/v1/users/{user}/threads/{thread}/compactions" listCompactions ["after", "limit"] - => "Compactions",
        "Lists the compactions of a thread, oldest first.";
    get "/v1/users/{user}/threads/{thread}/compactions/{id}" getCompaction [] - => "Compaction", "Reads a compaction.";
    delete "/v1/users/{user}/threads/{thread}/compactions/{id}" undoCompaction [] - => "Deleted",
        "Undoes a compaction: what it replaced is shown again.";
    get "/v1/users/{user}/threads/{thread}/spans/{id}" getSpan [] - => "SpanTurns",
        "What a span replaced, word for word.";
    post "/v1/users/{user}/threads/{thread}/spans/{id}/restore" restoreSpan [] - => "SpanTurns",
        "Shows a span word for word in prompts again.";
    get "/v1/users/{user}/threads/{thread}/pins" getPins [] - => "Pins", "The turns that are never compacted.";
    put "/v1/users/{user}/threads/{thread}/pins" setPins [] "Pins" => "Pins", "Pins these turns, and no others.";
    post "/v1/users/{user}/memories" addMemory [] "NewMemory" => "Named", "Keeps a text for later.";
    get "/v1/users/{user}/memories" listMemories ["after", "limit"] - => "Memories", "Lists memories, oldest first.";
    post "/v1/users/{user}/memories/search" searchMemories [] "Search" => "MemoryHits", "Finds memories.";
    delete "/v1/users/{user}/memories" forgetMemories [] - => "Forgotten", "Forgets all memories of a user.";
    get "/v1/users/{user}/memories/{id}" getMemory [] - => "Memory",
        "A memory, with what it replaced and what replaced it.";
    patch "/v1/users/{user}/memories/{id}" changeMemory [] "MemoryChange" => "Memory",
        "Changes since when and until when a memory is true, how sure it is, and what it replaces.";
    delete "/v1/users/{user}/memories/{id}" deleteMemory [] - => "Deleted", "Deletes a memory.";
    post "/v1/users/{user}/turns/search" searchTurns [] "TurnSearch" => "TurnHits",
        "Finds what was said, in all threads of a user or in one.";
    post "/v1/users/{user}/documents" indexDocument [] "NewText" => "IndexedText",
        "Makes a text searchable, or a path of the server's disk, which is for admins. One of the same id is replaced.";
    get "/v1/users/{user}/documents" listTexts ["after", "limit"] - => "Texts", "Lists searchable documents.";
    post "/v1/users/{user}/documents/search" searchDocuments [] "PassageSearch" => "PassageHits",
        "Finds passages of documents and repositories.";
    get "/v1/users/{user}/documents/{id}" getText [] - => "KnownText", "What is known of a searchable document.";
    delete "/v1/users/{user}/documents/{id}" deleteText [] - => "Deleted", "Forgets a document with its passages.";
    post "/v1/users/{user}/tasks" addTask [] "NewTask" => "Task", "Adds a task.";
    get "/v1/users/{user}/tasks" listTasks ["status", "after", "limit"] - => "Tasks", "Lists tasks, oldest first.";
    get "/v1/users/{user}/tasks/{id}" getTask [] - => "Task", "Reads a task.";
    patch "/v1/users/{user}/tasks/{id}" changeTask [] "TaskChange" => "Task", "Changes a task.";
    delete "/v1/users/{user}/tasks/{id}" deleteTask [] - => "Deleted", "Deletes a task.";
    post "/v1/users/{user}/tasks/{id}/results" addResult [] "NewResult" => "Named",
        "Keeps what a tool answered while a task was worked on.";
    get "/v1/users/{user}/tasks/{id}/results" listResults ["after", "limit"] - => "Results",
        "Lists the results of a task, oldest first.";
    post "/memory/context" makeMemoryContext [] "MemoryContextRequest" => "Context",
        "What a model should see of a user: summary, data, newest messages, memories, conversation memory.";
    post "/memory/reset" resetMemory [] "Reset" => "WasReset", "Forgets what a scope names.";
    get "/memory/skills" listSkills [] - => "Skills", "What a model may do with the memory, as tool definitions.";
    post "/memory/skills/{name}" runSkill [] "SkillRun" => "SkillResult", "Runs a skill.";
    post "/memory/chat" chatWithMemory [] "MemoryChat" => "Reply",
        "Answers a message with what is remembered of a user; the model may use the skills. As a stream where that is asked for.";
    post "/api/ask" askThread [] "Question" => "Reply",
        "Answers a question to a thread from the user's documents. As a stream where that is asked for.";
    post "/ask" askData [] "DataQuestion" => "DataAnswer",
        "Answers a question about data by query; what it leaves out is taken from the conversation, as the policy allows.";
    post "/ask-eco" askGuided ["debug"] "GuidedMessage" => "GuidedAnswer",
        "Weighs and routes a message, and answers as the moment calls for. As a stream where that is asked for.";
    post "/v1/chat/completions" completeChat [] "Completion" => "Completed",
        "OpenAI's chat completions, by a model that a configured server knows; where a thread is named, it is behind it.";
    post "/v1/responses" createResponse [] "NewResponse" => "Response",
        "OpenAI's responses, by a model that a configured server knows. As a stream where that is asked for.";
    post "/v1/responses/input_tokens" countInputTokens [] "NewResponse" => "InputTokens",
        "What the input of a response would cost, without asking a model.";
    post "/v1/responses/compact" compactResponse [] "NewResponse" => "CompactedResponse",
        "A conversation in short: what stays, and an item that says which spans were replaced, with what, and how.";
    get "/v1/responses/{id}" getResponse ["stream", "starting_after", "user"] - => "Response",
        "Reads a response, or resumes its stream after an event.";
    delete "/v1/responses/{id}" deleteResponse ["user"] - => "DeletedResponse", "Deletes a response.";
    post "/v1/responses/{id}/cancel" cancelResponse ["user"] - => "Response", "Ends a background response.";
    get "/v1/responses/{id}/input_items" listInputItems ["after", "limit", "order", "user"] - => "ItemList",
        "Lists the items that the request of a response added.";
    get "/v1/responses/{id}/explain" explainResponse ["user"] - => "Object",
        "What of the conversation the model saw, and why: the trace of the prompt.";
    post "/v1/conversations" createConversation [] "NewConversation" => "Conversation",
        "Makes a conversation, which is a thread.";
    get "/v1/conversations" listConversations ["after", "limit", "user"] - => "ConversationList",
        "Lists the conversations of a user.";
    get "/v1/conversations/{id}" getConversation ["user"] - => "Conversation", "Reads a conversation.";
    post "/v1/conversations/{id}" updateConversation [] "ConversationChange" => "Conversation",
        "Sets the metadata of a conversation.";
    delete "/v1/conversations/{id}" deleteConversation ["user"] - => "DeletedConversation",
        "Forgets a conversation: its thread, with all that was made from it.";
    post "/v1/conversations/{id}/items" createItems [] "NewItems" => "ItemList", "Adds items to a conversation.";
    get "/v1/conversations/{id}/items" listItems ["after", "limit", "order", "user"] - => "ItemList",
        "Lists the items of a conversation, newest first unless order is asc.";
    get "/v1/conversations/{id}/items/{item}" getItem ["user"] - => "Item", "Reads an item.";
    delete "/v1/conversations/{id}/items/{item}" deleteItem ["user"] - => "Conversation",
        "Deletes an item; the conversation is returned.";
    post "/v1/embeddings" createEmbeddings [] "NewEmbeddings" => "Embeddings",
        "OpenAI's embeddings, by the embedder of the searches. Nothing is stored.";
    get "/v1/traces/{id}" getTrace [] - => "Object", "What was recorded of a prompt, with its explanation, or of the course of a request.";
    post "/v1/traces/{id}/replay" replayTrace [] - => "Replay", "Makes an old prompt again and compares the bytes; of a request, the last one that was made for it.";
    get "/debug/trace/{id}" debugTrace [] - => "Course", "The course of a request, for an admin: caches, heuristics, modules, latency, errors. A browser gets a page that reads it, which needs no key itself.";
    get "/v1/keys" listKeys [] - => "Keys", "Lists keys; their secrets are not kept.";
    post "/v1/keys" createKey [] "NewKey" => "Key", "Makes a key; the secret is in this answer only.";
    delete "/v1/keys/{id}" revokeKey [] - => "Object", "Revokes a key.";
    get "/v1/models" listModels [] - => "Models", "Lists the models that a caller may name: the jobs, what their servers list, and the embedder.";
    get "/v1/models/{model}" getModel [] - => "Model", "One of the models that a caller may name.";
    post "/v1/index/rebuild" rebuildIndex [] "RebuildStep" => "Rebuilt",
        "Makes the points in Qdrant anew: of one user, or of the next of all, until it is finished.";
    get "/v1/doctor" checkStore [] - => "Doctor", "Reads and cross-checks every record, and asks the model servers whether they are there.";
    get "/health/live" getLive [] - => "Object", "Whether the process answers.";
    get "/health/ready" getReady [] - => "Object", "Whether it would take a write.";
    get "/metrics" getMetrics [] - => "Text", "Counters for Prometheus.";
    get "/chat" getChatPage [] - => "Page", "The chat page.";
    get "/assets/{name}" getAsset [] - => "Asset", "A file of the pages.";
    post "/context/topicContextYoj/run" runTopicContext ["userId"] "TopicRun" => "Yoj",
        "Winds what a kala reads into messages, by a model or a preset.";
    post "/jobs/context/collapse/indexer/run" runCollapseIndexer ["userId"] "IndexerRun" => "Indexed",
        "Makes the index of a session's groups say what a response says.";
    post "/jobs/context/collapse/state/set" setGroupState ["userId"] "GroupState" => "GroupStateSet",
        "Expands or collapses a group.";
}

/// The document.
pub(crate) fn document() -> Value {
    let mut paths: Map<String, Value> = Map::new();
    for operation in OPERATIONS {
        let path = paths.entry(operation.path).or_insert_with(|| json!({}));
        if let Some(methods) = path.as_object_mut() {
            methods.insert(operation.method.to_owned(), describe(operation));
        }
    }
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Novelo",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "A conversation-context engine: turns in, an explained context out.",
            "license": {"name": "Apache-2.0 OR MIT", "identifier": "Apache-2.0 OR MIT"},
        },
        "servers": [{"url": "http://127.0.0.1:7420"}],
        "security": [{"key": []}, {}],
        "paths": paths,
        "components": {
            "securitySchemes": {"key": {"type": "http", "scheme": "bearer"}},
            "schemas": schemas(),
        },
    })
}

fn describe(operation: &Operation) -> Value {
    let mut described = json!({
        "operationId": operation.id,
        "summary": operation.about,
        "parameters": parameters(operation),
        "responses": {
            "200": {"description": "done", "content": content(operation.gives)},
            "default": {"description": "refused", "content": content(refusal(operation))},
        },
    });
    if let (Some(takes), Some(fields)) = (operation.takes, described.as_object_mut()) {
        fields.insert("requestBody".into(), json!({"required": true, "content": content(takes)}));
    }
    described
}

/// Topic contexts have errors of their own form.
fn refusal(operation: &Operation) -> &'static str {
    match operation.path {
        path if path.contains("/collapse/") => "JobRefusal",
        path if path.contains("/context/") => "Refusal",
        _ => "Error",
    }
}

fn content(schema: &str) -> Value {
    let text = json!({"schema": {"type": "string"}});
    match schema {
        "Lines" => json!({"application/x-ndjson": text}),
        "Text" => json!({"text/plain": text}),
        "Page" => json!({"text/html": text}),
        "Course" => json!({"application/json": {"schema": {"$ref": "#/components/schemas/Course"}}, "text/html": text}),
        "Asset" => json!({"text/css": text, "text/javascript": text, "image/svg+xml": text}),
        _ => json!({"application/json": {"schema": {"$ref": format!("#/components/schemas/{schema}")}}}),
    }
}

fn parameters(operation: &Operation) -> Value {
    let in_path = operation
        .path
        .split(['{', '}'])
        .skip(1)
        .step_by(2)
        .map(|name| json!({"name": name, "in": "path", "required": true, "schema": {"type": "string"}}));
    let in_query = operation.query.iter().map(|name| {
        let kind = match *name {
            "begin" | "end" | "taken_at" => "number",
            "restore" | "stream" => "boolean",
            "last" | "limit" | "starting_after" => "integer",
            _ => "string",
        };
        json!({"name": name, "in": "query", "schema": {"type": kind}})
    });
    let header = |name: &str| json!({"name": name, "in": "header", "schema": {"type": "string"}});
    let headers = match operation.id {
        "appendTurns" => vec![header("Idempotency-Key")],
        "createKey" | "importDocuments" => vec![header("X-Novelo-Confirm")],
        "completeChat" | "createResponse" => {
            vec![header("X-Novelo-Thread"), header("X-Novelo-User"), header("Last-Event-ID")]
        }
        _ if operation.path.starts_with("/v1/responses") || operation.path.starts_with("/v1/conversations") => {
            vec![header("X-Novelo-User")]
        }
        "askThread" | "chatWithMemory" | "askGuided" => vec![header("Last-Event-ID")],
        "putDocument" | "patchDocument" | "deleteDocument" => vec![header("If-Match")],
        _ => Vec::new(),
    };
    Value::Array(in_path.chain(in_query).chain(headers).collect())
}

/// The schemas of all surfaces.
fn schemas() -> Value {
    let parts = [
        native::schema::documents_and_threads(),
        native::schema::server(),
        eco::schema::all(),
        topic::schema::all(),
        native::schema::memory(),
        memory::schema::all(),
        thread::schema::all(),
        ask::schema::all(),
        responses::schema::all(),
    ];
    let mut all = Map::new();
    for part in parts {
        if let Value::Object(part) = part {
            all.extend(part);
        }
    }
    all.into()
}

pub(crate) fn text() -> Value {
    json!({"type": "string"})
}

pub(crate) fn whole() -> Value {
    json!({"type": "integer"})
}

pub(crate) fn number() -> Value {
    json!({"type": "number"})
}

pub(crate) fn flag() -> Value {
    json!({"type": "boolean"})
}

pub(crate) fn object(required: &[&str], properties: Value) -> Value {
    json!({"type": "object", "required": required, "properties": properties})
}

pub(crate) fn list_of(schema: &str) -> Value {
    json!({"type": "array", "items": {"$ref": format!("#/components/schemas/{schema}")}})
}
