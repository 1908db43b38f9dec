//! What the rewriter promises on conversations of our own.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "a panic is how a test fails")]

use novelo_language::rewrite::{ChangeKind, Utterance, rewrite};
use proptest::prelude::*;

/// A conversation, the question that follows it and how it stands alone.
struct Talk {
    history: Vec<(&'static str, &'static str)>,
    question: &'static str,
    expect: &'static str,
}

impl Talk {
    fn rewritten(&self) -> String {
        let said: Vec<Utterance<'_>> = self.history.iter().map(|(speaker, text)| Utterance { speaker, text }).collect();
        let rewrite = rewrite(&said, self.question);
        assert_eq!(rewrite.changes.is_empty(), rewrite.question == self.question, "{rewrite:?}");
        assert!(rewrite.changes.iter().all(|change| change.was != change.now), "{rewrite:?}");
        rewrite.question
    }
}

/// Talks in a text: `>` is the user, `<` the assistant, `?` the question and `=` what is expected; nothing
/// after `=` means that the question stays.
fn talks(text: &'static str) -> Vec<Talk> {
    text.split("\n\n")
        .map(|block| {
            let mut talk = Talk { history: Vec::new(), question: "", expect: "" };
            for line in block.lines() {
                let (mark, rest) = line.split_at(1);
                match mark {
                    ">" => talk.history.push(("user", rest.trim())),
                    "<" => talk.history.push(("assistant", rest.trim())),
                    "?" => talk.question = rest.trim(),
                    _ => talk.expect = rest.trim(),
                }
            }
            if talk.expect.is_empty() {
                talk.expect = talk.question;
            }
            talk
        })
        .collect()
}

/// How many talks come out as expected, for talks that change and for talks that stay.
#[track_caller]
fn check(text: &'static str, changed_min: usize, stay_min: usize) {
    let (stay, change): (Vec<Talk>, Vec<Talk>) = talks(text).into_iter().partition(|talk| talk.question == talk.expect);
    assert!(stay.len() * 2 >= change.len(), "a third stays");
    let right = |of: &[Talk]| {
        let wrong = of.iter().filter(|talk| talk.rewritten() != talk.expect);
        let wrong = wrong.inspect(|talk| println!("{}\n  {}\n  not {}", talk.question, talk.rewritten(), talk.expect));
        of.len() - wrong.count()
    };
    let reached = (right(&change), right(&stay));
    println!("{} of {} change as expected, {} of {} stay", reached.0, change.len(), reached.1, stay.len());
    assert!(reached.0 >= changed_min && reached.1 >= stay_min, "{reached:?}");
}

#[test]
fn english_follow_ups_stand_alone() {
    check(include_str!("rewrite/english.txt"), 40, 22);
}

#[test]
fn portuguese_follow_ups_stand_alone() {
    check(include_str!("rewrite/portuguese.txt"), 57, 34);
}

#[test]
fn russian_follow_ups_stand_alone() {
    check(include_str!("rewrite/russian.txt"), 41, 29);
}

#[test]
fn changes_say_what_and_why() {
    let said = [Utterance { speaker: "user", text: "What is throat cancer?" }];
    let rewrite = rewrite(&said, "Is it treatable?");
    let change = &rewrite.changes[0];
    assert_eq!((change.was.as_str(), change.now.as_str()), ("it", "throat cancer"));
    assert_eq!((change.kind, change.kind.name()), (ChangeKind::Pronoun, "pronoun"));
}

#[test]
fn without_history_nothing_changes() {
    for question in ["", "Is it treatable?", "E o preço?", "А в Москве?", "Why?"] {
        let rewrite = rewrite(&[], question);
        assert_eq!((rewrite.question.as_str(), rewrite.changes.len()), (question, 0));
    }
}

/// The last 40 messages are looked at, and the one before them is not.
#[test]
fn only_so_many_messages_are_looked_at() {
    for (filler, expect) in [(39, "Is throat cancer treatable?"), (40, "Is it treatable?")] {
        let mut said = vec![Utterance { speaker: "user", text: "What is throat cancer?" }];
        said.extend(vec![Utterance { speaker: "assistant", text: "Ok." }; filler]);
        assert_eq!(rewrite(&said, "Is it treatable?").question, expect, "{filler}");
    }
}

