//! The chat page: its files, and the piece of it that a question becomes.
//!
//! Owns the HTML of the chat page, and how a text is escaped in any page. The files are part of the binary. Whatever a caller sent is escaped;
//! the policy that goes with each file lets nothing run or load that is not one of them.

use std::fmt::Write;
use std::sync::LazyLock;

use axum::extract::Path;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use sha2::{Digest, Sha256};

use crate::http::error::{ApiError, Result};

/// One file of the page.
struct Asset {
    name: &'static str,
    kind: &'static str,
    bytes: &'static [u8],
    etag: String,
}

const CSS: &str = "text/css; charset=utf-8";
const HTML: &str = "text/html; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";
const SVG: &str = "image/svg+xml";

const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; \
                      base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

/// A browser keeps the files and asks each time whether they are still the same, so that a new binary is seen at once.
const HEADERS: [(HeaderName, &str); 4] = [
    (header::CACHE_CONTROL, "no-cache"),
    (header::CONTENT_SECURITY_POLICY, POLICY),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::REFERRER_POLICY, "same-origin"),
];

macro_rules! assets {
    ($($name:literal $kind:ident;)*) => {
        [$(Asset::new($name, $kind, include_bytes!(concat!("../../page/", $name)))),*]
    };
}

static PAGE: LazyLock<Asset> = LazyLock::new(|| {
    let [page] = assets! { "chat.html" HTML; };
    page
});

static ASSETS: LazyLock<[Asset; 8]> = LazyLock::new(|| {
    assets! {
        "chat.css" CSS;
        "chat.js" SCRIPT;
        "htmx.min.js" SCRIPT;
        "icon.svg" SVG;
        "reply.js" SCRIPT;
        "stream.js" SCRIPT;
        "text.js" SCRIPT;
        "words.js" SCRIPT;
    }
});

pub async fn chat(headers: HeaderMap) -> Response {
    PAGE.answer(&headers)
}

pub async fn asset(Path(name): Path<String>, headers: HeaderMap) -> Result<Response> {
    let asset = ASSETS.iter().find(|asset| asset.name == name);
    asset.map(|asset| asset.answer(&headers)).ok_or_else(|| ApiError::not_found("such file of the chat page"))
}

/// The piece of the page that a question becomes: itself, and the address where its reply is read.
pub fn exchange(question: &str, reply: &str) -> String {
    let (question, reply) = (escaped(question), escaped(reply));
    format!(
        "<article class=\"exchange\" data-reply=\"{reply}\">\
         <h2 class=\"question\" dir=\"auto\">{question}</h2>\
         <div class=\"reply\"></div></article>\n"
    )
}

impl Asset {
    fn new(name: &'static str, kind: &'static str, bytes: &'static [u8]) -> Self {
        let etag = format!("\"{}\"", hex(&Sha256::digest(bytes)));
        Self { name, kind, bytes, etag }
    }

    fn answer(&self, asked: &HeaderMap) -> Response {
        let has_it = asked.get_all(header::IF_NONE_MATCH).iter().any(|held| self.is_held(held));
        let mut response = match has_it {
            true => StatusCode::NOT_MODIFIED.into_response(),
            false => ([(header::CONTENT_TYPE, self.kind)], self.bytes).into_response(),
        };
        let headers = response.headers_mut();
        headers.extend(HEADERS.map(|(name, value)| (name, HeaderValue::from_static(value))));
        headers.insert(header::ETAG, HeaderValue::try_from(&self.etag).expect("hex digits in quotes make a header"));
        response
    }

    /// Whether a list of tags that the client holds has this file's, which a proxy may have marked as weak.
    fn is_held(&self, held: &HeaderValue) -> bool {
        let tags = held.to_str().unwrap_or("").split(',').map(|tag| tag.trim().trim_start_matches("W/"));
        tags.into_iter().any(|tag| tag == self.etag || tag == "*")
    }
}

/// A text as it stands in a page, in an attribute too.
pub fn escaped(text: &str) -> String {
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

fn hex(bytes: &[u8]) -> String {
    let mut out = String::new();
    for byte in bytes {
        write!(out, "{byte:02x}").expect("a String takes any text");
    }
    out
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn text(name: &str) -> &'static str {
        let asset = ASSETS.iter().find(|asset| asset.name == name).unwrap_or(&PAGE);
        std::str::from_utf8(asset.bytes).expect("the files are text")
    }

    #[test]
    fn whatever_was_typed_stays_text() {
        let made = exchange("<script>alert('1')</script> & \"co\"", "/chat/replies/a\"b");
        assert!(made.contains("&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt; &amp; &quot;co&quot;"), "{made}");
        assert!(made.contains("data-reply=\"/chat/replies/a&quot;b\""), "{made}");
    }

    #[test]
    fn htmx_is_the_file_that_the_readme_names() {
        let htmx = ASSETS.iter().find(|asset| asset.name == "htmx.min.js").expect("it is an asset");
        let readme = include_str!("../../page/README.md");
        assert!(readme.contains(&format!("sha256 `{}`", hex(&Sha256::digest(htmx.bytes)))));
        assert!(text("htmx.min.js").contains(r#"version:"2.0.11""#) && readme.contains("version 2.0.11"));
    }

    #[test]
    fn every_address_on_the_page_is_served() {
        let sources = [text("chat.html"), text("chat.js"), text("reply.js"), text("words.js")].concat();
        let quoted: Vec<&str> = sources.split('"').collect();
        let named = quoted.iter().filter_map(|part| part.strip_prefix("/chat/assets/").or(part.strip_prefix("./")));
        let missing: Vec<&str> = named.filter(|name| ASSETS.iter().all(|asset| asset.name != *name)).collect();
        assert_eq!(missing, [""; 0]);
    }

    /// The keys of the words of a language.
    fn keys(language: &str) -> BTreeSet<&'static str> {
        let (_, words) = text("words.js").split_once(&format!("\n  {language}: {{\n")).expect("the language is there");
        let lines = words.split("\n  },").next().unwrap_or("").lines();
        lines.filter_map(|line| line.trim().split_once(": \"")).map(|(key, _)| key).collect()
    }

    #[test]
    fn every_language_has_words_for_everything() {
        let page = text("chat.html");
        let marked = ["data-say=\"", "data-label=\"", "data-placeholder=\""];
        let on_page = marked.iter().flat_map(|mark| page.split(mark).skip(1)).filter_map(|rest| rest.split('"').next());
        let needed: BTreeSet<&str> = on_page.chain(keys("en")).collect();
        for language in ["pt", "ru"] {
            let missing: Vec<_> = needed.difference(&keys(language)).copied().collect();
            assert_eq!(missing, [""; 0], "{language}");
        }
        assert!(needed.len() > 60, "{}", needed.len());
    }

    /// The policy forbids them, so that one which slips in would silently do nothing.
    #[test]
    fn nothing_stands_inline_and_nothing_comes_from_elsewhere() {
        let page = text("chat.html");
        for forbidden in ["<style", " style=", " onclick", "hx-on", "<script>", "http://", "https://", "src=\"//"] {
            assert!(!page.contains(forbidden), "{forbidden}");
        }
        for script in ["chat.js", "reply.js", "stream.js", "text.js", "words.js"] {
            for forbidden in ["innerHTML", "insertAdjacentHTML", "eval(", "document.write", "https://"] {
                assert!(!text(script).contains(forbidden), "{forbidden} in {script}");
            }
        }
    }
}
