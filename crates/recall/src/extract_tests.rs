use proptest::prelude::*;

use super::*;

fn said<'a>(speaker: &'a str, text: &'a str) -> DatedTurn<'a> {
    DatedTurn { speaker, text, date: "" }
}

fn summed(said: &[DatedTurn<'_>], chars_max: usize) -> String {
    summarise(EarlierSummary::default(), said, chars_max)
}

#[test]
fn bare_words_are_better_than_nothing() {
    let bare: Vec<String> = (1..5).map(|n| format!("m{n}")).collect();
    let turns: Vec<DatedTurn<'_>> = bare.iter().map(|text| said("user", text)).collect();
    assert_eq!(summed(&turns, 100), "user: m1\nuser: m2\nuser: m3\nuser: m4");
    assert_eq!(summed(&[said("user", "and so it is")], 100), "user: and so it is");
}

#[test]
fn facts_of_people_come_before_talk() {
    let talk = [
        said("user", "Hi! My name is Marta Oliveira and I live in Porto. How are you?"),
        said("assistant", "I am well, thank you. There are many lovely things to see and do in the old town."),
        said("user", "Ok. My dog Bolt is allergic to chicken. Nice."),
        said("assistant", "I will remember that your dog is allergic to chicken."),
        said("user", "The flight to Lisbon leaves on 12 May at 9:40."),
        said("assistant", "Noted!"),
    ];
    let expect = "user: My name is Marta Oliveira and I live in Porto.\nuser: My dog Bolt is allergic to chicken.\n\
                  user: The flight to Lisbon leaves on 12 May at 9:40.";
    assert_eq!(summed(&talk, 155), expect);
}

#[test]
fn talk_is_short_and_tells_little() {
    let talk = [
        said("Ana", "I 100% agree, Mel."),
        said("Mel", "I'll keep ya posted."),
        said("Ana", "Last week I finally signed up for the pottery course at the community centre."),
        said("Mel", "Your kind words mean a lot."),
        said("Mel", "A friend made it for me ten years ago."),
    ];
    let expect = "Ana: Last week I finally signed up for the pottery course at the community centre.";
    assert_eq!(summed(&talk, 100), expect);
}

#[test]
fn it_says_when_and_who_in_three_languages() {
    let talk = [
        DatedTurn {
            speaker: "Ana",
            text: "Oi! Decidimos alugar a casa em Paraty por 1.200 reais.",
            date: "2024-03-01",
        },
        DatedTurn { speaker: "Ana", text: "Legal!", date: "2024-03-01" },
        DatedTurn {
            speaker: "Иван",
            text: "Спасибо! Моя дочь Лиза поступила в университет в июне.",
            date: "2024-07-02",
        },
        DatedTurn { speaker: "Иван", text: "Ну ладно.", date: "2024-07-02" },
    ];
    let expect = "2024-03-01 Ana: Decidimos alugar a casa em Paraty por 1.200 reais.\n\
                  2024-07-02 Иван: Моя дочь Лиза поступила в университет в июне.";
    assert_eq!(summed(&talk, 140), expect);
}

#[test]
fn every_part_of_a_conversation_is_heard() {
    let texts: Vec<String> = (0..300).map(|n| format!("On trip number {n} we saw the harbour of town {n}x.")).collect();
    let turns: Vec<DatedTurn<'_>> = texts.iter().map(|text| said("user", text)).collect();
    let summary = summed(&turns, 1_200);
    let numbers: Vec<usize> = summary.lines().map(|line| line.split(' ').nth(4).unwrap().parse().unwrap()).collect();
    for part in 0..PARTS {
        assert!(numbers.iter().any(|n| n / 30 == part), "part {part}: {summary}");
    }
}

#[test]
fn code_tables_and_headings_are_not_sentences() {
    let text = "## Plan\n```\nlet colour = 1;\n```\n| a | b |\nWe decided to paint the harbour wall blue in June.";
    assert_eq!(summed(&[said("user", text)], 500), "user: We decided to paint the harbour wall blue in June.");
}

#[test]
fn an_open_question_is_kept() {
    let talk = [
        said("user", "Which colour should the harbour wall have?"),
        said("assistant", "Blue suits the harbour wall well."),
        said("user", "Which company could paint the harbour wall?"),
    ];
    assert!(summed(&talk, 70).contains("Which company"));
}

#[test]
fn an_earlier_summary_is_carried_over() {
    let text = "2023-01-02 user: My name is Marta Oliveira and I live in Porto.";
    let more = [said("user", "It is raining a bit here."), said("user", "My sister Ana moves to Braga in June 2024.")];
    let next = summarise(EarlierSummary { text, turns: 20 }, &more, 130);
    assert_eq!(next, format!("{text}\nuser: My sister Ana moves to Braga in June 2024."));
    assert_eq!(summarise(EarlierSummary { text: &next, turns: 22 }, &[], 130), next);
}

#[test]
fn what_was_said_twice_is_kept_once() {
    let twice = [
        said("user", "My dog Bolt eats salmon every day."),
        said("user", "Bolt my dog eats salmon every day!"),
        said("user", "I work at a bakery."),
    ];
    assert_eq!(summed(&twice, 500).matches("Bolt").count(), 1);
}

#[test]
fn a_sentence_that_is_too_long_is_cut_at_a_word() {
    let long = "слово и дело ".repeat(100);
    let summary = summed(&[said("user", &long)], 60);
    assert!(summary.ends_with("…") && summary.chars().count() <= 60, "{summary}");
    assert!(["слово…", "и…", "дело…"].iter().any(|end| summary.ends_with(end)), "{summary}");
    assert_eq!(summed(&[said("user", "two words")], 0), "");
    assert_eq!(summed(&[], 100), "");
}

proptest! {
    #[test]
    fn never_longer_than_asked(texts in prop::collection::vec(".{0,80}", 0..12), before in ".{0,200}", max in 0..300_usize) {
        let turns: Vec<DatedTurn<'_>> = texts.iter().map(|text| said("user", text)).collect();
        let earlier = EarlierSummary { text: &before, turns: 3 };
        let summary = summarise(earlier, &turns, max);
        prop_assert!(summary.chars().count() <= max);
        prop_assert_eq!(&summary, &summarise(earlier, &turns, max));
    }
}
