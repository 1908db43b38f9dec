//! A real terminal: a pseudo-terminal with someone at it who types and reads.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::process::{Child, Command};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use rustix::fs::{Mode, OFlags};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

use crate::support::{Home, eventually};

/// A command that runs in a terminal of its own. It ends with its handle.
pub struct Terminal {
    keyboard: File,
    screen: Arc<Mutex<Vec<u8>>>,
    /// How much of the screen was looked at.
    seen: usize,
    reader: Option<JoinHandle<()>>,
    child: Child,
}

pub const CTRL_C: &str = "\x03";
pub const CTRL_D: &str = "\x04";
pub const ENTER: &str = "\n";

impl Terminal {
    /// Runs a command in a session of its own whose terminal this is, so that its keys send signals.
    pub fn start(home: &Home, args: &[&str], settings: &[(&str, &str)]) -> Self {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        let slave = ptsname(&master, Vec::new()).unwrap();
        let slave = rustix::fs::open(slave, OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC, Mode::empty()).unwrap();
        let plain = home.command(args);
        let mut command = Command::new("setsid");
        command.arg("--ctty").arg(plain.get_program()).args(plain.get_args());
        command.current_dir(plain.get_current_dir().unwrap());
        command.envs(plain.get_envs().filter_map(|(name, value)| Some((name, value?))));
        command.env_remove("NO_COLOR").env("TERM", "xterm").envs(settings.iter().copied());
        let again = |fd: &OwnedFd| fd.try_clone().unwrap();
        command.stdin(again(&slave)).stdout(again(&slave)).stderr(slave);
        let child = command.spawn().unwrap();
        let keyboard = File::from(master);
        let screen = Arc::new(Mutex::new(Vec::new()));
        let reader = std::thread::spawn(read_on(keyboard.try_clone().unwrap(), screen.clone()));
        Self { keyboard, screen, seen: 0, reader: Some(reader), child }
    }

    pub fn types(&mut self, keys: &str) {
        self.keyboard.write_all(keys.as_bytes()).unwrap();
    }

    /// Types a line, and sees it.
    #[track_caller]
    pub fn enters(&mut self, line: &str) {
        self.types(&format!("{line}{ENTER}"));
        self.sees(&format!("{line}\n"));
    }

    /// Waits until a text is on the screen, behind what was seen before; what stands before it.
    #[track_caller]
    pub fn sees(&mut self, text: &str) -> String {
        let found = eventually(|| self.unseen().contains(text));
        let unseen = self.unseen();
        assert!(found, "{text:?} is not in {unseen:?}");
        let before = unseen.split(text).next().unwrap().to_owned();
        self.seen += before.len() + text.len();
        before
    }

    /// What came after what was seen, with plain line ends.
    fn unseen(&self) -> String {
        let screen = self.screen.lock().unwrap();
        let text = String::from_utf8_lossy(&screen).replace("\r\n", "\n");
        text[self.seen..].to_owned()
    }

    /// Waits for the end; how it ended, and what else was on the screen.
    pub fn ended(mut self) -> (Option<i32>, String) {
        let code = self.child.wait().unwrap().code();
        self.reader.take().unwrap().join().unwrap();
        (code, self.unseen())
    }
}

/// Reads until nobody holds the other side any more.
fn read_on(mut from: File, screen: Arc<Mutex<Vec<u8>>>) -> impl FnOnce() {
    move || {
        let mut bytes = [0; 4096];
        while let Ok(count @ 1..) = from.read(&mut bytes) {
            screen.lock().unwrap().extend_from_slice(&bytes[..count]);
        }
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // It may have ended already, which is no reason to hide how the test went.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}
