//! Every rule of a decision, at its threshold and one past it.

use serde_json::{Value, json};

use super::*;

pub fn files() -> [Value; 4] {
    [
        json!({
            "negations": ["não", "nem", "sem"],
            "intensity": [
                {"name": "desespero", "weight": 4, "any": ["não aguento mais", "desespero"]},
                {"name": "tristeza", "weight": 3, "any": ["triste", "choro"]},
                {"name": "tedio", "weight": 0.9, "any": ["tédio"]},
                {"name": "susto", "weight": 0.1, "any": ["susto"]},
                {"name": "panico", "weight": 9.9, "any": ["pânico"]},
            ],
            "amplifiers": {"weight": 0.5, "at_most": 1.5, "any": ["muito", "demais"]},
            "emphasis": {"exclamations": 0.4, "capitals": 0.6},
            "vulnerability": ["me sinto sozinho"],
            "heavy": ["abuso"],
            "triggers": ["preciso desabafar"],
            "emotions": [
                {"name": "medo", "any": ["medo", "assustado"]},
                {"name": "tristeza", "any": ["triste", "choro", "lágrimas"]},
            ],
            "categories": [
                {"name": "trabalho", "any": ["trabalho", "chefe"]},
                {"name": "família", "any": ["mãe", "pai"]},
            ],
        }),
        json!([
            {"name": "culpa", "about": "x", "any": ["minha culpa", "me culpo"], "examples": ["Foi tudo por minha causa."]},
            {"name": "luto", "examples": ["Ele morreu.", "Ela se foi."], "similarity": 0.7},
        ]),
        json!({
            "words_max": 4,
            "phrases": ["oi", "olá", "bom dia"],
            "fillers": ["eco", "tudo bem"],
            "answers": {"named": ["Oi, {name}!"], "unnamed": ["Oi!", "Olá!"]},
        }),
        json!({
            "phrases": ["quero morrer", "me matar"],
            "except": ["morrer de rir", "me matar de trabalhar"],
            "locales": {"pt-BR": "Ligue 188.", "en-US": "Call 988."},
        }),
    ]
}

pub fn decode(files: &[Value; 4]) -> Result<Rules, DecodeError> {
    let [signals, heuristics, greetings, safety] = files;
    Rules::decode(&Files { signals, heuristics, greetings, safety })
}

pub fn rules() -> Rules {
    decode(&files()).unwrap()
}

#[track_caller]
fn check(text: &str, intensity: f32, openness: u8) {
    let rules = rules();
    let decision = rules.decide(&rules.read(text));
    assert_eq!((decision.intensity, decision.openness), (intensity, openness), "{text}: {:?}", decision.fired);
}

#[test]
fn groups_add_up_each_once() {
    check("Está tudo certo.", 0.0, 1);
    check("Que TRISTE", 3.0, 1);
    check("triste, tristes, choro e choros", 3.0, 1);
    check("desespero e choro", 7.0, 2);
    let rules = rules();
    let decision = rules.decide(&rules.read("choro de desespero, de muito desespero"));
    let fired = |name: &str, words: &str, weight| Fired { name: name.into(), words: words.into(), weight };
    assert_eq!(decision.fired, [fired("desespero", "desespero", 4.0), fired("tristeza", "choro", 3.0)]);
}

#[test]
fn openness_goes_by_intensity_and_vulnerability() {
    let sozinho = |text: &str| format!("{text}; me sinto sozinho");
    check("desespero, tédio", 4.9, 1);
    check("desespero, tédio, susto", 5.0, 2);
    check(&sozinho("desespero, tédio"), 4.9, 1);
    check(&sozinho("desespero, tédio, susto"), 5.0, 2);
    // 4 + 0.9 + 1.5
    check("desespero, tédio, muito demais muito", 6.4, 2);
    check(&sozinho("desespero, tédio, muito demais muito!! TUDO MESMO, susto"), 7.5, 3);
    check(&sozinho("desespero, tédio, muito demais muito, susto, X!!"), 6.9, 2);
    check("triste, desespero", 7.0, 2);
    check(&sozinho("triste, desespero"), 7.0, 3);
}

