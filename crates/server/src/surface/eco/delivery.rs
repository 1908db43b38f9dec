//! How a client of `/ask-eco` gets its answer: as JSON, as events, or as events word by word.

use axum::http::{HeaderMap, HeaderValue, header};
use novelo_language::decide::Delivery;

/// What a client asks for: by `stream`, else by `Accept`. Events with the text in one piece where it says
/// neither: a client of a stream reads them, and so does a person with curl.
pub(crate) fn of_request(stream: Option<bool>, headers: &HeaderMap) -> Delivery {
    match stream {
        Some(true) => Delivery::Stream,
        Some(false) => Delivery::Json,
        None => of_accepted(headers),
    }
}

fn of_accepted(headers: &HeaderMap) -> Delivery {
    let texts = headers.get_all(header::ACCEPT).iter().filter_map(|value: &HeaderValue| value.to_str().ok());
    let ranges: Vec<String> = texts.flat_map(|text| text.split(',')).filter_map(accepted).collect();
    let has = |kinds: &[&str]| ranges.iter().any(|range| kinds.contains(&range.as_str()));
    match () {
        () if has(&["text/event-stream"]) => Delivery::Stream,
        () if has(&["application/json", "application/*"]) && !has(&["*/*", "text/*"]) => Delivery::Json,
        () => Delivery::Events,
    }
}

/// The kind that one part of `Accept` names; `None` for one that is not acceptable.
fn accepted(part: &str) -> Option<String> {
    let (kind, parameters) = part.split_once(';').unwrap_or((part, ""));
    let is_refused = |parameter: &str| {
        let weight = parameter.trim().strip_prefix("q=").and_then(|weight| weight.trim().parse::<f32>().ok());
        weight == Some(0.0)
    };
    (!parameters.split(';').any(is_refused)).then(|| kind.trim().to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(stream: Option<bool>, accept: &[&str], expected: Delivery) {
        let headers = accept.iter().map(|value| (header::ACCEPT, value.parse().unwrap())).collect();
        assert_eq!(of_request(stream, &headers), expected, "{stream:?} {accept:?}");
    }

    #[test]
    fn the_body_decides_before_the_header() {
        for accept in ["*/*", "application/json", "text/event-stream"] {
            check(Some(true), &[accept], Delivery::Stream);
            check(Some(false), &[accept], Delivery::Json);
        }
    }

    #[test]
    fn json_is_for_those_who_accept_nothing_else() {
        check(None, &[], Delivery::Events);
        check(None, &[""], Delivery::Events);
        check(None, &["*/*"], Delivery::Events);
        check(None, &["application/json, text/plain, */*"], Delivery::Events);
        check(None, &["text/html"], Delivery::Events);
        check(None, &["application/json"], Delivery::Json);
        check(None, &["Application/JSON; charset=utf-8"], Delivery::Json);
        check(None, &["application/json, text/html;q=0.5"], Delivery::Json);
        check(None, &["application/json", "*/*;q=0"], Delivery::Json);
        check(None, &["text/event-stream"], Delivery::Stream);
        check(None, &["application/json", "text/event-stream"], Delivery::Stream);
        check(None, &["application/json, text/event-stream;q=0"], Delivery::Json);
    }
}
