//! Nothing of earlier turns is in an answer: not their words, not who asked, not what a model said.

use crate::support::asking::{CONTEXT, SAMPLE, home, question, turns};
use crate::support::models::{Act, Models};
use crate::support::{Client, Value, json};

/// A canary goes where the braces are.
const QUESTIONS: [&str; 10] = [
    "preço do HGLG11 {}",
    "e o sharpe? {}",
    "{} e os dividendos?",
    "compare com XPML11 {}",
    "bananas {} voadoras",
    "e em 2024? {}",
    "qual o preço do dólar {}?",
    "minhas posições {}",
    "notícias do MXRF11 {}",
    "e o preço de fechamento? {}",
];

/// The canaries of one turn. They have letters only, so that no reading of words tears them apart.
fn canaries(n: usize) -> [String; 3] {
    let letter = char::from(b'a' + n as u8);
    ["quivask", "quivnick", "quivsaid"].map(|kind| format!("{kind}{}", String::from(letter).repeat(5)))
}

/// Asks all of them, and gives the body of each answer.
fn converse(client: &Client, models: Option<&Models>) -> Vec<String> {
    let ask = |(n, text): (usize, &&str)| {
        let [asked, nick, said] = canaries(n);
        if let Some(models) = models {
            models.otherwise(Act::says(&[&said]));
        }
        let mut body = question("demo", "c", &text.replace("{}", &asked));
        body["nickname"] = json!(nick);
        let answer = client.post("/ask", body);
        answer.ok();
        answer.text()
    };
    QUESTIONS.iter().enumerate().map(ask).collect()
}

/// Asserts that no text holds a canary of a turn before it.
#[track_caller]
fn check(texts: &[(usize, String)]) {
    for (n, text) in texts {
        for canary in (0..*n).flat_map(canaries) {
            assert!(!text.contains(&canary), "{canary} is in the answer to question {n}: {text}");
        }
    }
}

fn numbered(bodies: Vec<String>) -> Vec<(usize, String)> {
    bodies.into_iter().enumerate().collect()
}

/// How many of the answers inherited something.
fn inherited(bodies: &[(usize, String)]) -> usize {
    let used = |body: &str| serde_json::from_str::<Value>(body).unwrap()["meta"]["reference"]["used"] == true;
    bodies.iter().filter(|(_, body)| used(body)).count()
}

#[test]
fn an_answer_holds_nothing_of_the_turns_before_it() {
    let server = home(CONTEXT).serve_with(&[SAMPLE]);
    let bodies = numbered(converse(&server, None));
    check(&bodies);
    assert!(inherited(&bodies) >= 3, "follow-ups look back: {bodies:?}");
    let kept = json!(turns(&server, "demo", "c")).to_string();
    let [asked, nick, _] = canaries(0);
    assert!(kept.contains(&asked) && kept.contains(&nick), "the turns themselves are kept");
}

#[test]
fn a_narrator_that_is_not_told_history_cannot_repeat_it() {
    let models = Models::start();
    let silent = CONTEXT.replace("inject_history: true", "inject_history: false");
    assert_ne!(silent, CONTEXT);
    let server = home(&silent).serve_with(&models.settings_with_data());
    let bodies = numbered(converse(&server, Some(&models)));
    check(&bodies);
    assert!(inherited(&bodies) >= 3, "follow-ups look back: {bodies:?}");
    let told: Vec<String> = models.asked().iter().map(|asked| asked.body.to_string()).collect();
    assert!(told.len() >= 5, "{told:?}");
    let turn_of = |told: &String| (0..QUESTIONS.len()).find(|n| told.contains(&canaries(*n)[0])).unwrap();
    check(&told.iter().map(|told| (turn_of(told), told.clone())).collect::<Vec<_>>());
    assert!(told.iter().all(|told| !told.contains("last_reference") && !told.contains("history\\\"")), "{told:?}");
}

#[test]
fn a_narrator_is_told_history_where_the_policy_says_so_and_the_answer_is_its_own_words() {
    let models = Models::start();
    let denied = CONTEXT.replace(
        "    max_chars: 2000\n    allowed_entities: []\n    denied_entities: []",
        "    max_chars: 2000\n    denied_entities: [fiis_financials_risk]",
    );
    assert_ne!(denied, CONTEXT);
    let server = home(&denied).serve_with(&models.settings_with_data());
    let bodies = numbered(converse(&server, Some(&models)));
    check(&bodies);
    let told: Vec<String> = models.asked().iter().map(|asked| asked.body.to_string()).collect();
    let third = told.iter().find(|told| told.contains("e os dividendos?")).unwrap();
    assert!(third.contains(&canaries(1)[2]) && third.contains("last_reference"), "{third}");
    let second = told.iter().find(|told| told.contains("e o sharpe?") && !told.contains("dividendos?")).unwrap();
    assert!(!second.contains(&canaries(0)[0]) && !second.contains("last_reference"), "denied: {second}");
}

#[test]
fn rows_that_are_kept_from_models_are_kept_from_them_in_history_too() {
    let models = Models::start();
    let server = home(CONTEXT).serve_with(&models.settings_with_data());
    let ask = |text: &str| crate::support::asking::ask(&server, "demo", "c", text);
    let held = ask("minhas posições");
    assert!(held["answer"].as_str().unwrap().contains("Corretora"), "{held}");
    assert_eq!(held["meta"]["narrator"]["reason"], "entity_not_narrated");
    ask("preço do HGLG11");
    let told: Vec<String> = models.asked().iter().map(|asked| asked.body.to_string()).collect();
    assert_eq!(told.len(), 1);
    assert!(!told[0].contains("Corretora"), "what a client owns was told to a model: {}", told[0]);
}
