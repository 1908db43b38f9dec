//! What becomes of a conversation: turns that are stored once, and memories of what weighed.

use crate::support::eco::{
    HEAVY, LIGHT, NONE, PATH, ask, asks, conversation, end, guest, heard, home, memories, serve, turns, whole, with,
};
use crate::support::models::{Act, Models, words};
use crate::support::{Client, Value, json, says, thread, user};

/// Finds memories by words.
fn found(client: &Client, of: &str, query: &str) -> Vec<Value> {
    let answer = client.post(&user(of, "/memories/search"), json!({"query": query})).ok();
    answer["hits"].as_array().unwrap().clone()
}

#[test]
fn a_client_that_sends_all_each_time_stores_nothing_twice() {
    let models = Models::start();
    let server = serve(&models, &[]);
    let mut history: Vec<Value> = Vec::new();
    for n in 0..6 {
        let text = if n % 2 == 0 { format!("{LIGHT} {n}") } else { format!("{HEAVY} {n}") };
        history.push(says("user", &text));
        models.play([Act::says(&["Resposta", &format!(" {n}.")])]);
        let body = conversation("ana", "t", &history);
        let message = match n % 3 {
            0 => end(&heard(&server, &body))["message"].clone(),
            _ => ask(&server, &body)["message"].clone(),
        };
        history.push(says("assistant", message.as_str().unwrap()));
        assert_eq!(turns(&server, "ana", "t"), history);
    }
    let asked = models.asked();
    let last = asked.last().unwrap().contents();
    assert_eq!(last.iter().filter(|text| **text == format!("{LIGHT} 0")).count(), 1, "{last:?}");
}

#[test]
fn a_client_that_sends_only_what_is_new_is_told_of_all_the_same() {
    let models = Models::start();
    let server = serve(&models, &[]);
    for n in 0..4 {
        ask(&server, &asks("ana", "t", &format!("{HEAVY} {n}")));
    }
    assert_eq!(turns(&server, "ana", "t").len(), 8);
    let asked = models.asked();
    let last = asked.last().unwrap().contents();
    for n in 0..4 {
        assert_eq!(last.iter().filter(|text| **text == format!("{HEAVY} {n}")).count(), 1, "{n}: {last:?}");
    }
    assert_eq!(*last.last().unwrap(), format!("{HEAVY} 3"));
}

#[test]
fn messages_that_have_ids_are_stored_once_too() {
    let models = Models::start();
    let server = serve(&models, &[("NOVELO_ECO_CACHE_SECONDS", "0")]);
    let first = json!({"id": "m1", "role": "user", "content": LIGHT});
    let body = conversation("ana", "t", std::slice::from_ref(&first));
    let answer = ask(&server, &body)["message"].clone();
    let second = json!({"id": "m2", "role": "user", "content": "E depois"});
    let all = [first, says("assistant", answer.as_str().unwrap()), second];
    ask(&server, &conversation("ana", "t", &all));
    assert_eq!(server.said("ana", "t"), [LIGHT, "Hello there.", "E depois", "Hello there."]);
}

#[test]
fn the_session_names_the_thread_and_without_one_there_is_one_per_user() {
    let server = home().serve();
    ask(&server, &json!({"userId": "ana", "messages": [says("user", LIGHT)]}));
    ask(&server, &json!({"userId": "ana", "sessionMeta": {"tela": 1}, "messages": [says("user", "E mais")]}));
    ask(&server, &json!({"userId": "ana", "sessionMeta": {"sessionId": null}, "messages": [says("user", "E ainda")]}));
    ask(&server, &asks("ana", "s/1", "Outra"));
    assert_eq!((turns(&server, "ana", "default").len(), turns(&server, "ana", "s/1").len()), (6, 2));
    server.post(PATH, asks("ana", "", "x")).refused(422, "invalid_field");
    let wrong = with(asks("ana", "t", "x"), "sessionMeta", json!({"sessionId": 7}));
    assert_eq!(server.post(PATH, wrong).refused(422, "invalid_field")["param"], "sessionMeta.sessionId");
}

#[test]
fn a_retry_after_nothing_was_said_is_not_stored_twice() {
    let models = Models::start();
    let server = serve(&models, &[]);
    let body = asks("ana", "t", HEAVY);
    for _ in 0..3 {
        models.play([Act::DiesAfter(0, Vec::new()), Act::Status(400, "no".into())]);
        assert_eq!(ask(&server, &body)["fallback"], true);
        assert_eq!(turns(&server, "ana", "t"), [says("user", HEAVY)]);
    }
    assert_eq!(ask(&server, &body)["fallback"], false);
    assert_eq!(turns(&server, "ana", "t"), [says("user", HEAVY), says("assistant", "Hello there.")]);
    let asked = models.asked();
    let last = asked.last().unwrap().contents();
    assert_eq!(last.iter().filter(|text| **text == HEAVY).count(), 1, "{last:?}");
}

