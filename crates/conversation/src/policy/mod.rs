//! Policies: what users edit while the server runs.
//!
//! Owns the presets, the prompts, what a conversation remembers, the catalogue of what can be asked, and what
//! guides an answer: those shipped inside the binary, and files of the policy directory, which add to them
//! and override them. Files are read again when they change; a broken one keeps the last good one and says
//! so.

mod answers;
mod guide;
#[cfg(test)]
mod guide_tests;
mod preset;
mod prompt;
mod remembering;

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::data::catalogue::{self, Catalogue};
use crate::data::database::Database;
use crate::data::shipped::{FIIS, ShippedCatalogue};
use crate::files::{WatchedFile, WatchedPart};
pub use answers::Answers;
pub use guide::Guide;
pub use preset::Preset;
pub use prompt::Prompt;
pub use remembering::{Remembering, Status};

/// The preset that a thread uses when the request names none.
pub const DEFAULT: &str = "chat";

/// All policies. A lookup reads the directory again when it is time.
#[derive(Debug)]
pub struct Policies {
    dir: PathBuf,
    /// What the catalogue is checked against; without one there is none.
    database: Option<Arc<Database>>,
    /// What stands for the files of a catalogue that are not there.
    catalogue: &'static ShippedCatalogue,
    shipped: Vec<Arc<Preset>>,
    state: Mutex<PolicyState>,
}

#[derive(Debug)]
struct PolicyState {
    presets: WatchedPart<Vec<Arc<Preset>>>,
    prompts: WatchedPart<prompt::Own>,
    remembering: WatchedPart<Remembering>,
    catalogue: WatchedPart<Option<Arc<Catalogue>>>,
    guide: WatchedPart<Arc<Guide>>,
    looked: Instant,
}

const LOOK_EVERY: Duration = Duration::from_secs(1);

impl Policies {
    /// Reads all policy files, and checks those of `/ask` against the database.
    pub fn open(dir: PathBuf, database: Option<Arc<Database>>) -> anyhow::Result<Self> {
        Self::open_with(dir, database, &FIIS)
    }

    /// The same with another of the shipped catalogues.
    pub fn open_with(
        dir: PathBuf,
        database: Option<Arc<Database>>,
        catalogue: &'static ShippedCatalogue,
    ) -> anyhow::Result<Self> {
        let shipped = preset::shipped()?;
        let state = PolicyState {
            presets: WatchedPart::new(shipped.clone()),
            prompts: WatchedPart::new(prompt::Own::new()),
            remembering: WatchedPart::new(Remembering::default()),
            catalogue: WatchedPart::new(None),
            guide: WatchedPart::new(guide::shipped()?),
            looked: Instant::now(),
        };
        let policies = Self { dir, database, catalogue, shipped, state: Mutex::new(state) };
        policies.reload(&mut policies.lock());
        Ok(policies)
    }

    /// The preset of this name.
    pub fn preset(&self, name: &str) -> Option<Arc<Preset>> {
        self.current().presets.value.iter().find(|p| p.name.as_deref() == Some(name)).cloned()
    }

    /// The text of a prompt.
    pub fn prompt(&self, prompt: Prompt) -> Arc<str> {
        let own = self.current().prompts.value.iter().find(|(of, _)| *of == prompt).map(|(_, text)| text.clone());
        own.unwrap_or_else(|| prompt.shipped().trim().into())
    }

    /// The policy for what a conversation about data remembers.
    pub fn remembering(&self) -> Remembering {
        self.current().remembering.value.clone()
    }

    /// What can be asked of the database; `None` where there is no database, or never was a catalogue that
    /// fits it.
    pub fn catalogue(&self) -> Option<Arc<Catalogue>> {
        self.current().catalogue.value.clone()
    }

    /// What decides how someone is answered who is being guided.
    pub fn guide(&self) -> Arc<Guide> {
        self.current().guide.value.clone()
    }

    /// The names of all presets.
    pub fn names(&self) -> Vec<String> {
        self.lock().presets.value.iter().filter_map(|p| p.name.clone()).collect()
    }

    /// What is wrong with the files, a line each.
    pub fn broken(&self) -> Vec<String> {
        let mut state = self.lock();
        self.reload(&mut state);
        let PolicyState { presets, prompts, remembering, catalogue, guide, .. } = &*state;
        [&presets.broken, &prompts.broken, &remembering.broken, &catalogue.broken, &guide.broken]
            .into_iter()
            .flatten()
            .cloned()
            .collect()
    }

