//! The recipe builder: the same recipes, errors and bytes as the JSON that a person would write.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a panic is how a test fails")]

use novelo_engine::module::Chosen;
use novelo_engine::piece::DocIdMode;
use novelo_engine::recall::RecallSource;
use novelo_engine::recipe::*;
use novelo_engine::{Message, Recipe, Role, Tokenizer};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Map, Value, json};

/// A part as a type, and as the JSON that says the same.
type Twin<T> = (T, Value);

/// The JSON of an object without the members that are null.
fn given(object: Value) -> Value {
    let Value::Object(fields) = object else { panic!("an object") };
    Value::Object(fields.into_iter().filter(|(_, value)| !value.is_null()).collect())
}

fn check(builder: RecipeBuilder, json: &Value) {
    match (builder.build(), Recipe::decode("recipe", json)) {
        (Ok(document), Ok(recipe)) => {
            assert_eq!(document.text().get(), json.to_string());
            assert_eq!(*document.recipe(), recipe);
        }
        (Err(error), Err(expected)) => assert_eq!(error, expected),
        (built, decoded) => panic!("{json}: built {built:?}, decoded {decoded:?}"),
    }
}

#[test]
fn what_the_server_wrote_by_hand_is_the_same_bytes() {
    check(RecipeBuilder::new(), &json!({}));
    check(RecipeBuilder::new().filter(FilterSpec::tool_call_backfill()), &json!({"filters": ["toolCallBackfill"]}));
    let context = RecipeBuilder::new()
        .components([ComponentSpec::Summary, ComponentSpec::UserData, ComponentSpec::history()])
        .components([RecallSource::Memories, RecallSource::Turns].map(ComponentSpec::recall))
        .filter(FilterSpec::HistoryWindow(WindowSize::Turns(20)))
        .filter(FilterSpec::tool_call_backfill());
    check(
        context,
        &json!({
            "components": [{"kind": "summary"}, {"kind": "userData"}, {"kind": "history"},
                {"kind": "recall", "from": "memories"}, {"kind": "recall", "from": "turns"}],
            "filters": [{"name": "historyWindow", "options": {"turns": 20}}, "toolCallBackfill"],
        }),
    );
    let limit = SizeLimitOptions { max_tokens: Some(24_000), ..SizeLimitOptions::default() };
    let topic = RecipeBuilder::new()
        .doc_ids(DocIdMode::Shown)
        .filter(FilterSpec::SizeLimiter(limit))
        .filter(FilterSpec::tool_call_backfill());
    let limiter = json!({"name": "sizeLimiter", "options": {"maxTokens": 24_000}});
    check(topic, &json!({"docIds": "shown", "filters": [limiter, "toolCallBackfill"]}));
}

#[test]
fn a_guided_prompt_is_the_same_bytes() {
    let chosen = |name: &str, pinned| Chosen {
        name: name.to_owned(),
        text: "be \"kind\"".to_owned(),
        priority: 70,
        pinned,
        why: String::new(),
        is_for_crisis: false,
    };
    let instruction = Message::text(Role::Developer, "short\n");
    let memories = RecallSpec {
        heading: Some("MEMORIAS:".to_owned()),
        empty: Some("nenhuma".to_owned()),
        ..RecallSpec::from(RecallSource::Memories)
    };
    let guided = RecipeBuilder::new()
        .components(&[chosen("base", true), chosen("tone", false)])
        .components(ComponentSpec::from_message(&instruction))
        .component(memories)
        .component(ComponentSpec::history())
        .filter(FilterSpec::ModuleBudget { max_tokens: 900 })
        .filter(FilterSpec::HistoryWindow(WindowSize::Pairs(6)))
        .filter(FilterSpec::tool_call_backfill())
        .tokenizer(Tokenizer::default());
    let module = |name, pinned| json!({"kind": "module", "name": name, "value": "be \"kind\"", "priority": 70, "pinned": pinned});
    check(
        guided,
        &json!({
            "components": [module("base", true), module("tone", false),
                {"kind": "literal", "role": "developer", "value": "short\n"},
                {"kind": "recall", "from": "memories", "heading": "MEMORIAS:", "empty": "nenhuma"},
                {"kind": "history"}],
            "filters": [{"name": "moduleBudget", "options": {"maxTokens": 900}},
                {"name": "historyWindow", "options": {"pairs": 6}}, "toolCallBackfill"],
            "tokenizer": "approx",
        }),
    );
}

