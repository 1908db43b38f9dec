//! The fragment of the chat page for one question. All text from callers is escaped.

/// The question, the address of its reply, and the id of its trace.
pub(crate) fn exchange(question: &str, reply: &str, trace: &str) -> String {
    let [question, reply, trace] = [question, reply, trace].map(escaped);
    format!(
        "<article class=\"exchange\" data-reply=\"{reply}\" data-trace=\"{trace}\">\
         <h2 class=\"question\" dir=\"auto\">{question}</h2>\
         <div class=\"reply\"></div></article>\n"
    )
}

/// A text escaped for a page, also within an attribute.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            other => out.push(other),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_was_typed_stays_text() {
        let made = exchange("<script>alert('1')</script> & \"co\"", "/chat/replies/a\"b", "c\"d");
        assert!(made.contains("&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt; &amp; &quot;co&quot;"), "{made}");
        assert!(made.contains("data-reply=\"/chat/replies/a&quot;b\""), "{made}");
        assert!(made.contains("data-trace=\"c&quot;d\""), "{made}");
    }
}
