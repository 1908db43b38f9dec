//! `novelo eval compact`: how much of what matters survives in a short prompt.

use std::path::Path;

use anyhow::Context;
use novelo_server::cli::progress_bar;
use novelo_server::say;

use crate::quality;
use crate::quality::compact::{self, CompactReport, SHARES};

pub(super) fn measure(file: &Path) -> anyhow::Result<CompactReport> {
    let text = std::fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
    let conversations = quality::parse(&text).with_context(|| file.display().to_string())?;
    let bar = progress_bar(conversations.len() as u64);
    let report = compact::run(&conversations, &mut |done, _| bar.set_position(done as u64));
    bar.finish_and_clear();
    Ok(report)
}

pub(super) fn print(report: &CompactReport) {
    let shares = SHARES.map(|share| format!("{share} %")).join(" | ");
    for half in &report.halves {
        say!("{} ({} conversations, {} planted)\n", half.name, half.conversations, half.planted);
        say!("| survive in a prompt of | {shares} |\n|---|---|---|---|");
        for row in &half.rows {
            let figures = row.survive.iter().map(|share| format!("{share:.1}")).collect::<Vec<_>>().join(" | ");
            say!("| {} | {figures} |", row.method);
        }
        say!("");
    }
    say!("the largest conversation, {} tokens, was compacted in {:.1} ms", report.largest_tokens, report.largest_ms);
}
