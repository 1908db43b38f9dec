//! Deep merge of JSON objects.
//!
//! Owns the one place where the store parses a value. What a merge does not touch keeps its bytes: number
//! spelling, unknown fields and the order of keys. Where both sides are objects they merge key by key;
//! anywhere else the new side wins. Refuses bytes that are not JSON, nesting past `JSON_DEPTH_MAX`, and
//! growth past `MESSAGE_BYTES_MAX`.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use bytes::Bytes;
use novelo_engine::limits::{JSON_DEPTH_MAX, MESSAGE_BYTES_MAX};
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::Error;

/// `new` merged over `old`.
pub(crate) fn merge(old: &[u8], new: &[u8]) -> Result<Bytes, Error> {
    let mut out = Vec::with_capacity(old.len() + new.len());
    merge_into(parse(old)?, parse(new)?, JSON_DEPTH_MAX, &mut out)?;
    match out.len() <= MESSAGE_BYTES_MAX {
        true => Ok(out.into()),
        false => Err(Error::Invalid(format!(
            "merged, it has {} bytes; the cap MESSAGE_BYTES_MAX is {MESSAGE_BYTES_MAX}",
            out.len()
        ))),
    }
}

fn merge_into(old: &RawValue, new: &RawValue, depth: usize, out: &mut Vec<u8>) -> Result<(), Error> {
    if !is_object(old) || !is_object(new) {
        out.extend_from_slice(new.get().as_bytes());
        return Ok(());
    }
    let Some(depth) = depth.checked_sub(1) else {
        return Err(Error::Invalid(format!("a merge is nested deeper than JSON_DEPTH_MAX, {JSON_DEPTH_MAX}")));
    };
    let (old, new) = (members(old)?, members(new)?);
    let over: BTreeMap<&str, &RawValue> = new.iter().map(|m| (&*m.name, m.value)).collect();
    let known: BTreeSet<&str> = old.iter().map(|m| &*m.name).collect();
    out.push(b'{');
    let mut first = true;
    for member in &old {
        write_key(member.key, &mut first, out);
        match over.get(&*member.name) {
            Some(over) => merge_into(member.value, over, depth, out)?,
            None => out.extend_from_slice(member.value.get().as_bytes()),
        }
    }
    for member in new.iter().filter(|m| !known.contains(&*m.name)) {
        write_key(member.key, &mut first, out);
        out.extend_from_slice(member.value.get().as_bytes());
    }
    out.push(b'}');
    Ok(())
}

fn write_key(key: &RawValue, first: &mut bool, out: &mut Vec<u8>) {
    if !std::mem::take(first) {
        out.push(b',');
    }
    out.extend_from_slice(key.get().as_bytes());
    out.push(b':');
}

fn parse(bytes: &[u8]) -> Result<&RawValue, Error> {
    serde_json::from_slice(bytes).map_err(not_json)
}

fn not_json(e: serde_json::Error) -> Error {
    Error::Invalid(format!("a merge needs JSON on both sides: {e}"))
}

fn is_object(value: &RawValue) -> bool {
    value.get().starts_with('{')
}

struct Member<'a> {
    key: &'a RawValue,
    name: String,
    value: &'a RawValue,
}

struct Members<'a>(Vec<Member<'a>>);

fn members(object: &RawValue) -> Result<Vec<Member<'_>>, Error> {
    serde_json::from_str::<Members<'_>>(object.get()).map(|m| m.0).map_err(not_json)
}

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct InOrder;

        impl<'de> Visitor<'de> for InOrder {
            type Value = Members<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some((key, value)) = map.next_entry::<&RawValue, &RawValue>()? {
                    let name = serde_json::from_str(key.get()).map_err(serde::de::Error::custom)?;
                    members.push(Member { key, name, value });
                }
                Ok(Members(members))
            }
        }

        deserializer.deserialize_map(InOrder)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(old: &str, new: &str, expected: &str) {
        let merged = merge(old.as_bytes(), new.as_bytes()).unwrap();
        assert_eq!(std::str::from_utf8(&merged).unwrap(), expected);
    }

    #[test]
    fn objects_merge_deeply_and_the_rest_is_replaced() {
        check(
            r#"{"a":{"x":1,"y":2},"b":[1]}"#,
            r#"{"a":{"y":3,"z":4},"b":[2]}"#,
            r#"{"a":{"x":1,"y":3,"z":4},"b":[2]}"#,
        );
        check(r#"{"a":1}"#, "null", "null");
        check("3", r#"{"a":1}"#, r#"{"a":1}"#);
        check(r#"{"a":{"b":1}}"#, r#"{"a":null}"#, r#"{"a":null}"#);
    }

    #[test]
    fn untouched_members_keep_their_spelling_and_order() {
        check(r#"{ "z": 1.50e+3 , "a":  "\u00e9" }"#, r#"{"m":0.10}"#, r#"{"z":1.50e+3,"a":"\u00e9","m":0.10}"#);
    }

    #[test]
    fn a_key_is_the_same_however_it_is_escaped() {
        check(r#"{"\u0061":1}"#, r#"{"a":2}"#, r#"{"\u0061":2}"#);
    }

    #[test]
    fn what_is_not_json_is_refused() {
        assert!(matches!(merge(b"{}", b"{"), Err(Error::Invalid(_))));
        assert!(matches!(merge(b"nope", b"{}"), Err(Error::Invalid(_))));
    }

    #[test]
    fn nesting_is_capped() {
        let nested = |depth: usize| format!("{}1{}", "{\"a\":".repeat(depth), "}".repeat(depth));
        check(&nested(JSON_DEPTH_MAX), &nested(JSON_DEPTH_MAX), &nested(JSON_DEPTH_MAX));
        let deeper = nested(JSON_DEPTH_MAX + 1);
        assert!(matches!(merge(deeper.as_bytes(), deeper.as_bytes()), Err(Error::Invalid(_))));
    }
}
