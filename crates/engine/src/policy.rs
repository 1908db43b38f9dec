//! What a conversation remembers, and who may look back at it.
//!
//! Owns the policy that a user writes, its defaults, and the cuts that it makes: by age, by number, by
//! length. Pure: `now` comes in as a value.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Read from its file field by field: what the file leaves out is the default, also inside the blocks.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Policy {
    /// Whether anything is stored and looked back at.
    pub enabled: bool,
    /// Newest turns that are looked back at; all, where it is not above 0.
    pub max_turns: i64,
    /// How old a turn may be; any age, where it is not above 0.
    pub ttl_seconds: i64,
    /// Characters of the turns that are looked back at; any number, where it is not above 0.
    pub max_chars: i64,
    /// What the planner may look back at.
    pub planner: Planner,
    /// What the narrator may look back at.
    pub narrator: Narrator,
    /// Whether a question takes the last subjects.
    pub last_reference: Inheritance,
}

/// What the planner may look back at.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Planner {
    /// Whether it looks back at all.
    pub enabled: bool,
    /// Newest turns that it sees; all, where it is not above 0.
    pub max_turns: i64,
    /// The entities that it may look back for; all, where the list is empty.
    pub allowed_entities: Vec<String>,
    /// The entities that it may not look back for.
    pub denied_entities: Vec<String>,
}

/// The part of the conversation that a model gets when it puts rows into words.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Narrator {
    /// Whether it looks back at all.
    pub enabled: bool,
    /// Whether turns are shown to the model.
    pub inject_history: bool,
    /// Newest turns that it sees; all, where it is not above 0.
    pub max_turns: i64,
    /// Characters that it sees; any number, where it is not above 0.
    pub max_chars: i64,
    /// The entities that it may look back for; all, where the list is empty.
    pub allowed_entities: Vec<String>,
    /// The entities that it may not look back for.
    pub denied_entities: Vec<String>,
}

/// Whether a question that names no subject takes the last one.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Inheritance {
    /// Whether the last subjects are taken.
    pub enable_last_ticker: bool,
    /// Empty: all.
    pub allowed_entities: Vec<String>,
    /// Turns after which it is forgotten; never, where it is not above 0.
    pub max_age_turns: i64,
    /// The same for a bucket of intents.
    pub bucket_ttl: std::collections::BTreeMap<String, i64>,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            enabled: false,
            max_turns: 4,
            ttl_seconds: 3600,
            max_chars: 4000,
            planner: Planner::default(),
            narrator: Narrator::default(),
            last_reference: Inheritance::default(),
        }
    }
}

impl Default for Planner {
    fn default() -> Self {
        Self { enabled: true, max_turns: 2, allowed_entities: Vec::new(), denied_entities: Vec::new() }
    }
}

impl Default for Narrator {
    fn default() -> Self {
        Self {
            enabled: true,
            inject_history: true,
            max_turns: 3,
            max_chars: 2000,
            allowed_entities: Vec::new(),
            denied_entities: Vec::new(),
        }
    }
}

/// A turn as it is looked back at.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Line {
    /// Who spoke.
    pub role: String,
    /// What was said.
    pub content: String,
    /// When, in seconds since 1970.
    pub created_at: f64,
    /// What was stored beside it.
    pub meta: Value,
}

impl Policy {
    /// The turns, oldest first, that may be looked back at.
    pub fn recent(&self, mut turns: Vec<Line>, now: f64) -> Vec<Line> {
        if !self.enabled {
            return Vec::new();
        }
        turns.retain(|turn| self.is_fresh(turn.created_at, now));
        last(turns, self.max_turns, self.max_chars)
    }

    /// Whether a turn of this time is young enough.
    pub fn is_fresh(&self, created_at: f64, now: f64) -> bool {
        self.ttl_seconds <= 0 || now - created_at <= self.ttl_seconds as f64
    }

    /// Those that the planner sees of them; whether it may use one, is for the entity to say.
    pub fn for_planner(&self, recent: &[Line]) -> Vec<Line> {
        match self.enabled && self.planner.enabled {
            true => last(recent.to_vec(), self.planner.max_turns, 0),
            false => Vec::new(),
        }
    }

    /// Those that the narrator sees of them for an entity; `None` where it sees none at all.
    pub fn for_narrator(&self, recent: Vec<Line>, entity: Option<&str>) -> Option<Vec<Line>> {
        let of = &self.narrator;
        let allows = self.enabled && of.inject_history && of.allows(entity);
        allows.then(|| last(recent, of.max_turns, of.max_chars))
    }
}

impl Planner {
    /// Whether it may look back for an entity.
    pub fn allows(&self, entity: Option<&str>) -> bool {
        self.enabled && is_allowed(entity, &self.allowed_entities, &self.denied_entities)
    }
}

impl Narrator {
    /// Whether it may look back for an entity.
    pub fn allows(&self, entity: Option<&str>) -> bool {
        self.enabled && is_allowed(entity, &self.allowed_entities, &self.denied_entities)
    }
}

