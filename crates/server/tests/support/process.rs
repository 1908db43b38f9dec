//! A process of a test: it ends with its handle, and also where the test process is killed and drops nothing.

use std::io::Write;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Mutex, OnceLock};

/// Reads which processes started and ended; when its input closes, it kills those that still run.
const GUARD: &str = r#"living=
while read -r word pid; do
  others=; for one in $living; do [ "$one" = "$pid" ] || others="$others $one"; done
  [ "$word" = died ] && living=$others || living="$others $pid"
done
[ -z "$living" ] || kill -9 $living"#;

pub struct Process(pub Child);

impl Process {
    pub fn start(command: &mut Command) -> Self {
        let child = command.spawn().unwrap();
        tell("born", child.id());
        Self(child)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended already, which is no reason to hide how the test went.
        drop(self.0.kill());
        drop(self.0.wait());
        tell("died", self.0.id());
    }
}

fn tell(word: &str, pid: u32) {
    static GUARDED: OnceLock<Mutex<ChildStdin>> = OnceLock::new();
    let start = || {
        let mut guard = Command::new("sh");
        guard.args(["-c", GUARD, "novelo-guard"]).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        Mutex::new(guard.spawn().unwrap().stdin.take().unwrap())
    };
    writeln!(GUARDED.get_or_init(start).lock().unwrap(), "{word} {pid}").unwrap();
}
