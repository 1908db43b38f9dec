//! Every operation of the API once, so that a promise about all of them can be tested on all of them.

use super::{Answer, Client, Value, enc, json, says, thread, user};

/// A call that succeeds for a caller who may make it.
#[derive(Debug, Clone)]
pub struct Call {
    /// The operation's id in the OpenAPI document.
    pub operation: &'static str,
    pub method: &'static str,
    pub path: String,
    pub body: String,
}

/// What the calls are about.
pub struct About<'a> {
    pub user: &'a str,
    pub thread: &'a str,
    pub trace: &'a str,
    /// The trace of a request.
    pub course: &'a str,
    pub key: &'a str,
}

impl Call {
    pub fn send(&self, client: &Client) -> Answer {
        client.call(self.method, &self.path, &self.body)
    }

    /// Sends what is refused, in the form of its surface.
    #[track_caller]
    pub fn refused(&self, client: &Client, status: u16, code: &str) -> Answer {
        let answer = self.send(client);
        if self.path.contains("/context/") {
            let said = answer.json();
            let words = said["error"].as_str().unwrap_or_default();
            // The two jobs say in each answer whether they did their work.
            let expected = match self.path.contains("/collapse/") {
                true => serde_json::json!({"ok": false, "error": words}),
                false => serde_json::json!({"error": words}),
            };
            assert!(answer.status == status && !words.is_empty() && said == expected, "{self:?}: {said}");
        } else {
            answer.refused(status, code);
        }
        answer
    }
}

/// All of them, in an order in which each succeeds: what removes comes last.
pub fn every(about: &About<'_>) -> Vec<Call> {
    let kept = [of_thread(about), of_topics(about), of_documents(about), of_memory(about), of_tasks(about)].concat();
    [kept, of_responses(about), of_conversations(about), of_the_server(about), removal(about)].concat()
}

/// The documents of a user other than turns, with the thread's own time to look at.
pub fn note(of: &str) -> String {
    format!("/v1/docs/users/{}/notes/n", enc(of))
}

fn call(operation: &'static str, method: &'static str, path: String, body: impl ToString) -> Call {
    Call { operation, method, path, body: body.to_string() }
}

fn of_thread(about: &About<'_>) -> Vec<Call> {
    let at = |rest: &str| thread(about.user, about.thread, rest);
    let context = json!({"user": about.user, "thread": about.thread});
    vec![
        call("appendTurns", "POST", at("/turns"), json!({"messages": [says("user", "hi")]})),
        call("listTurns", "GET", at("/turns"), ""),
        call("listThreads", "GET", user(about.user, "/threads"), ""),
        call("forkThread", "POST", at("/fork"), json!({"at_seq": 1, "to": "fork"})),
        call("exportThread", "GET", at("/export"), ""),
        call("exportUser", "GET", user(about.user, "/export"), ""),
        call("makeContext", "POST", "/v1/context".into(), context),
        call("getTrace", "GET", format!("/v1/traces/{}", about.trace), ""),
        call("replayTrace", "POST", format!("/v1/traces/{}/replay", about.trace), ""),
        call("debugTrace", "GET", format!("/debug/trace/{}", about.course), ""),
    ]
}

/// A thread as it stands in the ids of conversations, responses and items.
fn escaped(thread: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-');
    let escape = |byte: u8| if is_plain(byte) { char::from(byte).to_string() } else { format!("~{byte:02x}") };
    thread.bytes().map(escape).collect()
}

/// A response that was put into the thread as it is stored, so that its id is known.
fn of_responses(about: &About<'_>) -> Vec<Call> {
    let name = "0".repeat(16);
    let (of, id) = (about.user, format!("resp_{}_{name}", escaped(about.thread)));
    let at = |rest: &str| format!("/v1/responses/{id}{rest}?user={}", enc(of));
    let shown = json!({
        "id": id, "object": "response", "created_at": 1, "model": "m", "background": true, "metadata": {},
    });
    let stored = json!({
        "shown": shown, "is_in_conversation": true, "end": {"status": "completed", "at": 1.0}, "first_seq": 1,
        "input_seq": 1, "last_seq": 1, "trace_id": about.course, "prompt_id": about.trace,
    });
    let document = format!("/v1/docs/users/{}/convo.sessions/{}/responses/{name}", enc(of), enc(about.thread));
    let asked = json!({"user": of, "input": "hi"});
    vec![
        call("putDocument", "PUT", document, stored),
        call("createResponse", "POST", "/v1/responses".into(), &asked),
        call("countInputTokens", "POST", "/v1/responses/input_tokens".into(), asked),
        call("getResponse", "GET", at(""), ""),
        call("listInputItems", "GET", at("/input_items"), ""),
        call("explainResponse", "GET", at("/explain"), ""),
        call("cancelResponse", "POST", at("/cancel"), ""),
        call("deleteResponse", "DELETE", at(""), ""),
    ]
}

