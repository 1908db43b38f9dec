//! Files of `policies/eco` that are broken, at the start and while the server runs: told with file and line,
//! and no harm done.

use crate::support::eco::{FILES, LIGHT, NO_MODEL, ask, asks, home, write};
use crate::support::{Home, Server, Value, json};

/// A way to break a file: the first `from` becomes `to`; a file that is not there is made of `to`.
struct Case {
    file: &'static str,
    from: &'static str,
    to: &'static str,
    /// The file that is reported, if it is another one.
    told: &'static str,
    /// What the line of the fault holds; empty if no line is reported, or any is right.
    line: &'static str,
    /// What the report contains: the field, or words.
    says: &'static str,
}

const fn case(
    file: &'static str,
    from: &'static str,
    to: &'static str,
    line: &'static str,
    says: &'static str,
) -> Case {
    Case { file, from, to, told: file, line, says }
}

/// A fault of a text is one of the manifest that names it.
const fn text(file: &'static str, to: &'static str, line: &'static str, says: &'static str) -> Case {
    Case { file, from: "Own", to, told: "modules.yaml", line, says }
}

const CASES: &[Case] = &[
    case("signals.yaml", "weight: 8", "weight: eight", "weight: eight", "signals.intensity[0].weight "),
    case("signals.yaml", "weight: 5", "weight: 11", "weight: 11", "signals.intensity[1].weight "),
    case("signals.yaml", "  triggers:", "  trigers:", "  trigers:", "signals.trigers "),
    case("signals.yaml", "signals:", "signal:", "signal:", "signal "),
    case(
        "signals.yaml",
        "any: [desespero]}\n    - {name: t",
        "any: []}\n    - {name: t",
        "any: []}",
        "signals.intensity[0].any ",
    ),
    case("signals.yaml", "name: tristeza", "name: desespero", "weight: 5", "signals.intensity[1].name "),
    case("signals.yaml", "capitals: 0.5", "capitals: -1", "capitals: -1", "signals.emphasis.capitals "),
    case("signals.yaml", "[quero refletir]", "[\"?!\"]", "triggers:", "signals.triggers[0] "),
    case("signals.yaml", "[muito]}", "[muito}", "", ""),
    case("heuristics.yaml", "similarity: 0.6", "similarity: 2", "similarity: 2", "heuristics[0].similarity "),
    case(
        "heuristics.yaml",
        "any: [naufrágio], examples: [The boat is gone.]",
        "any: []",
        "name: barco",
        "heuristics[0] ",
    ),
    case("heuristics.yaml", "name: barco", "name: navio", "heuristics: [barco]", "modules.list[2].when.heuristics[0] "),
    case("greetings.yaml", "words_max: 4", "words_max: 0", "words_max: 0", "greetings.words_max "),
    case("greetings.yaml", "\"Own: oi!\"", "\"Own: oi, {name}!\"", "unnamed:", "greetings.answers.unnamed[0] "),
    case("greetings.yaml", "[\"Own: oi, {name}!\"]", "[]", "named: []", "greetings.answers.named "),
    case("safety.yaml", "[perigo de vida]", "[]", "phrases: []", "safety.phrases "),
    case("safety.yaml", "pt-BR: \"Own: ligue 188.\"", "pt-BR: 188", "pt-BR: 188", "safety.locales.pt-BR "),
    case(
        "answers.yaml",
        "  history_pairs: 12",
        "  history_pairs: many",
        "  history_pairs: many",
        "answers.history_pairs ",
    ),
    case("answers.yaml", "fast: 100", "fast: 0", "fast: 0", "answers.max_tokens.fast "),
    case("answers.yaml", "  fast_pairs: 3", "  fast_pears: 3", "", "answers.fast_pairs "),
    case("answers.yaml", "timeout: \"Own: it took too long.\"", "timeout: \"\"", "  timeout:", "answers.timeout "),
    case("answers.yaml", "    2: \"Own", "    4: \"Own", "", "answers.no_model.2 "),
    case("modules.yaml", "budget_tokens: 80", "budget_tokens: 0", "budget_tokens: 0", "modules.budget_tokens "),
    case("modules.yaml", "guided: true", "gided: true", "gided: true", "modules.list[1].when.gided "),
    case("modules.yaml", "mode: [fast, full]", "mode: [slow]", "mode: [slow]", "modules.list[0].when.mode[0] "),
    case("modules.yaml", "name: base, tokens: 20", "name: base, tokens: 1", "name: base", "modules.list[0].tokens "),
    case("modules.yaml", "name: base", "name: Base", "name: Base", "modules.list[0].name "),
    case("modules.yaml", "name: passos", "name: base", "guided: true", "modules.list[1].name "),
    case("modules.yaml", "name: passos", "name: nada", "name: nada", "modules.list[1].name "),
    case("modules.yaml", "priority: 60}", "priority: 60", "", ""),
    text("modules/base.txt", "{nome}", "name: base", "{nome} is not known"),
    text("modules/base.txt", "{name", "name: base", "has no end"),
    text(
        "modules/passos.txt",
        "Own and on and on and on and on and on and on and on and on and on and on and on and on",
        "name: passos",
        "modules.list[1].tokens ",
    ),
    case("signal.yaml", "", "signals: {}\n", "", "signals.yaml"),
    case("modules/bases.txt", "", "Own: nobody reads this.\n", "", "base.txt"),
    case("modules/readme.md", "", "# Modules\n", "", ""),
];

