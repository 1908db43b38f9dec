//! HTML in the text of a model: tags are taken out, or turned into line breaks; entities become characters.
//!
//! Owns which tags go. A tag has a name of HTML and attributes as HTML has them, so that `a < b`, `Vec<T>`
//! and `<name>` stay. So does everything in ticks. An entity is read once: `&lt;b&gt;` is the text `<b>`, and
//! no tag. Invariant: taken character by character; what cannot be a tag is known at once.

use super::entities;

/// Longer tags are shown.
const TAG_BYTES_MAX: usize = 1_000;
const COMMENT: &str = "<!--";
const DOCTYPE: &str = "<!doctype";

/// Tags that begin and end a line.
const LINES: &str = "address article aside blockquote body center dd div dl dt figure footer form h1 h2 h3 h4 h5 h6 \
                     header html main nav ol pre section table tr ul";
/// Tags that put something else in their place, or nothing.
const OTHERS: &str = "a abbr audio b big br button caption cite code col colgroup del details em embed figcaption font \
                      head hr i iframe img input ins kbd label li link mark meta object option p q s samp script \
                      select small source span strike strong style sub summary sup svg tbody td textarea th thead \
                      title u video";
/// Attributes without a value.
const FLAGS: &str = "allowfullscreen async autoplay checked controls defer disabled hidden loop multiple muted open \
                     readonly required selected";

#[derive(Debug)]
pub struct TagFilter {
    /// What may turn out to be a tag; or, within a script, the last of what goes with it.
    held: String,
    /// What may turn out to be an entity.
    entity: String,
    /// The tag whose contents go too.
    hidden: Option<&'static str>,
    /// The character that was shown last.
    last: char,
    /// The ticks that the line began with, while nothing else stands in it.
    line_ticks: Option<usize>,
    is_fenced: bool,
    is_code: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TagVerdict {
    Wait,
    No,
    Yes,
}

impl Default for TagFilter {
    fn default() -> Self {
        let (held, entity, hidden, last) = (String::new(), String::new(), None, '\n');
        Self { held, entity, hidden, last, line_ticks: Some(0), is_fenced: false, is_code: false }
    }
}

impl TagFilter {
    pub fn take(&mut self, c: char, out: &mut String) {
        if let Some(name) = self.hidden {
            return self.hide(c, name);
        }
        let is_code = self.is_fenced || self.is_code;
        if !self.entity.is_empty() {
            return self.take_entity(c, out);
        }
        if c == '&' && self.held.is_empty() && !is_code {
            self.entity.push(c);
            return;
        }
        if self.held.is_empty() && (c != '<' || is_code) {
            return self.show(c, out);
        }
        self.held.push(c);
        match judge(&self.held) {
            TagVerdict::Wait if self.held.len() <= TAG_BYTES_MAX => {}
            TagVerdict::Yes => {
                let tag = std::mem::take(&mut self.held);
                self.replace(&tag, out);
            }
            TagVerdict::No | TagVerdict::Wait => self.give_up(out),
        }
    }

    /// Takes one more character of what may be an entity.
    fn take_entity(&mut self, c: char, out: &mut String) {
        if c != ';' && entities::may_go_on(&self.entity, c) {
            self.entity.push(c);
            return;
        }
        let entity = std::mem::take(&mut self.entity);
        match entities::character(&entity).filter(|_| c == ';') {
            Some(character) => self.show(character, out),
            None => {
                entity.chars().for_each(|c| self.show(c, out));
                self.take(c, out);
            }
        }
    }

    /// What is left. A tag that was cut off goes as well.
    pub fn finish(&mut self, out: &mut String) {
        std::mem::take(&mut self.entity).chars().for_each(|c| self.show(c, out));
        while self.hidden.is_none() && !self.held.is_empty() {
            match name_of(&self.held) {
                (name, Some(_)) if !name.is_empty() => self.held.clear(),
                _ => self.give_up(out),
            }
        }
    }

