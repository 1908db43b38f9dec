//! `novelo migrate`: copies everything from one store into another, and verifies the copy.
//!
//! Opens both stores itself, since no server has two. Compares before it writes: if the target holds
//! something else at a path, nothing is written. The source is only read. Running the command again resumes
//! it: documents that are there already are not sent again. Invariant: exit code 0 means that both stores
//! were compared document by document to the end.

mod copy;
mod tally;
mod walk;

use std::io::IsTerminal;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::bail;
use novelo_store::{Error, FillKind, Incomplete, Reserved, Store};
use serde_json::json;

use self::copy::Copier;
use self::tally::{Differences, Tally};
use self::walk::{Comparison, StoreWalk};
use super::commands::confirmed;
use super::output::in_words;
use super::{Output, progress};
use novelo_conversation::app::{self, Opens};
use novelo_conversation::settings::{IndexKind, Settings, without_password};
use novelo_conversation::storage::incomplete::{self, FillTarget, is_resumed_by};

#[derive(clap::Args)]
pub struct MigrateArgs {
    /// Where the documents go: redis (redis.url and redis.prefix) or local (the data directory)
    #[arg(long)]
    to: StoreKind,
    /// Where they are now; without it the other of the two
    #[arg(long)]
    from: Option<StoreKind>,
    /// Only count what would be done
    #[arg(long)]
    dry_run: bool,
    /// Do not ask where the target has other documents too; they stay
    #[arg(long)]
    yes: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum StoreKind {
    Local,
    Redis,
}

/// A user's whole history comes in one answer.
const REDIS_TIMEOUT: Duration = Duration::from_secs(30);

/// The result of the comparison before anything is written.
#[derive(Default)]
struct Survey {
    all: Tally,
    missing: u64,
    same: u64,
    conflicts: Differences,
    extra: Differences,
}

pub async fn run(args: MigrateArgs, settings: &Settings, out: &Output) -> anyhow::Result<ExitCode> {
    let from = args.from.unwrap_or(args.to.other());
    if from == args.to {
        bail!(
            "both places are {}\nhint: --to redis moves the data directory into Redis, --to local moves it back",
            from.name()
        );
    }
    let source = from.open_source(settings).await?;
    let marker = marker(&args, settings);
    let target = args.to.open_target(settings, args.dry_run, &marker).await?;
    let done = migrate(&args, [&source, &target], settings, out).await;
    let closed = [target.close().await, source.close().await];
    let code = done?;
    closed.into_iter().collect::<Result<(), Error>>()?;
    Ok(code)
}

async fn migrate(
    args: &MigrateArgs,
    [source, target]: [&Store; 2],
    settings: &Settings,
    out: &Output,
) -> anyhow::Result<ExitCode> {
    let from = args.to.other().describe(settings);
    let to = args.to.describe(settings);
    let survey = survey(source, target, args.dry_run).await?;
    if args.dry_run {
        return Ok(told(&survey, &from, &to, out));
    }
    permit(&survey, args.yes, &from, &to)?;
    // From here on the target must not be taken for complete.
    let fill_target = FillTarget::of(target, &settings.data);
    fill_target.mark(&marker(args, settings)).await?;
    let (new, existed) = copy(source, target).await.map_err(|error| broken_off(error, &to))?;
    let (all, differences) = verify(source, target, !survey.extra.is_empty()).await?;
    let is_verified = differences.is_empty();
    let answer = json!({
        "from": from, "to": to, "new": new, "existed": existed, "counts": all.json(),
        "only_in_target": survey.extra.count, "verified": is_verified,
        "differences": differences.count, "first_differences": differences.first,
    });
    out.show(&answer, |_| {
        say!("{new} documents were moved from {from} to {to}, {existed} were there already");
        say_part!("{}", all.text());
        match is_verified {
            true => say!("verified: each is the same in both places, byte for byte"),
            false => say!("{} differ:\n{}", differences.count, differences.text()),
        }
    });
    if !is_verified {
        complain!("hint: something wrote to one of the two meanwhile: stop every server, and run this again");
        return Ok(ExitCode::FAILURE);
    }
    fill_target.clear().await?;
    advise(args.to, settings, out);
    Ok(ExitCode::SUCCESS)
}

/// The marker of the target, until both stores were found to be equal.
fn marker(args: &MigrateArgs, settings: &Settings) -> Incomplete {
    let data = std::path::absolute(&settings.data).unwrap_or_else(|_| settings.data.clone());
    let data = data.display().to_string();
    let mut words = vec!["migrate", "--to", args.to.name(), "--data", &data];
    words.extend(args.yes.then_some("--yes"));
    incomplete::marker(FillKind::Migrate, args.to.other().describe(settings), &words)
}

/// Refuses if data would be lost, and asks if the target has other documents.
fn permit(survey: &Survey, yes: bool, from: &str, to: &str) -> anyhow::Result<()> {
    if !survey.conflicts.is_empty() {
        bail!(
            "{to} already holds something else:\n{}\nnothing was written\nhint: migrate into an empty place (another redis.prefix, \
            another --data), or forget these there first",
            survey.conflicts.text()
        );
    }
    if survey.extra.is_empty() || yes {
        return Ok(());
    }
    let what = format!("{to} holds {} documents that {from} has not", survey.extra.count);
    match std::io::stdin().is_terminal() && confirmed(&format!("{what}; they stay. go on? [y/N] "))? {
        true => Ok(()),
        false => bail!("{what}; nothing was written\nhint: --yes adds to what is there"),
    }
}

/// Prints what to do next, such as filling Qdrant from the documents.
fn advise(to: StoreKind, settings: &Settings, out: &Output) {
    if out.json {
        return;
    }
    say!("hint: {} was only read; to use what was moved, set store = \"{}\"", to.other().describe(settings), to.name());
    if settings.index == IndexKind::Qdrant {
        say!("hint: index is qdrant: novelo index --rebuild fills it from the documents");
    }
}

/// Compares the target with the source. An empty target is skipped, unless `is_all` asks for the comparison
/// itself.
async fn survey(source: &Store, target: &Store, is_all: bool) -> anyhow::Result<Survey> {
    let mut walk = StoreWalk::begin(source, target).await?;
    let mut found = Survey::default();
    if walk.hints().1 == 0 && !is_all {
        return Ok(found);
    }
    let bar = progress::documents_of("looking", walk.hints().0);
    while let Some(met) = walk.next().await? {
        match met {
            Comparison::Missing(document) => {
                found.all.count(&document);
                found.missing += 1;
            }
            Comparison::Same(document) => {
                found.all.count(&document);
                found.same += 1;
            }
            Comparison::Differs(document, what) => {
                found.all.count(&document);
                found.conflicts.add(&document.path, what);
            }
            Comparison::Extra(document) => {
                found.extra.add(&document.path, "only the target has it");
                continue;
            }
        }
        bar.inc(1);
    }
    bar.finish_and_clear();
    Ok(found)
}

/// How many documents were new, and how many were there already.
async fn copy(source: &Store, target: &Store) -> anyhow::Result<(u64, u64)> {
    let mut walk = StoreWalk::begin(source, target).await?;
    let (mut copier, mut missing, mut existed) = (Copier::new(target), 0, 0);
    let bar = progress::documents_of("moving", walk.hints().0);
    while let Some(met) = walk.next().await? {
        match met {
            Comparison::Missing(document) => {
                copier.add(document).await?;
                missing += 1;
            }
            Comparison::Same(_) => existed += 1,
            Comparison::Differs(document, _) => return Err(Error::Conflict { path: document.path.to_string() }.into()),
            Comparison::Extra(_) => continue,
        }
        copier.reserve(walk.take_reserved()).await?;
        bar.inc(1);
    }
    copier.reserve(walk.take_reserved()).await?;
    let new = copier.finish().await?;
    bar.finish_and_clear();
    // An export of the target may have missed what a killed run had just written.
    Ok((new, existed + missing - new))
}

/// The documents that are equal in both stores, and the differences.
async fn verify(source: &Store, target: &Store, may_have_more: bool) -> anyhow::Result<(Tally, Differences)> {
    let mut walk = StoreWalk::begin(source, target).await?;
    let (mut same, mut differences) = (Tally::default(), Differences::default());
    let bar = progress::documents_of("comparing", walk.hints().0);
    while let Some(met) = walk.next().await? {
        match met {
            Comparison::Same(document) => same.count(&document),
            Comparison::Missing(document) => differences.add(&document.path, "only the source has it"),
            Comparison::Differs(document, what) => differences.add(&document.path, what),
            Comparison::Extra(document) if !may_have_more => differences.add(&document.path, "only the target has it"),
            Comparison::Extra(_) => continue,
        }
        compare_reserved(target, walk.take_reserved(), &mut differences).await?;
        bar.inc(1);
    }
    compare_reserved(target, walk.take_reserved(), &mut differences).await?;
    bar.finish_and_clear();
    Ok((same, differences))
}

async fn compare_reserved(target: &Store, of: Vec<Reserved>, differences: &mut Differences) -> anyhow::Result<()> {
    let paths: Vec<_> = of.iter().map(|reserved| reserved.of.clone()).collect();
    for (reserved, version) in of.iter().zip(target.versions(&paths).await?) {
        if version.last_seq < reserved.last_seq {
            differences.add(&reserved.of, "a seq that was given before would be given again");
        }
    }
    Ok(())
}

/// Prints the result of a dry run.
fn told(survey: &Survey, from: &str, to: &str, out: &Output) -> ExitCode {
    let (conflicts, extra) = (&survey.conflicts, &survey.extra);
    let answer = json!({
        "from": from, "to": to, "dry_run": true, "new": survey.missing, "existed": survey.same,
        "counts": survey.all.json(), "only_in_target": extra.count,
        "differences": conflicts.count, "first_differences": conflicts.first,
    });
    out.show(&answer, |_| {
        say!("{} documents would be moved from {from} to {to}, {} are there already", survey.missing, survey.same);
        say_part!("{}", survey.all.text());
        if !extra.is_empty() {
            say!("{} documents are only there, and stay", extra.count);
        }
        if !conflicts.is_empty() {
            say!("{} differ, so nothing would be moved:\n{}", conflicts.count, conflicts.text());
        }
    });
    if conflicts.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn broken_off(error: anyhow::Error, to: &str) -> anyhow::Error {
    let hint = match error.downcast_ref::<Error>() {
        Some(Error::Conflict { .. }) => {
            "what is there stays as it is: migrate into an empty place, or forget it there first"
        }
        _ => "what was moved is stored; the same command again goes on",
    };
    anyhow::anyhow!("{to}: {}\nhint: {hint}", in_words(&error))
}

impl StoreKind {
    fn other(self) -> Self {
        match self {
            Self::Local => Self::Redis,
            Self::Redis => Self::Local,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Local => "local",
            Self::Redis => "redis",
        }
    }

    /// The directory or the server, for messages.
    fn describe(self, settings: &Settings) -> String {
        match self {
            Self::Local => settings.data.display().to_string(),
            Self::Redis => without_password(&settings.redis.url).into_owned(),
        }
    }

    async fn open_source(self, settings: &Settings) -> anyhow::Result<Store> {
        if self == Self::Local && !has_store(&settings.data) {
            bail!("there is no store in {}\nhint: name the data directory with --data", settings.data.display());
        }
        self.open(settings, Opens::Complete).await
    }

    /// A dry run makes no store. A target that the same migration left half filled is opened.
    async fn open_target(self, settings: &Settings, is_dry: bool, marker: &Incomplete) -> anyhow::Result<Store> {
        let data = &settings.data;
        if self == Self::Redis {
            let store = self.open(settings, Opens::Any).await?;
            if let Some(found) = incomplete::in_redis(&store).await?.filter(|found| !is_resumed_by(found, marker)) {
                incomplete::refuse(&found, settings)?;
            }
            return Ok(store);
        }
        if is_dry && !has_store(data) {
            return Ok(Store::memory());
        }
        let is_ours = Incomplete::read(data)?.is_some_and(|found| is_resumed_by(&found, marker));
        self.open(settings, if is_ours { Opens::Any } else { Opens::Complete }).await
    }

    async fn open(self, settings: &Settings, opens: Opens) -> anyhow::Result<Store> {
        if self == Self::Redis {
            return app::open_redis(settings, REDIS_TIMEOUT, opens).await;
        }
        match app::open_local(settings, opens).await {
            Err(error @ Error::Locked { .. }) => {
                bail!("{error}\nhint: stop the server that has it open, then run this again")
            }
            opened => Ok(opened?),
        }
    }
}

/// Opening a directory without a store would create one.
fn has_store(data: &Path) -> bool {
    ["novelo", "version"].iter().any(|file| data.join(file).exists())
}
