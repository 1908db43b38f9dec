//! The three levels of a user's memories.
//!
//! A text that is added goes to all levels, and of each the oldest go first. So a level is no place of its
//! own but a view: the newest so many of all memories; the last holds every one.

use novelo_recall::Hit;
use serde::Serialize;

use crate::search::{Picked, Ranking};
use crate::settings::Config;

/// The narrowest level that a memory is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    Short,
    Medium,
    Long,
}

/// How many memories the levels hold; `long` holds all.
#[derive(Debug, Clone, Copy)]
pub struct Levels {
    short_max: usize,
    medium_max: usize,
}

impl Levels {
    pub fn of(config: &Config) -> Self {
        let number = |key| usize::try_from(config.number(key)).unwrap_or(usize::MAX);
        Self { short_max: number("memory.short_max"), medium_max: number("memory.medium_max") }
    }

    /// How many memories are in a level that ends somewhere.
    pub fn bounded_max(self) -> usize {
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

    /// The best `each` of every level that speak to the query, `most` in all, best first.
    pub fn pick(self, ranking: &Ranking<'_>, each: usize, most: usize) -> Picked {
        let floors = [self.short_max, self.medium_max].map(|count| ranking.newest_from(count));
        let of_level = |floor: u64| ranking.pick_relevant(each, |place| place.seq >= floor).hits;
        let mut hits: Vec<Hit> = floors.into_iter().chain([0]).flat_map(of_level).collect();
        hits.sort_by(|a, b| b.score.total_cmp(&a.score).then(b.key.cmp(&a.key)));
        hits.dedup_by_key(|hit| hit.key);
        hits.truncate(most);
        let others = ranking.pick(most, |_| true);
        let near = others.hits.into_iter().chain(others.near).filter(|hit| hits.iter().all(|kept| kept.key != hit.key));
        Picked { near: near.take(3).collect(), hits }
    }
}
