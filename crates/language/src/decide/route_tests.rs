//! The mode of an answer, against the matrix as it is written down.

use super::decide_tests::rules;
use super::*;

const BOTH: [bool; 2] = [false, true];

/// The matrix and its conditions, each line as it is written: what allows a mode and what forbids it.
fn oracle(simple: bool, guided: bool, steps: usize, level: u8, asked: Asked) -> Mode {
    let Asked { delivery, forced, overrides, in_crisis } = asked;
    let handler = delivery == Delivery::Stream;
    let mut allowed = vec![Mode::Fast, Mode::Stream, Mode::Full];
    let mut forbid = |mode: Mode, when: bool| {
        if when {
            allowed.retain(|it| *it != mode);
        }
    };
    // lowComplexity && !streamHandler && !forcarMetodoViva; vivaAtivo false; nivelRoteador ≤ 1
    forbid(Mode::Fast, !simple);
    forbid(Mode::Fast, handler);
    forbid(Mode::Fast, forced);
    forbid(Mode::Fast, guided);
    forbid(Mode::Fast, level > 1);
    // A person in danger is not answered in passing.
    forbid(Mode::Fast, in_crisis);
    // streamHandler || vivaSteps>0
    forbid(Mode::Stream, !handler && steps == 0);
    // Events without a handler have the text in one piece: fast or full.
    forbid(Mode::Stream, delivery == Delivery::Events);
    // promptOverride forces full
    forbid(Mode::Fast, overrides);
    forbid(Mode::Stream, overrides);
    allowed[0]
}

#[test]
fn every_combination_has_the_mode_of_the_matrix() {
    let mut seen = [0; 3];
    let deliveries = [Delivery::Json, Delivery::Events, Delivery::Stream];
    for (simple, guided, in_crisis, forced, overrides) in BOTH
        .into_iter()
        .flat_map(|a| BOTH.map(|b| (a, b)))
        .flat_map(|(a, b)| BOTH.map(|c| (a, b, c)))
        .flat_map(|(a, b, c)| BOTH.map(|d| (a, b, c, d)))
        .flat_map(|(a, b, c, d)| BOTH.map(|e| (a, b, c, d, e)))
    {
        for (steps, delivery) in [0, 1, 2, 3, 5].into_iter().flat_map(|steps| deliveries.map(|of| (steps, of))) {
            for level in 0..=3 {
                let asked = Asked { delivery, forced, overrides, in_crisis };
                let got = mode(simple, guided, steps, level, asked);
                assert_eq!(
                    got,
                    oracle(simple, guided, steps, level, asked),
                    "{simple} {guided} {steps} {level} {asked:?}"
                );
                seen[got as usize] += 1;
            }
        }
    }
    assert_eq!(seen.iter().sum::<i32>(), 32 * 60);
    assert!(seen.iter().all(|count| *count > 0), "{seen:?}");
}

#[track_caller]
fn check(text: &str, asked: Asked, mode: &str, guided: bool, why: &str) -> Route {
    let rules = rules();
    let read = rules.read(text);
    let route = route(&rules, &read, &rules.decide(&read), asked);
    assert_eq!((route.mode.name(), route.guided), (mode, guided), "{text}: {route:?}");
    assert_eq!(route.steps.is_empty(), !guided);
    assert!(route.why.contains(why), "{route:?}");
    route
}

#[test]
fn what_guides_an_answer() {
    let plain = Asked::default();
    check("Que horas são?", plain, "fast", false, "simple");
    check("Que horas são?", Asked { forced: true, ..plain }, "stream", true, "the request wants it guided");
    check("desespero, tédio", plain, "fast", false, "simple");
    check("desespero, tédio, susto", plain, "stream", true, "intense");
    check("preciso desabafar", plain, "stream", true, "trigger");
    check(&"é".repeat(179), plain, "fast", false, "simple");
    check(&"é".repeat(180), plain, "stream", true, "long");
    check(&format!(" {}\n", "é".repeat(179)), plain, "fast", false, "simple");
    // Longer than simple and heavy, but not guided.
    check(&format!("{}abuso", "abcde ".repeat(23)), plain, "full", false, "not simple");
}

#[test]
fn events_without_a_stream_have_the_text_in_one_piece() {
    let events = Asked { delivery: Delivery::Events, ..Asked::default() };
    check("Que horas são?", events, "fast", false, "simple");
    check("triste, desespero", events, "full", true, "intense");
    let in_crisis = Asked { in_crisis: true, ..Asked::default() };
    check("Que horas são?", in_crisis, "full", false, "danger");
    check("triste, desespero", in_crisis, "stream", true, "intense");
}

#[test]
fn a_client_that_streams_gets_a_stream_and_an_own_prompt_is_answered_whole() {
    let streams = Asked { delivery: Delivery::Stream, ..Asked::default() };
    check("Que horas são?", streams, "stream", false, "streams");
    let intense = check("triste, desespero", streams, "stream", true, "streams");
    assert_eq!((intense.level, intense.steps.len(), intense.simple), (2, 3, true));
    let own = check("triste, desespero", Asked { overrides: true, ..streams }, "full", true, "own prompt");
    assert_eq!(own.mode, Mode::Full);
}
