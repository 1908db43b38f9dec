//! The known servers, and which of them has which slots.
//!
//! Owns the nodes and the map of slots. Reads the map at most ten times a second, and one reader at a time.
//! Invariant: a map is replaced only by another map, so a failed read does not lose it.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Duration;

use tokio::task::JoinSet;
use tokio::time::Instant;

use super::cluster::{RefusalKind, SlotMap, SlotRange, SlotRow, classify_refusal, read_slots};
use super::node::{ConnectFailure, ConnectSettings, Node};
use super::resp::{Command, Reply};
use super::url::{Address, Target};
use super::{ClientOptions, RetryBudget, refusal, tls, unavailable};
use crate::Error;
use crate::lock::lock;

/// The map is not read again before.
const REFRESH_EVERY: Duration = Duration::from_millis(100);

pub(super) struct Routes {
    settings: Arc<ConnectSettings>,
    is_cluster: bool,
    /// Written by `refresh`, read by every call.
    slots: RwLock<Arc<SlotMap>>,
    /// Every server that the address or the map names; a handful.
    nodes: Mutex<HashMap<Address, Arc<Node>>>,
    /// Held while the map is being read; when that was last done.
    refreshed: tokio::sync::Mutex<Option<Instant>>,
}

impl Routes {
    /// Connects to the first server that answers and reads the map of slots. Waits up to `recovery_wait_max`
    /// for servers that answer but do not serve yet. If no server answers, the error is returned at once.
    pub(super) async fn open(options: ClientOptions) -> Result<Self, Error> {
        let ClientOptions { url, timeout, recovery_wait_max } = options;
        let target = Target::parse(&url)?;
        let tls = target.tls.then(|| tls::config(target.ca.as_deref())).transpose()?;
        let settings = Arc::new(ConnectSettings { target, tls, timeout });
        let nodes: Vec<_> =
            settings.target.seeds.iter().map(|seed| Arc::new(Node::new(seed.clone(), settings.clone()))).collect();
        let mut recovery = RecoveryWait::new(recovery_wait_max);
        let (first, is_cluster) = loop {
            match first_answer(&nodes).await? {
                FirstAnswer::Serves { node, is_cluster } => break (node, is_cluster),
                FirstAnswer::Recovers(why) => recovery.wait(why).await?,
            }
        };
        if is_cluster && settings.target.db > 0 {
            return Err(Error::Invalid(format!("redis at {} is a cluster, which has no databases", first.address)));
        }
        if !is_cluster && nodes.len() > 1 {
            let address = &first.address;
            return Err(Error::Invalid(format!("several servers are named, but redis at {address} is not a cluster")));
        }
        let nodes = nodes.into_iter().map(|node| (node.address.clone(), node)).collect();
        let slots = if is_cluster { SlotMap::default() } else { SlotMap::all_at(first.clone()) };
        let routes = Self {
            settings,
            is_cluster,
            slots: RwLock::new(Arc::new(slots)),
            nodes: Mutex::new(nodes),
            refreshed: tokio::sync::Mutex::default(),
        };
        routes.refresh().await;
        while let Some(why) = routes.recovering(&first).await? {
            recovery.wait(why).await?;
            routes.refresh().await;
        }
        Ok(routes)
    }

    /// Why commands would be refused now although a server answers; `None` once every master serves. In a
    /// cluster a master that cannot be reached counts, since a replica may take over. A single server that is
    /// lost is an error.
    async fn recovering(&self, first: &Node) -> Result<Option<String>, Error> {
        let masters = self.masters();
        if masters.is_empty() {
            return Ok(Some(format!("redis at {}: the cluster has no slots yet", first.address)));
        }
        let mut probes = vec![Command::new("PING").into_bytes()];
        if self.is_cluster {
            probes.push(Command::new("CLUSTER").arg("INFO").into_bytes());
        }
        for master in masters {
            let why = match master.ask(probes.clone()).await {
                Ok(replies) => replies.iter().find_map(|reply| refused_for_now(&master, reply)),
                Err(lost) if self.is_cluster => Some(lost.why()),
                Err(lost) => return Err(unavailable(lost.why())),
            };
            if why.is_some() {
                return Ok(why);
            }
        }
        Ok(None)
    }

