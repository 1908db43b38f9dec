use super::*;
use serde_json::json;

fn refused(value: Value) -> String {
    Recipe::decode("recipe", &value).expect_err("a bad recipe").to_string()
}

fn nested(depth: usize) -> Value {
    let leaf = json!({"kind": "collection", "name": "summaries"});
    (1..depth).fold(leaf, |inner, _| json!({"kind": "group", "children": [inner]}))
}

#[test]
fn leaves_emit_depth_first_and_parents_do_not() {
    let value = json!({"intro": {"system": "hi"}, "components": [
        {"kind": "yoj", "name": "topicInfos"},
        {"kind": "yoj", "name": "group", "children": [
            {"kind": "ista", "name": "summaries", "framing": "f"},
            {"kind": "yoj", "name": "messages"},
        ]},
    ]});
    let recipe = Recipe::decode("recipe", &value).unwrap();
    assert_eq!(
        recipe.components,
        [
            literal(Role::System, "hi"),
            collection("topicInfos", "", Shape::Message),
            collection("summaries", "f", Shape::Message),
            Component::History { framing: None },
        ]
    );
}

#[test]
fn errors_name_the_path() {
    let component = |c: Value| refused(json!({"components": [c]}));
    for (error, expect) in [
        (component(json!({"kind": "yoj"})), "recipe.components[0].name is missing"),
        (component(json!({"name": "x"})), "recipe.components[0].kind is missing"),
        (component(json!({"kind": "literal"})), "recipe.components[0].value is missing"),
        (component(json!(3)), "recipe.components[0] must be an object"),
        (
            component(json!({"kind": "literal", "value": "x", "children": [{"kind": "history"}]})),
            "recipe.components[0][children] must not stand on a literal",
        ),
        (
            component(json!({"kind": "group", "children": [{"kind": "history"}, {"kind": "yoj"}]})),
            "recipe.components[0][children][1].name is missing",
        ),
        (refused(json!({"filters": [{"options": {}}]})), "recipe.filters[0].name is missing"),
        (
            refused(json!({"filters": ["dedupe", {"name": "sizeLimiter", "options": {"maxTokens": "9"}}]})),
            "recipe.filters[1].options.maxTokens must be a whole number from 0 to 10000000",
        ),
        (refused(json!({"filtres": []})), "recipe.filtres is not known; did you mean filters?"),
        (refused(json!({"tokenizer": "gpt"})), "recipe.tokenizer must be one of approx, o200k_base, cl100k_base"),
        (refused(json!({"budget_tokens": 0})), "recipe.budget_tokens must be a whole number from 1 to 10000000"),
        (refused(json!([])), "recipe must be an object"),
    ] {
        assert_eq!(error, expect);
    }
    assert!(component(json!({"kind": "historie"})).ends_with("did you mean history?"));
}

#[test]
fn modules_are_leaves_with_a_name_and_a_text() {
    let module = |module: Value| Recipe::decode("recipe", &json!({"components": [module]}));
    let components = |value: Value| module(value).unwrap().components;
    let plain = Module { name: "m".into(), priority: 50, pinned: false, message: Message::text(Role::System, "be") };
    assert_eq!(components(json!({"kind": "module", "name": "m", "value": "be"})), [Component::Module(plain.clone())]);
    let weighed = json!({"kind": "module", "name": "m", "value": "be", "priority": 1_000, "pinned": true});
    assert_eq!(components(weighed), [Component::Module(Module { priority: 1_000, pinned: true, ..plain })]);
    for (value, expect) in [
        (json!({"kind": "module", "value": "x"}), "recipe.components[0].name is missing"),
        (json!({"kind": "module", "name": "m"}), "recipe.components[0].value is missing"),
        (
            json!({"kind": "module", "name": "m", "value": "x", "priority": 1_001}),
            "recipe.components[0].priority must be a whole number from 0 to 1000",
        ),
        (
            json!({"kind": "module", "name": "m", "value": "x", "pinned": 1}),
            "recipe.components[0].pinned must be true or false",
        ),
        (
            json!({"kind": "module", "name": "m", "value": "x", "children": []}),
            "recipe.components[0][children] must not stand on a module",
        ),
        (
            json!({"kind": "module", "name": "m", "value": "x", "role": "user"}),
            "recipe.components[0].role is not known",
        ),
    ] {
        assert_eq!(module(value).unwrap_err().to_string(), expect);
    }
}

#[test]
fn names_of_modules_hold_at_the_cap_and_one_past_it() {
    let named =
        |name: &str| Recipe::decode("recipe", &json!({"components": [{"kind": "module", "name": name, "value": "x"}]}));
    named("x").unwrap();
    named(&"x".repeat(64)).unwrap();
    for bad in ["", &"x".repeat(65), "a\nb"] {
        let error = named(bad).unwrap_err().to_string();
        assert_eq!(error, "recipe.components[0].name must be 1 to 64 bytes without control characters", "{bad:?}");
    }
}

#[test]
fn depth_holds_at_the_cap_and_one_past_it() {
    Recipe::decode("recipe", &json!({"components": [nested(RECIPE_DEPTH_MAX)]})).unwrap();
    let error = refused(json!({"components": [nested(RECIPE_DEPTH_MAX + 1)]}));
    assert!(error.contains("nests deeper than 6 (RECIPE_DEPTH_MAX)"), "{error}");
}

#[test]
fn nodes_hold_at_the_cap_and_one_past_it() {
    let recipe = |nodes: usize| json!({"components": vec![json!({"kind": "literal", "value": "x"}); nodes]});
    Recipe::decode("recipe", &recipe(RECIPE_NODES_MAX)).unwrap();
    assert!(refused(recipe(RECIPE_NODES_MAX + 1)).contains("RECIPE_NODES_MAX"));
}

#[test]
fn filters_hold_at_the_cap_and_one_past_it() {
    let recipe = |filters: usize| json!({"filters": vec!["dedupe"; filters]});
    Recipe::decode("recipe", &recipe(RECIPE_FILTERS_MAX)).unwrap();
    assert!(refused(recipe(RECIPE_FILTERS_MAX + 1)).contains("RECIPE_FILTERS_MAX"));
}

#[test]
fn unknown_filters_are_kept_to_be_warned_of() {
    let recipe = Recipe::decode("recipe", &json!({"filters": ["sparkle"]})).unwrap();
    assert!(matches!(recipe.filters.as_slice(), [Filter::Unknown(name)] if name == "sparkle"));
}
