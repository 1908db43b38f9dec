//! A promise is a clause that a scenario proves: `contract/**/*.md`.
//!
//! A clause is a line that opens with `**TC-LIM-2**`, as a paragraph or a bullet; a scenario is a fenced
//! block tagged `http` with the clauses it proves. The server's `contract` test runs the scenarios; this
//! check holds the two together.

use std::collections::{BTreeMap, BTreeSet};

use super::Finding;
use crate::tree::{File, Tree};

const ROOT: &str = "contract/";

/// The surfaces that have a contract, each a directory of pages.
const SURFACES: [&str; 7] = ["ask", "compaction", "eco", "memory", "responses", "thread", "topic-context"];

/// What a line of a page means to this check.
enum Mark<'t> {
    Clause(&'t str),
    /// The tag of a fenced block, without its backticks.
    Block(&'t str),
}

/// A mark and the line it stands on.
type Marked<'t> = (usize, Mark<'t>);

pub fn check(tree: &Tree) -> Vec<Finding> {
    let pages: Vec<(&File, Vec<Marked<'_>>)> = tree
        .files
        .iter()
        .filter(|file| file.path.starts_with(ROOT) && file.path.ends_with(".md"))
        .map(|file| (file, marks(&file.text)))
        .collect();
    let mut findings = absent(&pages);
    let mut defined: BTreeMap<&str, (&File, usize)> = BTreeMap::new();
    let mut proved: BTreeSet<&str> = BTreeSet::new();
    for (file, line, id) in clauses(&pages) {
        if let Some((first, at)) = defined.insert(id, (file, line)) {
            findings.push(finding(file, line, format!("{id} is defined at {}:{at} already", first.path)));
        }
    }
    for (file, line, tag) in blocks(&pages) {
        match scenario(tag) {
            Ok(ids) => {
                let unknown = ids.iter().filter(|id| !defined.contains_key(*id));
                findings.extend(unknown.map(|id| finding(file, line, format!("{id} is no clause"))));
                proved.extend(ids);
            }
            Err(what) => findings.push(finding(file, line, what)),
        }
    }
    let bare = defined.iter().filter(|(id, _)| !proved.contains(*id));
    findings.extend(bare.map(|(id, (file, line))| finding(file, *line, format!("no scenario proves {id}"))));
    findings
}

/// Contracts without a page, and pages without a clause.
fn absent(pages: &[(&File, Vec<Marked<'_>>)]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for surface in SURFACES {
        let directory = format!("{ROOT}{surface}");
        if !pages.iter().any(|(file, _)| file.path.starts_with(&format!("{directory}/"))) {
            findings.push(Finding { file: directory, line: 1, what: "a contract without a page".into() });
        }
    }
    let mute = pages.iter().filter(|(_, marks)| !marks.iter().any(|(_, mark)| matches!(mark, Mark::Clause(_))));
    findings.extend(mute.map(|(file, _)| finding(file, 1, "a page without a clause".into())));
    findings
}

fn clauses<'t>(pages: &'t [(&File, Vec<Marked<'t>>)]) -> impl Iterator<Item = (&'t File, usize, &'t str)> {
    pages.iter().flat_map(|(file, marks)| {
        marks.iter().filter_map(|(line, mark)| match mark {
            Mark::Clause(id) => Some((*file, *line, *id)),
            Mark::Block(_) => None,
        })
    })
}

fn blocks<'t>(pages: &'t [(&File, Vec<Marked<'t>>)]) -> impl Iterator<Item = (&'t File, usize, &'t str)> {
    pages.iter().flat_map(|(file, marks)| {
        marks.iter().filter_map(|(line, mark)| match mark {
            Mark::Block(tag) => Some((*file, *line, *tag)),
            Mark::Clause(_) => None,
        })
    })
}

/// The clauses that a block proves; a block of plain text proves none and need not.
fn scenario(tag: &str) -> Result<Vec<&str>, String> {
    let mut words = tag.split_whitespace();
    match words.next() {
        Some("http") => Some(words.collect::<Vec<_>>())
            .filter(|ids| !ids.is_empty())
            .ok_or_else(|| "a scenario that names no clause".to_owned()),
        Some("text") => Ok(Vec::new()),
        _ => Err("a block is tagged http, with its clauses, or text".to_owned()),
    }
}

fn marks(text: &str) -> Vec<Marked<'_>> {
    let mut marks = Vec::new();
    let mut inside = false;
    for (at, line) in text.lines().enumerate() {
        match line.strip_prefix("```") {
            Some(_) if inside => inside = false,
            Some(tag) => {
                inside = true;
                marks.push((at + 1, Mark::Block(tag)));
            }
            None if !inside => marks.extend(clause(line).map(|id| (at + 1, Mark::Clause(id)))),
            None => {}
        }
    }
    marks
}

/// The id that a line opens with: capitals, a hyphen, more of these, a number.
fn clause(line: &str) -> Option<&str> {
    let (id, _) = line.strip_prefix("- ").unwrap_or(line).strip_prefix("**")?.split_once("**")?;
    let (area, number) = id.rsplit_once('-')?;
    let is_id = area.contains('-') && area.chars().all(|c| c.is_ascii_uppercase() || c == '-');
    (is_id && number.parse::<u32>().is_ok()).then_some(id)
}

fn finding(file: &File, line: usize, what: String) -> Finding {
    Finding { file: file.path.clone(), line, what }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(pages: &[(&str, &str)]) -> Vec<String> {
        let whole = SURFACES.map(|surface| (format!("{ROOT}{surface}/whole.md"), whole(surface)));
        let whole: Vec<(&str, &str)> = whole.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
        found_in(&[pages, &whole].concat())
    }

    /// A page with which a surface has one.
    fn whole(surface: &str) -> String {
        let id = format!("W-{}-1", surface.to_uppercase());
        format!("**{id}** One.\n```http {id}\n```\n")
    }

    fn found_in(pages: &[(&str, &str)]) -> Vec<String> {
        check(&Tree::of(pages)).into_iter().map(|f| format!("{}:{}: {}", f.file, f.line, f.what)).collect()
    }

    const A: &str = "contract/topic-context/a.md";
    const B: &str = "contract/topic-context/b.md";

    #[test]
    fn a_clause_needs_a_scenario_on_any_page() {
        let clauses = "# A\n\n- **TC-A-1** One.\n\n**TC-A-2** Two.\n";
        let scenario = "**TC-B-1** Three.\n\n```http TC-A-1 TC-B-1\nGET /\n=> 200\n```\n";
        assert_eq!(found(&[(A, clauses), (B, scenario)]), [format!("{A}:5: no scenario proves TC-A-2")]);
    }

    #[test]
    fn a_scenario_names_clauses_that_there_are() {
        let page =
            "- **TC-A-1** One.\n```http TC-A-1 TC-A-9\n```\n```http\n```\n```json\n```\n```text\n**TC-A-3** no\n```\n";
        let expected = [
            format!("{A}:2: TC-A-9 is no clause"),
            format!("{A}:4: a scenario that names no clause"),
            format!("{A}:6: a block is tagged http, with its clauses, or text"),
        ];
        assert_eq!(found(&[(A, page)]), expected);
    }

    #[test]
    fn a_clause_is_defined_once() {
        let page = "- **TC-A-1** One.\n```http TC-A-1\n```\n";
        assert_eq!(found(&[(A, page), (B, page)]), [format!("{B}:1: TC-A-1 is defined at {A}:1 already")]);
    }

    #[test]
    fn a_contract_has_pages_and_a_page_has_clauses() {
        let none = SURFACES.map(|surface| format!("contract/{surface}:1: a contract without a page"));
        assert_eq!(found_in(&[("README.md", "")]), none);
        assert_eq!(found_in(&[("contract/other/a.md", "- **TC-A-1** One.\n```http TC-A-1\n```\n")]), none);
        let mute = "Some **bold** words, **TC-A-1** among them.\n**TC-x-1** **1-2** **TC-A-x** **A-1**\n";
        assert_eq!(found(&[(A, mute)]), [format!("{A}:1: a page without a clause")]);
    }
}