fn of_conversations(about: &About<'_>) -> Vec<Call> {
    let of = about.user;
    let at = |rest: &str| format!("/v1/conversations{rest}?user={}", enc(of));
    let item = json!({"role": "user", "content": "hi", "id": "conversed"});
    let message = json!({"messages": [item]});
    let (thread_id, item_id) =
        (format!("/conv_{}", escaped(about.thread)), format!("/items/msg_{}_conversed", escaped(about.thread)));
    vec![
        call("appendTurns", "POST", thread(about.user, about.thread, "/turns"), message),
        call("createConversation", "POST", at(""), json!({"user": of})),
        call("listConversations", "GET", at(""), ""),
        call("getConversation", "GET", at(&thread_id), ""),
        call("updateConversation", "POST", at(&thread_id), json!({"user": of, "metadata": {"a": "b"}})),
        call(
            "createItems",
            "POST",
            at(&format!("{thread_id}/items")),
            json!({"user": of, "items": [says("user", "hi")]}),
        ),
        call("listItems", "GET", at(&format!("{thread_id}/items")), ""),
        call("getItem", "GET", at(&format!("{thread_id}{item_id}")), ""),
        call("deleteItem", "DELETE", at(&format!("{thread_id}{item_id}")), ""),
    ]
}

fn of_topics(about: &About<'_>) -> Vec<Call> {
    let (user, session) = (about.user, about.thread);
    let kala = json!({"kind": "Topic", "topicId": session});
    let groups = json!([{"name": "A", "items": [{"type": "message", "id": "m"}]}]);
    let path = |rest: &str| format!("/jobs/context/collapse/{rest}");
    vec![
        call("runTopicContext", "POST", "/context/topicContextYoj/run".into(), json!({"userId": user, "kala": kala})),
        call(
            "runCollapseIndexer",
            "POST",
            path("indexer/run"),
            json!({"userId": user, "sessionId": session, "groups": groups}),
        ),
        call(
            "setGroupState",
            "POST",
            path("state/set"),
            json!({"userId": user, "sessionId": session, "group": "A", "expanded": true}),
        ),
    ]
}

fn of_documents(about: &About<'_>) -> Vec<Call> {
    let (at, data) = (note(about.user), user(about.user, "/data"));
    let op = json!({"op": "put", "path": format!("users/{}/notes/batched", enc(about.user)), "value": 1});
    vec![
        call("putDocument", "PUT", at.clone(), json!({"a": 1})),
        call("patchDocument", "PATCH", at.clone(), json!({"b": 1})),
        call("getDocument", "GET", at.clone(), ""),
        call("getDocument", "GET", at.trim_end_matches("/n").into(), ""),
        call("batchDocuments", "POST", "/v1/docs:batch".into(), json!({"ops": [op]})),
        call("putUserData", "PUT", data.clone(), json!({"name": "Ada"})),
        call("patchUserData", "PATCH", data.clone(), json!({"city": "Paris"})),
        call("getUserData", "GET", data, ""),
        call("importDocuments", "POST", "/v1/import".into(), import(about.user, "imported")),
        call("deleteDocument", "DELETE", at, ""),
    ]
}

fn of_memory(about: &About<'_>) -> Vec<Call> {
    let at = |rest: &str| user(about.user, rest);
    let summary = thread(about.user, about.thread, "/summary");
    let ask = json!({"query": "tea", "explain": true});
    vec![
        call("setSummary", "PUT", summary.clone(), json!({"text": "tea was spoken of"})),
        call("getSummary", "GET", summary.clone(), ""),
        call("deleteSummary", "DELETE", summary, ""),
        call("addMemory", "POST", at("/memories"), json!({"text": "likes tea", "id": "m"})),
        call("listMemories", "GET", at("/memories"), ""),
        call("searchMemories", "POST", at("/memories/search"), ask.clone()),
        call("getMemory", "GET", at("/memories/m"), ""),
        call("changeMemory", "PATCH", at("/memories/m"), json!({"confidence": 0.9, "valid_from": "2026-03-01"})),
        call("deleteMemory", "DELETE", at("/memories/m"), ""),
        call("forgetMemories", "DELETE", at("/memories"), ""),
        call("searchTurns", "POST", at("/turns/search"), json!({"query": "hi"})),
        call("indexDocument", "POST", at("/documents"), json!({"name": "n", "text": "about tea", "id": "d"})),
        call("listTexts", "GET", at("/documents"), ""),
        call("getText", "GET", at("/documents/d"), ""),
        call("searchDocuments", "POST", at("/documents/search"), ask),
        call("deleteText", "DELETE", at("/documents/d"), ""),
    ]
}