/// What was said ten questions ago is heard, and what was said before that is not.
#[test]
fn only_so_many_questions_are_heard() {
    for (filler, expect) in [(9, "Did Ann win in 1998?"), (10, "Did Ann win that year?")] {
        let mut said = vec![Utterance { speaker: "user", text: "What happened in 1998?" }];
        said.extend(vec![Utterance { speaker: "user", text: "Ok." }; filler]);
        assert_eq!(rewrite(&said, "Did Ann win that year?").question, expect, "{filler}");
    }
}

#[test]
fn a_long_question_is_left_alone() {
    let said = [Utterance { speaker: "user", text: "What is throat cancer?" }];
    let long = format!("Is it treatable?{}", " ".repeat(2_000 - 16));
    assert!(rewrite(&said, &long).question.starts_with("Is throat cancer treatable?"));
    let longer = format!("{long} ");
    assert_eq!(rewrite(&said, &longer).question, longer);
}

#[test]
fn a_megabyte_is_no_trouble() {
    for text in ["it is this, that and the other one? ", "« \" ' ", "🙂", "ה", "e o preço?\n", "А в Москве? "]
    {
        let long = text.repeat(1_000_000 / text.len());
        let said = vec![Utterance { speaker: "user", text: &long }; 40];
        assert_eq!(rewrite(&said, &long).question, long);
        rewrite(&said, "And it?");
    }
}

/// Words from which follow-ups are made, so that the rules meet in odd ways.
fn words() -> impl Strategy<Value = String> {
    let word = prop::sample::select(vec![
        "it",
        "its",
        "them",
        "her",
        "this",
        "song",
        "What",
        "about",
        "and",
        "the",
        "first",
        "one",
        "Ann",
        "'s",
        "Why",
        "?",
        ".",
        ",",
        ":",
        "or",
        "Tom",
        "Brown",
        "in",
        "Rome",
        "2023",
        "is",
        "e",
        "o",
        "preço",
        "ele",
        "dele",
        "comprá-lo",
        "isso",
        "anterior",
        "compara",
        "com",
        "quem",
        "А",
        "в",
        "Москве",
        "его",
        "это",
        "там",
        "Почему",
        "\"",
        "🙂",
        "",
        "largest",
        "most",
        "there",
        "previous",
        "symptoms",
        "of",
    ]);
    prop::collection::vec(word, 0..12).prop_map(|words| words.join(" "))
}

proptest! {
    #[test]
    fn nothing_panics(history in prop::collection::vec((any::<bool>(), ".{0,60}"), 0..6), question in ".{0,80}") {
        let said: Vec<Utterance<'_>> = history
            .iter()
            .map(|(user, text)| Utterance { speaker: if *user { "user" } else { "assistant" }, text })
            .collect();
        let rewrite = rewrite(&said, &question);
        prop_assert_eq!(rewrite.changes.is_empty(), rewrite.question == question);
    }

    #[test]
    fn rules_meet_in_peace(history in prop::collection::vec((any::<bool>(), words()), 0..6), question in words()) {
        let said: Vec<Utterance<'_>> = history
            .iter()
            .map(|(user, text)| Utterance { speaker: if *user { "user" } else { "assistant" }, text })
            .collect();
        let once = rewrite(&said, &question);
        prop_assert_eq!(once.changes.is_empty(), once.question == question);
        prop_assert_eq!(&once, &rewrite(&said, &question));
    }
}

/// What stands alone once is not rewritten again.
#[test]
fn a_rewritten_question_stays() {
    for text in [
        include_str!("rewrite/english.txt"),
        include_str!("rewrite/portuguese.txt"),
        include_str!("rewrite/russian.txt"),
    ] {
        for talk in talks(text) {
            let said: Vec<Utterance<'_>> =
                talk.history.iter().map(|(speaker, text)| Utterance { speaker, text }).collect();
            let once = rewrite(&said, talk.question).question;
            assert_eq!(rewrite(&said, &once).question, once, "{}", talk.question);
        }
    }
}
