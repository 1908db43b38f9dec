//! Bodies of requests, sent to the whole server in this process: any bytes are answered, never with a fault
//! of the server.

use std::cell::RefCell;

use axum::body::Body;
use axum::http::Request;
use http_body_util::BodyExt;
use novelo_conversation::app::{self, App, Tasks};
use novelo_conversation::settings::Settings;
use novelo_server::http;
use novelo_server::router::{self, AppRouter};
use tokio::runtime::Runtime;
use tower::ServiceExt;

/// What takes a body, but what reads files of the machine or closes the server by a first key.
const PLACES: [(&str, &str); 18] = [
    ("POST", "/v1/context"),
    ("POST", "/v1/users/u/threads/t/turns"),
    ("POST", "/v1/users/u/threads/t/fork"),
    ("PUT", "/v1/users/u/threads/t/summary"),
    ("POST", "/v1/users/u/memories"),
    ("POST", "/v1/users/u/memories/search"),
    ("POST", "/v1/users/u/tasks"),
    ("PATCH", "/v1/users/u/data"),
    ("PUT", "/v1/docs/users/u/notes/n"),
    ("PATCH", "/v1/docs/users/u/notes/n"),
    ("POST", "/v1/docs:batch"),
    ("POST", "/v1/chat/completions"),
    ("POST", "/v1/import"),
    ("POST", "/v1/import?restore=true"),
    ("POST", "/context/topicContextYoj/run"),
    ("POST", "/memory/context"),
    ("POST", "/memory/reset"),
    ("POST", "/ask-eco"),
];

/// Bodies that one server gets, so that what it stores stays small.
const BODIES_MAX: usize = 2_000;

struct Server {
    router: AppRouter,
    own_secret: String,
    /// Keeps the background tasks of the server alive.
    _app: (App, Tasks),
    runtime: Runtime,
    bodies: usize,
}

impl Server {
    fn start() -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        let settings = Settings { policies: "/nonexistent".into(), ..Settings::in_memory() };
        let (app, tasks) = runtime.block_on(app::open(settings)).expect("a server in memory");
        let shared = runtime.block_on(novelo_server::server::Server::new(app.clone())).expect("a server in memory");
        let own_secret = shared.own_secret.clone();
        let mut server = Self { router: router::router(shared), own_secret, _app: (app, tasks), runtime, bodies: 0 };
        // A server that refused everyone would make every body look harmless.
        let turn = br#"{"messages":[{"role":"user","content":"hi"}]}"#;
        assert_eq!(server.send("POST", "/v1/users/u/threads/t/turns", turn), 200);
        server
    }

    /// The status of the answer.
    fn send(&mut self, method: &str, path: &str, body: &[u8]) -> u16 {
        self.bodies += 1;
        let request = Request::builder().method(method).uri(path);
        let bearer = format!("Bearer {}", self.own_secret);
        let request = request.header("authorization", bearer);
        let request = request.extension(http::ClientAddress([127, 0, 0, 1].into()));
        let request = request.body(Body::from(body.to_vec())).expect("a request");
        let router = self.router.clone();
        let (status, answer) = self.runtime.block_on(async move {
            let response = router.oneshot(request).await.expect("every request is answered");
            let status = response.status().as_u16();
            let body = tokio::time::timeout(std::time::Duration::from_secs(5), response.into_body().collect()).await;
            (status, body.map(|body| body.map(|body| body.to_bytes())))
        });
        let said = answer.ok().and_then(Result::ok).unwrap_or_default();
        assert!(status != 500, "{method} {path}: {}", String::from_utf8_lossy(&said));
        status
    }
}

/// The first byte says where the rest is sent.
pub fn bodies(data: &[u8]) {
    thread_local! {
        static SERVER: RefCell<Option<Server>> = const { RefCell::new(None) };
    }
    let Some((first, body)) = data.split_first() else { return };
    let Some((method, path)) = PLACES.get(usize::from(*first) % PLACES.len()) else { return };
    SERVER.with_borrow_mut(|server| {
        if server.as_ref().is_none_or(|server| server.bodies >= BODIES_MAX) {
            *server = None;
            *server = Some(Server::start());
        }
        server.as_mut().expect("it was started").send(method, path, body);
    });
}
