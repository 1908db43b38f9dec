use proptest::prelude::*;

use super::*;

fn greetings() -> Vec<String> {
    ["oi", "olá", "bom dia", "tudo bem"].map(str::to_owned).to_vec()
}

/// The whole of it, taken in these parts.
fn clean(parts: &[&str], greetings: Option<&[String]>) -> (String, Option<Block>) {
    let mut cleaner = Cleaner::new(greetings);
    let mut out: String = parts.iter().map(|part| cleaner.push(part)).collect();
    let (rest, block) = cleaner.finish();
    out.push_str(&rest);
    (out, block)
}

#[track_caller]
fn check(text: &str, expect: &str) {
    assert_eq!(clean(&[text], None), (expect.to_owned(), None), "{text:?}");
}

#[track_caller]
fn check_greeting(text: &str, expect: &str) {
    assert_eq!(clean(&[text], Some(&greetings())), (expect.to_owned(), None), "{text:?}");
}

#[track_caller]
fn check_block(text: &str, shown: &str) -> Block {
    let (out, block) = clean(&[text], None);
    assert_eq!(out, shown, "{text:?}");
    block.unwrap_or_else(|| panic!("no block in {text:?}"))
}

#[test]
fn blanks_go_at_both_ends_and_empty_lines_between() {
    check("", "");
    check(" \n\t ", "");
    check(" \n Olá, Ana. \n\n", "Olá, Ana.");
    check("a\n\nb", "a\n\nb");
    check("a\n\n\nb", "a\n\nb");
    check("a\n \n\t\n\n  b  c", "a\n\n  b  c");
    check("a \n b", "a \n b");
    check("a\r\n\r\n\r\nb", "a\n\nb");
}

#[test]
fn thoughts_at_the_front_go() {
    check("<think>hm</think>Sim.", "Sim.");
    check(" \n<THINK>hm <b> </thin </think>\n\n Sim.", "Sim.");
    check("<think></think><think>a</think>Sim.", "Sim.");
    check("<think>é\u{301}🙂</think>Eco: Sim.", "Sim.");
    check("Sim. <think>hm</think>", "Sim. <think>hm</think>");
    check("<thin>", "<thin>");
    check("<", "<");
    check("<think>and so on", "");
    check("<think>a</think>", "");
}

#[test]
fn the_speaker_goes() {
    for name in ["Eco", "ECO", "Assistente", "assistant"] {
        for text in [format!("{name}: Sim."), format!(" **{name}:** Sim."), format!("**{name}**:\n\nSim.")] {
            check(&text, "Sim.");
        }
    }
    check("Eco: Eco: Sim.", "Eco: Sim.");
    check("Ecos: dois", "Ecos: dois");
    check("Eco é bom.", "Eco é bom.");
    check("Sim. Eco: não.", "Sim. Eco: não.");
    check("Ec", "Ec");
    check("**Sim.**", "**Sim.**");
}

#[test]
fn a_redundant_greeting_goes() {
    check("Oi, Ana! Que bom.", "Oi, Ana! Que bom.");
    for text in [
        "Oi! Que bom.",
        "Oi!!! Que bom.",
        "Olá... que bom.",
        "OLÁ, que bom.",
        "Ola\u{301}, que bom.",
        "Oi, Ana! Que bom.",
        "Oi, Ana, que bom.",
        "Oi, Ana Maria. Que bom.",
        "Oi Ana! Que bom.",
        "Oi Ana, que bom.",
        "Oi de novo! Que bom.",
        "Bom dia, Ana. Que bom.",
        "Bom dia!\n\nQue bom.",
        "Bom dia\nQue bom.",
        "Oi, tudo bem? Que bom.",
        "Oi, Ana, tudo bem? Que bom.",
        "Oi tudo bem? Que bom.",
        "Eco: oi, que bom.",
        "<think>x</think> Oi! que bom.",
    ] {
        check_greeting(text, "Que bom.");
    }
    for text in [
        "Que bom. Oi!",
        "Oito dias, Ana!",
        "Oi meu bem querido, sim.",
        "Oi: é assim.",
        "Bom, dia cheio!",
        "Bom dia cansativo, o de hoje.",
        "**Oi!** Sim.",
        "\"Oi\", disse ela.",
        "Bom",
        "🙂 Oi!",
    ] {
        check_greeting(text, text);
    }
    check_greeting("Oi, entendo você.", "Entendo você.");
    check_greeting("Oi, Entendo você bem.", "Entendo você bem.");
    check_greeting("Oi, Ana e Bia!", "Ana e Bia!");
    check_greeting("Oi, é isso", "É isso");
    check_greeting("Oi, sim", "Sim");
    // Not without end.
    check_greeting("Oi! Oi! Oi! Oi! Sim.", "Oi! Sim.");
}

