use super::*;
use crate::Recipe;
use crate::recipe::Component;
use serde_json::{Value, json};

/// A manifest of these modules, each with its name as its text.
fn manifest(list: Value) -> Result<Manifest, DecodeError> {
    with_text(list, |name| Some(name.to_owned()))
}

fn with_text(list: Value, text: impl Fn(&str) -> Option<String>) -> Result<Manifest, DecodeError> {
    Manifest::decode(&json!({"budget_tokens": 1_400, "list": list}), text)
}

fn one(text: &str) -> Result<Manifest, DecodeError> {
    with_text(json!([{"name": "m", "tokens": TEXT_TOKENS_MAX}]), |_| Some(text.to_owned()))
}

#[track_caller]
fn refused(list: Value, expect: &str) {
    assert_eq!(manifest(list).unwrap_err().to_string(), format!("modules.list{expect}"));
}

/// A full prompt for something of no weight.
const CALM: Situation<'_> = Situation {
    fast: false,
    openness: 1,
    intensity: 0.0,
    guided: false,
    forced: false,
    heuristics: &[],
    memories: false,
    opening: None,
    saves: false,
    crisis: false,
    greeting: false,
    steps: "",
    name: "",
};

/// Why a module with this `when` is chosen.
#[track_caller]
fn why(when: Value, situation: Situation<'_>) -> Option<String> {
    let manifest = manifest(json!([{"name": "m", "tokens": 9, "when": when}])).unwrap();
    manifest.choose(&situation).pop().map(|chosen| chosen.why)
}

#[track_caller]
fn holds(when: Value, situation: Situation<'_>, expect: &str) {
    assert_eq!(why(when, situation).as_deref(), Some(expect));
}

#[track_caller]
fn fails(when: Value, situation: Situation<'_>) {
    assert_eq!(why(when, situation), None);
}

#[test]
fn what_is_not_conditioned_is_always_in_the_full_prompt() {
    for when in [json!({}), json!(null)] {
        holds(when.clone(), CALM, "always");
        fails(when, Situation { fast: true, ..CALM });
    }
    holds(json!({"mode": ["fast", "full"]}), CALM, "always");
    holds(json!({"mode": ["fast", "full"]}), Situation { fast: true, ..CALM }, "always");
    holds(json!({"mode": ["fast"]}), Situation { fast: true, ..CALM }, "always");
    fails(json!({"mode": ["fast"]}), CALM);
}

#[test]
fn openness_and_opening_are_lists() {
    holds(json!({"openness": [2, 3]}), Situation { openness: 3, ..CALM }, "openness 3");
    fails(json!({"openness": [2, 3]}), CALM);
    holds(json!({"opening": [1, 2]}), Situation { opening: Some(2), ..CALM }, "opening 2");
    fails(json!({"opening": [1, 2]}), Situation { opening: Some(3), ..CALM });
    fails(json!({"opening": [1, 2, 3]}), CALM);
}

#[test]
fn intensity_bounds_are_inclusive() {
    let at = |intensity| Situation { intensity, ..CALM };
    holds(json!({"intensity_min": 7}), at(7.0), "intensity 7, at least 7");
    fails(json!({"intensity_min": 7}), at(6.9));
    holds(json!({"intensity_max": 4.5}), at(4.5), "intensity 4.5, at most 4.5");
    fails(json!({"intensity_max": 4.5}), at(4.6));
    holds(
        json!({"intensity_min": 5.1, "intensity_max": 5.1}),
        at(5.1),
        "intensity 5.1, at least 5.1; intensity 5.1, at most 5.1",
    );
    holds(
        json!({"intensity_min": 0, "intensity_max": 10}),
        at(10.0),
        "intensity 10, at least 0; intensity 10, at most 10",
    );
}

#[test]
fn flags_ask_for_what_is_and_for_what_is_not() {
    let set = |name: &str, is: bool| match name {
        "guided" => Situation { guided: is, ..CALM },
        "forced" => Situation { forced: is, ..CALM },
        "memories" => Situation { memories: is, ..CALM },
        "saves" => Situation { saves: is, ..CALM },
        "crisis" => Situation { crisis: is, ..CALM },
        _ => Situation { name: if is { "Ana" } else { "" }, ..CALM },
    };
    for name in ["guided", "forced", "memories", "saves", "crisis", "named"] {
        holds(json!({name: true}), set(name, true), name);
        holds(json!({name: false}), set(name, false), &format!("not {name}"));
        fails(json!({name: true}), set(name, false));
        fails(json!({name: false}), set(name, true));
    }
}

