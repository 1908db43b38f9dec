//! A fresh store per test, and short ways to write to it.

use std::path::Path;
use std::time::Duration;

use bytes::Bytes;
use novelo_engine::path::{CollectionPath, DocumentPath, Prefix};
use novelo_store::{
    AppendTerms, Exported, LocalOptions, NewDocument, NewId, PutTerms, Range, RedisOptions, Stamp, Store, Window,
};
use tempfile::TempDir;

use crate::redis::{Cluster, Redis};

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Kind {
    Memory,
    Local,
    Redis,
    Cluster,
}

pub struct Fresh {
    pub store: Store,
    pub home: Home,
}

/// What a store keeps its documents in.
pub enum Home {
    Nowhere,
    Directory(TempDir),
    Servers(Servers),
}

pub enum Servers {
    One(Redis),
    Cluster(Cluster),
}

/// What is acknowledged is on the disk.
const DURABLE: [&str; 4] = ["--appendonly", "yes", "--appendfsync", "always"];

impl Kind {
    pub async fn fresh(self) -> Fresh {
        let home = match self {
            Kind::Memory => return Fresh { store: Store::memory(), home: Home::Nowhere },
            Kind::Local => Home::Directory(tempfile::tempdir().unwrap()),
            Kind::Redis => Home::Servers(Servers::One(Redis::with(&DURABLE))),
            Kind::Cluster => Home::Servers(Servers::Cluster(Cluster::start())),
        };
        Fresh { store: home.open().await.unwrap(), home }
    }
}

impl Home {
    /// Another handle, as another process would have.
    async fn open(&self) -> Option<Store> {
        let store = match self {
            Self::Nowhere => return None,
            Self::Directory(dir) => Store::open_local(dir.path(), LocalOptions::default()).await,
            Self::Servers(servers) => Store::open_redis(redis_options(servers.url())).await,
        };
        Some(store.unwrap())
    }

    /// Where the raw files are.
    pub fn dirs(&self) -> Vec<&Path> {
        match self {
            Self::Nowhere => Vec::new(),
            Self::Directory(dir) => vec![dir.path()],
            Self::Servers(Servers::One(redis)) => vec![redis.dir()],
            Self::Servers(Servers::Cluster(cluster)) => cluster.nodes().iter().map(Redis::dir).collect(),
        }
    }
}

impl Servers {
    fn url(&self) -> String {
        match self {
            Self::One(redis) => redis.url(),
            Self::Cluster(cluster) => cluster.url(),
        }
    }

    /// Kills every server at once and starts it again.
    pub fn crash(&mut self) {
        match self {
            Self::One(redis) => {
                redis.kill();
                redis.start_again();
            }
            Self::Cluster(cluster) => cluster.crash(),
        }
    }
}

pub fn redis_options(url: String) -> RedisOptions {
    RedisOptions { url, prefix: String::new(), timeout: Duration::from_secs(5), hot_bytes_max: 1 << 20 }
}

impl Fresh {
    /// Closes and opens again, where there is something to open.
    pub async fn reopened(self) -> Fresh {
        let Self { store, home } = self;
        if matches!(home, Home::Nowhere) {
            return Fresh { store, home };
        }
        store.close().await.unwrap();
        Fresh { store: home.open().await.unwrap(), home }
    }

    /// What another node would read with; of a store that has one process only, the same.
    pub async fn another(&self) -> Store {
        match &self.home {
            Home::Servers(_) => self.home.open().await.unwrap(),
            _ => self.store.clone(),
        }
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
        self.below(&Prefix::all()).await
    }

    pub async fn below(&self, what: &Prefix) -> Vec<Exported> {
        self.store.export(what).await.unwrap().all().await.unwrap()
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