#[test]
fn steps_and_saving_go_with_it() {
    let rules = rules();
    let decide = |text: &str| rules.decide(&rules.read(text));
    let names = |decision: &Decision| decision.steps.iter().map(|step| step.name()).collect::<Vec<_>>().join(" ");
    let [calm, open, wide] = ["oi", "triste, desespero", "triste, desespero, me sinto sozinha"].map(decide);
    assert_eq!([names(&calm), names(&open), names(&wide)], ["V A", "V I A", "V I V A Pausa"]);
    assert_eq!([calm.saves, open.saves, wide.saves], [false, true, true]);
    assert_eq!(wide.vulnerable.as_deref(), Some("me sinto sozinho"));
    assert_eq!(calm.vulnerable, None);
    let almost = decide("desespero, tédio, muito demais muito, susto, X!!");
    assert_eq!((almost.intensity, almost.saves), (6.9, false));
}

#[test]
fn denied_signals_do_not_count() {
    check("não triste", 0.0, 1);
    check("não estou triste", 0.0, 1);
    check("não, nem de longe triste", 3.0, 1);
    check("não estou mesmo nada triste", 3.0, 1);
    // Words that only amplify do not part them.
    check("não estou muito triste", 0.0, 1);
    check("Não. Triste", 3.0, 1);
    check("não, triste", 3.0, 1);
    check("não\ntriste", 3.0, 1);
    // A phrase that says no by itself.
    check("não aguento mais", 4.0, 1);
    check("não não aguento mais", 4.0, 1);
    check("aguento mais", 0.0, 1);
    check("não estou triste; agora choro", 3.0, 1);
    let rules = rules();
    let read = |text: &str| rules.read(text);
    assert_eq!(rules.decide(&read("não me sinto sozinho")).vulnerable, None);
    assert_eq!(rules.trigger(&read("não preciso desabafar")), None);
    assert_eq!(rules.trigger(&read("hoje preciso desabafar")), Some("preciso desabafar"));
    assert!(rules.heuristics(&read("não foi minha culpa")).is_empty());
}

#[test]
fn amplifiers_and_emphasis_count_only_beside_a_group() {
    check("muito demais!! TUDO MESMO", 0.0, 1);
    check("muito triste", 3.5, 1);
    check("muito muito muito triste", 4.5, 1);
    check("muito muito muito muito triste", 4.5, 1);
    check("triste!", 3.0, 1);
    check("triste!!", 3.4, 1);
    check("triste !!!!!", 3.4, 1);
    check("triste, TUDO", 3.0, 1);
    check("triste, TUDO ISSO", 3.6, 1);
    check("triste, TU DO EU", 3.0, 1);
    check("triste, Tudo Isso", 3.0, 1);
    check("triste, AÇÃO ÀÉÍ", 3.6, 1);
}

#[test]
fn intensity_ends_at_ten() {
    check("pânico", 9.9, 2);
    check("pânico, susto", 10.0, 2);
    check("pânico, susto, tédio", 10.0, 2);
}

#[test]
fn simple_is_short_or_light() {
    let rules = rules();
    let is_simple = |text: &str| rules.is_simple(&rules.read(text));
    // 23 words that end with a heavy one, of so many characters.
    let of = |chars: usize| {
        let words = format!("{} abuso", vec!["ab"; 22].join(" "));
        format!("{words} {}", "!".repeat(chars - words.len() - 1))
    };
    assert_eq!([of(140), of(141)].map(|text| is_simple(&text)), [true, false]);
    assert!(is_simple(&format!("  {}\n ", of(140))));
    let words = |count: usize| format!("{}abuso", "constantemente ".repeat(count - 1));
    assert!(words(22).len() > 140);
    assert_eq!([words(22), words(23)].map(|text| is_simple(&text)), [true, false]);
    // Characters, not bytes; and what has no letter is no word.
    assert!(is_simple(&format!("{}abuso", "é ".repeat(67))));
    assert!(!is_simple(&format!("{}abuso", "é ".repeat(68))));
    assert!(is_simple(&format!("{} {}", words(22), "🙂 ".repeat(50))));
    assert!(is_simple(&"constantemente ".repeat(100)));
    assert!(is_simple(&format!("{} sem abuso", words(40).replace("abuso", ""))));
}

