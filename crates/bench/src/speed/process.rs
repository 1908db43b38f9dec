//! A server in a process of its own: started, asked what it has used, and killed at the end.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use anyhow::Context;

/// Linux counts processor time in hundredths of a second.
const TICK_US: f64 = 10_000.0;

pub(crate) struct ServerProcess {
    child: Child,
    /// Host and port.
    pub address: String,
}

impl ServerProcess {
    /// The `novelo` beside this program, with default settings.
    pub(crate) fn start_novelo(data: &Path) -> anyhow::Result<Self> {
        let mut command = Command::new(novelo()?);
        command.args(["serve", "--addr", "127.0.0.1:0", "--data"]).arg(data);
        Self::start(command)
    }

    /// The bare server, which is this program with another command.
    pub(crate) fn start_bare() -> anyhow::Result<Self> {
        let mut command = Command::new(std::env::current_exe()?);
        command.arg("bare-server");
        Self::start(command)
    }

    /// Waits for the first line of output, which ends with the address.
    fn start(mut command: Command) -> anyhow::Result<Self> {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
        let output = child.stdout.take().context("the server has no output")?;
        let mut started = Self { child, address: String::new() };
        let mut line = String::new();
        BufReader::new(output).read_line(&mut line)?;
        started.address = line
            .trim()
            .rsplit("http://")
            .next()
            .filter(|a| !a.is_empty())
            .map(str::to_owned)
            .context("the server said nothing\nhint: `novelo serve` says why it does not start")?;
        Ok(started)
    }

    /// Resident memory.
    pub(crate) fn resident_mb(&self) -> anyhow::Result<f64> {
        resident_mb(self.child.id())
    }

    /// The processor time of all its threads so far, in the kernel and outside.
    pub(crate) fn cpu_us(&self) -> anyhow::Result<f64> {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.child.id()))?;
        // The name of the program, in brackets, may have spaces. User time is the twelfth field behind it.
        let (_, fields) = stat.rsplit_once(')').context("no name in stat")?;
        let ticks = fields.split_whitespace().skip(11).take(2).map(str::parse::<f64>);
        Ok(ticks.sum::<Result<f64, _>>()? * TICK_US)
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        if let Err(error) = self.child.kill().and_then(|()| self.child.wait()) {
            tracing::error!(%error, "a server of this benchmark was not ended");
        }
    }
}

/// The resident memory of a process.
pub(crate) fn resident_mb(process: u32) -> anyhow::Result<f64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status"))?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).context("no VmRSS")?;
    let kilobytes: f64 = line.trim().trim_end_matches(" kB").parse()?;
    Ok(kilobytes / 1e3)
}

pub(crate) fn novelo() -> anyhow::Result<PathBuf> {
    let program = std::env::current_exe()?.with_file_name("novelo");
    anyhow::ensure!(program.exists(), "there is no {}\nhint: `cargo build --release` builds it", program.display());
    Ok(program)
}
