//! What the index promises, on cases of our own and on the data sets where they are at hand.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "a panic is how a test fails")]

use novelo_engine::Role;
use novelo_recall::{Index, Passage, Query};

/// Of some passages, the one that a query finds first.
#[track_caller]
fn check(passages: &[&str], query: &str, expect: &str) {
    let mut index = Index::default();
    for (key, text) in (0..).zip(passages) {
        index.add(key, &Passage { text, ..Passage::default() });
    }
    assert_eq!(first(&index, query).map(|key| passages[key as usize]), Some(expect), "{query}");
}

fn first(index: &Index, query: &str) -> Option<u64> {
    index.rank(&Query { text: query, vector: None }).top(1, |_| true).first().map(|hit| hit.key)
}

#[test]
fn english_is_found_inflected_and_misspelt() {
    let passages =
        ["We were researching adoption agencies", "The puppies chewed my shoes", "I teach pottery on Fridays"];
    check(&passages, "which adoption agency did they research?", passages[0]);
    check(&passages, "who chews shoes?", passages[1]);
    check(&passages, "puppy", passages[1]);
    check(&passages, "potery classes", passages[2]);
}

#[test]
fn portuguese_is_found_inflected_and_without_accents() {
    let passages =
        ["Comprei duas passagens de avião para São Paulo", "Minha irmã mora em Brasília", "Não gosto de maçãs"];
    check(&passages, "quando comprou os avioes?", passages[0]);
    check(&passages, "passagem", passages[0]);
    check(&passages, "onde moram suas irmas", passages[1]);
    check(&passages, "quem gosta de maca", passages[2]);
    check(&passages, "brasilia", passages[1]);
}

#[test]
fn russian_is_found_inflected() {
    let passages =
        ["Я дружу с Арсением", "вегетарианцы не едят мясо", "Ёлку мы купили на рынке", "в трапеции четыре угла"];
    check(&passages, "кто мой друг", passages[0]);
    check(&passages, "едят ли вегетарианцы мясопродукты", passages[1]);
    check(&passages, "где купили елки", passages[2]);
    check(&passages, "сколько углов у трапеций", passages[3]);
}

#[test]
fn other_scripts_are_found() {
    let passages = ["我喜欢喝咖啡", "我住在北京", "コーヒーが好きです"];
    check(&passages, "咖啡", passages[0]);
    check(&passages, "你住在哪里", passages[1]);
    check(&passages, "コーヒー", passages[2]);
}

#[test]
fn the_one_who_is_named_said_it() {
    let mut index = Index::default();
    for (key, speaker, text) in [(1, "Ann", "I adopted a cat last week"), (2, "Bob", "I adopted a cat last week")] {
        index.add(key, &Passage { text, speaker: Some(speaker), group: key, ..Passage::default() });
    }
    assert_eq!(first(&index, "What did Ann adopt?"), Some(1));
    assert_eq!(first(&index, "What did Bob adopt?"), Some(2));
}

#[test]
fn an_answer_is_found_by_its_question() {
    let mut index = Index::default();
    let turns = [
        (1, 5, "Ann", "What instrument did you play at school?"),
        (2, 5, "Bob", "The clarinet, for six years."),
        (3, 6, "Bob", "The museum was closed for years."),
    ];
    for (key, group, speaker, text) in turns {
        index.add(key, &Passage { text, speaker: Some(speaker), group, ..Passage::default() });
    }
    assert_eq!(first(&index, "Which instrument did Bob play?"), Some(2));
}

#[test]
fn what_a_user_says_comes_before_a_long_reply() {
    let mut index = Index::default();
    let reply = "A deadline helps. Your deadline could be on a Monday; every deadline needs a plan. ".repeat(3);
    let turns =
        [(1, Role::User, "My deadline is 3 March"), (2, Role::Assistant, reply.as_str()), (3, Role::User, "Thanks")];
    for (key, role, text) in turns {
        index.add(key, &Passage { text, role: Some(role), group: 1, ..Passage::default() });
    }
    assert_eq!(first(&index, "when is my deadline"), Some(1));
}

/// Roles alone do not make an assistant: one who replies as briefly as it was asked is one of two who talk.
#[test]
fn a_brief_reply_counts_in_full() {
    let mut index = Index::default();
    let turns =
        [(1, Role::User, "Which deadline do you have?"), (2, Role::Assistant, "My deadline is the third of March")];
    for (key, role, text) in turns {
        index.add(key, &Passage { text, role: Some(role), group: 1, ..Passage::default() });
    }
    assert_eq!(first(&index, "when is the deadline"), Some(2));
}

#[test]
fn a_user_with_a_name_still_talks_with_an_assistant() {
    let mut index = Index::default();
    let reply = "A deadline helps. Your deadline could be on a Monday; every deadline needs a plan. ".repeat(3);
    let turns =
        [(1, "Craig", "My deadline is 3 March"), (2, "assistant", reply.as_str()), (3, "Craig", "Thanks a lot")];
    for (key, speaker, text) in turns {
        let role = Some(if speaker == "Craig" { Role::User } else { Role::Assistant });
        index.add(key, &Passage { text, speaker: Some(speaker), role, group: 1, ..Passage::default() });
    }
    let hits = index.rank(&Query { text: "deadline", vector: None }).top(3, |_| true);
    assert_eq!(hits.iter().map(|hit| hit.key).collect::<Vec<_>>(), [1, 2], "the thanks after it are no answer");
}

#[test]
fn what_was_said_on_a_day_is_found_by_its_date() {
    let mut index = Index::default();
    for (key, day) in [(1, 19_485.0), (2, 19_510.0)] {
        let passage = Passage { text: "we baked bread", group: key, time: Some(day * 86_400.0), ..Passage::default() };
        index.add(key, &passage);
    }
    assert_eq!(first(&index, "who baked on 8 May 2023?"), Some(1));
    assert_eq!(first(&index, "who baked in June 2023?"), Some(2));
}

#[test]
fn indexes_know_nothing_of_each_other() {
    let (mut one, mut other) = (Index::default(), Index::default());
    one.add(1, &Passage { text: "my secret is a treehouse", ..Passage::default() });
    other.add(1, &Passage { text: "my secret is a submarine", ..Passage::default() });
    let alone = one.rank(&Query { text: "secret treehouse", vector: None }).top(1, |_| true);
    for key in 2..50 {
        other.add(key, &Passage { text: "secret secret treehouse", ..Passage::default() });
    }
    assert_eq!(one.rank(&Query { text: "secret treehouse", vector: None }).top(1, |_| true), alone);
}
