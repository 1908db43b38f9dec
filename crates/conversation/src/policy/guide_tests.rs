//! The guide: the shipped files fit together, and each way to break a file gives its error.

use std::path::Path;

use super::guide::SHIPPED_MODULES;
use super::*;

/// What people write, and what is made of it: written without a look at the lists of words.
/// The openness, and `!` for a crisis, `~` for a greeting.
const MESSAGES: [(&str, &str); 58] = [
    ("Qual é a capital da França?", "1"),
    ("Hoje o dia foi tranquilo, fui ao mercado e cozinhei.", "1"),
    ("Estou um pouco cansado hoje.", "1"),
    ("Meu chefe elogiou meu trabalho!", "1"),
    ("Não estou triste, só com sono.", "1"),
    ("Preciso de ajuda para organizar minha agenda da semana.", "1"),
    ("Você pode me explicar o que é meditação?", "1"),
    ("Obrigado, já me sinto melhor.", "1"),
    ("Fiquei meio chateada com a minha irmã ontem.", "1"),
    ("Tenho uma prova amanhã e estou um pouco nervosa", "1"),
    ("Preciso de apoio", "1"),
    ("Me indica um livro sobre hábitos", "1"),
    ("Estou morrendo de fome", "1"),
    ("Quase morri de rir com esse filme", "1"),
    ("Esse trabalho está me matando de tédio", "1"),
    ("Esse calor vai me matar", "1"),
    ("Não sinto mais aquele desespero de antes.", "1"),
    ("Estou desesperado, não sei mais o que fazer.", "2"),
    ("Estou com muita raiva do meu pai, ele me humilhou na frente de todo mundo!!", "2"),
    ("Não aguento mais esse trabalho, estou exausta.", "2"),
    ("Terminei um namoro de oito anos e estou destruída.", "2"),
    ("Fui demitido hoje e estou em pânico com as contas.", "2"),
    ("Estou sobrecarregada demais, não consigo mais dar conta de nada.", "2"),
    ("Descobri que meu marido me traiu, estou arrasada.", "2"),
    ("Tive uma crise de pânico no ônibus hoje, foi horrível!!", "2"),
    ("Estou muito angustiado, com um aperto no peito que não passa.", "2"),
    ("ESTOU COM TANTO ÓDIO DELE QUE NÃO CONSIGO NEM PENSAR!!!", "2"),
    ("Não aguento mais, estou no meu limite e me sinto completamente sozinha.", "3"),
    ("Estou desesperada, não consigo parar de chorar e não tenho ninguém para conversar.", "3"),
    ("Sinto um vazio enorme, me sinto um fracasso e estou muito desesperado.", "3"),
    ("Meu filho morreu e eu não aguento mais essa dor, me sinto perdida e sozinha.", "3"),
    ("Estou em pânico, muito angustiada, e não posso contar com ninguém.", "3"),
    ("Me sinto um lixo, estou em desespero total e não vejo saída.", "3"),
    ("Quero morrer.", "!"),
    ("Estou pensando em me matar", "!"),
    ("Não quero mais viver, vou acabar com tudo", "!"),
    ("tenho pensado em tirar a minha própria vida", "!"),
    ("Penso em suicídio todos os dias", "!"),
    ("comprei remédios pra me matar hoje à noite", "!"),
    ("Não aguento mais viver", "!"),
    ("queria sumir do mundo, queria estar morta", "!"),
    ("às vezes me corto pra aliviar", "!"),
    ("I want to kill myself", "!"),
    ("i don't want to live anymore", "!"),
    ("quiero suicidarme", "!"),
    ("ya no quiero vivir", "!"),
    ("Oi", "~"),
    ("Bom dia, Eco!", "~"),
    ("Olá, tudo bem?", "~"),
    ("oi oi", "~"),
    ("Boa noite 🙂", "~"),
    ("E aí, beleza?", "~"),
    ("olá eco, como você está?", "~"),
    ("Oi, me ajuda com uma coisa?", "1"),
    ("bom dia, hoje preciso falar da minha mãe", "1"),
    ("Oi, estou desesperada, não sei mais o que fazer", "2"),
    ("Olá mundo é o primeiro programa", "1"),
    ("Tenho medo de avião, não quero morrer num acidente", "1"),
];