#[test]
fn a_document_can_be_changed() {
    let given = json!({"description": "d", "components": [{"kind": "history"}], "budget_tokens": 5});
    let document = RecipeDocument::decode("recipe", given).unwrap();
    let text = |document: &RecipeDocument| document.text().get().to_owned();
    let same = document.with_leading("recipe", []).unwrap();
    assert_eq!(text(&same), text(&document));
    let led = document.with_leading("recipe", [ComponentSpec::literal(Role::System, "s")]).unwrap();
    assert_eq!(
        text(&led),
        r#"{"description":"d","components":[{"kind":"literal","role":"system","value":"s"},{"kind":"history"}],"budget_tokens":5}"#
    );
    assert_eq!(led.recipe().components.len(), 2);
    let other = document.with_filters(json!(["dedupe"])).unwrap().with_tokenizer(Tokenizer::O200kBase).unwrap();
    let other = other.with_doc_ids(DocIdMode::Counted).unwrap();
    assert_eq!(
        text(&other),
        r#"{"description":"d","components":[{"kind":"history"}],"budget_tokens":5,"filters":["dedupe"],"tokenizer":"o200k_base","docIds":"counted"}"#
    );
    assert_eq!(other.recipe().doc_ids, DocIdMode::Counted);
    let bad = document.with_filters(json!([3])).unwrap_err();
    assert_eq!(bad.to_string(), "filters[0] must be an object");
    let twice = document.with_leading("messages", [ComponentSpec::history()]).unwrap();
    assert_eq!(twice.recipe().components.len(), 2, "the turns may be shown twice");
    let nameless = document.with_leading("messages", [ComponentSpec::collection("")]).unwrap_err();
    assert_eq!(nameless.to_string(), "messages.components[0].name is missing");
}

