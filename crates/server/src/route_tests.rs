//! Routes are declared once, and guard their handlers.

use axum::body::Body;
use axum::routing::{get, post};
use novelo_conversation::app;
use novelo_conversation::settings::Settings;

use super::*;
use crate::auth::KeyKind;

async fn server() -> Server {
    let (app, _tasks) = app::open(Settings::in_memory()).await.unwrap();
    Server::new(app).await.unwrap()
}

#[tokio::test]
async fn facts_are_found_by_the_address() {
    let server = server().await;
    let facts = Access::Users.forgetting_on(Method::DELETE);
    let one = Routes::new(&server).route("/a/{id}", facts, get(async || ()));
    let other = Routes::new(&server).route("/b", Access::Admins.with_public_page(), get(async || ()));
    let routes = one.merge(other).guarded();
    let [a, b] = ["/a/1", "/b"].map(|path| &routes.find(path).unwrap().facts);
    assert_eq!((a.access, a.is_public()), (Access::Users, false));
    assert_eq!((b.access, b.is_public()), (Access::Admins, true));
    assert!(a.forgets(&Method::DELETE) && !a.forgets(&Method::GET) && !b.forgets(&Method::DELETE));
    assert!(routes.find("/a").is_none() && routes.find("/a/1/2").is_none());
}

#[tokio::test]
#[should_panic(expected = "/a is declared twice")]
async fn a_path_is_declared_once() {
    let server = server().await;
    let routes = || Routes::new(&server).route("/a", Access::Users, get(async || ()));
    drop(routes().merge(routes()));
}

/// None of these handlers takes its caller, as a new one might not.
#[tokio::test]
async fn a_handler_that_ignores_its_caller_is_protected() {
    let server = server().await;
    let ana = server.keys.create(&server.app.store, KeyKind::User("ana".into()), None, None).await.unwrap().1;
    let guest = server.keys.create(&server.app.store, KeyKind::Guest, None, None).await.unwrap().1;
    let admin = server.keys.create(&server.app.store, KeyKind::Admin, None, None).await.unwrap().1;
    let routes = Routes::new(&server)
        .route("/all", Access::Public, get(async || "data"))
        .route("/any", Access::AnyKey, get(async || "data"))
        .route("/ours", Access::Users, get(async || "data").post(async || "data"))
        .route("/of/{user}", Access::Users, get(async || "data"))
        .route("/admin", Access::Admins, post(async || "data"))
        .route("/page", Access::Admins.with_public_page(), get(async || "page"))
        .route("/own-form", Access::Users.refusing(|_, error| error.message.into_response()), get(async || "data"))
        .guarded();
    let status = async |call: &str, key: Option<&str>| {
        let (method, path) = call.split_once(' ').unwrap();
        let mut request = Request::builder().method(method).uri(path);
        if let Some(key) = key {
            request = request.header(header::AUTHORIZATION, format!("Bearer {key}"));
        }
        let request = request.body(Body::empty()).unwrap();
        routes.answer(&server, routes.find(path), request).await.status().as_u16()
    };
    for (call, expected) in [
        ("GET /all", [200; 5]),
        ("GET /any", [401, 401, 200, 200, 200]),
        ("GET /ours", [401, 401, 403, 200, 200]),
        ("POST /ours", [401, 401, 403, 200, 200]),
        ("GET /of/ana", [401, 401, 403, 200, 200]),
        ("GET /of/bob", [401, 401, 403, 403, 200]),
        ("GET /of/%62ob", [401, 401, 403, 403, 200]),
        ("GET /of/%ff", [401, 401, 403, 422, 422]),
        ("PUT /ours", [405; 5]),
        ("GET /nowhere", [404; 5]),
        ("POST /admin", [401, 401, 403, 403, 200]),
        ("GET /page", [401, 401, 403, 403, 200]),
        ("GET /own-form", [200; 5]),
    ] {
        let callers = [None, Some("stranger"), Some(&*guest), Some(&*ana), Some(&*admin)];
        for (key, expected) in callers.into_iter().zip(expected) {
            assert_eq!(status(call, key).await, expected, "{call} by {key:?}");
        }
    }
}

#[test]
fn browsers_get_a_page_and_programs_json() {
    let prefers = |accept: &str| {
        let value = HeaderValue::from_str(accept).unwrap();
        prefers_page(&HeaderMap::from_iter([(header::ACCEPT, value)]))
    };
    for page in ["text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", "text/html", "TEXT/*"] {
        assert!(prefers(page), "{page}");
    }
    let json = ["*/*", "", "application/json", "application/json, text/html", "text/html;q=0.5, */*", "text/plain"];
    for json in json {
        assert!(!prefers(json), "{json}");
    }
    assert!(!prefers_page(&HeaderMap::new()));
}