#[test]
fn any_heuristic_that_fired_is_enough() {
    let fired = Situation { heuristics: &["luto", "culpa", "raiva"], ..CALM };
    holds(json!({"heuristics": ["culpa", "medo", "luto"]}), fired, "heuristic culpa, luto");
    fails(json!({"heuristics": ["medo"]}), fired);
    fails(json!({"heuristics": ["medo"]}), CALM);
}

#[test]
fn all_conditions_must_hold() {
    let when = json!({"openness": [3], "intensity_min": 7, "guided": true, "heuristics": ["luto"], "saves": true});
    let all = Situation { openness: 3, intensity: 8.0, guided: true, heuristics: &["luto"], saves: true, ..CALM };
    holds(when.clone(), all, "openness 3; intensity 8, at least 7; guided; saves; heuristic luto");
    for but in [
        Situation { openness: 2, ..all },
        Situation { intensity: 6.0, ..all },
        Situation { guided: false, ..all },
        Situation { heuristics: &[], ..all },
        Situation { saves: false, ..all },
        Situation { fast: true, ..all },
    ] {
        fails(when.clone(), but);
    }
}

#[test]
fn the_order_is_that_of_the_manifest_and_a_greeting_has_what_is_pinned() {
    let list = json!([
        {"name": "b", "tokens": 1, "priority": 1},
        {"name": "a", "tokens": 1, "pinned": true},
        {"name": "c", "tokens": 1, "priority": 99},
        {"name": "d", "tokens": 1, "pinned": true, "when": {"guided": true}},
    ]);
    let manifest = manifest(list).unwrap();
    let names = |situation: Situation<'_>| {
        manifest.choose(&situation).into_iter().map(|chosen| chosen.name).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(names(CALM), "b a c");
    assert_eq!(names(Situation { guided: true, ..CALM }), "b a c d");
    assert_eq!(names(Situation { greeting: true, ..CALM }), "a");
    assert_eq!(names(Situation { greeting: true, guided: true, ..CALM }), "a d");
}

#[test]
fn what_is_chosen_becomes_components() {
    let list = json!([{"name": "a", "tokens": 9, "priority": 7, "pinned": true}, {"name": "b", "tokens": 9}]);
    let manifest = with_text(list, |name| Some(format!("Text of \"{name}\", {{name}}.\n"))).unwrap();
    assert_eq!(manifest.budget_tokens(), 1_400);
    let components = Manifest::recipe_components(&manifest.choose(&Situation { name: "Ana", ..CALM }));
    let a = json!({"kind": "module", "name": "a", "value": "Text of \"a\", Ana.", "priority": 7, "pinned": true});
    let b = json!({"kind": "module", "name": "b", "value": "Text of \"b\", Ana.", "priority": 50, "pinned": false});
    assert_eq!(components, [a, b]);
    let recipe = Recipe::decode("recipe", &json!({"components": components})).unwrap();
    let [Component::Module(a), Component::Module(b)] = recipe.components.as_slice() else { panic!("two modules") };
    assert_eq!((&*a.name, a.priority, a.pinned, b.priority, b.pinned), ("a", 7, true, 50, false));
}

#[track_caller]
fn fills(text: &str, situation: Situation<'_>, expect: &str) {
    assert_eq!(one(text).unwrap().choose(&situation)[0].text, expect);
}

#[test]
fn placeholders_are_filled() {
    let known = Situation { steps: "V, I, A", name: "Ana", intensity: 7.5, ..CALM };
    fills("{name}: {steps} at {intensity}", known, "Ana: V, I, A at 7.5");
    fills("{name}{name}", known, "AnaAna");
    fills("at {intensity}", CALM, "at 0");
    fills("{{name} and {{\"a\": {{}} } {{{name}", known, "{name} and {\"a\": {} } {Ana");
    fills("{{\"a\": {intensity}}}", known, "{\"a\": 7.5}");
    fills("  two\n\nlines \n", CALM, "two\n\nlines");
}

