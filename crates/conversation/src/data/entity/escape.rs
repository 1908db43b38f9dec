//! Values as Markdown that shows them as they are.
//!
//! Owns what data may not do to an answer: end a line or a cell, or begin code, a link, a picture or a tag.

/// Writes a value so that it stays within its line.
pub fn inline(value: &str, out: &mut String) {
    write(value, "\\`<[", out);
}

/// Writes a value so that it stays within its cell of a table.
pub fn cell(value: &str, out: &mut String) {
    write(value, "\\`<[|", out);
}

fn write(value: &str, escaped: &str, out: &mut String) {
    // What breaks a line would be a blank at either end of it.
    for c in value.trim_matches(breaks).chars() {
        if breaks(c) {
            out.push(' ');
            continue;
        }
        if escaped.contains(c) {
            out.push('\\');
        }
        out.push(c);
    }
}

fn breaks(c: char) -> bool {
    c.is_control() || matches!(c, '\u{2028}' | '\u{2029}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_stays_where_it_is_put() {
        for (value, expected) in [
            ("a|b", "a\\|b"),
            ("a\\|b", "a\\\\\\|b"),
            ("a\r\nb\n", "a  b"),
            ("`x`", "\\`x\\`"),
            ("![x](http://e)", "!\\[x](http://e)"),
            ("<script>", "\\<script>"),
            ("a\u{2028}b\0c\u{85}", "a b c"),
            ("R$ 1,00", "R$ 1,00"),
        ] {
            let mut out = String::new();
            cell(value, &mut out);
            assert_eq!(out, expected, "{value:?}");
        }
        let mut out = String::new();
        inline("a|b`", &mut out);
        assert_eq!(out, "a|b\\`");
    }
}