#[test]
fn heuristics_fire_by_words() {
    let rules = rules();
    let fired = rules.heuristics(&rules.read("Eu me culpo, sei que é minha culpa"));
    assert_eq!(fired, [Fired { name: "culpa".into(), words: "me culpo".into(), weight: 0.0 }]);
    assert!(rules.heuristics(&rules.read("Ele morreu.")).is_empty());
    let of = |example: &Example| (example.heuristic.clone(), example.text.clone(), example.similarity);
    let examples: Vec<_> = rules.examples().iter().map(of).collect();
    assert_eq!(examples[0], ("culpa".into(), "Foi tudo por minha causa.".into(), 0.6));
    assert_eq!(examples[2], ("luto".into(), "Ela se foi.".into(), 0.7));
    assert_eq!(rules.heuristic_names().collect::<Vec<_>>(), ["culpa", "luto"]);
}

#[test]
fn a_greeting_is_nothing_more() {
    let rules = rules();
    for text in ["Oi", "OLÁ!", "Bom dia, Eco", "oi, tudo bem?", "Oi 🙂", "oi olá bom dia", "  olá…\n"] {
        assert!(rules.is_greeting(&rules.read(text)), "{text}");
    }
    for text in ["", "🙂", "tudo bem?", "eco, oi", "bom", "bom, tudo", "oi, ajuda", "oi oi oi oi oi", "Oito", "oi tudo"]
    {
        assert!(!rules.is_greeting(&rules.read(text)), "{text}");
    }
    assert_eq!(rules.greeting(true), ["Oi, {name}!"]);
    assert_eq!(rules.greeting(false), ["Oi!", "Olá!"]);
    assert_eq!(rules.greeting_phrases().collect::<Vec<_>>(), ["oi", "olá", "bom dia"]);
}

#[test]
fn a_crisis_is_told_but_for_its_exceptions() {
    let rules = rules();
    let crisis = |text: &str| rules.crisis(&rules.read(text)).map(str::to_owned);
    assert_eq!(crisis("Hoje quero MORRER"), Some("quero morrer".to_owned()));
    assert_eq!(crisis("Penso em me matar."), Some("me matar".to_owned()));
    assert_eq!(crisis("Não quero morrer"), Some("quero morrer".to_owned()));
    assert_eq!(crisis("quero morrer de rir"), None);
    assert_eq!(crisis("vou me matar de trabalhar"), None);
    assert_eq!(crisis("quero morrer de rir; não: quero morrer"), Some("quero morrer".to_owned()));
    assert_eq!(crisis("quero morrer, de rir já basta"), Some("quero morrer".to_owned()));
    assert_eq!(crisis("quero, morrer"), Some("quero morrer".to_owned()));
    assert_eq!(crisis("morrer"), None);
    assert_eq!(rules.help("en-US"), Some("Call 988."));
    assert_eq!(rules.help("fr-FR"), None);
    let mut locales: Vec<_> = rules.locales().collect();
    locales.sort_unstable();
    assert_eq!(locales, ["en-US", "pt-BR"]);
}

#[test]
fn danger_is_over_after_so_many_calm_turns() {
    let mut files = files();
    files[3]["calm_turns"] = json!(2);
    let rules = decode(&files).unwrap();
    let voiced = |before: &[&str]| {
        let danger = rules.voiced_danger(before.iter().rev());
        danger.map(|danger| (danger.calm_turns, danger.is_over))
    };
    assert_eq!(voiced(&[]), None);
    assert_eq!(voiced(&["Oi", "tudo bem"]), None);
    assert_eq!(voiced(&["quero morrer"]), Some((0, false)));
    assert_eq!(voiced(&["quero morrer", "obrigado"]), Some((1, false)));
    assert_eq!(voiced(&["quero morrer", "obrigado", "sim"]), Some((2, true)));
    assert_eq!(voiced(&["quero morrer", "obrigado", "sim", "não"]), None);
    // What is intense is not calm, and danger that is voiced again begins anew.
    assert_eq!(voiced(&["quero morrer", "desespero e choro", "sim"]), Some((1, false)));
    assert_eq!(voiced(&["quero morrer", "obrigado", "sim", "vou me matar", "sim"]), Some((1, false)));
    assert_eq!(voiced(&["quero morrer de rir", "sim"]), None);
    let decision = rules.decide(&rules.read("quero morrer")).in_danger("quero morrer");
    assert_eq!((decision.intensity, decision.openness, decision.saves), (7.0, 3, false));
    assert_eq!(decision.vulnerable.as_deref(), Some("quero morrer"));
    let intense = rules.decide(&rules.read("pânico, quero morrer, me sinto sozinho")).in_danger("quero morrer");
    assert_eq!((intense.intensity, intense.vulnerable.as_deref()), (9.9, Some("me sinto sozinho")));
}