    pub(super) fn is_cluster(&self) -> bool {
        self.is_cluster
    }

    pub(super) fn masters(&self) -> Vec<Arc<Node>> {
        self.slots().masters.clone()
    }

    pub(super) fn server_run(&self, slot: u16) -> u64 {
        self.slots().master_of(slot).map_or(0, |node| node.server_run())
    }

    pub(super) async fn master_of(&self, slot: u16) -> Result<Arc<Node>, Error> {
        if let Some(node) = self.slots().master_of(slot) {
            return Ok(node.clone());
        }
        self.refresh().await;
        self.slots().master_of(slot).cloned().ok_or_else(|| unavailable(format!("no server has slot {slot}")))
    }

    /// The server that has the slot now that this one cannot be reached, if there is another.
    pub(super) async fn instead_of(&self, gone: &Arc<Node>, slot: u16) -> Option<Arc<Node>> {
        self.refresh().await;
        self.slots().master_of(slot).filter(|node| !Arc::ptr_eq(node, gone)).cloned()
    }

    /// Follows a redirect. Other servers may not know of the move yet, so the slot is noted by itself.
    pub(super) async fn moved(&self, slot: u16, to: Address) -> Arc<Node> {
        self.refresh().await;
        let node = self.node(to);
        let mut slots = self.slots.write().unwrap_or_else(PoisonError::into_inner);
        if slots.master_of(slot).is_none_or(|known| !Arc::ptr_eq(known, &node)) {
            Arc::make_mut(&mut slots).moved.insert(slot, node.clone());
        }
        node
    }

    pub(super) fn node(&self, address: Address) -> Arc<Node> {
        let mut nodes = lock(&self.nodes);
        nodes
            .entry(address)
            .or_insert_with_key(|address| Arc::new(Node::new(address.clone(), self.settings.clone())))
            .clone()
    }

    /// Reads the map again, unless that was just done. Keeps the old one if no server returns one.
    pub(super) async fn refresh(&self) {
        if !self.is_cluster {
            return;
        }
        let mut refreshed = self.refreshed.lock().await;
        if refreshed.is_some_and(|at| at.elapsed() < REFRESH_EVERY) {
            return;
        }
        let told = self.ask_for_slots().await;
        *refreshed = Some(Instant::now());
        if let Some(rows) = told {
            let named = rows.iter().flat_map(|row| &row.servers).chain(&self.settings.target.seeds);
            let named: HashSet<_> = named.cloned().collect();
            let slots = Arc::new(self.slots_of(rows));
            lock(&self.nodes).retain(|address, _| named.contains(address));
            *self.slots.write().unwrap_or_else(PoisonError::into_inner) = slots;
        }
    }

    /// Asks all servers and takes the first map, so a server that hangs delays nothing. The map of a server
    /// that reports a failed cluster is used only if no other server answers.
    async fn ask_for_slots(&self) -> Option<Vec<SlotRow>> {
        let nodes: Vec<_> = lock(&self.nodes).values().cloned().collect();
        let mut asked = JoinSet::new();
        for node in nodes {
            asked.spawn(cluster_view(node));
        }
        let mut doubtful = None;
        while let Some(told) = asked.join_next().await {
            match told {
                Ok(Some(ClusterView { is_sure: true, rows })) => return Some(rows),
                Ok(Some(ClusterView { is_sure: false, rows })) => doubtful = Some(rows),
                Ok(None) | Err(_) => {}
            }
        }
        doubtful
    }

