//! A directory below the shim, the process that writes to it, and what a power loss would leave of it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use crate::history::History;

const CHILD_TIME_MAX: Duration = Duration::from_secs(60);

#[derive(Debug, Clone, Copy)]
pub enum Fault {
    None,
    /// The process ends before a call.
    Kill {
        at: usize,
    },
    /// It ends after the first half of a write.
    Torn {
        at: usize,
    },
    /// A call fails once, with the error that its class has in life.
    Fail {
        at: usize,
        class: char,
    },
}

impl Fault {
    fn variables(self) -> Vec<(&'static str, String)> {
        let of = |kind: &str, at: usize| vec![("FAULT_KIND", kind.to_owned()), ("FAULT_AT", at.to_string())];
        match self {
            Self::None => Vec::new(),
            Self::Kill { at } => of("kill", at),
            Self::Torn { at } => of("torn", at),
            Self::Fail { at, class } => [of("fail", at), vec![("FAULT_ERRNO", errno(class).to_string())]].concat(),
        }
    }
}

/// EMFILE, ENOSPC or EIO.
fn errno(class: char) -> i32 {
    match class {
        'o' => 24,
        'w' | 't' | 'm' => 28,
        _ => 5,
    }
}

/// How far a child came.
pub struct Done {
    pub acknowledged: usize,
    pub is_finished: bool,
    pub last_error: String,
}

pub struct Disk(tempfile::TempDir);

impl Disk {
    pub fn new() -> Self {
        let disk = Self(tempfile::tempdir().unwrap());
        for name in ["store", "shadow"] {
            std::fs::create_dir(disk.path(name)).unwrap();
        }
        disk
    }

    pub fn dir(&self) -> PathBuf {
        self.path("store")
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().canonicalize().unwrap().join(name)
    }

    /// The child's command, with the shim loaded.
    pub fn child(&self, test: &str) -> Command {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", test, "--nocapture", "--test-threads=1"]);
        command.env("LD_PRELOAD", shim()).env("FAULT_DIR", self.dir()).env("FAULT_SHADOW", self.path("shadow"));
        command.env("FAULT_LOG", self.path("log")).env("NOVELO_FAULT_CHILD", self.dir());
        command.env("NOVELO_FAULT_PROGRESS", self.path("progress"));
        command.stdout(Stdio::null()).stderr(Stdio::null());
        command
    }

    pub fn run_child(&self, history: History, fault: Fault) -> Result<Done, String> {
        let mut command = self.child("child::child");
        command.env("NOVELO_FAULT_HISTORY", history.name()).envs(fault.variables());
        let mut child = command.spawn().unwrap();
        let deadline = Instant::now() + CHILD_TIME_MAX;
        while child.try_wait().unwrap().is_none() {
            if Instant::now() > deadline {
                child.kill().unwrap();
                child.wait().unwrap();
                return Err(format!("the child hung after {} operations", self.progress().acknowledged));
            }
            std::thread::sleep(Duration::from_millis(3));
        }
        Ok(self.progress())
    }

    /// Runs a child that makes and removes the file which says that calls of these classes fail.
    pub fn run_outage(&self, test: &str, classes: &str, errno: i32) {
        let mut command = self.child(test);
        command.env("FAULT_WHILE", self.path("broken")).env("FAULT_CLASSES", classes);
        command.env("FAULT_ERRNO", errno.to_string());
        let output = command.stderr(Stdio::piped()).output().unwrap();
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success() && self.progress().is_finished, "{classes} {errno}: {text}");
    }

    /// How many files of the store hold some text.
    pub fn files_with(&self, text: &str) -> usize {
        let holds =
            |path: &PathBuf| std::fs::read(path).unwrap().windows(text.len()).any(|part| part == text.as_bytes());
        files(&self.dir()).iter().filter(|path| holds(path)).count()
    }

    fn progress(&self) -> Done {
        let text = std::fs::read_to_string(self.path("progress")).unwrap_or_default();
        let last = |prefix: &str| text.lines().rev().find_map(|line| line.strip_prefix(prefix)).map(str::to_owned);
        Done {
            acknowledged: last("acknowledged ").map_or(0, |count| count.parse().unwrap()),
            is_finished: text.ends_with("finished\n"),
            last_error: last("error ").unwrap_or_default(),
        }
    }

    /// The letters of all calls.
    pub fn calls(&self) -> Vec<char> {
        std::fs::read_to_string(self.path("log")).unwrap().chars().collect()
    }

    /// A directory with only what was synced.
    pub fn after_power_loss(&self) -> PathBuf {
        let shadow = self.path("shadow");
        let mut names: Vec<_> = std::fs::read_dir(&shadow).unwrap().map(|entry| entry.unwrap().path()).collect();
        names.retain(|path| path.file_name().unwrap().to_string_lossy().starts_with('d'));
        names.sort();
        let mut lists = BTreeMap::new();
        for path in names {
            let text = std::fs::read_to_string(path).unwrap();
            let (dir, entries) = text.split_once('\n').unwrap();
            lists.insert(dir.to_owned(), entries.to_owned());
        }
        let to = self.path("survived");
        rebuild(&shadow, &lists, "", &to);
        to
    }
}

fn files(dir: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

fn rebuild(shadow: &Path, lists: &BTreeMap<String, String>, dir: &str, to: &Path) {
    std::fs::create_dir(to).unwrap();
    for line in lists.get(dir).map(|entries| entries.lines()).into_iter().flatten() {
        let mut words = line.splitn(3, ' ');
        let (kind, uid, name) = (words.next().unwrap(), words.next().unwrap(), words.next().unwrap());
        let target = to.join(name);
        if kind == "d" {
            rebuild(shadow, lists, &format!("{dir}/{name}"), &target);
        } else if std::fs::hard_link(shadow.join(format!("i{uid}")), &target).is_err() {
            std::fs::write(&target, b"").unwrap();
        }
    }
}

/// The compiled shim.
fn shim() -> &'static Path {
    static SHIM: OnceLock<PathBuf> = OnceLock::new();
    SHIM.get_or_init(|| {
        let dir = Path::new(env!("CARGO_TARGET_TMPDIR"));
        let (source, new) =
            (concat!(env!("CARGO_MANIFEST_DIR"), "/tests/faults/shim.c"), format!("shim-{}.so", std::process::id()));
        let compiled = Command::new("cc")
            .args(["-shared", "-fPIC", "-O1", "-Wall", "-Werror", "-o"])
            .arg(dir.join(&new))
            .args([source, "-ldl", "-lpthread"])
            .status();
        assert!(compiled.unwrap().success(), "cc compiles the shim");
        std::fs::rename(dir.join(&new), dir.join("fault-shim.so")).unwrap();
        dir.join("fault-shim.so")
    })
}
