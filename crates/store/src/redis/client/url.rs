//! Where the server is, as an address says it.
//!
//! Owns the reading of `redis://user:password@host:port/db,host2:port2`. Refuses what it does not understand,
//! naming that part but never repeating it. Invariant: no text that leaves here holds the password, wherever
//! it was put.

use std::path::PathBuf;

use crate::Error;

const PORT: u16 = 6379;
const DB_MAX: u32 = 65_535;

/// What an address says. Has no `Debug`, since it holds the password.
#[derive(Clone, PartialEq)]
pub(super) struct Target {
    pub(super) tls: bool,
    /// Certificates to trust instead of the public ones.
    pub(super) ca: Option<PathBuf>,
    pub(super) user: Option<String>,
    pub(super) password: Option<String>,
    pub(super) db: u32,
    /// At least one.
    pub(super) seeds: Vec<Address>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Address {
    /// Without the brackets of an IPv6 address.
    pub(super) host: String,
    pub(super) port: u16,
}

impl std::fmt::Display for Address {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { host, port } = self;
        if host.contains(':') { write!(f, "[{host}]:{port}") } else { write!(f, "{host}:{port}") }
    }
}

impl Target {
    pub(super) fn parse(url: &str) -> Result<Self, Error> {
        Self::read(url).map_err(|why| Error::Invalid(format!("the address of redis is not understood: {why}")))
    }

    fn read(url: &str) -> Result<Self, String> {
        let (scheme, rest) = url.split_once("://").ok_or("it must begin with redis:// or rediss://")?;
        let tls = match scheme {
            "redis" => false,
            "rediss" => true,
            _ => return Err("it must begin with redis:// or rediss://".into()),
        };
        let (rest, options) = rest.split_once('?').unwrap_or((rest, ""));
        let (credentials, hosts) = match rest.rsplit_once('@') {
            Some((credentials, hosts)) => (Some(credentials), hosts),
            None => (None, rest),
        };
        let (user, password) = credentials.map(read_credentials).transpose()?.unwrap_or_default();
        let mut target = Self { tls, ca: None, user, password, db: 0, seeds: Vec::new() };
        for host in hosts.split(',') {
            let host = match host.split_once('/') {
                Some((host, db)) => {
                    target.db = read_db(db)?;
                    host
                }
                None => host,
            };
            target.seeds.push(Address::parse(host)?);
        }
        for option in options.split('&').filter(|option| !option.is_empty()) {
            match option.split_once('=') {
                Some(("ca", path)) if tls => target.ca = Some(decode(path)?.into()),
                Some(("ca", _)) => return Err("the option ca needs rediss://".into()),
                _ => return Err("after the ? only ca=… is known (a ? in a password is written %3F)".into()),
            }
        }
        Ok(target)
    }
}

impl Address {
    /// `host`, `host:port`, `[::1]:port`
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let (host, port) = match text.strip_prefix('[') {
            Some(rest) => {
                let (host, rest) = rest.split_once(']').ok_or("a host has no closing ]")?;
                (host, rest.strip_prefix(':').or(rest.is_empty().then_some("")))
            }
            None => match text.rsplit_once(':') {
                Some((host, port)) => (host, Some(port).filter(|port| !port.is_empty())),
                None => (text, Some("")),
            },
        };
        if host.is_empty() {
            return Err("a host is missing".into());
        }
        let port = match port {
            Some("") => PORT,
            port => port
                .and_then(|port| port.parse().ok())
                .filter(|port| *port != 0)
                .ok_or("a port is no number from 1 to 65535")?,
        };
        Ok(Self { host: host.into(), port })
    }
}

fn read_credentials(text: &str) -> Result<(Option<String>, Option<String>), String> {
    let (user, password) = text.split_once(':').ok_or("it names a user and no password (user:password@host)")?;
    let user = Some(decode(user)?).filter(|user| !user.is_empty());
    let password = Some(decode(password)?).filter(|password| !password.is_empty());
    if user.is_some() && password.is_none() {
        return Err("the password is empty".into());
    }
    Ok((user, password))
}

fn read_db(text: &str) -> Result<u32, String> {
    match text {
        "" => Ok(0),
        db => db
            .parse()
            .ok()
            .filter(|db| *db <= DB_MAX)
            .ok_or_else(|| format!("the database after the / is no number up to {DB_MAX}")),
    }
}

/// Percent-decoding.
fn decode(text: &str) -> Result<String, String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'%' => match (rest.next().and_then(hex), rest.next().and_then(hex)) {
                (Some(high), Some(low)) => high << 4 | low,
                _ => return Err("a % is not followed by two hexadecimal digits".into()),
            },
            byte => byte,
        });
    }
    String::from_utf8(bytes).map_err(|_| "percent-encoded bytes are not UTF-8".into())
}

fn hex(byte: u8) -> Option<u8> {
    char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok())
}
