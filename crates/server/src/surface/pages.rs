//! The pages: their files, and the headers of everything that a browser shows.
//!
//! Owns what is served without a key: files that are part of the binary and hold no data. A page fetches its
//! data with the key of its tab as a header (`page/login.js`); so a new page needs a row here and a route,
//! and nothing of its own for keys. Invariants: the policy allows only these files to run or load, and no
//! page of another origin can frame one.

use std::fmt::Write;
use std::sync::LazyLock;

use axum::extract::Path;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{Html, IntoResponse, Response};
use axum::routing::get;
use sha2::{Digest, Sha256};

use crate::auth::Access;
use crate::http::error::ApiResult;
use crate::route::Routes;
use crate::server::Server;
use novelo_conversation::error::Error;

/// One file.
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

const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; \
                      base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

/// The headers of every page, of its files and of its fragments.
const HEADERS: [(HeaderName, &str); 5] = [
    (header::CONTENT_SECURITY_POLICY, POLICY),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::REFERRER_POLICY, "no-referrer"),
    (header::X_FRAME_OPTIONS, "DENY"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
];

macro_rules! assets {
    ($($name:literal $kind:ident;)*) => {
        [$(Asset::new($name, $kind, include_bytes!(concat!("../page/", $name)))),*]
    };
}

/// The pages. Each has a route of its own.
static PAGES: LazyLock<[Asset; 3]> = LazyLock::new(|| {
    assets! {
        "chat.html" HTML;
        "debug.html" HTML;
        "index.html" HTML;
    }
});

/// The files that pages load.
static ASSETS: LazyLock<[Asset; 14]> = LazyLock::new(|| {
    assets! {
        "base.css" CSS;
        "chat.css" CSS;
        "chat.js" SCRIPT;
        "debug.css" CSS;
        "debug.js" SCRIPT;
        "export.js" SCRIPT;
        "htmx.min.js" SCRIPT;
        "icon.svg" SVG;
        "index.js" SCRIPT;
        "login.js" SCRIPT;
        "reply.js" SCRIPT;
        "stream.js" SCRIPT;
        "text.js" SCRIPT;
        "words.js" SCRIPT;
    }
});

pub(crate) fn routes(server: &Server) -> Routes {
    Routes::new(server)
        .route("/", Access::Public, get(async |headers: HeaderMap| page("index.html", &headers)))
        .route("/chat", Access::Public, get(async |headers: HeaderMap| page("chat.html", &headers)))
        .route("/assets/{name}", Access::Public, get(asset))
}

/// A page, which is the same for every caller.
pub(crate) fn page(name: &str, asked: &HeaderMap) -> ApiResult<Response> {
    let page = PAGES.iter().find(|page| page.name == name);
    page.map(|page| page.answer(asked)).ok_or_else(|| Error::not_found("such page").into())
}

/// A fragment of a page, made for one caller.
pub(crate) fn piece(html: String) -> Response {
    let mut response = Html(html).into_response();
    guard(response.headers_mut(), "no-store");
    response
}

async fn asset(Path(name): Path<String>, headers: HeaderMap) -> ApiResult<Response> {
    let asset = ASSETS.iter().find(|asset| asset.name == name);
    asset.map(|asset| asset.answer(&headers)).ok_or_else(|| Error::not_found("such file of a page").into())
}

fn guard(headers: &mut HeaderMap, caching: &'static str) {
    let all = HEADERS.into_iter().chain([(header::CACHE_CONTROL, caching)]);
    headers.extend(all.map(|(name, value)| (name, HeaderValue::from_static(value))));
}

impl Asset {
    fn new(name: &'static str, kind: &'static str, bytes: &'static [u8]) -> Self {
        let etag = format!("\"{}\"", hex(&Sha256::digest(bytes)));
        Self { name, kind, bytes, etag }
    }

    /// A browser caches the files and revalidates them each time, so that it sees a new binary at once.
    fn answer(&self, asked: &HeaderMap) -> Response {
        let has_it = asked.get_all(header::IF_NONE_MATCH).iter().any(|held| self.is_held(held));
        let mut response = match has_it {
            true => StatusCode::NOT_MODIFIED.into_response(),
            false => ([(header::CONTENT_TYPE, self.kind)], self.bytes).into_response(),
        };
        let headers = response.headers_mut();
        guard(headers, "no-cache");
        headers.insert(header::ETAG, HeaderValue::try_from(&self.etag).expect("hex digits in quotes make a header"));
        response
    }