#[test]
fn what_is_asked_again_after_half_an_answer_is_said_again() {
    let models = Models::start();
    let server = serve(&models, &[]);
    let body = asks("ana", "t", HEAVY);
    models.play([Act::DiesAfter(2, words(&["Um", " dia"])), Act::Status(400, "no".into())]);
    assert_eq!(ask(&server, &body)["fallback"], true);
    let half = json!({"role": "assistant", "content": "Um dia", "partial": "model_failed"});
    assert_eq!(turns(&server, "ana", "t"), [says("user", HEAVY), half.clone()]);
    assert_eq!(ask(&server, &body)["fallback"], false);
    let again = [says("user", HEAVY), half, says("user", HEAVY), says("assistant", "Hello there.")];
    assert_eq!(turns(&server, "ana", "t"), again);
}

#[test]
fn what_weighs_is_remembered_with_what_it_is_about() {
    let models = Models::start();
    let server = serve(&models, &[]);
    let block = json!({"intensidade": 9, "resumo": "Perdeu o papagaio na viagem", "tags": ["papagaio", "perda"],
        "categoria": "bichos", "emocao": "luto"});
    models.play([Act::says(&["Sinto muito.", "\n\n```json\n", &block.to_string(), "\n```"])]);
    let frames = heard(&server, &asks("ana", "t", HEAVY));
    let done = end(&frames);
    assert_eq!(done["message"], "Sinto muito.", "the block never shows");
    for (name, value) in block.as_object().unwrap() {
        assert!(done[name] == *value || done[name].as_f64() == value.as_f64(), "{name}: {done}");
    }
    assert_eq!(turns(&server, "ana", "t")[1], says("assistant", "Sinto muito."));
    let hit = &found(&server, "ana", "papagaio")[0];
    assert_eq!(hit["text"], "Perdeu o papagaio na viagem");
    let meta = &hit["meta"];
    assert_eq!((&meta["emocao"], &meta["categoria"], &meta["sessao"]), (&json!("luto"), &json!("bichos"), &json!("t")));
    let turn = &server.get(&thread("ana", "t", "/turns")).ok()["turns"][0]["id"];
    assert_eq!(&meta["turno"], turn, "it goes with its turn");
    assert_eq!((meta["intensidade"].as_f64(), &meta["tags"]), (Some(9.0), &json!(["papagaio", "perda"])));
    assert_eq!(done["trace"]["memoryDecision"]["memoryId"], hit["id"]);

    ask(&server, &asks("ana", "other", &format!("{HEAVY}: e o papagaio")));
    let asked = models.asked();
    let told = asked.last().unwrap().contents();
    let remembered = told.iter().find(|text| text.starts_with("MEMORIAS_RELEVANTES:")).unwrap();
    assert!(remembered.contains("Perdeu o papagaio na viagem"), "{told:?}");
}

#[test]
fn without_a_block_the_words_say_what_it_is_about() {
    let models = Models::start();
    let server = serve(&models, &[]);
    let told = ask(&server, &asks("ana", "t", "Bateu o desespero na volta. Depois passou."));
    assert_eq!((&told["emocao"], &told["categoria"]), (&json!("angustia"), &json!("viagem")));
    assert_eq!(told["resumo"], "Bateu o desespero na volta.");
    let hit = &found(&server, "ana", "desespero")[0];
    let remembered = json!("Bateu o desespero na volta. Depois passou.");
    assert_eq!((&hit["text"], &hit["meta"]["emocao"]), (&remembered, &json!("angustia")));
    let forced = json!({"blocoTecnicoForcado": {"resumo": "Dito pelo cliente", "emocao": "calma", "intensidade": 2}});
    let told = ask(&server, &with(asks("bia", "t", HEAVY), "metaFromBuilder", forced));
    assert_eq!((&told["resumo"], &told["emocao"]), (&json!("Dito pelo cliente"), &json!("calma")));
    assert_eq!((told["intensidade"].as_f64(), &told["categoria"]), (Some(2.0), &json!("viagem")));
    assert_eq!(found(&server, "bia", "cliente").len(), 1, "the words weigh what they weigh");
}

#[test]
fn what_does_not_weigh_is_not_remembered_nor_is_a_guest() {
    let models = Models::start();
    let server = serve(&models, &[]);
    for text in [LIGHT, "Que tristeza", "Que tristeza muito muito muito", "Não foi desespero"] {
        let told = ask(&server, &asks("ana", "t", text));
        assert_eq!(told["meta"]["saveMemory"], false, "{text}: {told}");
    }
    // 5 + 1.5 + 0.5, which is 7.
    let told = ask(&server, &asks("bia", "t", "Que tristeza muito muito muito!!"));
    assert_eq!((told["intensidade"].as_f64(), &told["meta"]["saveMemory"]), (Some(7.0), &json!(true)), "{told}");
    ask(&server, &guest("g", HEAVY));
    assert_eq!(memories(&server, "ana"), NONE);
    assert_eq!(memories(&server, "g"), NONE);
    assert_eq!(memories(&server, "bia").len(), 1);
}