fn is_allowed(entity: Option<&str>, allowed: &[String], denied: &[String]) -> bool {
    let holds = |list: &[String], entity: &str| list.iter().any(|one| one == entity);
    entity.is_some_and(|entity| !holds(denied, entity) && (allowed.is_empty() || holds(allowed, entity)))
}

/// The last turns within both caps. The newest stays however long it is, cut to the cap.
fn last(mut turns: Vec<Line>, turns_max: i64, chars_max: i64) -> Vec<Line> {
    if let Some(over) =
        usize::try_from(turns_max).ok().filter(|max| *max > 0).map(|max| turns.len().saturating_sub(max))
    {
        turns.drain(..over);
    }
    let Some(max) = usize::try_from(chars_max).ok().filter(|max| *max > 0) else { return turns };
    let mut room = max;
    let fits = turns.iter().rev().take_while(|turn| {
        let chars = turn.content.chars().count();
        let fits = chars <= room;
        room = room.saturating_sub(chars);
        fits
    });
    let fits = fits.count().max(1).min(turns.len());
    turns.drain(..turns.len() - fits);
    if let [only] = turns.as_mut_slice()
        && let Some((end, _)) = only.content.char_indices().nth(max)
    {
        only.content.truncate(end);
    }
    turns
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(contents: &[&str]) -> Vec<Line> {
        let line = |(n, content): (usize, &&str)| Line {
            role: "user".to_owned(),
            content: (*content).to_owned(),
            created_at: n as f64,
            meta: Value::Null,
        };
        contents.iter().enumerate().map(line).collect()
    }

    fn contents(lines: &[Line]) -> Vec<&str> {
        lines.iter().map(|line| line.content.as_str()).collect()
    }

    fn policy(text: &str) -> Policy {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn what_a_file_leaves_out_is_the_default_also_inside_the_blocks() {
        let own = policy(r#"{"enabled": true, "narrator": {"max_turns": 9}}"#);
        let narrator = Narrator { max_turns: 9, ..Narrator::default() };
        assert_eq!(own, Policy { enabled: true, narrator, ..Policy::default() });
        assert!(serde_json::from_str::<Policy>(r#"{"planner": {"max_chars": 1}}"#).is_err());
    }

    #[test]
    fn age_comes_before_number_before_length() {
        let turns = || lines(&["a", "bb", "ccc", "dd"]);
        let recent = |text: &str, now: f64| {
            let policy = policy(text);
            policy.recent(turns(), now).into_iter().map(|line| line.content).collect::<Vec<_>>()
        };
        assert!(recent("{}", 4.0).is_empty());
        assert_eq!(recent(r#"{"enabled": true}"#, 4.0), ["a", "bb", "ccc", "dd"]);
        assert_eq!(recent(r#"{"enabled": true, "max_turns": 2}"#, 4.0), ["ccc", "dd"]);
        assert_eq!(recent(r#"{"enabled": true, "ttl_seconds": 2}"#, 4.0), ["ccc", "dd"]);
        assert_eq!(recent(r#"{"enabled": true, "ttl_seconds": 2, "max_turns": 1}"#, 9.0), [""; 0]);
        assert_eq!(recent(r#"{"enabled": true, "max_turns": 0, "ttl_seconds": -1}"#, 9e9), ["a", "bb", "ccc", "dd"]);
        assert_eq!(recent(r#"{"enabled": true, "max_chars": 5}"#, 4.0), ["ccc", "dd"]);
        assert_eq!(recent(r#"{"enabled": true, "max_chars": 4}"#, 4.0), ["dd"]);
        assert_eq!(recent(r#"{"enabled": true, "max_chars": 1}"#, 4.0), ["d"]);
    }

    #[test]
    fn an_entity_is_allowed_when_named_and_not_denied() {
        let of = |text: &str| serde_json::from_str::<Planner>(text).unwrap();
        assert!(of("{}").allows(Some("a")));
        assert!(!of("{}").allows(None));
        assert!(!of(r#"{"enabled": false}"#).allows(Some("a")));
        assert!(of(r#"{"allowed_entities": ["a"]}"#).allows(Some("a")));
        assert!(!of(r#"{"allowed_entities": ["a"]}"#).allows(Some("b")));
        assert!(!of(r#"{"allowed_entities": ["a"], "denied_entities": ["a"]}"#).allows(Some("a")));
    }

    #[test]
    fn each_reader_has_its_own_cuts() {
        let policy = policy(r#"{"enabled": true, "max_turns": 0, "narrator": {"max_turns": 3, "max_chars": 3}}"#);
        let recent = policy.recent(lines(&["a", "b", "c", "dd"]), 4.0);
        assert_eq!(contents(&policy.for_planner(&recent)), ["c", "dd"]);
        assert_eq!(contents(&policy.for_narrator(recent.clone(), Some("x")).unwrap()), ["c", "dd"]);
        assert_eq!(policy.for_narrator(recent.clone(), None), None);
        let silent = self::policy(r#"{"enabled": true, "narrator": {"inject_history": false}}"#);
        assert_eq!(silent.for_narrator(recent.clone(), Some("x")), None);
        assert!(Policy::default().for_planner(&recent).is_empty());
    }
}