#[test]
fn what_is_shipped_reads_people_as_they_are_meant() {
    let guide = guide::shipped().unwrap();
    let rules = &guide.rules;
    let mut misses = Vec::new();
    for (text, expect) in MESSAGES {
        let read = rules.read(text);
        let decision = rules.decide(&read);
        let got = match (rules.crisis(&read), rules.is_greeting(&read)) {
            (Some(_), _) => "!".to_owned(),
            (None, true) => "~".to_owned(),
            (None, false) => decision.openness.to_string(),
        };
        if got != expect {
            let fired: Vec<_> = decision.fired.iter().map(|fired| (&fired.words, fired.weight)).collect();
            let crisis = rules.crisis(&read);
            misses.push(format!(
                "{expect} but {got}: {text}  [{} {fired:?}, {:?}, {crisis:?}]",
                decision.intensity, decision.vulnerable
            ));
        }
    }
    assert!(misses.is_empty(), "{}", misses.join("\n"));
}

#[test]
fn every_module_of_the_directory_is_shipped() {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../policies/eco/modules");
    let files = WatchedFile::every(&dir, "");
    let names: Vec<_> = files.iter().map(WatchedFile::full_name).collect();
    let shipped: Vec<_> = SHIPPED_MODULES.iter().map(|(name, _)| format!("{name}.txt")).collect();
    assert_eq!(names, shipped);
}

/// A policy directory with files of its own.
struct Own {
    dir: tempfile::TempDir,
    policies: Policies,
}

impl Own {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(dir.path().join("eco/modules")).unwrap();
        let policies = Policies::open(dir.path().to_owned(), None).unwrap();
        Self { dir, policies }
    }

    fn write(&self, name: &str, text: &str) -> Vec<String> {
        std::fs::write(self.dir.path().join("eco").join(name), text).unwrap();
        self.policies.broken()
    }

    fn remove(&self, name: &str) -> Vec<String> {
        std::fs::remove_file(self.dir.path().join("eco").join(name)).unwrap();
        self.policies.broken()
    }

    /// Checks the error of a file that is broken in this way, without the directory.
    #[track_caller]
    fn check(&self, name: &str, text: &str, expect: &str) {
        let before = self.policies.guide();
        let told = self.write(name, text);
        let root = format!("{}/", self.dir.path().join("eco").display());
        let told: Vec<_> = told.iter().map(|line| line.replace(&root, "")).collect();
        assert_eq!(told, [expect], "{name}");
        assert_eq!(before.print, self.policies.guide().print, "a fault must not come into force");
        assert_eq!(self.remove(name), [""; 0]);
    }
}

const SIGNALS: &str = "signals:\n  intensity:\n    - { name: x, weight: 6, any: [xis] }\n";
const HEURISTICS: &str = "heuristics:\n  - { name: luto, any: [xis] }\n";
const ANSWERS: &str = "answers:
  timeout: t
  no_model: { 1: a, 2: b, 3: c }
  max_tokens: { fast: 1, 1: 2, 2: 3, 3: 100000 }
  memories: { heading: h, none: n }
  history_pairs: 200
  fast_pairs: 1
";
const MODULES: &str = "modules:
  budget_tokens: 100
  list:
    - { name: um, tokens: 10 }
    - { name: dois, tokens: 10 }
";

#[test]
fn an_own_file_stands_in_for_the_shipped_one() {
    let own = Own::new();
    let decide = || {
        let guide = own.policies.guide();
        guide.rules.decide(&guide.rules.read("xis")).openness
    };
    let shipped = own.policies.guide().print;
    assert_eq!(decide(), 1);
    assert_eq!(own.write("signals.yaml", SIGNALS), [""; 0]);
    assert_eq!(decide(), 2);
    assert_ne!(own.policies.guide().print, shipped);
    assert_eq!(own.remove("signals.yaml"), [""; 0]);
    assert_eq!((decide(), own.policies.guide().print), (1, shipped));
    assert_eq!(own.write("answers.yaml", ANSWERS), [""; 0]);
    let answers = own.policies.guide().answers.clone();
    assert_eq!([0, 1, 2, 3, 4].map(|openness| answers.max_tokens(false, openness)), [2, 2, 3, 100_000, 100_000]);
    assert_eq!(answers.max_tokens(true, 3), 1);
    assert_eq!([1, 2, 3].map(|openness| answers.no_model(openness)), ["a", "b", "c"]);
    assert_ne!(own.policies.guide().print, shipped);
    assert_eq!(own.write("modules/estilo.txt", "Breve."), [""; 0]);
    assert_eq!(own.write(".estilo.txt.swp", "x"), [""; 0]);
    assert_eq!(own.write("estilo.txt~", "x"), [""; 0]);
}

