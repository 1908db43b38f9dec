//! Names that say nothing: a thing is called after what it is, not after the drawer it lies in.

use super::Finding;
use crate::source::declarations;
use crate::tree::Tree;

const EMPTY: [&str; 10] =
    ["manager", "service", "services", "helper", "helpers", "util", "utils", "common", "misc", "processor"];

pub fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (file, source) in tree.sources() {
        let declared = declarations(&source.code).filter(|declared| !source.is_test(declared.offset));
        for declared in declared {
            if let Some(why) = objection(declared.keyword, declared.name) {
                let what = format!("`{} {}`: {why}", declared.keyword, declared.name);
                findings.push(Finding::at(file, source, declared.offset, what));
            }
        }
    }
    findings
}

fn objection(keyword: &str, name: &str) -> Option<String> {
    let words = split(name);
    if let Some(empty) = words.iter().find(|word| EMPTY.contains(&word.as_str())) {
        return Some(format!("`{empty}` names no thing"));
    }
    if words.last().is_some_and(|word| word == "info") {
        return Some("`info` names no thing".into());
    }
    let is_type = matches!(keyword, "struct" | "enum" | "trait" | "type");
    (is_type && name == "Context").then(|| "a context is what the engine makes, not a bag to pass around".into())
}

/// `HttpServiceError` and `http_service_error` are the same three words.
fn split(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut after_lower = false;
    for c in name.chars() {
        let starts = c == '_' || (c.is_uppercase() && after_lower);
        if starts {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut().filter(|_| c != '_') {
            word.extend(c.to_lowercase());
        }
        after_lower = c.is_lowercase() || c.is_numeric();
    }
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::lines;

    #[test]
    fn empty_names_are_found_wherever_the_word_stands() {
        let text = "mod util;\nstruct StoreManager;\nfn run_helper() {}\nstruct TurnInfo;\nstruct Context;\n";
        assert_eq!(lines(check, "crates/store/src/a.rs", text), [1, 2, 3, 4, 5]);
    }

    #[test]
    fn words_inside_words_uses_and_tests_are_free() {
        let text = "use tower::Service;\nfn utility() {}\nfn inform() {}\nfn context() {}\nstruct ContextRequest;\n\
                    #[cfg(test)]\nfn helper() {}\n";
        assert_eq!(lines(check, "crates/store/src/a.rs", text), [0; 0]);
    }
}
