//! `novelo eval rewrite`: how near rewritten questions come to a human's.

use std::path::Path;

use anyhow::Context;
use novelo_conversation::answer::reply::rewrite::by_model;
use novelo_conversation::model::{Job, Models};
use novelo_conversation::policy::Policies;
use novelo_conversation::settings::Settings;
use novelo_server::cli::{Rewriter, progress_bar};
use novelo_server::{complain, say};

use crate::quality::rewrite::{self, FoundShares, Retrieval, RewriteCase, RewriteFigures, RewriteReport};

pub(crate) fn measure(file: &Path, with: Rewriter, settings: &Settings) -> anyhow::Result<RewriteReport> {
    let text = std::fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
    let cases = rewrite::parse(&text).with_context(|| file.display().to_string())?;
    let bar = progress_bar(cases.len() as u64);
    let mut told = |done: usize, _| bar.set_position(done as u64);
    let report = match with {
        Rewriter::Rules => rewrite::run(&cases, &mut by_rules, &mut told),
        Rewriter::Model => with_model(&cases, settings, &mut told)?,
    };
    bar.finish_and_clear();
    Ok(report)
}

fn with_model(
    cases: &[RewriteCase],
    settings: &Settings,
    told: &mut dyn FnMut(usize, usize),
) -> anyhow::Result<RewriteReport> {
    let models = Models::open(settings)?;
    let hint = "hint: models.answer.url (NOVELO_MODELS_ANSWER_URL) says where there is one";
    let model = models.get(Job::Rewrite).with_context(|| format!("there is no model that rewrites\n{hint}"))?;
    let policies = Policies::open(settings.policies.clone(), None)?;
    let mut failed = 0;
    let mut ask = |case: &RewriteCase| {
        let said = case.said();
        if said.is_empty() {
            return case.question.clone();
        }
        let asking = by_model(&policies, model, &said, &case.question);
        match tokio::task::block_in_place(|| tokio::runtime::Handle::current().block_on(asking)) {
            Ok(rewritten) => rewritten.question,
            Err(_) => {
                failed += 1;
                by_rules(case)
            }
        }
    };
    let report = rewrite::run(cases, &mut ask, told);
    if failed > 0 {
        complain!("{failed} of {} questions were left to the rules, since the model failed", cases.len());
    }
    Ok(report)
}

fn by_rules(case: &RewriteCase) -> String {
    novelo_language::rewrite::rewrite(&case.said(), &case.question).question
}

pub(crate) fn print(report: &RewriteReport) {
    say!("| | questions | ROUGE-1 R | F1 | BLEU | need it | F1 where needed | F1 of new words | untouched |");
    say!("|---|---|---|---|---|---|---|---|---|");
    let rows = || [("all", &report.total)].into_iter().chain(report.by_set.iter().map(|(set, of)| (set.as_str(), of)));
    for (name, of) in rows() {
        say!("{}", figures(name, of));
    }
    say!("\n| found at | questions | passages | asked as | 1 | 5 | 10 | MRR |\n|---|---|---|---|---|---|---|---|");
    for (name, of) in rows() {
        retrieval(name, &of.retrieval);
    }
    if report.total.retrieval.stand_in {
        say!("\nWhere a set has no passages, the humans' questions stand in for what answers them.");
    }
}

fn figures(name: &str, of: &RewriteFigures) -> String {
    let [recall, f1, bleu, needed, new, untouched] =
        [of.rouge1_r, of.rouge1_f, of.bleu, of.need.rouge1_f, of.need.new_term_f1, of.untouched]
            .map(|share| format!("{share:.1}"));
    let RewriteFigures { questions, need, .. } = of;
    let need = need.questions;
    format!("| {name} | {questions} | {recall} | {f1} | {bleu} | {need} | {needed} | {new} | {untouched} |")
}

fn retrieval(name: &str, of: &Retrieval) {
    for (asked, found) in [("asked", of.raw), ("rewritten", of.rewritten), ("by the human", of.human)] {
        let FoundShares { at_1, at_5, at_10, mrr } = found;
        let shares = [at_1, at_5, at_10, mrr].map(|share| format!("{share:.1}")).join(" | ");
        say!("| {name} | {} | {} | {asked} | {shares} |", of.questions, of.passages);
    }
}
