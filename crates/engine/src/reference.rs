//! What a question points back to.
//!
//! Owns the last subjects that a conversation was answered about, what was named since and not answered, and
//! the rules by which a question that names none takes them. Text comes first, the conversation after, and of
//! that the newest, whatever its bucket; why, is always told.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::policy::Policy;

/// The subjects of an answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Reference {
    /// The subjects.
    #[serde(rename = "tickers")]
    pub subjects: Vec<String>,
    /// The entity that was asked about.
    pub entity: String,
    /// The intent that was recognized.
    pub intent: String,
    /// The bucket of that intent.
    pub bucket: Option<String>,
    /// When the answer was given, in seconds since 1970.
    pub updated_at: f64,
    /// The turn that said the answer, counted from the first of the conversation.
    pub turn_index: u64,
}

/// The last few of a conversation, and the newest of each bucket.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct References {
    /// The newest of the conversation.
    pub last: Option<Reference>,
    /// The newest of each bucket.
    pub buckets: BTreeMap<String, Reference>,
    /// The last few, the oldest first; the newest is `last`.
    pub recent: Vec<Reference>,
    /// What was named since and not answered about.
    pub unanswered: Option<Mentioned>,
    /// The subjects of the rows of the last answer that was about none.
    pub listed: Option<Mentioned>,
    /// The same of the other kinds of subject, by the name of the kind.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub kinds: BTreeMap<String, References>,
}

/// Subjects, or words that were meant as one, and the turn that has them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mentioned {
    /// As they were said, or as the rows have them.
    pub names: Vec<String>,
    /// The turn, counted from the first of the conversation.
    pub turn_index: u64,
}

/// References that a conversation keeps.
pub(crate) const RECENT_REFERENCES_MAX: usize = 5;

/// Subjects that are kept of the rows of an answer.
pub const LISTED_SUBJECTS_MAX: usize = 20;

/// A question, as far as it matters here.
#[derive(Debug, Clone, Copy)]
pub struct ReferenceQuestion<'a> {
    /// The entity that it asks about, where that is known.
    pub entity: Option<&'a str>,
    /// The bucket of its intent.
    pub bucket: Option<&'a str>,
    /// Those that its text names.
    pub subjects: &'a [String],
    /// How many turns the conversation has had, this one counted.
    pub turns: u64,
}

/// What became of it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ResolvedReference {
    /// Those of the text, or the inherited ones.
    pub subjects: Vec<String>,
    /// Why these.
    pub reason: ReferenceReason,
}

/// Why, in the order in which it is tried.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ReferenceReason {
    /// The policy is off.
    ContextDisabled,
    /// The policy does not take the last subjects.
    LastReferenceDisabled,
    /// The question names no entity.
    NoEntity,
    /// The policy does not allow it for the entity.
    EntityNotAllowed,
    /// The text names subjects.
    #[serde(rename = "input_has_ticker")]
    InputHasSubject,
    /// No earlier answer had subjects.
    #[default]
    NoCandidate,
    /// The earlier answer is too many turns ago.
    Expired,
    /// The subjects of an earlier answer were taken.
    LastReferenceApplied,
}

impl References {
    /// These after an answer that is about subjects.
    pub fn after(&self, reference: Reference) -> Self {
        let mut recent = self.recent.clone();
        // What an older version stored has only the last.
        if recent.is_empty() {
            recent.extend(self.last.clone());
        }
        recent.retain(|one| one.subjects != reference.subjects);
        recent.push(reference.clone());
        recent.drain(..recent.len().saturating_sub(RECENT_REFERENCES_MAX));
        let mut buckets = self.buckets.clone();
        buckets.extend(reference.bucket.clone().map(|bucket| (bucket, reference.clone())));
        // One that was picked from a list leaves the list there to pick from.
        let is_picked = |it: &Mentioned| reference.subjects.iter().all(|subject| it.names.contains(subject));
        let listed = self.listed.clone().filter(is_picked);
        Self { last: Some(reference), buckets, recent, unanswered: None, listed, kinds: self.kinds.clone() }
    }

    /// Those of a kind of subject: these for the first, whose name is not given.
    pub fn of_kind(&self, name: Option<&str>) -> Self {
        match name {
            None => self.clone(),
            Some(name) => self.kinds.get(name).cloned().unwrap_or_default(),
        }
    }