fn of_tasks(about: &About<'_>) -> Vec<Call> {
    let at = |rest: &str| user(about.user, rest);
    let (of, session) = (about.user, about.thread);
    let reset = json!({"user_id": of, "session_id": session, "scope": "vector"});
    vec![
        call("addTask", "POST", at("/tasks"), json!({"title": "buy tea", "id": "k"})),
        call("listTasks", "GET", at("/tasks?status=open"), ""),
        call("getTask", "GET", at("/tasks/k"), ""),
        call("changeTask", "PATCH", at("/tasks/k"), json!({"status": "done"})),
        call("deleteTask", "DELETE", at("/tasks/k"), ""),
        call("addResult", "POST", at("/tasks/k/results"), json!({"name": "shop", "content": "tea"})),
        call("listResults", "GET", at("/tasks/k/results"), ""),
        call("makeMemoryContext", "POST", "/memory/context".into(), json!({"user_id": of, "session_id": session})),
        call("listSkills", "GET", "/memory/skills".into(), ""),
        call("runSkill", "POST", "/memory/skills/list_tasks".into(), json!({"user_id": of, "session_id": session})),
        call(
            "chatWithMemory",
            "POST",
            "/memory/chat".into(),
            json!({"user_id": of, "session_id": session, "message": "hi"}),
        ),
        call("askThread", "POST", "/api/ask".into(), json!({"question": "hi?", "thread_id": session, "user_id": of})),
        call(
            "askData",
            "POST",
            "/ask".into(),
            json!({"question": "preço do HGLG11", "conversation_id": session, "nickname": "n", "client_id": of}),
        ),
        call(
            "askGuided",
            "POST",
            "/ask-eco".into(),
            json!({"userId": of, "sessionMeta": {"sessionId": session}, "messages": [{"role": "user", "content": "Preciso de apoio"}]}),
        ),
        call(
            "completeChat",
            "POST",
            "/v1/chat/completions".into(),
            json!({"user": of, "messages": [says("user", "hi")]}),
        ),
        call("resetMemory", "POST", "/memory/reset".into(), reset),
    ]
}

fn of_the_server(about: &About<'_>) -> Vec<Call> {
    vec![
        call("exportAll", "GET", "/v1/export".into(), ""),
        call("listKeys", "GET", "/v1/keys".into(), ""),
        call("createKey", "POST", "/v1/keys".into(), json!({"user": about.user})),
        call("revokeKey", "DELETE", format!("/v1/keys/{}", about.key), ""),
        call("createEmbeddings", "POST", "/v1/embeddings".into(), json!({"input": "a ship"})),
        call("listModels", "GET", "/v1/models".into(), ""),
        call("getModel", "GET", "/v1/models/answer".into(), ""),
        call("rebuildIndex", "POST", "/v1/index/rebuild".into(), json!({})),
        call("checkStore", "GET", "/v1/doctor".into(), ""),
        call("getLive", "GET", "/health/live".into(), ""),
        call("getReady", "GET", "/health/ready".into(), ""),
        call("getMetrics", "GET", "/metrics".into(), ""),
        call("getChatPage", "GET", "/chat".into(), ""),
        call("getAsset", "GET", "/assets/chat.css".into(), ""),
    ]
}

fn removal(about: &About<'_>) -> Vec<Call> {
    vec![
        call(
            "deleteConversation",
            "DELETE",
            format!("/v1/conversations/conv_{}?user={}", escaped(about.thread), enc(about.user)),
            "",
        ),
        call("forgetThread", "DELETE", thread(about.user, about.thread, ""), ""),
        call("forgetUser", "DELETE", user(about.user, ""), ""),
    ]
}

/// An export of one document.
pub fn import(of: &str, text: &str) -> String {
    let path = format!("users/{}/notes/imported", enc(of));
    let document = json!({"path": path, "seq": 900, "create_time": 1.0, "version": 1, "value": text});
    format!("{}\n{document}\n{}\n", json!({"novelo_export": 1, "prefix": ""}), json!({"documents": 1}))
}

/// The operations of the OpenAPI document.
pub fn documented(client: &Client) -> Vec<String> {
    let document = client.get("/openapi.json").ok();
    let methods = document["paths"].as_object().unwrap().values().flat_map(|path| path.as_object().unwrap().values());
    let id = |operation: &Value| operation["operationId"].as_str().unwrap().to_owned();
    methods.map(id).collect()
}
