//! What needs no server: bytes, addresses, slots.

use bytes::Bytes;
use proptest::prelude::*;

use super::cluster::{RefusalKind, classify_refusal, crc16, read_slots, slot};
use super::resp::{Command, Decoder, Reply};
use super::url::{Address, Target};
use crate::Error;

/// Feeds the parts one after the other and takes what is complete.
fn decode(parts: &[&[u8]]) -> Result<Vec<Reply>, String> {
    let mut decoder = Decoder::default();
    let mut replies = Vec::new();
    for part in parts {
        let mut rest = *part;
        while !rest.is_empty() {
            // As a socket does: never more than there is room for.
            let room = decoder.room();
            let taken = rest.len().min(room.capacity() - room.len());
            assert!(taken > 0, "there is room for more");
            room.extend_from_slice(&rest[..taken]);
            rest = &rest[taken..];
            while let Some(reply) = decoder.next().map_err(|nonsense| nonsense.to_string())? {
                replies.push(reply);
            }
        }
    }
    Ok(replies)
}

fn text(text: impl AsRef<[u8]>) -> Reply {
    Reply::Text(Bytes::copy_from_slice(text.as_ref()))
}

fn encode(reply: &Reply, to: &mut Vec<u8>) {
    match reply {
        Reply::Nil => to.extend_from_slice(b"$-1\r\n"),
        Reply::Int(number) => to.extend_from_slice(format!(":{number}\r\n").as_bytes()),
        Reply::Refused(why) => to.extend_from_slice(format!("-{why}\r\n").as_bytes()),
        Reply::Text(value) => {
            to.extend_from_slice(format!("${}\r\n", value.len()).as_bytes());
            to.extend_from_slice(value);
            to.extend_from_slice(b"\r\n");
        }
        Reply::List(parts) => {
            to.extend_from_slice(format!("*{}\r\n", parts.len()).as_bytes());
            parts.iter().for_each(|part| encode(part, to));
        }
    }
}

fn replies() -> impl Strategy<Value = Reply> {
    let leaf = prop_oneof![
        Just(Reply::Nil),
        any::<i64>().prop_map(Reply::Int),
        "[A-Z]{1,8} [a-z ]{0,20}".prop_map(Reply::Refused),
        prop::collection::vec(any::<u8>(), 0..40).prop_map(text),
        (0..200_000_usize).prop_map(|bytes| text(vec![b'x'; bytes])),
    ];
    leaf.prop_recursive(4, 20, 5, |inner| prop::collection::vec(inner, 0..5).prop_map(Reply::List))
}

proptest! {
    #[test]
    fn what_was_encoded_is_decoded_however_it_is_cut(
        wanted in prop::collection::vec(replies(), 1..5),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..6),
    ) {
        let mut bytes = Vec::new();
        wanted.iter().for_each(|reply| encode(reply, &mut bytes));
        let mut cuts: Vec<_> = cuts.iter().map(|cut| cut.index(bytes.len())).chain([0, bytes.len()]).collect();
        cuts.sort_unstable();
        let parts: Vec<_> = cuts.windows(2).map(|cut| &bytes[cut[0]..cut[1]]).collect();
        prop_assert_eq!(decode(&parts).unwrap(), wanted);
    }

    #[test]
    fn no_bytes_make_it_panic(bytes in prop::collection::vec(prop_oneof![
        Just(b'*'), Just(b'$'), Just(b':'), Just(b'-'), Just(b'\r'), Just(b'\n'), b'0'..=b'9', any::<u8>(),
    ], 0..200)) {
        drop(decode(&[&bytes]));
    }
}

#[test]
fn every_cut_gives_the_same_replies() {
    let bytes =
        b"+OK\r\n-ERR no\r\n:-12\r\n$3\r\na\r\n\r\n$0\r\n\r\n$-1\r\n*-1\r\n*0\r\n*3\r\n:1\r\n*1\r\n$1\r\nx\r\n$-1\r\n";
    let wanted = vec![
        text("OK"),
        Reply::Refused("ERR no".into()),
        Reply::Int(-12),
        text("a\r\n"),
        text(""),
        Reply::Nil,
        Reply::Nil,
        Reply::List(vec![]),
        Reply::List(vec![Reply::Int(1), Reply::List(vec![text("x")]), Reply::Nil]),
    ];
    for first in 0..=bytes.len() {
        for second in first..=bytes.len() {
            let parts = [&bytes[..first], &bytes[first..second], &bytes[second..]];
            assert_eq!(decode(&parts).unwrap(), wanted, "cut at {first} and {second}");
        }
    }
}