    /// Whether a list of tags from the client contains this file's, which a proxy may have marked as weak.
    fn is_held(&self, held: &HeaderValue) -> bool {
        let tags = held.to_str().unwrap_or("").split(',').map(|tag| tag.trim().trim_start_matches("W/"));
        tags.into_iter().any(|tag| tag == self.etag || tag == "*")
    }
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

    fn text(asset: &Asset) -> &'static str {
        std::str::from_utf8(asset.bytes).expect("the files are text")
    }

    fn named(name: &str) -> &'static str {
        text(ASSETS.iter().find(|asset| asset.name == name).expect("it is an asset"))
    }

    /// The scripts that we write ourselves.
    fn scripts() -> impl Iterator<Item = &'static Asset> {
        ASSETS.iter().filter(|asset| asset.kind == SCRIPT && asset.name != "htmx.min.js")
    }

    #[test]
    fn htmx_is_the_file_that_the_readme_names() {
        let readme = include_str!("../page/README.md");
        let digest = hex(&Sha256::digest(named("htmx.min.js")));
        assert!(readme.contains(&format!("sha256 `{digest}`")));
        assert!(named("htmx.min.js").contains(r#"version:"2.0.11""#) && readme.contains("version 2.0.11"));
    }

    #[test]
    fn every_file_is_served_and_every_served_file_is_used() {
        let sources: String = PAGES.iter().chain(scripts()).map(text).collect();
        let parts = sources.split('"').filter_map(|part| part.strip_prefix("/assets/").or(part.strip_prefix("./")));
        let used: BTreeSet<&str> = parts.collect();
        assert_eq!(used, ASSETS.iter().map(|asset| asset.name).collect());
        let readme = include_str!("../page/README.md");
        for asset in PAGES.iter().chain(&*ASSETS) {
            assert!(readme.contains(&format!("| `{}` |", asset.name)), "{} is not in the README", asset.name);
        }
    }

    /// The keys of the words of a language.
    fn keys(language: &str) -> BTreeSet<&'static str> {
        let (_, words) = named("words.js").split_once(&format!("\n  {language}: {{\n")).expect("the language is there");
        let lines = words.split("\n  },").next().unwrap_or("").lines();
        lines.filter_map(|line| line.trim().split_once(": \"")).map(|(key, _)| key).collect()
    }

    #[test]
    fn every_language_has_words_for_everything() {
        let marked = ["data-say=\"", "data-label=\"", "data-placeholder=\""];
        let pages: String = PAGES.iter().map(text).collect();
        let on_pages =
            marked.iter().flat_map(|mark| pages.split(mark).skip(1)).filter_map(|rest| rest.split('"').next());
        let needed: BTreeSet<&str> = on_pages.chain(keys("en")).collect();
        for language in ["pt", "ru"] {
            let missing: Vec<_> = needed.difference(&keys(language)).copied().collect();
            assert_eq!(missing, [""; 0], "{language}");
        }
        assert!(needed.len() > 80, "{}", needed.len());
    }

    /// A word that a script says has to be there in English, which the other languages fall back to.
    #[test]
    fn every_word_that_is_said_is_known() {
        let said: BTreeSet<&str> = scripts()
            .flat_map(|script| text(script).split("say(\"").skip(1))
            .filter_map(|rest| rest.split('"').next())
            .collect();
        let unknown: Vec<_> = said.difference(&keys("en")).copied().collect();
        assert_eq!(unknown, [""; 0]);
    }

    /// The policy forbids them, so that one which slips in would silently do nothing.
    #[test]
    fn nothing_stands_inline_and_nothing_comes_from_elsewhere() {
        for page in PAGES.iter() {
            for forbidden in ["<style", " style=", " onclick", "hx-on", "<script>", "http://", "https://", "src=\"//"] {
                assert!(!text(page).contains(forbidden), "{forbidden} in {}", page.name);
            }
        }
        for script in scripts() {
            for forbidden in ["innerHTML", "insertAdjacentHTML", "eval(", "document.write", "https://"] {
                assert!(!text(script).contains(forbidden), "{forbidden} in {}", script.name);
            }
        }
    }

    /// The key of a tab has one owner, and no other place to be.
    #[test]
    fn the_key_is_in_the_hands_of_the_login_alone() {
        for script in scripts() {
            for forbidden in ["localStorage", "document.cookie", "history."] {
                assert!(!text(script).contains(forbidden), "{forbidden} in {}", script.name);
            }
            let is_owner = script.name == "login.js";
            assert_eq!(text(script).contains("sessionStorage"), is_owner, "{}", script.name);
            assert_eq!(text(script).contains("Bearer"), is_owner, "{}", script.name);
        }
    }
}