#[test]
fn a_greeting_that_is_all_of_it_stays() {
    for text in ["Oi!", "Oi", "Oi, Ana", "Oi, Ana!", "Oi, Ana! Tudo bem?", "Bom dia!!", "Olá,", "Oi! Oi!"] {
        check_greeting(text, text);
    }
    let (out, block) = clean(&["Oi, Ana! {\"intensidade\": 2}"], Some(&greetings()));
    assert_eq!((out.as_str(), block.and_then(|it| it.intensity)), ("", Some(2.0)));
}

#[test]
fn the_block_is_read_and_never_shows() {
    let json = r#"{"intensidade": 7.5, "resumo": " Um dia duro. ", "tags": ["luto", "mãe"], "categoria": "família", "emocao": "tristeza"}"#;
    let expect = Block {
        intensity: Some(7.5),
        summary: Some("Um dia duro.".into()),
        tags: vec!["luto".into(), "mãe".into()],
        category: Some("família".into()),
        emotion: Some("tristeza".into()),
    };
    for text in [
        format!("Sim.\n\n```json\n{json}\n```"),
        format!("Sim.\n\n```json\n{json}\n```\n \n"),
        format!("Sim.\n```JSON \n\n{json}\n\n```"),
        format!("Sim.\n```\n{json}\n```"),
        format!("Sim.\n  ```json\n  {json}\n  ```"),
        format!("Sim.\n```json\n{json}"),
        format!("Sim.\n```json\n{json}\n``"),
        format!("Sim.\n{json}"),
        format!("Sim.\n\n   {json}\n\n"),
        format!("Sim.\n\n{}", json.replace(", \"", ",\n  \"").replace('{', "{\n  ")),
    ] {
        assert_eq!(check_block(&text, "Sim."), expect);
    }
    assert_eq!(check_block(json, ""), expect);
}