    fn slots_of(&self, rows: Vec<SlotRow>) -> SlotMap {
        let mut slots = SlotMap::default();
        for row in rows {
            let mut servers = row.servers.into_iter().map(|address| self.node(address));
            let Some(master) = servers.next() else { continue };
            // The replicas are known from now on and are asked for the next map.
            servers.for_each(drop);
            if !slots.masters.iter().any(|known| Arc::ptr_eq(known, &master)) {
                slots.masters.push(master.clone());
            }
            slots.ranges.push(SlotRange { first: row.first, last: row.last, master });
        }
        slots
    }

    fn slots(&self) -> Arc<SlotMap> {
        self.slots.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// The cluster as one server sees it.
struct ClusterView {
    /// Whether its `cluster_state` is ok.
    is_sure: bool,
    rows: Vec<SlotRow>,
}

async fn cluster_view(node: Arc<Node>) -> Option<ClusterView> {
    let commands = ["INFO", "SLOTS"].map(|what| Command::new("CLUSTER").arg(what).into_bytes());
    let replies = node.ask(commands.into()).await.ok()?;
    let [Reply::Text(info), slots] = replies.as_slice() else { return None };
    Some(ClusterView { is_sure: has_line(info, b"cluster_state:ok"), rows: read_slots(slots, &node.address)? })
}

fn has_line(text: &[u8], wanted: &[u8]) -> bool {
    text.split(|byte| *byte == b'\n').any(|line| line.trim_ascii_end() == wanted)
}

/// Why a server that answered a probe so does not serve yet; `None` if it serves.
fn refused_for_now(node: &Node, reply: &Reply) -> Option<String> {
    let why = match reply {
        Reply::Refused(why) if classify_refusal(reply, &node.address) == Some(RefusalKind::Wait) => why,
        Reply::Text(info) if has_line(info, b"cluster_state:fail") => "CLUSTERDOWN The cluster is down",
        _ => return None,
    };
    Some(format!("redis at {}: {why}", node.address))
}

enum FirstAnswer {
    Serves { node: Arc<Node>, is_cluster: bool },
    Recovers(String),
}

/// The first server that answers says whether it is one of a cluster.
async fn first_answer(nodes: &[Arc<Node>]) -> Result<FirstAnswer, Error> {
    let mut why = String::from("no server is named");
    for node in nodes {
        match node.connection().await {
            Ok(_) => {}
            Err(ConnectFailure::Forbidden(why)) => return Err(Error::Invalid(why)),
            Err(ConnectFailure::Unreachable(unreachable)) => {
                why = unreachable;
                continue;
            }
        }
        let command = Command::new("INFO").arg("cluster").into_bytes();
        match node.ask(vec![command]).await.map(|mut replies| replies.pop()) {
            Ok(Some(Reply::Text(text))) => {
                let is_cluster = has_line(&text, b"cluster_enabled:1");
                return Ok(FirstAnswer::Serves { node: node.clone(), is_cluster });
            }
            Ok(Some(reply @ Reply::Refused(_))) => {
                return match refused_for_now(node, &reply) {
                    Some(why) => Ok(FirstAnswer::Recovers(why)),
                    None => Err(Error::Invalid(refusal(node, reply))),
                };
            }
            Ok(_) => why = format!("redis at {} does not say whether it is a cluster", node.address),
            Err(lost) => why = lost.why(),
        }
    }
    Err(unavailable(why))
}

/// The wait of an opening client for servers that recover. It is logged once.
struct RecoveryWait {
    budget: RetryBudget,
    wait_max: Duration,
    is_logged: bool,
}

impl RecoveryWait {
    fn new(wait_max: Duration) -> Self {
        Self { budget: RetryBudget::new(wait_max), wait_max, is_logged: false }
    }

    async fn wait(&mut self, why: String) -> Result<(), Error> {
        if !std::mem::replace(&mut self.is_logged, true) {
            tracing::warn!(why, wait_max_s = self.wait_max.as_secs(), "waiting for Redis to recover");
        }
        self.budget.wait(why).await
    }
}
