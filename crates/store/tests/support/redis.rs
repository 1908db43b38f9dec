//! Real Redis servers for tests.
//!
//! Owns processes, ports and directories, all of which end with the value that holds them, and also when the
//! test process is killed: each server hangs on a pipe that closes with it. Needs `redis-server` and
//! `redis-cli`.

#![allow(dead_code)]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use tempfile::TempDir;

const START_TRIES: usize = 10;
const WAIT_MAX: Duration = Duration::from_secs(20);
const LOG: &str = "redis.log";
/// The bus of a cluster is at the port and this.
pub const BUS: u16 = 10_000;
/// Below the ports that the system gives to outgoing connections, so that these do not take them meanwhile.
const PORTS: std::ops::Range<u16> = 20_000..32_000;

/// Ends the server when its standard input does, however the test process ended; then nothing else removes
/// its directory.
const GUARD: &str = r#"dir=$1; shift; "$@" & pid=$!; echo "$pid"; exec >&-
read -r word; kill -9 "$pid"; wait "$pid"; [ "$word" = stay ] || rm -rf "$dir""#;

/// One server, killed when this is dropped.
pub struct Redis {
    port: u16,
    args: Vec<String>,
    dir: TempDir,
    running: Option<Running>,
}

struct Running {
    guard: Child,
    pipe: Option<ChildStdin>,
    pid: u32,
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(mut pipe) = self.pipe.take() {
            pipe.write_all(b"stay\n").expect("the guard of a redis-server lives as long as this");
        }
        self.guard.wait().expect("the guard of a redis-server is a child of this process");
    }
}

impl Redis {
    pub fn start() -> Self {
        Self::with(&[])
    }

    pub fn with(args: &[&str]) -> Self {
        let mut server = Self::on(0, args);
        for _ in 0..START_TRIES {
            server.port = free_port(&[]);
            if server.run() {
                return server;
            }
        }
        panic!("redis-server did not start on any of {START_TRIES} ports: {}", server.log());
    }

    /// Not started yet.
    fn on(port: u16, args: &[&str]) -> Self {
        let dir = TempDir::new().expect("a temporary directory");
        let args = args.iter().map(|arg| (*arg).to_owned()).collect();
        Self { port, args, dir, running: None }
    }

    pub fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    pub fn pid(&self) -> u32 {
        self.running.as_ref().expect("the server was killed").pid
    }

    pub fn dir(&self) -> &Path {
        self.dir.path()
    }

    /// `STOP`, `CONT`, `KILL`, …
    pub fn signal(&self, name: &str) {
        let status = Command::new("sh")
            .args(["-c", "kill -s \"$0\" \"$1\"", name, &self.pid().to_string()])
            .status()
            .expect("sh is there");
        assert!(status.success(), "signal {name} to redis-server");
    }

    /// At once, as a power cut would; what it wrote stays.
    pub fn kill(&mut self) {
        self.running = None;
    }

    /// After `kill`, on the same port with the same files.
    pub fn start_again(&mut self) {
        self.running = None;
        assert!(self.run(), "redis-server does not start again on port {}: {}", self.port, self.log());
    }

    pub fn cli(&self, args: &[&str]) -> String {
        let port = self.port.to_string();
        let output = Command::new("redis-cli")
            .args(["-h", "127.0.0.1", "-p", &port])
            .args(args)
            .output()
            .unwrap_or_else(|error| panic!("{}: {error}", missing("redis-cli")));
        String::from_utf8_lossy(&output.stdout).trim_end().to_owned()
    }

    /// A command that can only be answered with OK.
    fn told(&self, command: &str) {
        let answer = talk(self.port, command).unwrap_or_else(|error| panic!("{command}: {error}"));
        assert_eq!(answer.trim_end(), "+OK", "{command}");
    }

