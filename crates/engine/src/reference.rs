//! What a question points back to.
//!
//! Owns the last subjects that a conversation was answered about, per conversation and per bucket of intents, and the rules by
//! which a question that names none takes them. Text comes first, the conversation after; why, is always told.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::policy::Policy;

/// The subjects of an answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Reference {
    #[serde(rename = "tickers")]
    pub subjects: Vec<String>,
    pub entity: String,
    pub intent: String,
    pub bucket: Option<String>,
    pub updated_at: f64,
    /// The turn that said the answer, counted from the first of the conversation.
    pub turn_index: u64,
}

/// The newest of a conversation, and of each bucket.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct References {
    pub last: Option<Reference>,
    pub buckets: BTreeMap<String, Reference>,
}

/// A question, as far as it matters here.
#[derive(Debug, Clone, Copy)]
pub struct Asked<'a> {
    pub entity: Option<&'a str>,
    pub bucket: Option<&'a str>,
    /// Those that its text names.
    pub subjects: &'a [String],
    /// How many turns the conversation has had, this one counted.
    pub turns: u64,
}

/// What became of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resolved {
    /// Those of the text, or the inherited ones.
    pub subjects: Vec<String>,
    pub reason: Reason,
}

/// Why, in the order in which it is tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    ContextDisabled,
    LastReferenceDisabled,
    NoEntity,
    EntityNotAllowed,
    #[serde(rename = "input_has_ticker")]
    InputHasSubject,
    NoCandidate,
    Expired,
    LastReferenceApplied,
}

impl References {
    /// These after an answer.
    pub fn of(reference: Reference) -> Self {
        let buckets = reference.bucket.clone().map(|bucket| (bucket, reference.clone())).into_iter().collect();
        Self { last: Some(reference), buckets }
    }

    /// That of the bucket; where it has none, that of the conversation.
    fn candidate(&self, bucket: Option<&str>) -> Option<&Reference> {
        bucket.and_then(|bucket| self.buckets.get(bucket)).or(self.last.as_ref())
    }

    /// The subjects that a question is about.
    pub fn resolve(&self, policy: &Policy, asked: &Asked<'_>) -> Resolved {
        match self.applicable(policy, asked) {
            Ok(reference) => Resolved { subjects: reference.subjects.clone(), reason: Reason::LastReferenceApplied },
            Err(reason) => Resolved { subjects: asked.subjects.to_vec(), reason },
        }
    }

    fn applicable(&self, policy: &Policy, asked: &Asked<'_>) -> Result<&Reference, Reason> {
        let rules = &policy.last_reference;
        let allowed =
            |entity: &str| rules.allowed_entities.is_empty() || rules.allowed_entities.iter().any(|e| e == entity);
        if !policy.enabled {
            return Err(Reason::ContextDisabled);
        }
        if !rules.enable_last_ticker {
            return Err(Reason::LastReferenceDisabled);
        }
        if !allowed(asked.entity.ok_or(Reason::NoEntity)?) {
            return Err(Reason::EntityNotAllowed);
        }
        if !asked.subjects.is_empty() {
            return Err(Reason::InputHasSubject);
        }
        let candidate = self.candidate(asked.bucket).filter(|candidate| !candidate.subjects.is_empty());
        let candidate = candidate.ok_or(Reason::NoCandidate)?;
        let age = asked.turns.saturating_sub(candidate.turn_index);
        let is_past = |max: i64| u64::try_from(max).is_ok_and(|max| max > 0 && age > max);
        let bucket_ttl = asked.bucket.and_then(|bucket| rules.bucket_ttl.get(bucket)).copied().unwrap_or(0);
        match is_past(rules.max_age_turns) || is_past(bucket_ttl) {
            true => Err(Reason::Expired),
            false => Ok(candidate),
        }
    }
}

impl Resolved {
    /// Whether the conversation had a say.
    pub fn used(&self) -> bool {
        self.reason == Reason::LastReferenceApplied
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

    fn check(references: &References, policy: &str, asked: Asked<'_>, reason: Reason, subjects: &[&str]) {
        let policy: Policy = serde_json::from_str(policy).unwrap();
        let resolved = references.resolve(&policy, &asked);
        assert_eq!((resolved.reason, resolved.used()), (reason, reason == Reason::LastReferenceApplied));
        assert_eq!(resolved.subjects, subjects);
    }

    #[test]
    fn every_reason_in_its_order() {
        let references = References::of(reference("A", None, 2));
        let asked = Asked { entity: Some("risk"), bucket: None, subjects: &[], turns: 3 };
        let named = ["B".to_owned()];
        check(&references, "{}", asked, Reason::ContextDisabled, &[]);
        check(&references, r#"{"enabled": true}"#, asked, Reason::LastReferenceDisabled, &[]);
        check(&references, POLICY, Asked { entity: None, ..asked }, Reason::NoEntity, &[]);
        let other = Asked { entity: Some("news"), subjects: &named, ..asked };
        check(&references, POLICY, other, Reason::EntityNotAllowed, &["B"]);
        check(&references, POLICY, Asked { subjects: &named, ..asked }, Reason::InputHasSubject, &["B"]);
        check(&References::default(), POLICY, asked, Reason::NoCandidate, &[]);
        check(&references, POLICY, Asked { turns: 7, ..asked }, Reason::Expired, &[]);
        check(&references, POLICY, Asked { turns: 6, ..asked }, Reason::LastReferenceApplied, &["A"]);
    }

    #[test]
    fn zero_is_never() {
        let policy = r#"{"enabled": true, "last_reference": {"enable_last_ticker": true}}"#;
        let asked = Asked { entity: Some("any"), bucket: None, subjects: &[], turns: 1_000_000 };
        check(&References::of(reference("A", None, 2)), policy, asked, Reason::LastReferenceApplied, &["A"]);
    }

    #[test]
    fn a_bucket_has_its_own_and_its_own_age() {
        let mut references = References::of(reference("A", Some("short"), 2));
        references.last = Some(reference("B", Some("other"), 4));
        let asked = |bucket, turns| Asked { entity: Some("risk"), bucket, subjects: &[], turns };
        check(&references, POLICY, asked(Some("short"), 4), Reason::LastReferenceApplied, &["A"]);
        check(&references, POLICY, asked(Some("short"), 5), Reason::Expired, &[]);
        check(&references, POLICY, asked(None, 5), Reason::LastReferenceApplied, &["B"]);
        check(&references, POLICY, asked(Some("new"), 5), Reason::LastReferenceApplied, &["B"]);
    }

    #[test]
    fn the_stored_form_is_that_of_the_wire() {
        let json = serde_json::to_value(reference("A", None, 2)).unwrap();
        let fields =
            r#"{"tickers":["A"],"entity":"prices","intent":"prices","bucket":null,"updated_at":0.0,"turn_index":2}"#;
        assert_eq!(json, serde_json::from_str::<serde_json::Value>(fields).unwrap());
    }
}
