//! The names of the server, and the pages that may call it.
//!
//! Owns the protection of a server without keys, where every caller is the admin: a page of another site must
//! not reach it through a browser, neither directly nor under a name of its own that resolves to this
//! address. The server's names come from the bound address and the settings, never from a request. With keys,
//! a browser has nothing that it would send by itself, so `Host` and `Origin` do not matter.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::{PoisonError, RwLock};

use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, Uri, header};

use novelo_conversation::error::{Code, Error, Result};
use novelo_conversation::settings::Settings;

/// The header with which a caller without a key creates the first one. A page cannot send it: that needs a
/// preflight, which is refused.
const CONFIRM: HeaderName = HeaderName::from_static("x-novelo-confirm");
const CONFIRMATION: &str = "create-first-key";

const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");
const SEC_FETCH_MODE: HeaderName = HeaderName::from_static("sec-fetch-mode");
const HTTP_PORT: u16 = 80;
const HTTPS_PORT: u16 = 443;

/// The names of this server.
#[derive(Debug, Default)]
pub struct OwnNames {
    /// The addresses it listens on. A listener adds its address before it serves; requests within the process
    /// need none.
    bound: RwLock<Vec<BoundAddress>>,
    hosts: Vec<HostAndPort>,
    origins: Vec<WebOrigin>,
}

/// An address that the server listens on.
#[derive(Debug)]
struct BoundAddress {
    port: u16,
    /// Its names in a `Host` header, without the port.
    names: Vec<String>,
    /// Its names as clients usually write them, with the port.
    usual: Vec<String>,
}

impl BoundAddress {
    fn new(addr: SocketAddr) -> Self {
        let (port, names) = (addr.port(), names(addr.ip()));
        Self { port, usual: names.iter().map(|name| format!("{name}:{port}")).collect(), names }
    }
}

/// A host as in the `Host` header: the name in lower case without a final dot, an IPv6 address in brackets.
#[derive(Debug, Clone, PartialEq, Eq)]
struct HostAndPort {
    name: String,
    port: Option<u16>,
}

/// The origin of a page.
#[derive(Debug, Clone, PartialEq, Eq)]
struct WebOrigin {
    scheme: String,
    name: String,
    port: u16,
}

impl OwnNames {
    /// The names in the settings. Other nodes reach this one by `node.url`.
    pub fn new(settings: &Settings) -> anyhow::Result<Self> {
        let node = settings.node.url.as_ref().and_then(|url| WebOrigin::parse(url));
        let node = node.map(|WebOrigin { name, port, .. }| HostAndPort { name, port: Some(port) });
        let mut hosts = settings.http.hosts.each("HOST or HOST:PORT", HostAndPort::parse)?;
        hosts.extend(node);
        let origins = settings.http.origins.each("http://HOST[:PORT] or https://HOST[:PORT]", WebOrigin::parse)?;
        Ok(Self { bound: RwLock::default(), hosts, origins })
    }

    /// Adds an address on which the server listens.
    pub fn bind(&self, addr: SocketAddr) {
        self.bound.write().unwrap_or_else(PoisonError::into_inner).push(BoundAddress::new(addr));
    }

    /// Refuses a request from a page of another site, or to a name that is not this server's.
    pub(crate) fn require(&self, method: &Method, uri: &Uri, headers: &HeaderMap) -> Result<()> {
        if self.is_usual(uri, headers) {
            return Ok(());
        }
        let host = self.require_host(uri, headers)?;
        let text = |name: HeaderName| headers.get(name).map(|value| value.to_str().unwrap_or("?"));
        if headers.contains_key(header::ORIGIN) {
            let all = headers.get_all(header::ORIGIN).iter().map(|value| value.to_str().ok());
            return match all.into_iter().all(|origin| self.is_own_origin(origin, host.as_ref())) {
                true => Ok(()),
                false => Err(foreign("Origin")),
            };
        }
        // Following a link only reads, and the page with the link does not see the response.
        let follows_a_link = method.is_safe() && text(SEC_FETCH_MODE) == Some("navigate");
        match text(SEC_FETCH_SITE) {
            Some("cross-site" | "same-site") if !follows_a_link => Err(foreign("Sec-Fetch-Site")),
            _ => Ok(()),
        }
    }

    /// Whether a request comes from a program and not from a page, and names one address of this server as
    /// programs usually write it. Nothing else about it matters then.
    fn is_usual(&self, uri: &Uri, headers: &HeaderMap) -> bool {
        let is_of_a_page = [header::ORIGIN, SEC_FETCH_SITE].iter().any(|name| headers.contains_key(name));
        let mut hosts = headers.get_all(header::HOST).iter();
        let (Some(host), None, None, false) = (hosts.next(), hosts.next(), uri.authority(), is_of_a_page) else {
            return false;
        };
        let bound = self.bound.read().unwrap_or_else(PoisonError::into_inner);
        bound.iter().flat_map(|bound| &bound.usual).any(|usual| usual.as_bytes() == host.as_bytes())
    }