#[test]
fn a_broken_file_says_line_and_field() {
    let own = Own::new();
    let signals = |from: &str, to: &str| SIGNALS.replace(from, to);
    let told = own.write("signals.yaml", "signals: [");
    assert!(told.len() == 1 && told[0].contains("eco/signals.yaml: line 2: "), "{told:?}");
    own.check("signals.yaml", "", "signals.yaml: the file must have the key signals");
    own.check("signals.yaml", "sinais: {}", "signals.yaml: line 1: sinais is not known; the file has the key signals");
    own.check(
        "signals.yaml",
        &signals("6", "11"),
        "signals.yaml: line 3: signals.intensity[0].weight must be a number above 0, up to 10",
    );
    own.check(
        "signals.yaml",
        &signals("weight: 6, ", ""),
        "signals.yaml: line 3: signals.intensity[0].weight is missing",
    );
    own.check(
        "signals.yaml",
        &(signals("", "") + "  hevy: []\n"),
        "signals.yaml: line 4: signals.hevy is not known; did you mean heavy?",
    );
    own.check(
        "heuristics.yaml",
        "heuristics:\n  - { name: luto }\n",
        "heuristics.yaml: line 2: heuristics[0] needs any or examples",
    );
    own.check(
        "heuristics.yaml",
        "heuristics:\n  - name: luto\n    any: [x]\n    similarity: 2\n",
        "heuristics.yaml: line 4: heuristics[0].similarity must be a number above 0, up to 1",
    );
    let greetings =
        "greetings:\n  phrases: [oi]\n  answers:\n    named: [oi]\n    unnamed:\n      - oi\n      - oi {name}\n";
    own.check(
        "greetings.yaml",
        greetings,
        "greetings.yaml: line 7: greetings.answers.unnamed[1] has a brace; nothing is filled in here",
    );
    own.check(
        "safety.yaml",
        "safety:\n  phrases: [x]\n  locales:\n    pt-BR: 1\n",
        "safety.yaml: line 4: safety.locales.pt-BR must be a text of 1 to 4000 characters",
    );
    own.check(
        "safety.yaml",
        "safety:\n  locales: { pt-BR: x }\n",
        "safety.yaml: line 1: safety.phrases must have at least one phrase",
    );
}

#[test]
fn broken_answers_say_line_and_field() {
    let own = Own::new();
    let long = "é".repeat(4001);
    for (from, to, expect) in [
        ("timeout: t", "timeout: ''", "line 2: answers.timeout must be a text of 1 to 4000 characters"),
        ("timeout: t", &format!("timeout: {long}"), "line 2: answers.timeout must be a text of 1 to 4000 characters"),
        ("timeout: t", "timeout: 1", "line 2: answers.timeout must be a string"),
        ("  timeout: t\n", "", "line 1: answers.timeout is missing"),
        (", 3: c", "", "line 3: answers.no_model.3 is missing"),
        ("3: c", "3: c, 4: d", "line 3: answers.no_model.4 is not known; did you mean 1?"),
        ("fast: 1", "fast: 0", "line 4: answers.max_tokens.fast must be a whole number from 1 to 100000"),
        ("3: 100000", "3: 100001", "line 4: answers.max_tokens.3 must be a whole number from 1 to 100000"),
        ("heading: h", "header: h", "line 5: answers.memories.heading is missing"),
        ("{ heading: h, none: n }", "[]", "line 5: answers.memories must be an object"),
        (
            "history_pairs: 200",
            "history_pairs: 201",
            "line 6: answers.history_pairs must be a whole number from 1 to 200",
        ),
        ("fast_pairs: 1", "fast_pairs: 0", "line 7: answers.fast_pairs must be a whole number from 1 to 200"),
        (
            "fast_pairs: 1",
            "fast_pairs: 1\n  slow_pairs: 1",
            "line 8: answers.slow_pairs is not known; did you mean fast_pairs?",
        ),
    ] {
        let text = ANSWERS.replace(from, to);
        assert_ne!(text, ANSWERS);
        own.check("answers.yaml", &text, &format!("answers.yaml: {expect}"));
    }
    assert_eq!(
        own.write("answers.yaml", &ANSWERS.replace("timeout: t", &format!("timeout: {}", "é".repeat(4000)))),
        [""; 0]
    );
}