    fn show(&mut self, c: char, out: &mut String) {
        match (c, &mut self.line_ticks) {
            ('\n', ticks) => (*ticks, self.is_code) = (Some(0), false),
            ('`', Some(ticks)) => {
                *ticks += 1;
                self.is_code = *ticks == 1;
                self.is_fenced ^= *ticks == super::FENCE.len();
            }
            ('`', None) if self.last != '`' => self.is_code ^= true,
            (c, ticks) if !c.is_whitespace() && c != '`' => *ticks = None,
            _ => {}
        }
        self.last = c;
        out.push(c);
    }

    /// What looked like a tag shows after all; another may begin within it.
    fn give_up(&mut self, out: &mut String) {
        let held = std::mem::take(&mut self.held);
        let mut chars = held.chars();
        chars.next().into_iter().for_each(|first| self.show(first, out));
        chars.for_each(|c| self.take(c, out));
    }

    /// Puts into the place of a tag what it means in plain text.
    fn replace(&mut self, tag: &str, out: &mut String) {
        let is_closing = tag.starts_with("</");
        let (name, _) = name_of(tag);
        let is_new_line = self.last == '\n';
        let text = match (name.as_str(), is_closing) {
            ("br", _) => "\n",
            ("hr", _) | ("p", true) => "\n\n",
            ("li", false) if is_new_line => "- ",
            ("li", false) => "\n- ",
            ("td" | "th", true) => " ",
            (name, _) if !is_new_line && is_one_of(LINES, name) => "\n",
            _ => "",
        };
        text.chars().for_each(|c| self.show(c, out));
        self.hidden = ["script", "style"].into_iter().find(|hidden| *hidden == name && !is_closing);
    }

