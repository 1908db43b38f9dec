//! `novelo eval recall`: how many questions find the turns that answer them.

use std::path::Path;

use anyhow::Context;
use indicatif::ProgressBar;
use novelo_conversation::settings::Settings;
use novelo_recall::embed::Model;
use novelo_server::cli::{EmbedChoice, progress_bar};
use novelo_server::say;

use crate::quality::{self, EmbedFn, LabelledConversation, RecallReport, RecallShares};

/// Texts that are embedded between two steps of the progress bar.
const STEP: usize = 16;

pub(crate) fn measure(file: &Path, embed: EmbedChoice, settings: &Settings) -> anyhow::Result<RecallReport> {
    let text = std::fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
    let conversations = quality::parse(&text).with_context(|| file.display().to_string())?;
    if embed == EmbedChoice::None {
        let bar = progress_bar(conversations.len() as u64);
        let report = quality::run(&conversations, None, &mut |done, _| bar.set_position(done as u64));
        bar.finish_and_clear();
        return Ok(report);
    }
    let dir = settings.embedding.dir.clone();
    let hint = "hint: `make model` fetches one; embedding.dir (NOVELO_EMBEDDING_DIR) says where it is";
    let model = Model::open(&dir).map_err(|e| anyhow::anyhow!("{e}\n{hint}"))?;
    let bar = progress_bar(conversations.iter().map(texts).sum());
    let mut embed = |texts: &[&str]| embed_in_steps(&model, texts, &bar);
    let embed: &mut EmbedFn<'_> = &mut embed;
    let report = quality::run(&conversations, Some(embed), &mut |done, of| {
        bar.set_message(format!("texts, {done} of {of} conversations"));
    });
    bar.finish_and_clear();
    Ok(report)
}

fn texts(conversation: &LabelledConversation) -> u64 {
    (conversation.turns.len() + conversation.questions.len()) as u64
}

fn embed_in_steps(model: &Model, texts: &[&str], bar: &ProgressBar) -> Vec<Vec<f32>> {
    let mut vectors = Vec::with_capacity(texts.len());
    for step in texts.chunks(STEP) {
        vectors.extend(model.embed(step));
        bar.inc(step.len() as u64);
    }
    vectors
}

pub(crate) fn print(report: &RecallReport) {
    say!("| | questions | all@5 | all@10 | all@20 | frac@10 | any@10 |\n|---|---|---|---|---|---|---|");
    let row = |name: &str, of: &RecallShares| {
        let (all, frac, any) = (of.all, of.frac.at_10, of.any.at_10);
        let figures = [all.at_5, all.at_10, all.at_20, frac, any].map(|share| format!("{share:.1}")).join(" | ");
        say!("| {name} | {} | {figures} |", of.questions);
    };
    row("all", &report.total);
    report.by_category.iter().for_each(|(name, of)| row(name, of));
}