#[test]
fn nonsense_is_refused() {
    let deep = |depth: usize| [b"*1\r\n".repeat(depth), b":1\r\n".to_vec()].concat();
    assert_eq!(decode(&[&deep(32)]).unwrap().len(), 1);
    let endless = vec![b'+'; 70_000];
    let cases: [(&[u8], &str); 12] = [
        (&deep(33), "nested too deeply"),
        (&endless, "without end"),
        (b"$536870913\r\n", "beyond reason"),
        (b"*536870913\r\n", "beyond reason"),
        (b"$9223372036854775808\r\n", "a number is none"),
        (b"$-2\r\n", "beyond reason"),
        (b"*-7\r\n", "beyond reason"),
        (b":\r\n", "a number is none"),
        (b"\r\n", "an empty line"),
        (b"+OK\n", "without a carriage return"),
        (b"!3\r\nabc\r\n", "unknown kind"),
        (b"$1\r\nabc\r\n", "longer than it says"),
    ];
    for (bytes, words) in cases {
        let error = decode(&[bytes]).unwrap_err();
        assert!(error.contains(words), "{error:?} should say {words:?}");
    }
    // Two halves that are each allowed and too much together.
    let error = decode(&[b"*2\r\n:1\r\n$536870900\r\n"]).unwrap_err();
    assert!(error.contains("512 MB"), "{error}");
}

#[test]
fn a_list_that_claims_a_lot_reserves_little() {
    assert_eq!(decode(&[b"*536870911\r\n:1\r\n"]).unwrap(), vec![]);
}

#[test]
fn a_small_value_does_not_keep_a_large_buffer() {
    let large = vec![b'x'; 1 << 20];
    let mut bytes = Vec::new();
    encode(&Reply::List(vec![text(&large), text("small"), text(&large)]), &mut bytes);
    let replies = decode(&[&bytes]).unwrap();
    let [Reply::List(parts)] = replies.as_slice() else { panic!("{}", replies.len()) };
    assert_eq!(parts[0], text(&large));
    assert_eq!(parts[2], text(&large));
    let Reply::Text(small) = parts[1].clone() else { panic!("a text") };
    drop(replies);
    assert!(small.is_unique(), "nothing else lives in its memory");
}

#[test]
fn commands_are_encoded() {
    let command = Command::new("SET").arg("k").arg([0, 255, 13, 10]).int(0).int(18_446_744_073_709_551_615);
    let wanted = b"*5\r\n$3\r\nSET\r\n$1\r\nk\r\n$4\r\n\x00\xff\r\n\r\n$1\r\n0\r\n$20\r\n18446744073709551615\r\n";
    assert_eq!(command.into_bytes(), wanted.as_slice());
    let many = Command::new("DEL").args((0..12_345).map(|number| number.to_string())).into_bytes();
    assert!(many.starts_with(b"*12346\r\n$3\r\nDEL\r\n$1\r\n0\r\n"));
}

#[test]
fn addresses_are_read() {
    let target = |url: &str| Target::parse(url).unwrap_or_else(|error| panic!("{url}: {error}"));
    let seeds = |url: &str| target(url).seeds.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
    assert_eq!(seeds("redis://host"), "host:6379");
    assert_eq!(seeds("redis://127.0.0.1:7000/"), "127.0.0.1:7000");
    assert_eq!(seeds("redis://[::1]"), "[::1]:6379");
    assert_eq!(seeds("redis://[::1]:7000,b,c:1"), "[::1]:7000 b:6379 c:1");
    assert_eq!(target("redis://h/15").db, 15);
    assert_eq!(target("redis://h:1,g:2/3").db, 3);
    assert_eq!(target("redis://h:1/3,g:2").db, 3);
    assert!(target("rediss://h").tls && !target("redis://h").tls);
    assert_eq!(target("rediss://h?ca=/a%20b").ca, Some("/a b".into()));
    let credentials = |url: &str| (target(url).user, target(url).password);
    assert_eq!(credentials("redis://h"), (None, None));
    assert_eq!(credentials("redis://:p@h"), (None, Some("p".into())));
    assert_eq!(credentials("redis://u:p%40%2f%3A%c3%a4@h"), (Some("u".into()), Some("p@/:ä".into())));
    assert_eq!(credentials("redis://u:p:q@r@h"), (Some("u".into()), Some("p:q@r".into())));
}