#[test]
fn what_is_forgotten_while_it_is_answered_stays_forgotten() {
    let models = Models::start();
    let server = serve(&models, &[]);
    for path in [thread("ana", "t", ""), user("ana", "")] {
        models.play([Act::Paced(words(&["w"; 20]), std::time::Duration::from_millis(40))]);
        let mut stream = crate::support::eco::open(&server, &asks("ana", "t", HEAVY));
        while stream.next().unwrap().event != "chunk" {}
        server.delete(&path).ok();
        let frames = stream.rest();
        assert_eq!(frames.last().unwrap().event, "done");
        assert_eq!(turns(&server, "ana", "t"), NONE, "{path}");
        assert_eq!(memories(&server, "ana"), NONE, "{path}");
        let again = ask(&server, &asks("ana", "t", HEAVY));
        assert_eq!((&again["cache"], &again["message"]), (&json!(false), &json!("Hello there.")), "{path}");
        server.delete(&user("ana", "")).ok();
    }
}

#[test]
fn a_greeting_at_the_front_goes_where_one_was_said_before() {
    let models = Models::start();
    let server = serve(&models, &[]);
    assert_eq!(ask(&server, &asks("ana", "t", "Oi, Eco"))["message"], "Own: oi!");
    models.play([whole("Oi! Vamos ver isso."), whole("Bom dia")]);
    assert_eq!(ask(&server, &asks("ana", "t", LIGHT))["message"], "Vamos ver isso.");
    assert_eq!(turns(&server, "ana", "t")[3], says("assistant", "Vamos ver isso."));
    let told = ask(&server, &asks("ana", "t", "Oi"));
    assert_eq!(told["message"], "Bom dia", "greeted once, it is for the model to say");
    let named = with(asks("bia", "t", "Bom dia"), "metaFromBuilder", json!({"nome": "Bia"}));
    assert_eq!(ask(&server, &named)["message"], "Own: oi, Bia!");
    assert_eq!(models.asked().len(), 2);
}

#[test]
fn a_long_conversation_is_not_stored_again() {
    let models = Models::start();
    let server = serve(&models, &[]);
    let mut history: Vec<Value> = Vec::new();
    for n in 0..150 {
        history.extend([says("user", &format!("{LIGHT} {n}")), says("assistant", &format!("Resposta {n}."))]);
    }
    for n in 150..153 {
        history.push(says("user", &format!("{LIGHT} {n}")));
        models.play([Act::says(&["Resposta", &format!(" {n}.")])]);
        ask(&server, &conversation("ana", "t", &history));
        history.push(says("assistant", &format!("Resposta {n}.")));
        let threads = server.get(&user("ana", "/threads")).ok();
        assert_eq!(threads["threads"][0]["turns"], history.len());
    }
}

#[test]
fn danger_is_seen_in_all_that_is_new_and_never_turned_away() {
    let models = Models::start();
    let server = serve(&models, &[("NOVELO_ECO_GUEST_MAX", "1")]);
    let danger = says("user", "Estou em perigo de vida");
    let body = conversation("ana", "t", &[danger.clone(), says("user", "Tem alguém aí?")]);
    assert_eq!(ask(&server, &body)["meta"]["reason"], "safety");
    let later = [danger, says("assistant", "Own: ligue 188."), says("user", "Passou, conta do passeio")];
    let later = conversation("ana", "t", &later);
    assert_eq!(ask(&server, &later)["message"], "Hello there.", "what was answered is not answered again");
    for _ in 0..3 {
        let answer = server.post(PATH, guest("g", "Estou em perigo de vida")).ok();
        assert_eq!(answer["message"], "Own: ligue 188.");
    }
    server.post(PATH, guest("g", LIGHT)).ok();
    server.post(PATH, guest("g", LIGHT)).refused(429, "rate_limited");
    let danger = [says("user", "Estou em perigo de vida"), says("assistant", "Own: ligue 188."), says("user", LIGHT)];
    let told = with(guest("g", LIGHT), "messages", json!(danger));
    server.post(PATH, told).refused(429, "rate_limited");
}

#[test]
fn a_name_is_a_name_or_none() {
    let server = home().serve();
    let names = [("Ana", "Own: oi, Ana!"), ("A\nB", "Own: oi!"), (&*"x".repeat(257), "Own: oi!")];
    for (n, (name, greeting)) in names.into_iter().enumerate() {
        let of = format!("u{n}");
        server.put(&user(&of, "/data"), json!({"nome": name})).ok();
        assert_eq!(ask(&server, &asks(&of, "t", "Oi"))["message"], greeting);
    }
}
