//! Whatever the ids contain, nobody is answered with what is another's: not its words, memories, answers or
//! courses.

use crate::support::eco::{
    DEBUG, HEAVY, PATH, ask, asks, course, course_of, end, heard, memories, open, serve, turns, with,
};
use crate::support::models::{Act, Models};
use crate::support::{Answer, Client, Server, json, says, thread, user};

/// Ids that a careless server would confuse with ana's, or with its own words.
const IDS: [&str; 30] = [
    "ana ",
    " ana",
    "Ana",
    "ANA",
    "аna",
    "ａｎａ",
    "ana\u{200b}",
    "ana\u{a0}",
    "ana\u{301}",
    "ana/",
    "/ana",
    "ana/..",
    "../ana",
    "ana/t",
    "ana%2Ft",
    "ana%00",
    "ana:1",
    "ana:1:0:ms0:v1",
    "ctx:ana",
    "users/ana",
    "ana?x=1",
    "ana#x",
    "ana;t",
    "ana\\",
    "ana'--",
    "*",
    "%",
    "..",
    "default",
    "😀",
];

/// Says something that weighs, and is remembered, with a canary in it that only this user knows.
fn confide(client: &Client, models: &Models, of: &str, session: &str, canary: &str) -> Answer {
    let block = json!({"resumo": format!("Lembra papagaio {canary}"), "emocao": canary});
    models.play([Act::says(&[&format!("Ouvi {canary}."), "\n```json\n", &block.to_string(), "\n```"])]);
    let answer = client.post(PATH, asks(of, session, &format!("{HEAVY}: papagaio {canary}")));
    answer.ok();
    answer
}

#[track_caller]
fn has_none(text: &str, about: &str) {
    assert!(!text.contains("canario"), "{about}: {text}");
}

fn keyed(models: &Models) -> (Server, Client, Client, Client) {
    let server = serve(models, &[]);
    let admin = server.admin_key();
    let (ana, bia) = (server.user_key(&admin, "ana"), server.user_key(&admin, "bia"));
    (server, admin, ana, bia)
}

#[test]
fn nothing_that_one_confides_reaches_another() {
    let models = Models::start();
    let (_server, _, ana, bia) = keyed(&models);
    confide(&ana, &models, "ana", "t", "canarioana");
    let before = models.asked().len();
    for text in [format!("{HEAVY}: papagaio"), HEAVY.to_owned(), "Lembra papagaio".to_owned()] {
        for session in ["t", "default", "ana"] {
            let answer = bia.post(PATH, asks("bia", session, &text));
            assert_eq!(answer.ok()["cache"], false);
            has_none(&answer.text(), &text);
            let streamed = open(&bia, &asks("bia", session, &format!("Fala do papagaio. {text}"))).rest();
            has_none(&end(&streamed).to_string(), &text);
        }
    }
    for asked in &models.asked()[before..] {
        has_none(&asked.body.to_string(), "what the model receives");
    }
    for path in
        [user("bia", "/memories"), user("bia", "/threads"), thread("bia", "t", "/turns"), user("bia", "/export")]
    {
        has_none(&bia.get(&path).text(), &path);
    }
    assert_eq!(memories(&ana, "ana").len(), 1);
}

#[test]
fn an_answer_that_is_kept_is_given_to_nobody_else() {
    let models = Models::start();
    let (_server, admin, ana, bia) = keyed(&models);
    let same = |of: &str| asks(of, "t", HEAVY);
    models.play([Act::says(&["Para ana, canario."])]);
    ask(&ana, &same("ana"));
    assert_eq!(ask(&ana, &same("ana"))["cache"], true);
    let answer = ask(&bia, &same("bia"));
    assert_eq!((&answer["cache"], &answer["message"]), (&json!(false), &json!("Hello there.")));
    let without_name = json!({"sessionMeta": {"sessionId": "t"}, "messages": [says("user", HEAVY)]});
    assert_eq!(ask(&bia, &without_name)["message"], "Hello there.", "the key says who asks");
    assert_eq!(ask(&ana, &without_name)["message"], "Para ana, canario.");
    let guest = with(with(same("ana"), "guestId", "ana"), "isGuest", true);
    admin.post(PATH, guest).refused_with(403, "forbidden", &["guestId"]);
}

#[test]
fn a_key_speaks_for_its_own_user_and_reads_no_course_of_another() {
    let models = Models::start();
    let (server, admin, ana, bia) = keyed(&models);
    let answer = confide(&ana, &models, "ana", "t", "canarioana");
    let id = course_of(&answer);
    bia.post(PATH, asks("ana", "t", "E eu")).refused(403, "forbidden");
    bia.post(DEBUG, asks("bia", "t", "E eu")).refused(403, "forbidden");
    server.client().post(PATH, asks("ana", "t", "E eu")).refused(401, "unauthorized");
    for client in [&ana, &bia] {
        client.get(&format!("/debug/trace/{id}")).refused(403, "forbidden");
    }
    bia.get(&format!("/v1/traces/{id}")).refused(403, "forbidden");
    let prompt = course(&admin, &id)["prompts"][0].as_str().unwrap().to_owned();
    bia.get(&format!("/v1/traces/{prompt}")).refused(403, "forbidden");
    bia.post(&format!("/v1/traces/{prompt}/replay"), "").refused(403, "forbidden");
    let refused = bia.post(PATH, asks("ana", "t", "canario"));
    let course = course(&admin, &course_of(&refused));
    assert_eq!(course["userId"], json!(null), "what bia was refused is not kept as ana's: {course}");
    has_none(&course.to_string(), "a refusal");
    assert_eq!(turns(&ana, "ana", "t").len(), 2);
}

#[test]
fn odd_ids_do_not_meet() {
    let models = Models::start();
    let server = serve(&models, &[]);
    confide(&server, &models, "ana", "t", "canarioana");
    for (n, id) in IDS.iter().enumerate() {
        let own = format!("proprio{n}x");
        for session in ["t", id] {
            let before = models.asked().len();
            confide(&server, &models, id, session, &own);
            let told = models.asked()[before].body.to_string();
            has_none(&told, id);
            let others = (0..IDS.len()).filter(|other| *other != n).map(|other| format!("proprio{other}x"));
            others.for_each(|other| assert!(!told.contains(&other), "{id:?}, {other}: {told}"));
        }
        let kept = json!([turns(&server, id, "t"), memories(&server, id)]).to_string();
        has_none(&kept, id);
        assert!(kept.contains(&own), "{id:?}: {kept}");
        assert_eq!(memories(&server, id).len(), 2, "{id:?}");
    }
    assert_eq!((turns(&server, "ana", "t").len(), memories(&server, "ana").len()), (2, 1));
    let frames = heard(&server, &asks("ana", "t", "Lembra papagaio"));
    assert_eq!(end(&frames)["trace"]["userId"], "ana");
}

#[test]
fn forgetting_one_takes_nothing_from_its_namesakes() {
    let models = Models::start();
    let server = serve(&models, &[]);
    models.otherwise(Act::says(&["Sim."]));
    for id in IDS.into_iter().chain(["ana"]) {
        ask(&server, &asks(id, "t", HEAVY));
    }
    server.delete(&user("ana", "")).ok();
    for id in IDS {
        assert_eq!((turns(&server, id, "t").len(), memories(&server, id).len()), (2, 1), "{id:?}");
        assert_eq!(ask(&server, &asks(id, "t", HEAVY))["cache"], true, "{id:?}");
    }
    assert_eq!((turns(&server, "ana", "t").len(), memories(&server, "ana").len()), (0, 0));
}