#[test]
fn components_lead_where_there_were_none() {
    for none in [json!({}), json!({"components": null})] {
        let document = RecipeDocument::decode("recipe", none).unwrap();
        let led = document.with_leading("recipe", [ComponentSpec::history()]).unwrap();
        assert_eq!(led.text().get(), r#"{"components":[{"kind":"history"}]}"#);
    }
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![8 => "[a-z\"\\\\\n😀]{0,12}", 1 => Just("x".repeat(1_025))]
}

fn number(most: u32) -> impl Strategy<Value = u32> {
    prop_oneof![6 => 1..100u32, 1 => Just(0), 1 => Just(most), 1 => Just(most.saturating_add(1))]
}

fn role() -> impl Strategy<Value = Role> {
    select(Role::ALL.to_vec())
}

fn component() -> impl Strategy<Value = Twin<ComponentSpec>> {
    let literal = (option::of(role()), text()).prop_map(|(role, value)| {
        let json = given(json!({"kind": "literal", "role": role.map(Role::name), "value": value}));
        (ComponentSpec::Literal { role, value }, json)
    });
    let history = option::of(text()).prop_map(|framing| {
        let json = given(json!({"kind": "history", "framing": framing}));
        (ComponentSpec::History { framing }, json)
    });
    let shape = option::of(select(vec![(Shape::Message, "message"), (Shape::Data, "data")]));
    let name = select(vec!["notes", "messages", "", "a\u{7}"]);
    let collection = (name, option::of(text()), shape).prop_map(|(name, framing, shape)| {
        let json =
            given(json!({"kind": "collection", "name": name, "framing": framing, "as": shape.map(|(_, name)| name)}));
        (ComponentSpec::Collection { name: name.to_owned(), framing, shape: shape.map(|(shape, _)| shape) }, json)
    });
    prop_oneof![
        literal,
        history,
        Just((ComponentSpec::Summary, json!({"kind": "summary"}))),
        Just((ComponentSpec::UserData, json!({"kind": "userData"}))),
        collection,
        recall(),
        module(),
    ]
}

fn recall() -> impl Strategy<Value = Twin<ComponentSpec>> {
    let from = select(vec![RecallSource::Memories, RecallSource::Turns, RecallSource::Documents]);
    let texts = (option::of(text()), option::of(text()));
    let numbers = (option::of(number(100)), option::weighted(0.2, number(100)), option::of(number(10_000)));
    let share = option::of(select(vec![0.0, 0.001, 0.25, 1.0, 1.5]));
    (from, numbers, share, texts).prop_map(|(from, (hits, per_level, chars), share, (heading, empty))| {
        let json = json!({"kind": "recall", "from": from.name(), "hits": hits, "perLevel": per_level, "chars": chars,
            "share": share, "heading": heading, "empty": empty});
        (RecallSpec { from, hits, per_level, chars, share, heading, empty }.into(), given(json))
    })
}

fn module() -> impl Strategy<Value = Twin<ComponentSpec>> {
    (text(), text(), option::of(number(1_000)), option::of(any::<bool>())).prop_map(
        |(name, value, priority, pinned)| {
            let json = json!({"kind": "module", "name": name, "value": value, "priority": priority, "pinned": pinned});
            (ModuleSpec { name, value, priority, pinned }.into(), given(json))
        },
    )
}

fn tokenizer() -> impl Strategy<Value = Tokenizer> {
    select(Tokenizer::ALL.to_vec())
}

/// A filter as a person writes it: by its name alone where it has no options.
fn named(name: &str, options: Value) -> Value {
    match given(options) {
        Value::Object(fields) if fields.is_empty() => json!(name),
        options => json!({"name": name, "options": options}),
    }
}

fn filter() -> impl Strategy<Value = Twin<FilterSpec>> {
    let most = 10_000_000;
    let window = (number(1_000_000), any::<bool>()).prop_map(|(n, turns)| {
        let (size, key) = if turns { (WindowSize::Turns(n), "turns") } else { (WindowSize::Pairs(n), "pairs") };
        (FilterSpec::HistoryWindow(size), named("historyWindow", json!({key: n})))
    });
    let stable =
        (number(most), option::of(select(vec![0.0, 0.5, 1.0, 20.0, -1.0, 1e9]))).prop_map(|(max_tokens, keep)| {
            let json = named("stableWindow", json!({"maxTokens": max_tokens, "keep": keep}));
            (FilterSpec::StableWindow { max_tokens, keep }, json)
        });
    let modules = number(most).prop_map(|max_tokens| {
        (FilterSpec::ModuleBudget { max_tokens }, named("moduleBudget", json!({"maxTokens": max_tokens})))
    });
    prop_oneof![
        window,
        stable,
        modules,
        size_limiter(),
        file_limiter(),
        backfill(),
        Just((FilterSpec::CollapseGroupReplacer, json!("collapseGroupReplacer"))),
        Just((FilterSpec::Dedupe, json!("dedupe"))),
    ]
}

fn size_limiter() -> impl Strategy<Value = Twin<FilterSpec>> {
    let flag = || option::of(any::<bool>());
    let numbers = (option::of(number(10_000_000)), option::of(number(10_000_000)), option::of(any::<u32>()));
    (numbers, flag(), flag(), flag(), option::of(tokenizer())).prop_map(
        |((max_tokens, overhead, chars), system, user, preserve, tokenizer)| {
            let json = json!({"maxTokens": max_tokens, "perMessageOverhead": overhead, "prioritizeSystem": system,
                "prioritizeUser": user, "preserveAtLeastOneSystem": preserve, "maxContentChars": chars,
                "tokenizer": tokenizer.map(Tokenizer::name)});
            let options = SizeLimitOptions {
                max_tokens,
                per_message_overhead: overhead,
                prioritize_system: system,
                prioritize_user: user,
                preserve_at_least_one_system: preserve,
                max_content_chars: chars,
                tokenizer,
            };
            (FilterSpec::SizeLimiter(options), named("sizeLimiter", json))
        },
    )
}

fn file_limiter() -> impl Strategy<Value = Twin<FilterSpec>> {
    let flag = || option::of(any::<bool>());
    (option::of(number(1_000)), option::of(number(1_000)), option::of(text()), flag(), flag()).prop_map(
        |(files, versions, placeholder, calls, answers)| {
            let json = json!({"filesLimit": files, "versionsPerFile": versions, "placeholder": placeholder,
                "detectAssistantToolCalls": calls, "detectToolMessages": answers});
            let options = FileLimitOptions {
                files_limit: files,
                versions_per_file: versions,
                placeholder,
                detect_assistant_tool_calls: calls,
                detect_tool_messages: answers,
            };
            (FilterSpec::FileContentsLimiter(options), named("fileContentsLimiter", json))
        },
    )
}

fn backfill() -> impl Strategy<Value = Twin<FilterSpec>> {
    (option::of(role()), option::of(role()), option::of(text()), option::of(any::<bool>())).prop_map(
        |(role, orphan_role, missing_content, strip)| {
            let json = json!({"role": role.map(Role::name), "orphanRole": orphan_role.map(Role::name),
                "missingContent": missing_content, "stripOrphanToolId": strip});
            let options = BackfillOptions { role, orphan_role, missing_content, strip_orphan_tool_id: strip };
            (FilterSpec::ToolCallBackfill(options), named("toolCallBackfill", json))
        },
    )
}

type Rest = (Option<u32>, Option<Tokenizer>, Option<bool>, Option<DocIdMode>);

fn rest() -> impl Strategy<Value = Rest> {
    let tag = option::of(select(vec![DocIdMode::Counted, DocIdMode::Shown]));
    (option::of(number(10_000_000)), option::of(tokenizer()), option::of(any::<bool>()), tag)
}

fn insert<T: Into<Value>>(fields: &mut Map<String, Value>, key: &str, value: Option<T>) {
    fields.extend(value.map(|value| (key.to_owned(), value.into())));
}

proptest! {
    #[test]
    fn a_built_recipe_is_the_decoded_one(
        components in vec(component(), 0..5),
        filters in vec(filter(), 0..5),
        (budget, tokenizer, promotes, tag) in rest(),
    ) {
        let (specs, component_json): (Vec<_>, Vec<_>) = components.into_iter().unzip();
        let (filter_specs, filter_json): (Vec<_>, Vec<_>) = filters.into_iter().unzip();
        let mut fields = Map::new();
        insert(&mut fields, "docIds", tag.map(|tag| if tag == DocIdMode::Shown { "shown" } else { "counted" }));
        insert(&mut fields, "components", Some(component_json).filter(|list| !list.is_empty()));
        insert(&mut fields, "filters", Some(filter_json).filter(|list| !list.is_empty()));
        insert(&mut fields, "budget_tokens", budget);
        insert(&mut fields, "tokenizer", tokenizer.map(Tokenizer::name));
        insert(&mut fields, "promoteUpstream", promotes);
        let mut builder = filter_specs.into_iter().fold(RecipeBuilder::new().components(specs), RecipeBuilder::filter);
        builder = budget.into_iter().fold(builder, RecipeBuilder::budget_tokens);
        builder = tokenizer.into_iter().fold(builder, RecipeBuilder::tokenizer);
        builder = promotes.into_iter().fold(builder, RecipeBuilder::promote_upstream);
        builder = tag.into_iter().fold(builder, RecipeBuilder::doc_ids);
        check(builder, &Value::Object(fields));
    }
}
