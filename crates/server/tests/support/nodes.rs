//! Several nodes over one Redis, and a client that goes to the next of them with every connection.
//!
//! Each node is a process with a port and a data directory of its own; they share the policies and the keys
//! of a prefix.

use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use super::client::BALANCER;
use super::redis::Cluster;
use super::{Client, Home, Server};

pub const NODES: usize = 3;

/// Running nodes. They take calls as one client without a key, which rotates.
pub struct Nodes {
    pub home: Arc<Home>,
    nodes: Vec<Option<Server>>,
    settings: Vec<(String, String)>,
    client: Client,
}

impl Nodes {
    /// Three of them; what is kept under this home is there for the next three, too.
    pub fn start(home: &Arc<Home>, redis: &str, settings: &[(&str, &str)]) -> Self {
        let prefix = home.path("").file_name().unwrap().to_str().unwrap().to_owned();
        let own = [("NOVELO_STORE", "redis"), ("NOVELO_REDIS_URL", redis), ("NOVELO_REDIS_PREFIX", &prefix)];
        let own = [&own[..], &[("NOVELO_HTTP_HOSTS", BALANCER)]].concat();
        let settings = own.iter().chain(settings).map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        let settings: Vec<_> = settings.collect();
        let starting: Vec<_> = (0..NODES).map(|n| home.starting_node(n, &settings)).collect();
        let nodes: Vec<_> = starting.into_iter().map(super::Starting::ready).collect();
        let client = Client::rotating(nodes.iter().map(|node| node.addr).collect());
        Self { home: home.clone(), nodes: nodes.into_iter().map(Some).collect(), settings, client }
    }

    /// The same with a client that stays with one node.
    pub fn staying(mut self) -> Self {
        self.client = self.node(0).client();
        self
    }

    /// One node, which must run.
    #[track_caller]
    pub fn node(&self, n: usize) -> &Server {
        self.nodes[n].as_ref().expect("this node was killed")
    }

    pub fn all(&self) -> impl Iterator<Item = &Server> {
        self.nodes.iter().flatten()
    }

    /// Ends one at once, as `kill -9` does; the client still goes there in its turn.
    pub fn kill_node(&mut self, n: usize) {
        drop(self.nodes[n].take().expect("this node was killed").kill());
    }

    /// Starts one that was killed; the client finds it at its new place.
    pub fn start_node(&mut self, n: usize) {
        assert!(self.nodes[n].is_none(), "this node runs");
        let node = self.home.starting_node(n, &self.settings).ready();
        self.client.moved(n, node.addr);
        self.nodes[n] = Some(node);
    }

    /// Ends all of them at once.
    pub fn kill(self) -> Arc<Home> {
        self.home
    }

    pub fn client(&self) -> Client {
        self.client.clone()
    }
}

impl Home {
    fn starting_node(self: &Arc<Self>, n: usize, settings: &[(String, String)]) -> super::Starting {
        let mut command = self.command(&["serve", "--addr", "127.0.0.1:0"]);
        command.env("NOVELO_DATA", self.path(&format!("data-{n}")));
        command.envs(settings.iter().map(|(name, value)| (name, value)));
        self.starting(command, &format!("stderr-{n}.log"))
    }
}

impl Deref for Nodes {
    type Target = Client;

    fn deref(&self) -> &Client {
        &self.client
    }
}

/// One cluster for all tests of this process that are not about losing it; it does not wait for the disk.
pub fn cluster() -> &'static Cluster {
    static READY: OnceLock<()> = OnceLock::new();
    let cluster = Cluster::shared();
    READY.get_or_init(|| {
        for node in cluster.nodes() {
            assert_eq!(node.cli(&["CONFIG", "SET", "appendfsync", "no"]), "OK");
        }
    });
    cluster
}
