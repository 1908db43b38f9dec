//! Links between pages resolve: to a file or folder of the repository, and to a heading of that page.
//!
//! It reads `[text](target)`, `src="…"` and `srcset="…"` of every Markdown page, outside code. Addresses on
//! the web are not checked.

use super::Finding;
use crate::tree::{File, Tree};

pub fn check(tree: &Tree) -> Vec<Finding> {
    let pages = tree.files.iter().filter(|file| file.path.ends_with(".md"));
    pages.flat_map(|page| broken(tree, page)).collect()
}

fn broken(tree: &Tree, page: &File) -> Vec<Finding> {
    let links = prose(&page.text).flat_map(|(line, text)| targets(&text).into_iter().map(move |target| (line, target)));
    let broken = links.filter(|(_, target)| !resolves(tree, page, target));
    broken
        .map(|(line, target)| Finding { file: page.path.clone(), line, what: format!("a link to nowhere: {target}") })
        .collect()
}

/// Lines outside fenced blocks, without what stands between backticks.
fn prose(text: &str) -> impl Iterator<Item = (usize, String)> + '_ {
    let mut inside = false;
    text.lines().enumerate().filter_map(move |(at, line)| {
        let fence = line.trim_start().starts_with("```");
        inside ^= fence;
        let outside = !inside && !fence;
        outside.then(|| (at + 1, line.split('`').step_by(2).collect::<Vec<_>>().join("`")))
    })
}

fn targets(line: &str) -> Vec<String> {
    const OPENINGS: [(&str, char); 3] = [("](", ')'), ("src=\"", '"'), ("srcset=\"", '"')];
    let found = OPENINGS.iter().flat_map(|(opening, closing)| {
        let starts = line.match_indices(opening).filter_map(|(at, _)| line.get(at + opening.len()..));
        starts.filter_map(|rest| rest.split_once(*closing).map(|(target, _)| target.to_owned()))
    });
    found.filter(|target| !target.contains("://") && !target.starts_with("mailto:")).collect()
}

fn resolves(tree: &Tree, page: &File, target: &str) -> bool {
    let (path, heading) = target.split_once('#').unwrap_or((target, ""));
    let path = match path {
        "" => page.path.clone(),
        path => joined(&page.path, path),
    };
    let file = tree.files.iter().find(|file| file.path == path);
    let is_folder = tree.files.iter().any(|file| file.path.starts_with(&format!("{}/", path.trim_end_matches('/'))));
    let has_heading = || file.is_some_and(|file| headings(&file.text).any(|known| known == heading));
    (file.is_some() || is_folder) && (heading.is_empty() || has_heading())
}

/// A path relative to a page, from the root of the repository.
fn joined(page: &str, path: &str) -> String {
    let mut parts: Vec<&str> = page.split('/').collect();
    parts.pop();
    for part in path.split('/') {
        match part {
            "." => {}
            ".." => _ = parts.pop(),
            part => parts.push(part),
        }
    }
    parts.join("/")
}

/// Headings as they stand in an address: lower case, hyphens for spaces, no other signs.
fn headings(text: &str) -> impl Iterator<Item = String> + '_ {
    let lines = text.lines().filter_map(|line| line.strip_prefix('#'));
    lines.map(|line| {
        let heading = line.trim_start_matches('#').trim().to_lowercase();
        let kept = heading.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
        kept.map(|c| if c == ' ' { '-' } else { c }).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_page(text: &str, expected: &[usize]) {
        let tree = Tree::of(&[
            ("README.md", "# The first minute, `quick`\n"),
            ("docs/a.md", text),
            ("docs/pictures/b.svg", ""),
        ]);
        assert_eq!(check(&tree).into_iter().map(|finding| finding.line).collect::<Vec<_>>(), expected, "{text}");
    }

    #[test]
    fn links_resolve_to_files_folders_and_headings() {
        check_page(
            "[a](../README.md) [b](pictures/b.svg)\n[c](pictures/) [d](../README.md#the-first-minute-quick)",
            &[],
        );
        check_page("[a](README.md)\n[b](pictures/c.svg) and [c](other/)\n[d](../README.md#minute)\n", &[1, 2, 2, 3]);
        check_page("# Own\n[a](#own)\n[b](#other)\n<img src=\"c.svg\">", &[3, 4]);
    }

    #[test]
    fn addresses_on_the_web_and_code_are_not_checked() {
        check_page("[a](https://example.org/a) `[b](c.md)`\n```text\n[d](e.md)\n```\n", &[]);
    }
}