    /// Takes the contents of a script, up to its end.
    fn hide(&mut self, c: char, name: &str) {
        self.held.extend(c.to_lowercase());
        if self.held.ends_with('>') && self.held.trim_end_matches('>').ends_with(&format!("</{name}")) {
            (self.hidden, self.held) = (None, String::new());
        } else if c == '<' {
            self.held = "<".to_owned();
        } else if self.held.len() > TAG_BYTES_MAX {
            self.held.clear();
        }
    }
}

/// The name of a tag in lower case, and what stands behind it; `None` while the name may go on.
fn name_of(tag: &str) -> (String, Option<&str>) {
    let inner = tag.strip_prefix("</").or_else(|| tag.strip_prefix('<')).unwrap_or_default();
    match inner.find(|c: char| !c.is_ascii_alphanumeric()) {
        Some(end) => (inner.get(..end).unwrap_or_default().to_ascii_lowercase(), inner.get(end..)),
        None => (inner.to_ascii_lowercase(), None),
    }
}

fn is_one_of(names: &str, name: &str) -> bool {
    names.split(' ').any(|known| known == name)
}

fn judge(tag: &str) -> TagVerdict {
    if tag.starts_with(COMMENT) {
        return if tag.len() > COMMENT.len() && tag.ends_with("-->") { TagVerdict::Yes } else { TagVerdict::Wait };
    }
    if COMMENT.starts_with(tag) || tag == "</" || DOCTYPE.starts_with(&tag.to_ascii_lowercase()) {
        return TagVerdict::Wait;
    }
    if tag.get(..DOCTYPE.len()).is_some_and(|start| start.eq_ignore_ascii_case(DOCTYPE)) {
        return if tag.ends_with('>') { TagVerdict::Yes } else { TagVerdict::Wait };
    }
    let mut known = LINES.split(' ').chain(OTHERS.split(' '));
    match name_of(tag) {
        (name, None) if known.any(|known| known.starts_with(&name)) => TagVerdict::Wait,
        (name, Some(rest)) if known.any(|known| known == name) => judge_attributes(rest),
        _ => TagVerdict::No,
    }
}

/// Judges what stands behind the name of a tag.
fn judge_attributes(rest: &str) -> TagVerdict {
    let is_part = |c: char| c.is_ascii_alphanumeric() || "-_:.@".contains(c);
    let mut rest = rest;
    loop {
        let next = rest.trim_start_matches(|c: char| c.is_whitespace() || c == '/');
        match next.chars().next() {
            None => return TagVerdict::Wait,
            Some('>') => return TagVerdict::Yes,
            // Two attributes, or a name and its first attribute, stand apart.
            Some(_) if next.len() == rest.len() => return TagVerdict::No,
            Some(_) => {}
        }
        let end = next.find(|c| !is_part(c)).unwrap_or(next.len());
        let (name, behind) = next.split_at(end);
        let value = behind.trim_start();
        let is_flag = is_one_of(FLAGS, &name.to_ascii_lowercase());
        rest = match value.chars().next() {
            None => return TagVerdict::Wait,
            Some('=') => match behind_value(value) {
                Some(rest) => rest,
                None => return TagVerdict::Wait,
            },
            Some(_) if is_flag => behind,
            Some(_) => return TagVerdict::No,
        };
    }
}

/// What stands behind `=` and a value; `None` while the value may go on.
fn behind_value(text: &str) -> Option<&str> {
    let value = text.strip_prefix('=')?.trim_start();
    let quote = value.chars().next()?;
    match quote {
        '"' | '\'' => value.get(1..)?.split_once(quote).map(|(_, rest)| rest),
        _ => value.find(|c: char| c.is_whitespace() || c == '>').and_then(|end| value.get(end..)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(text: &str) -> String {
        let (mut filter, mut out) = (TagFilter::default(), String::new());
        text.chars().for_each(|c| filter.take(c, &mut out));
        filter.finish(&mut out);
        out
    }

    #[test]
    fn tags_go_and_their_text_stays() {
        for (text, expected) in [
            ("Um <b>passo</b> de <em class=\"x\">cada</em> vez.", "Um passo de cada vez."),
            ("<p>Um.</p><p>Dois.</p>", "Um.\n\nDois.\n\n"),
            ("Um.<br>Dois.<br/>Três.<BR />Fim", "Um.\nDois.\nTrês.\nFim"),
            ("Veja:<ul><li>um</li><li>dois</li></ul>Fim", "Veja:\n- um\n- dois\nFim"),
            ("<h2>Título</h2>Texto", "Título\nTexto"),
            ("<a href='https://x.example/?a=1>2' target=_blank>aqui</a>", "aqui"),
            ("a<script>if (a < b) { alert('</b>') }</script>b<style>p{}</style >", "ab"),
            ("um&nbsp;dois &amp; tr&ecirc;s&#33; &#x2019;", "um dois & três! ’"),
            ("&lt;b&gt;n&atilde;o&lt;/b&gt;", "<b>não</b>"),
            ("&amp;lt;b&amp;gt; &amp;amp;", "&lt;b&gt; &amp;"),
            ("R&D, a && b; &nada; &#0; &#xD800; &#1114112; &", "R&D, a && b; &nada; &#0; &#xD800; &#1114112; &"),
            ("<b>A&amp;B</b> &<i>c</i>", "A&B &c"),
            ("a<!-- nota <b> -->b<!DOCTYPE html>c", "abc"),
            ("<input disabled><img src=\"x\" onerror=\"alert(1)\">x", "x"),
            ("<table><tr><td>a</td><td>b</td></tr></table>", "a b \n"),
            ("cortado <a href=\"http", "cortado "),
        ] {
            assert_eq!(plain(text), expected, "{text}");
        }
    }

    #[test]
    fn what_is_no_tag_stays() {
        for text in [
            "a < b e c > d",
            "a <b e c> d",
            "x<y>z",
            "Vec<T>, Map<String, b>",
            "<nome> e <sobrenome>",
            "use `<b>` para negrito",
            "`&nbsp;` e\n```\n&amp;\n```",
            "```html\n<p>Um</p>\n```",
            "  ```\n<b>\n  ```\n<c>",
            "1 << 2, a <= b, i<3",
            "<- e ->, <3, </3, <!",
            "fim <",
            "fim <b",
            "<p",
        ] {
            assert_eq!(plain(text), text);
        }
        assert_eq!(plain("`a` <b>x</b> `<b>`\n`<i>\n<i>x"), "`a` x `<b>`\n`<i>\nx");
        let long = format!("<a href=\"{}\">", "x".repeat(TAG_BYTES_MAX));
        assert_eq!(plain(&long), long);
        assert_eq!(plain("<<b>x"), "<x");
    }
}
