//! The operations that a child does, the same every time. Each of them again changes nothing, so that a child
//! may repeat one of which it does not know whether it was stored.

use bytes::Bytes;
use novelo_engine::path::{CollectionPath, DocumentPath, Prefix};
use novelo_store::{AppendTerms, Exported, NewDocument, NewId, Op, PutTerms};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum History {
    /// Appends, puts, merges, deletes, batches, forks and imports, with the store closed and opened in their
    /// middle.
    Short,
    /// Some of them around a forget.
    Forgetting,
}

impl History {
    pub fn name(self) -> &'static str {
        match self {
            Self::Short => "short",
            Self::Forgetting => "forgetting",
        }
    }

    pub fn of_name(name: &str) -> Self {
        match name {
            "short" => Self::Short,
            _ => Self::Forgetting,
        }
    }

    /// The operation before which the store is closed and opened.
    pub fn reopens_before(self) -> usize {
        self.ops().len() / 2
    }

    pub fn ops(self) -> Vec<Vec<Op>> {
        let mut random = Random(11);
        match self {
            Self::Short => (0..16).map(|n| random.op(n)).collect(),
            Self::Forgetting => {
                let forget = Op::Forget { what: DocumentPath::new(&["users", "a"]).unwrap().prefix() };
                let before = (0..6).map(|n| random.op(n)).collect::<Vec<_>>();
                let after = (6..9).map(|n| Random(5).op(n));
                before.into_iter().chain([vec![forget]]).chain(after).collect()
            }
        }
    }
}

struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }

    fn log(&mut self) -> CollectionPath {
        let user = ["a", "b"][self.below(2) as usize];
        CollectionPath::new(&["users", user, "s", &self.below(2).to_string(), "log"]).unwrap()
    }

    fn value(&mut self, n: u64) -> Bytes {
        let words = 1 + self.below(300) as usize;
        Bytes::from(format!("{{\"k{}\":\"{n} {}\"}}", self.below(3), "word ".repeat(words)))
    }

    fn op(&mut self, n: u64) -> Vec<Op> {
        match self.below(10) {
            0..4 => vec![self.append(n)],
            4 => vec![self.put(n, false)],
            5 => vec![self.put(n, true)],
            6 => vec![Op::Delete { at: self.document(n), if_version: None }],
            7 => vec![self.append(n), self.put(n, true), Op::Delete { at: self.document(n), if_version: None }],
            8 => {
                let (from, to) =
                    (self.log(), CollectionPath::new(&["users", "b", "s", &n.to_string(), "log"]).unwrap());
                vec![Op::Fork { from, at_seq: 1 + self.below(3), to }]
            }
            _ => vec![Op::Import { documents: vec![self.imported(n)] }],
        }
    }

    fn append(&mut self, n: u64) -> Op {
        let documents = (0..=self.below(3)).map(|part| NewDocument {
            id: NewId::Given(format!("{n}-{part}").into()),
            create_time: n as f64,
            value: Bytes::from(format!("\"{n}-{part}\"")),
            expires_at: None,
        });
        let mut documents: Vec<_> = documents.collect();
        documents[0].value = self.value(n);
        Op::Append { to: self.log(), documents, terms: AppendTerms::default() }
    }

    /// A document that some operation before may have made.
    fn document(&mut self, n: u64) -> DocumentPath {
        let id = format!("{}-0", self.below(n.max(1)));
        self.log().document(&id).unwrap()
    }

    fn put(&mut self, n: u64, merge: bool) -> Op {
        let terms = PutTerms { merge, now: n as f64, ..PutTerms::default() };
        Op::Put { at: self.document(n), value: self.value(n), terms }
    }

    fn imported(&mut self, n: u64) -> Exported {
        let path = CollectionPath::new(&["users", "b", "imports"]).unwrap().document(&n.to_string()).unwrap();
        Exported { path, seq: n + 1, create_time: 2.0, version: 3, expires_at: None, value: self.value(n) }
    }
}

#[test]
fn the_histories_hold_every_kind_of_operation() {
    let ops: Vec<Op> = [History::Short, History::Forgetting].iter().flat_map(|h| h.ops()).flatten().collect();
    assert!(ops.iter().any(|op| matches!(op, Op::Append { .. })));
    assert!(ops.iter().any(|op| matches!(op, Op::Put { terms, .. } if terms.merge)));
    assert!(ops.iter().any(|op| matches!(op, Op::Put { terms, .. } if !terms.merge)));
    assert!(ops.iter().any(|op| matches!(op, Op::Delete { .. })));
    assert!(ops.iter().any(|op| matches!(op, Op::Fork { .. })));
    assert!(ops.iter().any(|op| matches!(op, Op::Import { .. })));
    assert!(ops.iter().any(|op| matches!(op, Op::Forget { what } if *what != Prefix::all())));
    assert!(History::Short.ops().iter().any(|ops| ops.len() > 1), "a batch");
}