#[test]
fn addresses_that_are_none_are_refused_without_the_password() {
    let cases = [
        ("", "must begin with redis://"),
        ("host:6379", "must begin with redis://"),
        ("http://:geheim@h", "must begin with redis://"),
        ("redis://", "a host is missing"),
        ("redis://:geheim@", "a host is missing"),
        ("redis://h,,g", "a host is missing"),
        ("redis://:7000", "a host is missing"),
        ("redis://h:", "a port is no number"),
        ("redis://h:0", "a port is no number"),
        ("redis://h:65536", "a port is no number"),
        ("redis://user:geheim", "a port is no number"),
        ("redis://[::1", "closing ]"),
        ("redis://[::1]7", "a port is no number"),
        ("redis://h/geheim", "the database after the /"),
        ("redis://h/-1", "the database after the /"),
        ("redis://h/65536", "the database after the /"),
        ("redis://geheim@h", "no password"),
        ("redis://u:@h", "password is empty"),
        ("redis://:geheim%4@h", "two hexadecimal digits"),
        ("redis://:geheim%ff@h", "not UTF-8"),
        ("redis://:p?geheim@h", "a host is missing"),
        ("redis://h?geheim=1", "after the ?"),
        ("redis://h?ca=/x", "needs rediss://"),
    ];
    for (url, words) in cases {
        match Target::parse(url) {
            Err(Error::Invalid(why)) => {
                assert!(why.contains(words), "{url}: {why:?} should say {words:?}");
                assert!(!why.contains("geheim"), "{why}");
            }
            Err(error) => panic!("{url}: {error}"),
            Ok(_) => panic!("{url} is taken"),
        }
    }
}

#[test]
fn slots_are_those_of_the_specification() {
    assert_eq!(crc16(b"123456789"), 0x31C3);
    assert_eq!(crc16(b""), 0);
    assert_eq!(slot(b"foo"), 12_182);
    assert_eq!(slot(b"{user1000}.following"), slot(b"user1000"));
    assert_eq!(slot(b"novelo:{user1000}:x{y}"), slot(b"user1000"));
    assert_eq!(slot(b"foo{}{bar}"), crc16(b"foo{}{bar}") % 16_384);
    assert_eq!(slot(b"foo{{bar}}zap"), slot(b"{bar"));
    assert_eq!(slot(b"foo{bar"), crc16(b"foo{bar") % 16_384);
}

#[test]
fn refusals_say_where_to_go() {
    let asked = Address { host: "own".into(), port: 1 };
    let read = |why: &str| classify_refusal(&Reply::Refused(why.into()), &asked);
    let at = |host: &str, port| Address { host: host.into(), port };
    assert_eq!(read("MOVED 3999 127.0.0.1:6381"), Some(RefusalKind::Moved(at("127.0.0.1", 6381))));
    assert_eq!(read("MOVED 3999 ::1:6381"), Some(RefusalKind::Moved(at("::1", 6381))));
    assert_eq!(read("MOVED 3999 :6381"), Some(RefusalKind::Moved(at("own", 6381))));
    assert_eq!(read("ASK 3999 ?:6381"), Some(RefusalKind::Ask(at("own", 6381))));
    for wait in ["CLUSTERDOWN x", "TRYAGAIN x", "LOADING x", "MASTERDOWN x", "READONLY x", "BUSY x"] {
        assert_eq!(read(wait), Some(RefusalKind::Wait), "{wait}");
    }
    for answer in ["ERR MOVED", "MOVED", "MOVED 1 x", "WRONGTYPE", "NOSCRIPT x", "OOM x", ""] {
        assert_eq!(read(answer), None, "{answer}");
    }
    assert_eq!(classify_refusal(&text("MOVED 3999 127.0.0.1:6381"), &asked), None);
}

#[test]
fn maps_of_slots_are_read() {
    let asked = Address { host: "own".into(), port: 1 };
    let server = |host: Reply, port| Reply::List(vec![host, Reply::Int(port), text("id")]);
    let row =
        |first, last, servers: Vec<Reply>| Reply::List([vec![Reply::Int(first), Reply::Int(last)], servers].concat());
    let map = Reply::List(vec![
        row(100, 200, vec![server(text("b"), 2), server(text("c"), 3)]),
        row(0, 99, vec![server(Reply::Nil, 7)]),
    ]);
    let rows = read_slots(&map, &asked).unwrap();
    let told: Vec<_> = rows.iter().map(|row| format!("{}-{} {}", row.first, row.last, row.servers[0])).collect();
    assert_eq!(told, ["0-99 own:7", "100-200 b:2"]);
    let bad = [
        Reply::Nil,
        Reply::List(vec![]),
        Reply::List(vec![row(0, 16_384, vec![server(text("a"), 1)])]),
        Reply::List(vec![row(9, 8, vec![server(text("a"), 1)])]),
        Reply::List(vec![row(0, 1, vec![])]),
        Reply::List(vec![row(0, 1, vec![server(text("a"), 65_536)])]),
    ];
    for map in bad {
        assert!(read_slots(&map, &asked).is_none(), "{map:?}");
    }
}
