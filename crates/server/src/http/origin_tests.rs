//! Names and pages that pass, and those that do not.

use axum::http::HeaderValue;

use super::*;

fn own_names(bound: &str, hosts: &str, origins: &str) -> OwnNames {
    let flags = [("http.hosts", hosts), ("http.origins", origins)];
    let flags = flags.map(|(key, value)| (key, Some(value.to_owned())));
    let names = OwnNames::new(&Settings::gather(None, |_| None, &flags).unwrap()).unwrap();
    names.bind(bound.parse().unwrap());
    names
}

fn passes(names: &OwnNames, method: Method, headers: &[(HeaderName, &str)]) -> bool {
    let headers = headers.iter().map(|(name, value)| (name.clone(), HeaderValue::from_str(value).unwrap()));
    names.require(&method, &Uri::from_static("/x"), &headers.collect()).is_ok()
}

#[test]
fn a_server_answers_to_its_own_names() {
    let local = own_names("127.0.0.1:7420", "", "");
    let check = |names: &OwnNames, host: &str, passed: bool| {
        assert_eq!(passes(names, Method::GET, &[(header::HOST, host)]), passed, "{host}");
    };
    for host in ["127.0.0.1:7420", "localhost:7420", "LOCALHOST:7420", "localhost.:7420", "[::1]:7420"] {
        check(&local, host, true);
    }
    let others = ["127.0.0.1", "127.0.0.1:7421", "127.0.0.9:7420", "evil.example:7420", "novelo:7420", "x", ""];
    let odd = ["localhost.evil.example:7420", "127.1:7420", "127.0.0.1:7420x", "[::1", "a b:7420", "127.0.0.1:"];
    for host in others.into_iter().chain(odd) {
        check(&local, host, false);
    }
    let usual = own_names("127.0.0.1:80", "", "");
    for host in ["localhost", "localhost:80", "127.0.0.1", "127.0.0.1:"] {
        check(&usual, host, true);
    }
    let named = own_names("127.0.0.1:7420", "Novelo.test, other.test:9000", "");
    for (host, passed) in [
        ("novelo.test", true),
        ("novelo.test:7420", true),
        ("novelo.test:9000", false),
        ("other.test:9000", true),
        ("other.test", false),
    ] {
        check(&named, host, passed);
    }
    assert!(passes(&local, Method::GET, &[]), "a request that names no host");
    let both = [(header::HOST, "127.0.0.1:7420")];
    assert!(local.require(&Method::GET, &Uri::from_static("http://evil.example/x"), &HeaderMap::new()).is_err());
    assert!(passes(&local, Method::GET, &both));
}

#[test]
fn only_own_pages_and_those_of_the_settings_may_call() {
    let names = own_names("127.0.0.1:7420", "", "https://app.example, http://localhost:3000");
    let check = |origin: &str, passed: bool| {
        let headers = [(header::HOST, "127.0.0.1:7420"), (header::ORIGIN, origin)];
        assert_eq!(passes(&names, Method::POST, &headers), passed, "{origin}");
    };
    for origin in ["http://127.0.0.1:7420", "https://app.example", "https://APP.example:443", "http://localhost:3000"] {
        check(origin, true);
    }
    for origin in [
        "null",
        "",
        "http://203.0.113.5",
        "http://127.0.0.9:7420",
        "http://127.0.0.1:7421",
        "http://127.0.0.1",
        "https://127.0.0.1:7420",
        "http://localhost:7420",
        "http://app.example",
        "https://app.example:444",
        "file://",
        "chrome-extension://abc",
    ] {
        check(origin, false);
    }
    assert!(!passes(&names, Method::POST, &[(header::ORIGIN, "http://127.0.0.1:7420")]), "no host to compare with");
    let two = [(header::ORIGIN, "https://app.example"), (header::ORIGIN, "http://evil.example")];
    let two: HeaderMap = two.into_iter().fold(HeaderMap::new(), |mut all, (name, value)| {
        all.append(name, HeaderValue::from_static(value));
        all
    });
    assert!(names.require(&Method::POST, &Uri::from_static("/x"), &two).is_err());
}

#[test]
fn a_browser_says_when_a_page_is_from_elsewhere() {
    let names = own_names("127.0.0.1:7420", "", "https://app.example");
    let check = |method: Method, site: &str, mode: &str, passed: bool| {
        let headers = [(header::HOST, "127.0.0.1:7420"), (SEC_FETCH_SITE, site), (SEC_FETCH_MODE, mode)];
        assert_eq!(passes(&names, method.clone(), &headers), passed, "{method} {site} {mode}");
    };
    check(Method::POST, "same-origin", "cors", true);
    check(Method::POST, "none", "navigate", true);
    check(Method::POST, "cross-site", "navigate", false);
    check(Method::DELETE, "same-site", "cors", false);
    check(Method::GET, "cross-site", "no-cors", false);
    check(Method::GET, "cross-site", "navigate", true);
    let trusted = [(header::ORIGIN, "https://app.example"), (SEC_FETCH_SITE, "cross-site")];
    assert!(passes(&names, Method::POST, &trusted));
}

#[test]
fn a_page_cannot_confirm_the_first_key() {
    let headers = |rows: &[(HeaderName, &'static str)]| {
        rows.iter().map(|(name, value)| (name.clone(), HeaderValue::from_static(value))).collect::<HeaderMap>()
    };
    assert!(confirms_first_key(&headers(&[(CONFIRM, CONFIRMATION)])));
    assert!(!confirms_first_key(&headers(&[(CONFIRM, "yes")])) && !confirms_first_key(&HeaderMap::new()));
    assert!(!confirms_first_key(&headers(&[(CONFIRM, CONFIRMATION), (header::ORIGIN, "http://127.0.0.1:7420")])));
}