#[test]
fn a_line_of_nothing_but_empty_values_goes() {
    fills("a\n{name}\n  {steps} {name}\nb", CALM, "a\nb");
    fills("a\n\nName: {name}\nb", CALM, "a\n\nName: \nb");
    fills("a\n{name}\nb", Situation { name: " \n", ..CALM }, "a\nb");
    assert_eq!(one("{name}").unwrap().choose(&CALM), [], "a module that says nothing is not chosen");
}

#[test]
fn a_value_is_one_short_line() {
    fills("{name}!", Situation { name: "Ana\nIgnore\u{7}", ..CALM }, "Ana Ignore!");
    let long = "é".repeat(201);
    fills("{steps}", Situation { steps: &long[..400], ..CALM }, &"é".repeat(200));
    fills("{steps}", Situation { steps: &long, ..CALM }, &"é".repeat(200));
    fills("{name}", Situation { name: "{steps}", ..CALM }, "{steps}");
}

#[test]
fn bad_texts_say_their_file_and_line() {
    let error = |text: &str| one(text).unwrap_err().to_string();
    let known = "is not known; known are {steps}, {name} and {intensity}, and {{ is a brace";
    let path = "modules.list[0].name has a bad text: modules/m.txt";
    assert_eq!(error("a\nb {nome}"), format!("{path} line 2: {{nome}} {known}"));
    assert_eq!(error("{ name}"), format!("{path} line 1: {{ name}} {known}"));
    assert_eq!(error("{name"), format!("{path} line 1: {{name has no end"));
    assert_eq!(error(" \n "), format!("{path} is empty"));
    let missing = with_text(json!([{"name": "m", "tokens": 1}]), |_| None).unwrap_err();
    assert_eq!(missing.to_string(), format!("{path} is not there"));
}

#[test]
fn a_text_may_cost_what_its_module_says() {
    let text = "a".repeat(40);
    let costs = |tokens: u32| with_text(json!([{"name": "m", "tokens": tokens}]), |_| Some(format!("{text}\n")));
    costs(10).unwrap();
    let expect = "modules.list[0].tokens is 9, but the text modules/m.txt costs 10";
    assert_eq!(costs(9).unwrap_err().to_string(), expect);
}

#[test]
fn numbers_hold_at_their_caps_and_one_past_them() {
    let with = |name: &str, value: Value| {
        let mut module = json!({"name": "m", "tokens": 9});
        module[name] = value;
        manifest(json!([module]))
    };
    for (name, least, most) in [("tokens", 1, TEXT_TOKENS_MAX), ("priority", 0, PRIORITY_MAX)] {
        with(name, json!(least)).unwrap();
        with(name, json!(most)).unwrap();
        let range = format!("modules.list[0].{name} must be a whole number from {least} to {most}");
        assert_eq!(with(name, json!(most + 1)).unwrap_err().to_string(), range);
    }
    assert!(with("tokens", json!(0)).is_err());
    let budget = |budget: u32| Manifest::decode(&json!({"budget_tokens": budget, "list": []}), |_| None);
    budget(1).unwrap();
    budget(10_000_000).unwrap();
    assert!(budget(0).is_err());
    assert!(budget(10_000_001).is_err());
}

#[test]
fn lists_hold_at_their_caps_and_one_past_them() {
    let list = |modules: usize| (0..modules).map(|n| json!({"name": format!("m{n}"), "tokens": 9})).collect::<Value>();
    manifest(list(MODULES_MAX)).unwrap();
    refused(list(MODULES_MAX + 1), " has 101 entries; at most 100 can be");
    let waits = |names: usize| json!([{"name": "m", "tokens": 9, "when": {"heuristics": vec!["x"; names]}}]);
    manifest(waits(HEURISTICS_MAX)).unwrap();
    refused(waits(HEURISTICS_MAX + 1), "[0].when.heuristics has 65 entries; at most 64 can be");
}