#[test]
fn any_key_makes_a_block_and_wrong_types_are_left_out() {
    let read = |json: &str| check_block(&format!("Sim.\n{json}"), "Sim.");
    assert_eq!(read(r#"{"resumo": 1}"#), Block::default());
    assert_eq!(read(r#"{"tags": null, "x": {"y": [1, "}"]}}"#), Block::default());
    let odd =
        read(r#"{"intensidade": "7", "tags": ["a", 2, " ", "b\"}"], "emocao_principal": "medo", "categoria": []}"#);
    assert_eq!(odd, Block { tags: vec!["a".into(), "b\"}".into()], emotion: Some("medo".into()), ..Block::default() });
    let both = read(r#"{"emocao_principal": "medo", "emocao": "raiva"}"#);
    assert_eq!(both.emotion.as_deref(), Some("raiva"));
    for (number, expect) in [("-1", 0.0), ("0", 0.0), ("10", 10.0), ("10.1", 10.0), ("1e300", 10.0)] {
        assert_eq!(read(&format!("{{\"intensidade\": {number}}}")).intensity, Some(expect));
    }
}

#[test]
fn a_block_is_capped() {
    let of = |chars: usize, tags: usize, tag: usize| {
        let tags = vec![serde_json::Value::from("é".repeat(tag)); tags];
        let json = serde_json::json!({"resumo": "é".repeat(chars), "tags": tags});
        let block = check_block(&json.to_string(), "");
        let first = block.tags.first().map_or(0, |tag| tag.chars().count());
        (block.summary.unwrap().chars().count(), block.tags.len(), first)
    };
    assert_eq!(of(400, 10, 40), (400, 10, 40));
    assert_eq!(of(401, 11, 41), (400, 10, 40));
    let long = |bytes: usize| {
        let frame = r#"{"resumo": ""}"#;
        let text = frame.replace("\"\"", &format!("\"{}\"", "x".repeat(bytes - frame.len())));
        clean(&[&text], None).1.is_some()
    };
    assert_eq!([long(8 * 1024), long(8 * 1024 + 1)], [true, false]);
    let deep = |depth: usize| {
        let text = format!(r#"{{"resumo": "x", "y": {}{}}}"#, "[".repeat(depth - 1), "]".repeat(depth - 1));
        clean(&[&text], None).1.is_some()
    };
    assert_eq!([deep(8), deep(9)], [true, false]);
}

#[test]
fn what_is_no_block_shows() {
    for text in [
        "Sim.\n{\"intensidade\": 7} e mais",
        "Sim.\n{\"intensidade\": 7}\n\nE mais.",
        "Sim.\n```json\n{\"intensidade\": 7}\n```\nE mais.",
        "Sim.\n```json\n{\"intensidade\": 7}\n```x",
        "Sim.\n```json\n{\"intensidade\": 7}```",
        "Sim.\n```json\n{\"outro\": 7}\n```",
        "Sim.\n```json\n[1]\n```",
        "Sim.\n```python\nprint({})\n```",
        "Sim.\n```js\n{\"resumo\": 1}\n```",
        "Sim. {\"intensidade\": 7}",
        "Sim.\n- {\"intensidade\": 7}",
        "{}",
        "{",
        "```",
        "`x`",
        "{ um sorriso }",
        "{\"resumo\": \"a\nb\"}",
    ] {
        check(text, text);
    }
}

#[test]
fn what_was_meant_as_a_block_never_shows() {
    for cut in ["{\"intensidade\": 7", "```json\n{\"intensidade\": 6,\"resumo\":\"sofreu mui", "{\"intensidade\"]"] {
        check(&format!("Sim.\n\n{cut}"), "Sim.");
    }
    for whole in ["\n{\"intensidade\": 7,}", " ```json\n{\"intensidade\": 7, \"tags\": [\"a\",],\n}\n```"] {
        assert_eq!(check_block(&format!("Sim.{whole}"), "Sim.").intensity, Some(7.0), "{whole}");
    }
}

#[test]
fn a_block_may_follow_what_is_none() {
    for before in
        ["{ sorri", "{\"a\": [", "```\n{", "```json\n{\"outro\": 1}\n```", "{\"resumo\": \"a\"}", "{\"resumo\": \"a"]
    {
        let block = check_block(&format!("{before}\n{{\"intensidade\": 3}}"), before);
        assert_eq!(block.intensity, Some(3.0), "{before}");
    }
}

#[test]
fn nothing_is_held_back_for_long() {
    let mut cleaner = Cleaner::new(Some(&greetings()));
    let mut shown = |text: &str| cleaner.push(text);
    assert_eq!(shown("Oi, Ana"), "");
    assert_eq!(shown("! Ent"), "");
    assert_eq!(shown("endo "), "Entendo");
    assert_eq!(shown("bem."), " bem.");
    assert_eq!(shown("\n\n"), "");
    assert_eq!(shown("Sim `x` {y}"), "\n\nSim `x` {y}");
    assert_eq!(shown("\n{"), "");
    assert_eq!(shown("y"), "\n{y");
    assert_eq!(Cleaner::new(None).push("Ent"), "Ent");
    let mut long = Cleaner::new(Some(&[]));
    assert_eq!(long.push("Oi, "), "Oi,");
}

#[test]
fn hostile_texts_are_cleaned_too() {
    let parts = [
        "{",
        "{\"",
        "{\"a\":\n",
        "`",
        "```\n",
        "```json\n{\"resumo\":\n",
        "\n",
        " ",
        "<think>",
        "Oi, ",
        "é",
        "\u{301}",
        "Oi ",
    ];
    for part in parts {
        let text = part.repeat(100_000 / part.len());
        let (out, _) = clean(&[&text], Some(&greetings()));
        assert!(out.chars().count() <= text.chars().count());
    }
}

/// Pieces that something is made of in every rule.
fn pieces() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "<think>",
        "</think>",
        "Eco:",
        "**",
        "Oi",
        "olá",
        "bom dia",
        "Ana",
        "tudo bem",
        ",",
        "!",
        "?",
        ".",
        " ",
        "\n",
        "\n\n\n",
        "```",
        "json",
        "{",
        "}",
        "\"intensidade\": 7",
        "\"resumo\": \"a\"",
        "{\"intensidade\": 3}",
        ",",
        "[",
        "]",
        "\\",
        "\"",
        "é",
        "e\u{301}",
        "🙂",
        "x",
        "```json\n{\"tags\": [\"a\"]}\n```",
        "\r\n",
    ]);
    prop::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    #[test]
    fn a_text_may_be_cut_anywhere(text in pieces(), seed in prop::collection::vec(1usize..9, 1..20), greets: bool) {
        let greetings = greetings();
        let greetings = greets.then_some(&greetings[..]);
        let chars: Vec<String> = text.chars().map(String::from).collect();
        let mut parts = Vec::new();
        let (mut rest, mut sizes) = (&chars[..], seed.iter().cycle());
        while !rest.is_empty() {
            let (part, after) = rest.split_at(rest.len().min(*sizes.next().unwrap()));
            parts.push(part.concat());
            rest = after;
        }
        let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
        let whole = clean(&[&text], greetings);
        prop_assert_eq!(&clean(&parts, greetings), &whole);
        prop_assert_eq!(whole.0.trim(), &whole.0);
        prop_assert!(!whole.0.contains("\n\n\n"));
    }

    #[test]
    fn a_plain_text_is_left_as_it_is(text in "[a-z ,.!?é]{0,40}[a-z.]") {
        let text = text.trim();
        prop_assert_eq!(clean(&[text], None), (text.to_owned(), None));
    }
}