#[test]
fn a_long_message_is_read_to_its_end() {
    let rules = rules();
    for (before, after) in [(0, 0), (4_000, 4_000), (16_000, 0), (0, 16_000)] {
        let text = format!("{}quero morrer {}", "a ".repeat(before), "a ".repeat(after));
        assert!(rules.crisis(&rules.read(&text)).is_some(), "{before} words before, {after} after");
    }
}

#[test]
fn a_block_tells_what_the_words_tell() {
    let rules = rules();
    let block = |text: &str| rules.block(&rules.read(text));
    let told =
        block("Minha mãe está triste. Eu choro, com medo, e meu chefe também. Lágrimas, não quero falar do trabalho.");
    assert_eq!(told.emotion.as_deref(), Some("tristeza"));
    assert_eq!(told.category.as_deref(), Some("trabalho"));
    assert_eq!(told.tags, ["tristeza", "medo", "trabalho", "família"]);
    assert_eq!((told.intensity, told.summary.as_deref()), (Some(3.0), Some("Minha mãe está triste.")));
    // Equal numbers: the one that the policy has first. The same phrase twice is one, and one that is denied
    // is none.
    assert_eq!(block("triste, triste, medo").emotion.as_deref(), Some("medo"));
    assert_eq!(block("não tenho medo; triste").emotion.as_deref(), Some("tristeza"));
    let nothing = block(" ");
    assert_eq!((nothing.emotion, nothing.category, nothing.summary), (None, None, None));
    assert!(nothing.tags.is_empty());
}

#[test]
fn a_summary_is_the_first_sentence() {
    let rules = rules();
    let summary = |text: &str| rules.read(text).summary.unwrap_or_default();
    assert_eq!(summary("Paguei R$ 3.50 hoje! E daí?"), "Paguei R$ 3.50 hoje!");
    assert_eq!(summary("\n uma   linha\toutra \n segunda"), "uma linha outra");
    assert_eq!(summary("sem\u{0}fim\u{7}"), "semfim");
    assert_eq!(summary("Oi! Perdi meu pai ontem. Não sei o que fazer."), "Perdi meu pai ontem.");
    assert_eq!(summary("Bom dia, Eco.\nPerdi meu pai"), "Perdi meu pai");
    assert_eq!([summary("Oi!"), summary("Oi! Olá! Bom dia")], ["Oi!", "Olá!"]);
    for (chars, expect) in [(140, 140), (141, 140)] {
        assert_eq!(summary(&"é".repeat(chars)).chars().count(), expect);
    }
    assert!(summary(&"é".repeat(141)).ends_with("é…"));
    assert_eq!(summary(&"abc ".repeat(40)), format!("{}…", vec!["abc"; 35].join(" ")));
}

#[test]
fn any_text_can_be_read() {
    let rules = rules();
    let long =
        ["quero ", "não ", "é", "a\u{301}", "🙂", "我喜", "!", "\u{0}"].map(|part| part.repeat(100_000 / part.len()));
    let short = ["", " ", "\n\t\r", "🙂", "\u{301}\u{301}", "\u{0}\u{7}\u{1b}", "👩‍👩‍👧‍👦", "\u{202e}iO", "ﷺ", "İ"];
    for text in long.iter().map(String::as_str).chain(short) {
        let read = rules.read(text);
        let decision = rules.decide(&read);
        assert_eq!((decision.intensity, decision.openness), (0.0, 1));
        assert_eq!((rules.crisis(&read), rules.is_greeting(&read)), (None, false));
        assert!(rules.block(&read).summary.is_none_or(|text| text.chars().count() <= SUMMARY_CHARS_MAX));
        route(&rules, &read, &decision, Asked::default());
    }
}
