//! The slots of a cluster, and what a refusal of a server means.
//!
//! Owns the slot of a key, the map of slots, and the reading of redirects and temporary refusals. Sends
//! nothing. Invariant: a refusal that is classified here as a redirect or a wait means that the command was
//! not executed.

use std::collections::HashMap;
use std::sync::Arc;

use super::node::Node;
use super::resp::Reply;
use super::url::Address;

pub(super) const SLOTS: u16 = 16_384;

/// The slot of a key, computed from the text in its first braces if there is any.
pub(super) fn slot(key: &[u8]) -> u16 {
    let tag = key.iter().position(|byte| *byte == b'{').and_then(|open| {
        let rest = key.get(open + 1..)?;
        let close = rest.iter().position(|byte| *byte == b'}').filter(|close| *close > 0)?;
        rest.get(..close)
    });
    crc16(tag.unwrap_or(key)) % SLOTS
}

/// CRC16-XMODEM.
pub(super) fn crc16(bytes: &[u8]) -> u16 {
    bytes.iter().fold(0, |crc, byte| {
        let index = usize::from((crc >> 8) as u8 ^ byte);
        (crc << 8) ^ CRC16.get(index).copied().unwrap_or_default()
    })
}

static CRC16: [u16; 256] = crc16_table();

#[expect(clippy::indexing_slicing, reason = "evaluated by the compiler, with an index below the length")]
const fn crc16_table() -> [u16; 256] {
    let mut table = [0; 256];
    let mut byte: u16 = 0;
    while byte < 256 {
        let mut crc = byte << 8;
        let mut bit = 0;
        while bit < 8 {
            crc = if crc & 0x8000 == 0 { crc << 1 } else { (crc << 1) ^ 0x1021 };
            bit += 1;
        }
        table[byte as usize] = crc;
        byte += 1;
    }
    table
}

/// The map as last read.
#[derive(Default, Clone)]
pub(super) struct SlotMap {
    /// By first slot, without overlaps.
    pub(super) ranges: Vec<SlotRange>,
    /// Each once.
    pub(super) masters: Vec<Arc<Node>>,
    /// Single slots that were redirected since.
    pub(super) moved: HashMap<u16, Arc<Node>>,
}

#[derive(Clone)]
pub(super) struct SlotRange {
    pub(super) first: u16,
    pub(super) last: u16,
    pub(super) master: Arc<Node>,
}

impl SlotMap {
    /// One server that has everything.
    pub(super) fn all_at(node: Arc<Node>) -> Self {
        let range = SlotRange { first: 0, last: SLOTS - 1, master: node.clone() };
        Self { ranges: vec![range], masters: vec![node], moved: HashMap::new() }
    }

    pub(super) fn master_of(&self, slot: u16) -> Option<&Arc<Node>> {
        if let Some(node) = self.moved.get(&slot) {
            return Some(node);
        }
        let after = self.ranges.partition_point(|range| range.first <= slot);
        let range = self.ranges.get(after.checked_sub(1)?)?;
        (slot <= range.last).then_some(&range.master)
    }
}

/// A line of `CLUSTER SLOTS`.
pub(super) struct SlotRow {
    pub(super) first: u16,
    pub(super) last: u16,
    /// The master first.
    pub(super) servers: Vec<Address>,
}

/// `None` if the reply is not a map with slots. `asked` is the host of servers that do not know their own.
pub(super) fn read_slots(reply: &Reply, asked: &Address) -> Option<Vec<SlotRow>> {
    let Reply::List(rows) = reply else { return None };
    let mut rows = rows.iter().map(|row| read_row(row, asked)).collect::<Option<Vec<_>>>()?;
    rows.sort_by_key(|row| row.first);
    (!rows.is_empty()).then_some(rows)
}

fn read_row(row: &Reply, asked: &Address) -> Option<SlotRow> {
    let Reply::List(parts) = row else { return None };
    let [Reply::Int(first), Reply::Int(last), servers @ ..] = parts.as_slice() else { return None };
    let servers = servers.iter().map(|server| read_server(server, asked)).collect::<Option<Vec<_>>>()?;
    let row = SlotRow { first: u16::try_from(*first).ok()?, last: u16::try_from(*last).ok()?, servers };
    (!row.servers.is_empty() && row.first <= row.last && row.last < SLOTS).then_some(row)
}

fn read_server(server: &Reply, asked: &Address) -> Option<Address> {
    let Reply::List(parts) = server else { return None };
    let [host, Reply::Int(port), ..] = parts.as_slice() else { return None };
    let host = match host {
        Reply::Text(host) if !host.is_empty() && host != "?" => String::from_utf8(host.to_vec()).ok()?,
        _ => asked.host.clone(),
    };
    Some(Address { host, port: u16::try_from(*port).ok()? })
}

/// What to do after a refusal.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum RefusalKind {
    /// Another server has the slot.
    Moved(Address),
    /// Another server has the key already, while the slot is being moved there.
    Ask(Address),
    /// The server cannot execute it now: wait and try again.
    Wait,
}

/// `None` if the reply is an answer.
pub(super) fn classify_refusal(reply: &Reply, asked: &Address) -> Option<RefusalKind> {
    let Reply::Refused(why) = reply else { return None };
    let mut words = why.split(' ');
    match words.next()? {
        "MOVED" => Some(RefusalKind::Moved(redirect(words, asked)?)),
        "ASK" => Some(RefusalKind::Ask(redirect(words, asked)?)),
        "CLUSTERDOWN" | "TRYAGAIN" | "LOADING" | "MASTERDOWN" | "READONLY" | "BUSY" => Some(RefusalKind::Wait),
        _ => None,
    }
}

/// `3999 127.0.0.1:6381`, `3999 ::1:6381`, `3999 :6381`
fn redirect<'a>(mut words: impl Iterator<Item = &'a str>, asked: &Address) -> Option<Address> {
    let (host, port) = words.nth(1)?.rsplit_once(':')?;
    let host = if host.is_empty() || host == "?" { &asked.host } else { host };
    Some(Address { host: host.into(), port: port.parse().ok()? })
}