impl Case {
    fn good(&self) -> Option<&'static str> {
        FILES.iter().find(|(name, _)| *name == self.file).map(|(_, text)| *text)
    }

    fn bad(&self) -> String {
        let good = self.good().unwrap_or_default();
        assert!(good.contains(self.from), "{:?} is not in {} any more", self.from, self.file);
        good.replacen(self.from, self.to, 1)
    }

    fn break_it(&self, home: &Home, age: u64) {
        write(home, self.file, &self.bad(), age);
    }

    fn mend(&self, home: &Home, age: u64) {
        match self.good() {
            Some(good) => write(home, self.file, good, age),
            None => std::fs::remove_file(home.path(&format!("policies/eco/{}", self.file))).unwrap(),
        }
    }

    /// The number of the line that is at fault, in the file that is reported.
    fn line(&self) -> Option<usize> {
        let told = match self.told == self.file {
            true => self.bad(),
            false => FILES.iter().find(|(name, _)| *name == self.told).unwrap().1.to_owned(),
        };
        let place = || told.lines().position(|line| line.contains(self.line));
        // A heuristic that is gone is missed where it was named.
        (!self.line.is_empty()).then(|| place().unwrap_or_else(|| self.elsewhere()) + 1)
    }

    fn elsewhere(&self) -> usize {
        FILES[5].1.lines().position(|line| line.contains(self.line)).unwrap()
    }

    /// Asserts that the doctor, the health page and the log report the fault.
    #[track_caller]
    fn is_told(&self, server: &Server) {
        let about = format!("{}, {:?}", self.file, self.to);
        let doctor = server.get("/v1/doctor").ok();
        let ready = server.get("/health/ready").ok();
        assert!(ready["broken_policies"].as_u64() >= Some(1), "{about}: {ready}");
        assert_eq!(doctor["healthy"], false, "{about}");
        let findings: Vec<&str> =
            doctor["findings"].as_array().unwrap().iter().map(|finding| finding["what"].as_str().unwrap()).collect();
        let is_it = |what: &&&str| what.contains(self.says);
        let what = findings.iter().find(is_it).unwrap_or_else(|| panic!("{about}: {findings:?}"));
        let told = if self.says.starts_with("modules.") { "modules.yaml" } else { self.told };
        assert!(what.contains(&format!("policies/eco/{told}: ")), "{about}: {what}");
        if let Some(line) = self.line() {
            assert!(what.contains(&format!(": line {line}: ")), "{about}, line {line}: {what}");
        }
        let is_yaml = self.told.ends_with(".yaml") && self.good().is_some();
        assert!(!is_yaml || what.contains(": line "), "{about}: {what}");
        let log = std::fs::read_to_string(server.home.path("stderr.log")).unwrap();
        assert!(log.contains(told) && log.contains(self.says.trim()), "{about}: {log}");
    }
}

/// What is answered where no model is set tells which files are in force, for all are taken as one.
fn said(server: &Server) -> Value {
    ask(server, &asks("ana", "t", LIGHT))["message"].clone()
}

#[track_caller]
fn is_whole(server: &Server, about: &str) {
    assert_eq!(server.get("/v1/doctor").ok()["findings"], json!([]), "{about}");
    assert_eq!(server.get("/health/ready").ok()["broken_policies"], json!(0), "{about}");
    assert_eq!(said(server), NO_MODEL, "{about}");
}

#[test]
fn what_is_broken_from_the_start_is_told_and_heals_when_it_is_mended() {
    let shipped = said(&Home::new().serve());
    assert_ne!(shipped, NO_MODEL);
    let home = home();
    for (case, age) in CASES.iter().zip((1..).step_by(2)) {
        case.break_it(&home, age);
        let server = home.serve();
        case.is_told(&server);
        assert_eq!(said(&server), shipped, "{}, {:?}: what is shipped is in force", case.file, case.to);
        case.mend(&home, age + 1);
        is_whole(&server, case.file);
    }
}

#[test]
fn what_breaks_later_leaves_the_last_good_ones_in_force() {
    let home = home();
    let server = home.serve();
    is_whole(&server, "at the start");
    for (case, age) in CASES.iter().zip((1..).step_by(2)) {
        case.break_it(&home, age);
        case.is_told(&server);
        assert_eq!(said(&server), NO_MODEL, "{}, {:?}", case.file, case.to);
        case.mend(&home, age + 1);
        is_whole(&server, case.file);
    }
}

#[test]
fn two_files_that_fit_only_together_are_taken_together() {
    let home = home();
    let server = home.serve();
    let changed = |name: &str, from: &str, to: &str| {
        let (_, text) = FILES.iter().find(|(known, _)| *known == name).unwrap();
        assert!(text.contains(from));
        text.replace(from, to)
    };
    write(&home, "heuristics.yaml", &changed("heuristics.yaml", "name: barco", "name: navio"), 1);
    write(&home, "answers.yaml", &changed("answers.yaml", "level one", "level own"), 1);
    assert_eq!(server.get("/v1/doctor").ok()["findings"].as_array().unwrap().len(), 1);
    assert_eq!(said(&server), NO_MODEL, "a good file beside a bad one waits for it");
    write(&home, "modules.yaml", &changed("modules.yaml", "heuristics: [barco]", "heuristics: [navio]"), 2);
    assert_eq!(server.get("/v1/doctor").ok()["findings"], json!([]));
    assert_eq!(ask(&server, &asks("ana", "t", "E agora"))["message"], "Own: no model, level own.");
}

#[test]
fn without_files_what_is_shipped_is_in_force_and_gone_files_give_way_to_it() {
    let home = home();
    let server = home.serve();
    assert_eq!(said(&server), NO_MODEL);
    std::fs::remove_dir_all(home.path("policies/eco")).unwrap();
    assert_eq!(server.get("/v1/doctor").ok()["findings"], json!([]));
    assert_ne!(said(&server), NO_MODEL);
    let ran = home.run(&["doctor"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
}