    /// These with those of a kind replaced.
    pub fn with_kind(self, name: Option<&str>, of: Self) -> Self {
        match name {
            None => Self { kinds: self.kinds, ..of },
            Some(name) => {
                let mut kinds = self.kinds;
                kinds.insert(name.to_owned(), Self { kinds: BTreeMap::new(), ..of });
                Self { kinds, ..self }
            }
        }
    }

    /// What was named after the last reference and not answered about.
    pub fn unanswered(&self) -> &[String] {
        Self::newer(self.unanswered.as_ref(), self.last.as_ref())
    }

    /// The subjects that were listed after the last reference.
    pub fn listed(&self) -> &[String] {
        Self::newer(self.listed.as_ref(), self.last.as_ref())
    }

    /// Those that one can be picked from by its place: the last ones that were answered about together, or
    /// listed later than that.
    pub fn several(&self) -> &[String] {
        let together = self.recent.iter().rev().chain(&self.last).find(|one| one.subjects.len() > 1);
        let listed = self.listed.as_ref().filter(|it| together.is_none_or(|one| it.turn_index > one.turn_index));
        listed.map(|it| it.names.as_slice()).or(together.map(|one| one.subjects.as_slice())).unwrap_or_default()
    }

    /// The subjects of the last few answers, the oldest first.
    pub fn subjects(&self) -> Vec<Vec<String>> {
        let all = if self.recent.is_empty() { self.last.as_slice() } else { &self.recent };
        all.iter().map(|one| one.subjects.clone()).collect()
    }

    fn newer<'m>(mentioned: Option<&'m Mentioned>, last: Option<&Reference>) -> &'m [String] {
        let is_newer = |it: &&Mentioned| last.is_none_or(|last| it.turn_index > last.turn_index);
        mentioned.filter(is_newer).map_or(&[], |it| &it.names)
    }

    /// The subjects that a question is about.
    pub fn resolve(&self, policy: &Policy, asked: &ReferenceQuestion<'_>) -> ResolvedReference {
        match self.applicable(policy, asked) {
            Ok(reference) => ResolvedReference {
                subjects: reference.subjects.clone(),
                reason: ReferenceReason::LastReferenceApplied,
            },
            Err(reason) => ResolvedReference { subjects: asked.subjects.to_vec(), reason },
        }
    }

    fn applicable(&self, policy: &Policy, asked: &ReferenceQuestion<'_>) -> Result<&Reference, ReferenceReason> {
        let rules = &policy.last_reference;
        let allowed =
            |entity: &str| rules.allowed_entities.is_empty() || rules.allowed_entities.iter().any(|e| e == entity);
        if !policy.enabled {
            return Err(ReferenceReason::ContextDisabled);
        }
        if !rules.enable_last_ticker {
            return Err(ReferenceReason::LastReferenceDisabled);
        }
        if !allowed(asked.entity.ok_or(ReferenceReason::NoEntity)?) {
            return Err(ReferenceReason::EntityNotAllowed);
        }
        if !asked.subjects.is_empty() {
            return Err(ReferenceReason::InputHasSubject);
        }
        let candidate = self.last.as_ref().filter(|candidate| !candidate.subjects.is_empty());
        let candidate = candidate.ok_or(ReferenceReason::NoCandidate)?;
        let age = asked.turns.saturating_sub(candidate.turn_index);
        let is_past = |max: i64| u64::try_from(max).is_ok_and(|max| max > 0 && age > max);
        let bucket_ttl = asked.bucket.and_then(|bucket| rules.bucket_ttl.get(bucket)).copied().unwrap_or(0);
        match is_past(rules.max_age_turns) || is_past(bucket_ttl) {
            true => Err(ReferenceReason::Expired),
            false => Ok(candidate),
        }
    }
}