    fn current(&self) -> MutexGuard<'_, PolicyState> {
        let mut state = self.lock();
        if state.looked.elapsed() >= LOOK_EVERY {
            self.reload(&mut state);
        }
        state
    }

    fn lock(&self) -> MutexGuard<'_, PolicyState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn reload(&self, state: &mut PolicyState) {
        state.looked = Instant::now();
        let all = |below, extension| WatchedFile::all(&self.dir, below, extension);
        let one = |name| WatchedFile::one(&self.dir, name).into_iter();
        state
            .presets
            .renew(all("presets", "json"), |files, before, broken| preset::take(files, &self.shipped, before, broken));
        state.prompts.renew(all("prompts", "txt"), prompt::take);
        let take = |files: &[WatchedFile], before: &_, broken: &mut _| {
            remembering::take(&self.dir, files, self.catalogue.context, before, broken)
        };
        state.remembering.renew(one(remembering::FILE).collect(), take);
        let of_guide = guide::DIRS.iter().flat_map(|below| WatchedFile::every(&self.dir, below));
        state.guide.renew(of_guide.collect(), guide::take);
        if let Some(database) = &self.database {
            let files = one(catalogue::ONTOLOGY).chain(one(catalogue::RULES)).chain(all(catalogue::ENTITIES, "yaml"));
            let take = |files: &[WatchedFile], before: &_, broken: &mut _| {
                catalogue::take(files, self.catalogue, database, before, broken)
            };
            state.catalogue.renew_with(files.collect(), database.generation(), take);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_removed_file_gives_way_to_the_shipped_preset() {
        let dir = tempfile::tempdir().unwrap();
        let presets = dir.path().join("presets");
        std::fs::create_dir(&presets).unwrap();
        for name in ["chat", "mine"] {
            std::fs::write(presets.join(name).with_extension("json"), r#"{"budget_tokens": 7}"#).unwrap();
        }
        let policies = Policies::open(dir.path().to_owned(), None).unwrap();
        let budget = |name: &str| policies.preset(name).map(|p| p.recipe().budget_tokens);
        assert_eq!((budget("chat"), budget("mine")), (Some(Some(7)), Some(Some(7))));
        std::fs::write(presets.join("mine.json"), "{").unwrap();
        std::fs::remove_file(presets.join("chat.json")).unwrap();
        assert_eq!(policies.broken().len(), 1);
        assert_eq!((budget("chat"), budget("mine")), (Some(Some(24_000)), Some(Some(7))));
        std::fs::remove_file(presets.join("mine.json")).unwrap();
        assert!(policies.broken().is_empty());
        assert_eq!(budget("mine"), None);
    }

    #[test]
    fn a_prompt_is_the_file_or_the_last_good_one() {
        let dir = tempfile::tempdir().unwrap();
        let prompts = dir.path().join("prompts");
        std::fs::create_dir(&prompts).unwrap();
        let policies = Policies::open(dir.path().to_owned(), None).unwrap();
        let write = |name: &str, text: &str| {
            std::fs::write(prompts.join(name), text).unwrap();
            policies.broken()
        };
        assert_eq!(&*policies.prompt(Prompt::Rewrite), Prompt::Rewrite.shipped().trim());
        assert!(write("rewrite.txt", " Say it again.\n").is_empty());
        assert_eq!(&*policies.prompt(Prompt::Rewrite), "Say it again.");
        std::fs::remove_file(prompts.join("rewrite.txt")).unwrap();
        assert!(policies.broken().is_empty());
        assert_eq!(&*policies.prompt(Prompt::Rewrite), Prompt::Rewrite.shipped().trim());
        assert!(write("rewite.txt", "x")[0].contains("there are rewrite, summary, narrate"));
        std::fs::remove_file(prompts.join("rewite.txt")).unwrap();
        assert!(write("summary.txt", "Sum up.").is_empty());
        assert!(write("summary.txt", &"x".repeat(64 * 1024 + 1))[0].contains("more than 65536 bytes"));
        assert_eq!(&*policies.prompt(Prompt::Summary), "Sum up.");
    }
}