    /// The host that a request names, if any.
    fn require_host(&self, uri: &Uri, headers: &HeaderMap) -> Result<Option<HostAndPort>> {
        let in_headers = headers.get_all(header::HOST).iter().map(|host| host.to_str().unwrap_or("?"));
        let mut last = None;
        for text in in_headers.chain(uri.authority().map(|authority| authority.as_str())) {
            let host = HostAndPort::parse(text).filter(|host| self.is_own_host(host));
            last = Some(host.ok_or_else(|| {
                let shown: String = text.chars().take(SHOWN_CHARS_MAX).collect();
                let message = format!(
                    "this server is not called {shown}\nhint: while it has no keys it answers to its own address alone; \
                     add the name to http.hosts, or make a key"
                );
                Error { param: Some("Host".to_owned()), ..Error::new(Code::Forbidden, message) }
            })?);
        }
        Ok(last)
    }

    fn is_own_host(&self, host: &HostAndPort) -> bool {
        let port = host.port.unwrap_or(HTTP_PORT);
        let bound = self.bound.read().unwrap_or_else(PoisonError::into_inner);
        let mut bound = bound.iter().filter(|bound| bound.port == port).peekable();
        let is_set = |set: &HostAndPort, is_own_port: bool| {
            let fits = set.port.map_or(port == HTTP_PORT || is_own_port, |set| set == port);
            fits && set.name == host.name
        };
        let is_own_port = bound.peek().is_some();
        bound.any(|bound| bound.names.contains(&host.name)) || self.hosts.iter().any(|set| is_set(set, is_own_port))
    }

    /// Whether the operator trusts pages of this origin.
    pub(crate) fn trusts(&self, origin: &HeaderValue) -> bool {
        origin.to_str().ok().and_then(WebOrigin::parse).is_some_and(|origin| self.origins.contains(&origin))
    }

    /// Whether a page is one of ours, which calls the server under the name it was loaded from, or one that
    /// the operator trusts.
    fn is_own_origin(&self, origin: Option<&str>, host: Option<&HostAndPort>) -> bool {
        let Some(origin) = origin.and_then(WebOrigin::parse) else { return false };
        let is_ours = |host: &HostAndPort| {
            origin.scheme == "http" && origin.name == host.name && origin.port == host.port.unwrap_or(HTTP_PORT)
        };
        self.origins.contains(&origin) || host.is_some_and(is_ours)
    }
}

const SHOWN_CHARS_MAX: usize = 100;

fn foreign(header: &str) -> Error {
    let message = "a page from elsewhere may not call this server\nhint: add its origin to http.origins, or make a key";
    Error { param: Some(header.to_owned()), ..Error::new(Code::Forbidden, message) }
}

/// The names of an address in a `Host` header.
fn names(ip: IpAddr) -> Vec<String> {
    let own = match ip {
        IpAddr::V4(ip) => ip.to_string(),
        IpAddr::V6(ip) => format!("[{ip}]"),
    };
    let local = ["localhost", "127.0.0.1", "[::1]"].into_iter().filter(|_| ip.is_loopback());
    local.map(str::to_owned).chain([own]).collect()
}

/// Whether a request confirms that it creates the first key, and does not come from a page.
pub(crate) fn confirms_first_key(headers: &HeaderMap) -> bool {
    headers.get(CONFIRM).is_some_and(|value| value == CONFIRMATION) && !headers.contains_key(header::ORIGIN)
}

/// The error for a caller that did not confirm.
pub(crate) fn unconfirmed() -> Error {
    let message = "the first key closes the server to everyone without one\nhint: make it with `novelo key create --admin` \
                   on this machine, or send X-Novelo-Confirm: create-first-key";
    Error::new(Code::Forbidden, message)
}

impl HostAndPort {
    fn parse(text: &str) -> Option<Self> {
        let (name, port) = match text.strip_prefix('[') {
            Some(rest) => {
                let (ip, port) = rest.split_once(']')?;
                (format!("[{}]", ip.parse::<Ipv6Addr>().ok()?), port)
            }
            None => {
                let end = text.find(':').unwrap_or(text.len());
                let (name, port) = text.split_at(end);
                (host_name(name)?, port)
            }
        };
        let port = match port.strip_prefix(':') {
            None if port.is_empty() => None,
            None => return None,
            Some("") => None,
            Some(digits) if digits.bytes().all(|b| b.is_ascii_digit()) => Some(digits.parse().ok()?),
            Some(_) => return None,
        };
        Some(Self { name, port })
    }
}

fn host_name(text: &str) -> Option<String> {
    let name = text.strip_suffix('.').unwrap_or(text).to_ascii_lowercase();
    if let Ok(ip) = name.parse::<Ipv4Addr>() {
        return Some(ip.to_string());
    }
    let is_name = !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"-._".contains(&b));
    is_name.then_some(name)
}

impl WebOrigin {
    fn parse(text: &str) -> Option<Self> {
        let (scheme, host) = text.split_once("://")?;
        let scheme = scheme.to_ascii_lowercase();
        let HostAndPort { name, port } = HostAndPort::parse(host)?;
        let usual = match scheme.as_str() {
            "http" => HTTP_PORT,
            "https" => HTTPS_PORT,
            _ => return None,
        };
        Some(Self { scheme, name, port: port.unwrap_or(usual) })
    }
}

#[cfg(test)]
#[path = "origin_tests.rs"]
mod tests;
