//! Comments fit beside the code: no line with a comment is wider than 110 columns.

use super::Finding;
use crate::source::Source;
use crate::tree::{File, Tree};

const COLUMNS_MAX: usize = 110;

pub fn check(tree: &Tree) -> Vec<Finding> {
    tree.sources().flat_map(|(file, source)| wide(file, source)).collect()
}

/// A line with a URL may be wider, because a URL cannot be broken.
fn wide(file: &File, source: &Source) -> Vec<Finding> {
    let lines = file.text.lines().zip(source.comments.lines()).enumerate();
    let wide = lines.filter(|(_, (line, comment))| {
        !comment.trim().is_empty() && !comment.contains("://") && line.chars().count() > COLUMNS_MAX
    });
    wide.map(|(at, (line, _))| {
        let what = format!("a comment of {} columns; the cap is {COLUMNS_MAX}", line.chars().count());
        Finding { file: file.path.clone(), line: at + 1, what }
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::lines;

    #[test]
    fn a_comment_may_be_110_columns_wide_and_no_wider() {
        let comment = |columns: usize| format!("fn a() {{}}\n// {}\n", "é".repeat(columns - 3));
        assert_eq!(lines(check, "crates/store/src/a.rs", &comment(110)), [0; 0]);
        assert_eq!(lines(check, "crates/store/src/a.rs", &comment(111)), [2]);
    }

    #[test]
    fn code_literals_and_urls_may_be_wider() {
        let wide = "x".repeat(111);
        let text = format!("let {wide};\nlet a = \"// {wide}\";\n// https://{wide}\n");
        assert_eq!(lines(check, "crates/store/src/a.rs", &text), [0; 0]);
        assert_eq!(lines(check, "crates/store/tests/a.rs", &format!("let {wide}; // why")), [1]);
    }
}
