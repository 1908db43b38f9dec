//! Each response and each conversation is of one user.

use super::{AT, ask, id, serve};
use crate::support::json;
use crate::support::models::Models;

#[test]
fn nobody_reads_or_continues_what_is_anothers() {
    let models = Models::start();
    let server = serve(&models);
    let admin = server.admin_key();
    let [ana, bob] = ["ana", "bob"].map(|user| server.user_key(&admin, user));
    let made = ana.post(AT, json!({"input": "My secret"})).ok();
    let conversation = id(&ana.post("/v1/conversations", json!({"items": [{"role": "user", "content": "x"}]})).ok());
    let at = format!("{AT}/{}", id(&made));
    for path in
        [at.clone(), format!("{at}/input_items"), format!("{at}/explain"), format!("/v1/conversations/{conversation}")]
    {
        assert_eq!(ana.get(&path).status, 200, "{path}");
        bob.get(&path).refused(404, "not_found");
        bob.with("x-novelo-user", "ana").get(&path).refused(403, "forbidden");
        bob.get(&format!("{path}?user=ana")).refused(403, "forbidden");
    }
    bob.delete(&at).refused(404, "not_found");
    bob.post(&format!("{at}/cancel"), "").refused(404, "not_found");
    bob.post(AT, json!({"input": "x", "previous_response_id": id(&made)})).refused(400, "previous_response_not_found");
    bob.post(AT, json!({"input": "x", "conversation": conversation})).refused(404, "not_found");
    let reference = json!([{"type": "item_reference", "id": made["output"][0]["id"]}]);
    bob.post(AT, json!({"input": reference})).refused(400, "invalid_value");
    assert_eq!(bob.get("/v1/conversations").ok()["data"], json!([]));
    assert!(!models.asked().iter().skip(1).any(|asked| asked.body.to_string().contains("secret")));
}

#[test]
fn a_key_of_nobody_names_the_user() {
    let models = Models::start();
    let server = serve(&models);
    let admin = server.admin_key();
    let backend = server.key_of_kind(&admin, "service");
    for client in [&admin, &backend] {
        client.post(AT, json!({"input": "Hi"})).refused_with(400, "invalid_value", &["user is missing"]);
        client.post("/v1/conversations", "{}").refused(400, "invalid_value");
        client.get("/v1/conversations").refused(400, "invalid_value");
        let made = client.post(AT, ask("Hi")).ok();
        client.get(&format!("{AT}/{}", id(&made))).refused(400, "invalid_value");
        client.with("x-novelo-user", "ana").get(&format!("{AT}/{}", id(&made))).ok();
        client.with("x-novelo-user", "bob").get(&format!("{AT}/{}", id(&made))).refused(404, "not_found");
    }
    server.key_of_kind(&admin, "guest").post(AT, ask("Hi")).refused(403, "forbidden");
    let document = server.user_key(&admin, "bob").post(AT, ask("Hi"));
    document.refused(403, "forbidden");
    assert!(admin.get("/v1/users/ana/export").text().contains("/responses/"));
    admin.delete("/v1/users/ana").ok();
    assert!(!admin.get("/v1/export").text().contains("/responses/"), "responses are forgotten with their user");
}
