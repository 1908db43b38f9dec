//! The names of all keys in Redis. `docs/format.md` describes them.
//!
//! Owns every key. Ids are percent-encoded in keys, so none forges a separator or a hash tag. Invariant: all
//! keys of a root have one hash tag, so that a cluster keeps them at one server and a script may change them
//! together.

use bytes::Bytes;
use novelo_engine::path::{CollectionPath, encode_segment};
use novelo_engine::scope::{THREADS, TURNS, USERS};

use crate::Error;
use crate::root::root;

#[derive(Debug)]
pub(super) struct KeyNames {
    prefix: Box<str>,
}

/// The keys of a root, and its member in the list of roots.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct RootKeys {
    pub collections: Bytes,
    pub expiry: Bytes,
    pub counters: Bytes,
    /// Its segments, divided by zero bytes.
    pub member: Bytes,
}

impl RootKeys {
    pub fn all(&self) -> Vec<Bytes> {
        vec![self.collections.clone(), self.expiry.clone(), self.counters.clone()]
    }
}

/// The keys of a collection: its documents with what is known of it, its seqs, its times.
#[derive(Debug, Clone)]
pub(super) struct CollectionKeys {
    pub documents: Bytes,
    pub seqs: Bytes,
    pub times: Bytes,
}

impl CollectionKeys {
    pub fn all(&self) -> [Bytes; 3] {
        [self.documents.clone(), self.seqs.clone(), self.times.clone()]
    }
}

impl KeyNames {
    pub fn new(prefix: &str) -> Self {
        Self { prefix: prefix.into() }
    }

    /// All roots that hold something.
    pub fn roots(&self) -> Bytes {
        format!("{}novelo:roots", self.prefix).into()
    }

    /// Exists while the servers' files may hold what was forgotten.
    pub fn erase(&self) -> Bytes {
        format!("{}novelo:erase", self.prefix).into()
    }

    /// When a root next has something that expires.
    pub fn due(&self) -> Bytes {
        format!("{}novelo:due", self.prefix).into()
    }

    /// The root of a collection, or one given by its own segments.
    pub fn root<S: AsRef<str>>(&self, collection: &[S]) -> RootKeys {
        let root: Vec<&str> = root(collection).iter().map(AsRef::as_ref).collect();
        let key = |name: &str| format!("{}novelo:{}:{name}", self.prefix, tag(&root)).into();
        RootKeys {
            collections: key("collections"),
            expiry: key("expiry"),
            counters: key("pulse"),
            member: root.join("\0").into(),
        }
    }

    /// The root that a member of the list of roots names.
    pub fn listed(&self, member: &[u8]) -> Result<RootKeys, Error> {
        let text = std::str::from_utf8(member).map_err(|_| Error::damaged("the list of roots", "it is not text"))?;
        Ok(self.root(&text.split('\0').collect::<Vec<_>>()))
    }

    pub fn collection(&self, of: &CollectionPath) -> CollectionKeys {
        let key = format!("{}{}", self.prefix, name(of));
        let beside = |what: &str| Bytes::from(format!("{key}:{what}"));
        CollectionKeys { seqs: beside("seqs"), times: beside("times"), documents: key.into() }
    }
}

fn name(of: &CollectionPath) -> String {
    let segments: Vec<&str> = of.segments().iter().map(|segment| &**segment).collect();
    let root = root(&segments);
    let (tag, rest) = (tag(root), segments.get(root.len()..).unwrap_or_default());
    let id = |id: &str| encode_segment(id);
    match (root.len(), rest) {
        (2, [THREADS, thread, TURNS]) => format!("assistant:short_term:{tag}:{}", id(thread)),
        (2, [THREADS, thread, "memory"]) => format!("assistant:summary:{tag}:{}", id(thread)),
        (2, ["task_memory", task, "results"]) => format!("assistant:task:{tag}:{}", id(task)),
        (2, ["tasks"]) => format!("assistant:tasks:user:{tag}"),
        (2, ["memory"]) => format!("assistant:user_data:{tag}"),
        _ => rest.iter().fold(format!("novelo:{tag}"), |key, segment| format!("{key}/{}", id(segment))),
    }
}

/// The hash tag of a root. A user's tag differs from that of any other root, since no encoded id holds a
/// slash.
fn tag(root: &[&str]) -> String {
    match root {
        [USERS, user] => format!("{{{}}}", encode_segment(user)),
        [first, ..] => format!("{{/{}}}", encode_segment(first)),
        [] => "{/}".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(path: &[&str], expected: &str) {
        let keys = KeyNames::new("p:").collection(&CollectionPath::new(path).unwrap());
        assert_eq!(keys.documents, format!("p:{expected}"));
        assert_eq!(keys.times, format!("p:{expected}:times"));
    }

    #[test]
    fn what_the_seed_names_has_its_name() {
        check(&["users", "ana", "convo.sessions", "s1", "messages"], "assistant:short_term:{ana}:s1");
        check(&["users", "ana", "convo.sessions", "s1", "memory"], "assistant:summary:{ana}:s1");
        check(&["users", "ana", "memory"], "assistant:user_data:{ana}");
        check(&["users", "ana", "tasks"], "assistant:tasks:user:{ana}");
        check(&["users", "ana", "task_memory", "t", "results"], "assistant:task:{ana}:t");
    }

    #[test]
    fn everything_else_has_its_path() {
        check(&["users", "ana", "memories"], "novelo:{ana}/memories");
        check(&["users", "ana", "convo.sessions", "s1", "traces"], "novelo:{ana}/convo.sessions/s1/traces");
        check(&["users"], "novelo:{/users}");
        check(&["convo.sessions", "s1", "messages"], "novelo:{/convo.sessions}/s1/messages");
    }

    #[test]
    fn no_id_reaches_another_tag() {
        check(&["users", "}x", "memories"], "novelo:{%7Dx}/memories");
        check(&["users", "a:b", "convo.sessions", "s:seqs", "messages"], "assistant:short_term:{a%3Ab}:s%3Aseqs");
        check(&["users", "/users", "memories"], "novelo:{%2Fusers}/memories");
    }

    #[test]
    fn a_listed_root_is_found_again() {
        let names = KeyNames::new("");
        for path in [&["users", "ana", "memories"][..], &["users"], &["sessions", "s", "messages"]] {
            let keys = names.root(path);
            assert_eq!(names.listed(&keys.member).unwrap(), keys, "{path:?}");
        }
    }
}