    /// `false` if another process took the port.
    fn run(&mut self) -> bool {
        let running = self.spawn();
        let deadline = Instant::now() + WAIT_MAX;
        loop {
            if is_answering(self.port) && self.is_mine() {
                self.running = Some(running);
                return true;
            }
            if !is_alive(running.pid) {
                return false;
            }
            assert!(Instant::now() < deadline, "redis-server does not answer: {}", self.log());
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    fn spawn(&self) -> Running {
        static INSTALLED: OnceLock<bool> = OnceLock::new();
        let version = || Command::new("redis-server").arg("--version").stdout(Stdio::null()).status().is_ok();
        assert!(INSTALLED.get_or_init(version), "{}", missing("redis-server"));
        // What an earlier run wrote there says nothing about this one.
        let log = self.dir.path().join(LOG);
        assert!(std::fs::write(&log, "").is_ok(), "a file in our directory");
        let mut guard = Command::new("sh")
            .args(["-c", GUARD, "redis-guard"])
            .arg(self.dir.path())
            .arg("redis-server")
            .args(["--port", &self.port.to_string(), "--bind", "127.0.0.1", "--daemonize", "no", "--save", ""])
            .args(["--logfile", LOG, "--dir"])
            .arg(self.dir.path())
            .args(&self.args)
            .current_dir(self.dir.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("sh is there");
        let pipe = guard.stdin.take();
        let mut line = String::new();
        let stdout = guard.stdout.take().expect("it is piped");
        BufReader::new(stdout).read_line(&mut line).expect("the guard says the pid");
        let pid = line.trim().parse().expect("the guard says the pid");
        Running { guard, pipe, pid }
    }

    /// Another test's server may have been quicker on this port, and answers there.
    fn is_mine(&self) -> bool {
        self.log().contains("Ready to accept connections")
    }

    fn log(&self) -> String {
        std::fs::read_to_string(self.dir.path().join(LOG)).unwrap_or_default()
    }
}

fn missing(what: &str) -> String {
    format!("{what} is not there: install Debian's redis-server: make test does")
}

fn is_alive(pid: u32) -> bool {
    std::fs::read_to_string(format!("/proc/{pid}/stat"))
        .is_ok_and(|stat| stat.rsplit(')').next().is_some_and(|rest| !rest.trim_start().starts_with('Z')))
}

/// Free together with its bus; chosen by process and time, so that tests beside each other seldom meet.
pub fn free_port(taken: &[u16]) -> u16 {
    let nanos = std::time::SystemTime::UNIX_EPOCH.elapsed().map_or(0, |since| since.subsec_nanos());
    let seed = std::process::id().wrapping_mul(2_654_435_761) ^ nanos;
    let count = u32::from(PORTS.end - PORTS.start);
    (0..count)
        .map(|step| PORTS.start + ((seed.wrapping_add(step.wrapping_mul(7_919))) % count) as u16)
        .filter(|port| !taken.contains(port))
        .find(|port| [*port, port + BUS].iter().all(|port| TcpListener::bind(("127.0.0.1", *port)).is_ok()))
        .expect("a port is free")
}

fn is_answering(port: u16) -> bool {
    // A server with a password answers too: by refusing.
    talk(port, "PING").is_ok_and(|answer| answer.starts_with("+PONG") || answer.starts_with("-NOAUTH"))
}

fn info(port: u16, section: &str) -> String {
    talk(port, &format!("INFO {section}")).unwrap_or_default()
}

/// A command on one line, and its answer.
fn talk(port: u16, command: &str) -> std::io::Result<String> {
    let mut stream = TcpStream::connect(("127.0.0.1", port))?;
    stream.set_read_timeout(Some(Duration::from_secs(5)))?;
    stream.write_all(format!("{command}\r\n").as_bytes())?;
    let mut reader = BufReader::new(stream);
    let mut answer = String::new();
    reader.read_line(&mut answer)?;
    if let Some(bytes) = answer.strip_prefix('$').and_then(|bytes| bytes.trim_end().parse::<usize>().ok()) {
        let mut value = vec![0; bytes];
        reader.read_exact(&mut value)?;
        answer = String::from_utf8_lossy(&value).into_owned();
    }
    Ok(answer)
}

/// Servers that share the keys, each killed when this is dropped.
pub struct Cluster {
    nodes: Vec<Redis>,
    masters: usize,
}

const SLOTS: usize = 16_384;

impl Cluster {
    /// Three masters.
    pub fn start() -> Self {
        Self::of(3, 0)
    }

    /// Three masters with a replica each: node 3 follows node 0, and so on.
    pub fn with_replicas() -> Self {
        Self::of(3, 3)
    }

    /// One for all tests of this process, which then keep apart by their keys. It ends with the process.
    pub fn shared() -> &'static Self {
        static SHARED: OnceLock<Cluster> = OnceLock::new();
        SHARED.get_or_init(Self::start)
    }

    fn of(masters: usize, replicas: usize) -> Self {
        for _ in 0..START_TRIES {
            let mut ports = Vec::new();
            for _ in 0..masters + replicas {
                ports.push(free_port(&ports));
            }
            let plan = Plan::new(ports, masters);
            if let Some(nodes) = plan.start() {
                let cluster = Self { nodes, masters };
                cluster.take_over(&plan);
                return cluster;
            }
        }
        panic!("a cluster did not start on any of {START_TRIES} choices of ports");
    }

    /// Of all servers.
    pub fn url(&self) -> String {
        let hosts: Vec<_> = self.nodes.iter().map(|node| format!("127.0.0.1:{}", node.port())).collect();
        format!("redis://{}", hosts.join(","))
    }

    pub fn nodes(&self) -> &[Redis] {
        &self.nodes
    }

    pub fn node(&mut self, index: usize) -> &mut Redis {
        self.nodes.get_mut(index).expect("that many nodes were started")
    }

    /// The index of the server that has the key now, as the first one that answers says.
    pub fn master_of(&self, key: &str) -> usize {
        let answers = self.nodes.iter().filter(|node| node.running.is_some());
        let port = answers
            .filter_map(|node| {
                let slot: usize = node.cli(&["CLUSTER", "KEYSLOT", key]).parse().ok()?;
                master_in(&node.cli(&["CLUSTER", "NODES"]), slot)
            })
            .next()
            .expect("a server says who has the key");
        self.nodes.iter().position(|node| node.port == port).expect("it is one of ours")
    }

    pub fn kill(&mut self, index: usize) {
        self.node(index).kill();
    }

    /// Kills every server at once and starts it again.
    pub fn crash(&mut self) {
        self.nodes.iter_mut().for_each(Redis::kill);
        self.nodes.iter_mut().for_each(Redis::start_again);
        self.until("every server serves again", |node| {
            talk(node.port, "CLUSTER INFO").is_ok_and(|said| said.contains("cluster_state:ok"))
        });
    }

    /// The masters take the slots of their ghosts, the replicas follow, and the ghosts are forgotten.
    fn take_over(&self, plan: &Plan) {
        let (masters, replicas) = self.nodes.split_at(self.masters);
        for node in masters {
            node.told("CLUSTER FAILOVER TAKEOVER");
        }
        self.until("every server knows that the ghosts have no slot left", |node| {
            let rows = talk(node.port, "CLUSTER NODES").unwrap_or_default();
            let with_slots = |row: &&str| row.split(' ').count() > 8;
            let real = |row: &&str| self.nodes.iter().any(|node| row.contains(&format!(":{}@", node.port)));
            rows.lines().filter(with_slots).count() == self.masters
                && rows.lines().filter(with_slots).all(|row| real(&row))
        });
        for (index, node) in replicas.iter().enumerate() {
            node.told(&format!("CLUSTER REPLICATE {}", plan.id(index % self.masters)));
        }
        for node in &self.nodes {
            (0..self.masters).for_each(|index| node.told(&format!("CLUSTER FORGET {}", plan.ghost(index))));
        }
        self.until("every server knows every slot and nobody else", |node| {
            let said = talk(node.port, "CLUSTER INFO").unwrap_or_default();
            let known = format!("cluster_known_nodes:{}", self.nodes.len());
            ["cluster_state:ok", "cluster_slots_ok:16384", &known]
                .iter()
                .all(|wanted| said.lines().any(|line| line.trim_end() == *wanted))
        });
        self.until("every replica follows and everyone knows", |node| {
            let rows = talk(node.port, "CLUSTER NODES").unwrap_or_default();
            let follows = |(index, replica): (usize, &Redis)| {
                let (port, master) = (format!(":{}@", replica.port), plan.id(index % self.masters));
                rows.lines().any(|row| row.contains(&port) && row.contains(&format!("slave {master}")))
            };
            let is_replica = replicas.iter().any(|replica| replica.port == node.port);
            replicas.iter().enumerate().all(follows)
                && (!is_replica || info(node.port, "replication").contains("master_link_status:up"))
        });
    }

    fn until(&self, what: &str, holds: impl Fn(&Redis) -> bool) {
        let deadline = Instant::now() + WAIT_MAX;
        for node in &self.nodes {
            while !holds(node) {
                assert!(Instant::now() < deadline, "{what}: {}", node.log());
                std::thread::sleep(Duration::from_millis(5));
            }
        }
    }
}

/// How a cluster begins. A master that starts has to wait two seconds before it may serve; a replica that
/// takes over has not. So every server starts as the replica of a master that has the slots and never existed
/// (a ghost).
struct Plan {
    ports: Vec<u16>,
    masters: usize,
    /// Keeps this cluster apart from others on the machine.
    run: String,
}

impl Plan {
    fn new(ports: Vec<u16>, masters: usize) -> Self {
        let nanos = std::time::SystemTime::UNIX_EPOCH.elapsed().map_or(0, |since| since.as_nanos() as u64);
        Self { ports, masters, run: format!("{:08x}{nanos:016x}", std::process::id()) }
    }

    fn id(&self, index: usize) -> String {
        format!("{}{index:016x}", self.run)
    }

    fn ghost(&self, index: usize) -> String {
        format!("{}{:016x}", self.run, index + 0xffff)
    }

    /// `None` if another process took one of the ports.
    fn start(&self) -> Option<Vec<Redis>> {
        let args = "--cluster-enabled yes --cluster-node-timeout 1500 --appendonly yes --appendfsync always \
            --repl-diskless-sync-delay 0";
        let args: Vec<_> = args.split_whitespace().collect();
        let start = |(index, port): (usize, &u16)| {
            let mut node = Redis::on(*port, &args);
            std::fs::write(node.dir().join("nodes.conf"), self.nodes_conf(index)).expect("a file in our directory");
            std::thread::spawn(move || node.run().then_some(node))
        };
        let starting: Vec<_> = self.ports.iter().enumerate().map(start).collect();
        starting.into_iter().map(|node| node.join().expect("a server starts")).collect()
    }

    fn nodes_conf(&self, own: usize) -> String {
        let mut rows = String::new();
        for index in 0..self.masters {
            let (first, end) = (index * SLOTS / self.masters, (index + 1) * SLOTS / self.masters);
            let (ghost, epoch, last) = (self.ghost(index), index + 1, end - 1);
            rows += &format!("{ghost} 127.0.0.1:1@1 master - 0 0 {epoch} connected {first}-{last}\n");
        }
        for (index, port) in self.ports.iter().enumerate() {
            let (id, bus, master) = (self.id(index), port + BUS, self.ghost(index % self.masters));
            let flags = if index == own { "myself,slave" } else { "slave" };
            rows +=
                &format!("{id} 127.0.0.1:{port}@{bus} {flags} {master} 0 0 {} connected\n", index % self.masters + 1);
        }
        // Far enough apart for every master to take over with an epoch of its own.
        rows + &format!("vars currentEpoch {} lastVoteEpoch 0\n", 10 * (own + 1))
    }
}

/// The port of the master with the slot, from the rows of `CLUSTER NODES`.
fn master_in(rows: &str, slot: usize) -> Option<u16> {
    let row = rows.lines().find(|row| {
        let words: Vec<_> = row.split(' ').collect();
        let is_master = words.get(2).is_some_and(|flags| flags.contains("master") && !flags.contains("fail"));
        is_master
            && words.iter().skip(8).any(|range| {
                let (first, last) = range.split_once('-').unwrap_or((range, range));
                first.parse().is_ok_and(|first: usize| first <= slot)
                    && last.parse().is_ok_and(|last: usize| slot <= last)
            })
    })?;
    row.split(' ').nth(1)?.split('@').next()?.rsplit(':').next()?.parse().ok()
}
