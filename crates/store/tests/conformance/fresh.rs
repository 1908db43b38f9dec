//! A fresh store per test, and short ways to write to it.

use bytes::Bytes;
use novelo_engine::path::{CollectionPath, DocumentPath};
use novelo_store::{
    AppendTerms, Error, Exported, LocalOptions, NewDocument, NewId, PutTerms, Range, Stamp, Store, Window,
};
use tempfile::TempDir;

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Kind {
    Memory,
    Local,
}

pub struct Fresh {
    pub store: Store,
    pub dir: Option<TempDir>,
}

impl Kind {
    pub async fn fresh(self) -> Fresh {
        match self {
            Kind::Memory => Fresh { store: Store::memory(), dir: None },
            Kind::Local => {
                let dir = tempfile::tempdir().unwrap();
                let store = Store::open_local(dir.path(), LocalOptions::default()).await.unwrap();
                Fresh { store, dir: Some(dir) }
            }
        }
    }
}

impl Fresh {
    /// Closes and opens again, where there is something to open.
    pub async fn reopened(self) -> Fresh {
        let Some(dir) = self.dir else { return self };
        self.store.close().await.unwrap();
        let store = Store::open_local(dir.path(), LocalOptions::default()).await.unwrap();
        Fresh { store, dir: Some(dir) }
    }

    pub async fn append(&self, to: &str, ids: &[&str]) -> Vec<Stamp> {
        let documents = ids.iter().map(|id| document(id, &text(id))).collect();
        self.store.append(&collection(to), documents, AppendTerms::default()).await.unwrap()
    }

    pub async fn put(&self, at: &str, value: &str) -> Stamp {
        self.store.put(&path(at), Bytes::copy_from_slice(value.as_bytes()), PutTerms::default()).await.unwrap()
    }

    pub async fn ids(&self, of: &str) -> Vec<String> {
        let turns = self.store.turns(&collection(of), Range::Last(10_000)).await.unwrap();
        turns.iter().map(|turn| turn.id.to_string()).collect()
    }

    pub async fn value(&self, at: &str) -> Option<String> {
        let document = self.store.get(&path(at)).await.unwrap()?;
        Some(String::from_utf8(document.value.to_vec()).unwrap())
    }

    pub async fn exported(&self) -> Vec<Exported> {
        let export = self.store.export(&novelo_engine::path::Prefix::all()).unwrap();
        export.collect::<Result<_, Error>>().unwrap()
    }

    pub async fn all(&self, of: &str) -> Vec<String> {
        let page = self.store.scan(&collection(of), Window { limit: 10_000, ..Window::default() }).await.unwrap();
        page.items.iter().map(|document| document.id.to_string()).collect()
    }
}

pub fn text(id: &str) -> String {
    format!("{{\"role\":\"user\",\"content\":\"{id}\"}}")
}

pub fn document(id: &str, value: &str) -> NewDocument {
    NewDocument {
        id: NewId::Given(id.into()),
        create_time: 1.0,
        value: Bytes::copy_from_slice(value.as_bytes()),
        expires_at: None,
    }
}

pub fn collection(path: &str) -> CollectionPath {
    CollectionPath::new(&path.split('/').collect::<Vec<_>>()).unwrap()
}

pub fn path(path: &str) -> DocumentPath {
    DocumentPath::new(&path.split('/').collect::<Vec<_>>()).unwrap()
}