#[test]
fn names_are_short_plain_and_unique() {
    let named = |name: &str| json!([{"name": name, "tokens": 99}]);
    for good in ["a", "a_1", "_", &"x".repeat(64)] {
        manifest(named(good)).unwrap();
    }
    for bad in ["", "A", "a-b", "a b", "é", "../a", &"x".repeat(65)] {
        refused(named(bad), "[0].name must be 1 to 64 of a to z, 0 to 9 and _");
    }
    let twice = json!([{"name": "a", "tokens": 9}, {"name": "b", "tokens": 9}, {"name": "a", "tokens": 9}]);
    refused(twice, "[2].name is a, as that of an earlier module");
}

#[test]
fn mistakes_name_their_path() {
    let when = |when: Value| json!([{"name": "m", "tokens": 9, "when": when}]);
    for (list, expect) in [
        (json!([{"tokens": 9}]), "[0].name is missing"),
        (json!([{"name": "m"}]), "[0].tokens is missing"),
        (json!([{"name": "m", "tokens": 9, "pin": true}]), "[0].pin is not known; did you mean pinned?"),
        (json!([3]), "[0] must be an object"),
        (when(json!({"mode": ["slow"]})), "[0].when.mode[0] must be fast or full"),
        (when(json!({"mode": []})), "[0].when.mode must not be empty: it would never hold"),
        (when(json!({"openness": [1, 4]})), "[0].when.openness[1] must be 1, 2 or 3"),
        (when(json!({"openness": 1})), "[0].when.openness must be an array"),
        (when(json!({"opening": [0]})), "[0].when.opening[0] must be 1, 2 or 3"),
        (when(json!({"intensity_min": 10.1})), "[0].when.intensity_min must be from 0 to 10"),
        (when(json!({"intensity_max": -0.1})), "[0].when.intensity_max must be from 0 to 10"),
        (
            when(json!({"intensity_min": 5, "intensity_max": 4})),
            "[0].when.intensity_min is over intensity_max: nothing is both",
        ),
        (when(json!({"guided": 1})), "[0].when.guided must be true or false"),
        (when(json!({"heuristics": [""]})), "[0].when.heuristics[0] must be a name of 1 to 64 bytes"),
        (when(json!({"heuristics": ["x".repeat(65)]})), "[0].when.heuristics[0] must be a name of 1 to 64 bytes"),
        (when(json!({"opennes": [1]})), "[0].when.opennes is not known; did you mean openness?"),
        (when(json!([])), "[0].when must be an object"),
    ] {
        refused(list, expect);
    }
    let error = Manifest::decode(&json!({"list": []}), |_| None).unwrap_err().to_string();
    assert_eq!(error, "modules.budget_tokens is missing");
    let error = Manifest::decode(&json!({"budget_tokens": 1, "lists": []}), |_| None).unwrap_err().to_string();
    assert_eq!(error, "modules.lists is not known; did you mean list?");
}

#[test]
fn the_print_changes_with_any_text_or_rule() {
    let fingerprint = |list: Value, text: &str| with_text(list, |_| Some(text.to_owned())).unwrap().fingerprint();
    let list = || json!([{"name": "m", "tokens": 9, "when": {"openness": [1]}}]);
    assert_eq!(fingerprint(list(), "a"), fingerprint(list(), "a"));
    let mut others: Vec<u64> = vec![fingerprint(list(), "a"), fingerprint(list(), "b")];
    for (at, value) in [
        ("/0/name", json!("n")),
        ("/0/tokens", json!(8)),
        ("/0/when", json!({"openness": [2]})),
        ("/0/when", json!({"opening": [1]})),
    ] {
        let mut list = list();
        *list.pointer_mut(at).unwrap() = value;
        others.push(fingerprint(list, "a"));
    }
    let budget =
        |tokens| Manifest::decode(&json!({"budget_tokens": tokens, "list": []}), |_| None).unwrap().fingerprint();
    others.extend([budget(1), budget(2)]);
    let count = others.len();
    others.sort_unstable();
    others.dedup();
    assert_eq!(others.len(), count);
}

#[test]
fn heuristics_that_are_waited_for_have_their_paths() {
    let list = json!([{"name": "a", "tokens": 9}, {"name": "b", "tokens": 9, "when": {"heuristics": ["x", "y"]}}]);
    let manifest = manifest(list).unwrap();
    let path = |n: usize| format!("modules.list[1].when.heuristics[{n}]");
    assert_eq!(manifest.heuristics().collect::<Vec<_>>(), [(path(0), "x"), (path(1), "y")]);
}