#[test]
fn modules_and_their_texts_fit_together() {
    let own = Own::new();
    own.check(
        "modules.yaml",
        MODULES,
        "modules.yaml: line 4: modules.list[0].name has a bad text: modules/um.txt is not there",
    );
    own.check("modules/de_todo_novo.txt", "x", "modules/de_todo_novo.txt: no module of modules.yaml has this text");
    own.check(
        "modules/estilos.txt",
        "x",
        "modules/estilos.txt: no module of modules.yaml has this text; did you mean estilo.txt?",
    );
    own.check(
        "modules/estilo.md",
        "x",
        "modules/estilo.md: no module of modules.yaml has this text; did you mean estilo.txt?",
    );
    own.check("modules/estilo.txt", &"x".repeat(64 * 1024 + 1), "modules/estilo.txt: has more than 65536 bytes");
    let told = own.write("modules/estilo.txt", "Oi {nome}.");
    assert!(told.len() == 1 && told[0].contains("eco/modules/estilo.txt: modules.list["), "{told:?}");
    assert!(told[0].contains("{nome} is not known"), "{told:?}");
    assert!(own.write("modules/estilo.txt", "\n")[0].contains("is empty"));
    assert_eq!(own.remove("modules/estilo.txt"), [""; 0]);

    for name in ["um", "dois"] {
        own.write(&format!("modules/{name}.txt"), "texto");
    }
    assert_eq!(own.write("modules.yaml", MODULES), [""; 0]);
    let print = own.policies.guide().print;
    own.check_again("modules.yaml", &MODULES.replace("dois, tokens: 10", "dois, tokens: 1"), |told| {
        assert!(told.starts_with("modules.yaml: line 5: modules.list[1].tokens is 1, but"), "{told}");
    });
    own.check_again(
        "modules.yaml",
        &MODULES.replace("tokens: 10 }", "tokens: 10, when: { heuristics: [lutos] } }"),
        |told| {
            let expect =
                "modules.list[0].when.heuristics[0] is lutos, which is none of the heuristics; did you mean luto?";
            assert_eq!(told, format!("modules.yaml: line 4: {expect}"));
        },
    );
    assert_eq!(own.policies.guide().print, print);
    own.write("modules.yaml", MODULES);
    assert_eq!(own.write("modules/um.txt", "outro"), [""; 0]);
    assert_ne!(own.policies.guide().print, print);
}

impl Own {
    fn check_again(&self, name: &str, text: &str, check: impl Fn(&str)) {
        let told = self.write(name, text);
        let root = format!("{}/", self.dir.path().join("eco").display());
        assert_eq!(told.len(), 1, "{told:?}");
        check(&told[0].replace(&root, ""));
    }
}

#[test]
fn a_file_that_nobody_knows_is_told() {
    let own = Own::new();
    own.check("signal.yaml", SIGNALS, "signal.yaml: there is no such file; did you mean signals.yaml?");
    own.check("signals.yml", SIGNALS, "signals.yml: there is no such file; did you mean signals.yaml?");
    let known = "signals.yaml, heuristics.yaml, greetings.yaml, safety.yaml, answers.yaml, modules.yaml";
    own.check("x", "", &format!("x: there is no such file; there are {known}"));
}

#[test]
fn faults_of_several_files_are_all_told() {
    let own = Own::new();
    own.write("signals.yaml", "signals: 1");
    own.write("answers.yaml", "answers: 1");
    assert_eq!(own.write("x", "").len(), 3);
    own.remove("x");
    own.write("answers.yaml", ANSWERS);
    // What is in order does not come into force beside what is not.
    assert_ne!(own.policies.guide().answers.timeout, "t");
    assert_eq!(own.write("signals.yaml", SIGNALS), [""; 0]);
    assert_eq!(own.policies.guide().answers.timeout, "t");
    own.write("heuristics.yaml", HEURISTICS);
    assert!(
        own.policies.broken().iter().all(|told| told.contains("none of the heuristics")),
        "{:?}",
        own.policies.broken()
    );
}