impl ResolvedReference {
    /// Whether the conversation had a say.
    pub fn used(&self) -> bool {
        self.reason == ReferenceReason::LastReferenceApplied
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const POLICY: &str = r#"{"enabled": true, "last_reference": {"enable_last_ticker": true,
        "allowed_entities": ["prices", "risk"], "max_age_turns": 4, "bucket_ttl": {"short": 2}}}"#;

    fn reference(subject: &str, bucket: Option<&str>, turn_index: u64) -> Reference {
        Reference {
            subjects: vec![subject.to_owned()],
            entity: "prices".to_owned(),
            intent: "prices".to_owned(),
            bucket: bucket.map(str::to_owned),
            updated_at: 0.0,
            turn_index,
        }
    }

    fn check(
        references: &References,
        policy: &str,
        asked: ReferenceQuestion<'_>,
        reason: ReferenceReason,
        subjects: &[&str],
    ) {
        let policy: Policy = serde_json::from_str(policy).unwrap();
        let resolved = references.resolve(&policy, &asked);
        assert_eq!((resolved.reason, resolved.used()), (reason, reason == ReferenceReason::LastReferenceApplied));
        assert_eq!(resolved.subjects, subjects);
    }

    #[test]
    fn every_reason_in_its_order() {
        let references = References::default().after(reference("A", None, 2));
        let asked = ReferenceQuestion { entity: Some("risk"), bucket: None, subjects: &[], turns: 3 };
        let named = ["B".to_owned()];
        check(&references, "{}", asked, ReferenceReason::ContextDisabled, &[]);
        check(&references, r#"{"enabled": true}"#, asked, ReferenceReason::LastReferenceDisabled, &[]);
        check(&references, POLICY, ReferenceQuestion { entity: None, ..asked }, ReferenceReason::NoEntity, &[]);
        let other = ReferenceQuestion { entity: Some("news"), subjects: &named, ..asked };
        check(&references, POLICY, other, ReferenceReason::EntityNotAllowed, &["B"]);
        check(
            &references,
            POLICY,
            ReferenceQuestion { subjects: &named, ..asked },
            ReferenceReason::InputHasSubject,
            &["B"],
        );
        check(&References::default(), POLICY, asked, ReferenceReason::NoCandidate, &[]);
        check(&references, POLICY, ReferenceQuestion { turns: 7, ..asked }, ReferenceReason::Expired, &[]);
        check(
            &references,
            POLICY,
            ReferenceQuestion { turns: 6, ..asked },
            ReferenceReason::LastReferenceApplied,
            &["A"],
        );
    }

    #[test]
    fn zero_is_never() {
        let policy = r#"{"enabled": true, "last_reference": {"enable_last_ticker": true}}"#;
        let asked = ReferenceQuestion { entity: Some("any"), bucket: None, subjects: &[], turns: 1_000_000 };
        check(
            &References::default().after(reference("A", None, 2)),
            policy,
            asked,
            ReferenceReason::LastReferenceApplied,
            &["A"],
        );
    }

    #[test]
    fn the_newest_wins_and_a_bucket_has_its_own_age() {
        let references = References::default().after(reference("A", Some("short"), 2));
        let references = references.after(reference("B", Some("other"), 4));
        let asked = |bucket, turns| ReferenceQuestion { entity: Some("risk"), bucket, subjects: &[], turns };
        check(&references, POLICY, asked(Some("short"), 6), ReferenceReason::LastReferenceApplied, &["B"]);
        check(&references, POLICY, asked(Some("short"), 7), ReferenceReason::Expired, &[]);
        check(&references, POLICY, asked(None, 7), ReferenceReason::LastReferenceApplied, &["B"]);
        check(&references, POLICY, asked(Some("new"), 5), ReferenceReason::LastReferenceApplied, &["B"]);
    }

    #[test]
    fn the_last_few_are_kept_each_once() {
        let mut references = References::default();
        for (turn, subject) in (2..).step_by(2).zip(["A", "B", "C", "A", "D", "E", "F"]) {
            references = references.after(reference(subject, None, turn));
        }
        assert_eq!(references.subjects().concat(), ["C", "A", "D", "E", "F"]);
        let old = References { recent: Vec::new(), ..references };
        assert_eq!(old.subjects().concat(), ["F"], "as an older version stored it");
        assert_eq!(old.after(reference("G", None, 20)).subjects().concat(), ["F", "G"]);
    }

    #[test]
    fn what_was_not_answered_holds_until_something_is() {
        let mentioned = |turn_index| Some(Mentioned { names: vec!["petr4".to_owned()], turn_index });
        let references = References::default().after(reference("A", None, 4));
        let references = References { unanswered: mentioned(6), listed: mentioned(2), ..references };
        assert_eq!((references.unanswered(), references.listed().len()), (&["petr4".to_owned()][..], 0));
        assert!(references.after(reference("B", None, 8)).unanswered().is_empty());
    }

    #[test]
    fn the_stored_form_is_that_of_the_wire() {
        let json = serde_json::to_value(reference("A", None, 2)).unwrap();
        let fields =
            r#"{"tickers":["A"],"entity":"prices","intent":"prices","bucket":null,"updated_at":0.0,"turn_index":2}"#;
        assert_eq!(json, serde_json::from_str::<serde_json::Value>(fields).unwrap());
    }
}
