//! The three levels of a user's memories.
//!
//! A text that is added goes to all levels, and of each the oldest go first. So a level is no place of its
//! own but a view: the newest so many of all memories; the last holds every one.

use novelo_recall::Hit;
use serde::Serialize;

use crate::search::find::SHARE_MIN;
use crate::search::{Picked, Ranking};
use crate::settings::Settings;

/// The narrowest level that a memory is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// Stored lately.
    Short,
    /// Stored some time ago.
    Medium,
    /// Stored long ago.
    Long,
}

/// How many memories the levels hold; `long` holds all.
#[derive(Debug, Clone, Copy)]
pub struct Levels {
    short_max: usize,
    medium_max: usize,
}

impl Levels {
    /// The levels as they are set.
    pub fn of(settings: &Settings) -> Self {
        Self { short_max: settings.memory.short_max, medium_max: settings.memory.medium_max }
    }

    /// How many memories are in a level that ends somewhere.
    pub(crate) fn bounded_max(self) -> usize {
        self.short_max.max(self.medium_max)
    }

    /// The level of the memory that has so many newer ones.
    pub fn level(self, newer: usize) -> Level {
        match newer {
            n if n < self.short_max => Level::Short,
            n if n < self.medium_max => Level::Medium,
            _ => Level::Long,
        }
    }

    /// The best `each` of every level that speak to the query, `most` in all, best first. What one level gave
    /// takes no place of another, so that levels which hold the same memories give the best of all.
    pub(crate) fn pick(self, ranking: &Ranking<'_>, each: usize, most: usize) -> Picked {
        let floors = [self.short_max, self.medium_max].map(|count| ranking.newest_from(count));
        let mut hits: Vec<Hit> = Vec::new();
        for floor in floors.into_iter().chain([0]) {
            ranking.add_relevant(&mut hits, each, SHARE_MIN, |place| place.seq >= floor);
        }
        hits.sort_by(|a, b| b.score.total_cmp(&a.score).then(b.key.cmp(&a.key)));
        hits.truncate(most);
        let others = ranking.pick(most, |_| true);
        let near = others.hits.into_iter().chain(others.near).filter(|hit| hits.iter().all(|kept| kept.key != hit.key));
        Picked { near: near.take(3).collect(), hits }
    }
}
