//! How far a request reads: a thread, a range of it, and the logs of the week and the term above it.
//!
//! Owns the ranges of time and where each is kept. All ranges are open at their beginning and closed at their
//! end, in seconds. What lies above a thread is read only by recipes that ask for it, outermost first.

use serde::{Deserialize, Serialize};

use crate::path::{CollectionPath, PathError};
use crate::scope::{Root, THREADS};

const WEEK_S: f64 = 604_800.0;
/// Weeks end on the same day as the one that ended here.
const WEEK_ORIGIN_S: f64 = 259_200.0;
/// A quarter of a year of 365.230769 days.
const TERM_S: f64 = 365.230_769 * 86_400.0 / 4.0;

/// What a request reads: its own range, and those above it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TimeScope {
    /// The range itself; `None` reads nothing.
    pub local: Option<LevelScope>,
    /// What lies above, outermost first.
    pub above: Vec<LevelScope>,
    /// Whether turns come in the order of their times rather than in that of their seqs.
    pub in_time: bool,
}

/// A range of time in one place.
#[derive(Debug, Clone, PartialEq)]
pub struct LevelScope {
    /// The level that it reads.
    pub level: Level,
    place: Place,
    /// The times that it reads.
    pub range: TimeRange,
}

/// `(begin, end]` in seconds; an end that is not given is open.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct TimeRange {
    /// Open: what happened at this moment is not in the range.
    pub begin: Option<f64>,
    /// Closed: what happened at this moment is in the range.
    pub end: Option<f64>,
}

/// How wide a reading is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// A conversation.
    #[default]
    Convo,
    /// A thread up to a moment.
    Session,
    /// A week.
    Week,
    /// A quarter of a year.
    Term,
}

#[derive(Debug, Clone, PartialEq)]
enum Place {
    Thread(String),
    /// Of a user, beside the threads: collections of this prefix.
    Log(&'static str),
}

impl TimeScope {
    /// All of a thread.
    pub fn thread(id: &str, now: f64) -> Self {
        let local = LevelScope::of_thread(Level::Convo, id, TimeRange::default());
        let above = vec![LevelScope::term_of(week_end(now)), LevelScope::week(week_end(now))];
        Self { local: Some(local), above, in_time: false }
    }

    /// All of a thread, in the order of time.
    pub fn topic(id: &str, now: f64) -> Self {
        Self { in_time: true, ..Self::thread(id, now) }
    }

    /// A thread up to a moment.
    pub fn session(id: &str, end: f64) -> Self {
        let local = LevelScope::of_thread(Level::Session, id, TimeRange { begin: None, end: Some(end) });
        Self { local: Some(local), ..Self::topic(id, end) }
    }

    /// The last part of a thread up to a moment.
    pub fn segment(id: &str, end: f64, length_s: Option<f64>) -> Self {
        let Self { local: session, mut above, in_time } = Self::session(id, end);
        above.extend(session);
        let range = TimeRange { begin: length_s.map(|length| end - length), end: Some(end) };
        Self { local: Some(LevelScope::of_thread(Level::Convo, id, range)), above, in_time }
    }

    /// The week before a moment.
    pub fn week(end: f64) -> Self {
        Self { local: Some(LevelScope::week(end)), above: vec![LevelScope::term_of(end)], in_time: true }
    }

    /// A term, given by its beginning and its end.
    pub fn term(begin: f64, end: f64) -> Self {
        Self { local: Some(LevelScope::term(begin, end)), above: Vec::new(), in_time: true }
    }

    /// The thread whose turns it reads.
    pub fn thread_id(&self) -> Option<&str> {
        match &self.local.as_ref()?.place {
            Place::Thread(id) => Some(id),
            Place::Log(_) => None,
        }
    }
}

impl LevelScope {
    fn of_thread(level: Level, id: &str, range: TimeRange) -> Self {
        Self { level, place: Place::Thread(id.to_owned()), range }
    }

    fn week(end: f64) -> Self {
        let range = TimeRange { begin: Some(end - WEEK_S), end: Some(end) };
        Self { level: Level::Week, place: Place::Log("log.sessions."), range }
    }

    fn term(begin: f64, end: f64) -> Self {
        let range = TimeRange { begin: Some(begin), end: Some(end) };
        Self { level: Level::Term, place: Place::Log("log.weekly."), range }
    }

    fn term_of(moment: f64) -> Self {
        let begin = (moment / TERM_S).floor() * TERM_S;
        Self::term(begin, begin + TERM_S)
    }

    /// The collection that it reads for this name.
    pub fn collection(&self, root: Root<'_>, name: &str) -> Result<CollectionPath, PathError> {
        match &self.place {
            Place::Thread(id) => root.collection(&[THREADS, id, name]),
            Place::Log(prefix) => root.collection(&[&format!("{prefix}{name}")]),
        }
    }
}

impl TimeRange {
    /// Whether a moment lies in the range.
    pub fn holds(&self, moment: f64) -> bool {
        self.begin.is_none_or(|begin| moment > begin) && self.end.is_none_or(|end| moment <= end)
    }
}

impl Level {
    /// All levels, innermost first.
    pub const ALL: [Self; 4] = [Self::Convo, Self::Session, Self::Week, Self::Term];

    /// What a prompt says of it.
    pub fn label(self) -> &'static str {
        match self {
            Self::Convo => "(Convo) ",
            Self::Session => "(Session) ",
            Self::Week => "(Week) ",
            Self::Term => "(Term) ",
        }
    }
}

/// The end of the week that a moment lies in.
pub fn week_end(moment: f64) -> f64 {
    let weeks = ((moment - WEEK_ORIGIN_S) / WEEK_S).floor();
    WEEK_ORIGIN_S + (weeks + 1.0) * WEEK_S
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weeks_end_where_the_next_begins() {
        for (moment, end) in
            [(0.0, 259_200.0), (259_199.9, 259_200.0), (259_200.0, 864_000.0), (1.7e9, 1_700_352_000.0)]
        {
            assert_eq!(week_end(moment), end, "{moment}");
        }
    }

    #[test]
    fn a_segment_lies_below_its_session_its_week_and_its_term() {
        let scope = TimeScope::segment("s", 1.7e9, Some(60.0));
        let levels: Vec<Level> = scope.above.iter().map(|r| r.level).collect();
        assert_eq!(levels, [Level::Term, Level::Week, Level::Session]);
        let local = scope.local.unwrap();
        assert_eq!((local.level, local.range.begin, local.range.end), (Level::Convo, Some(1.7e9 - 60.0), Some(1.7e9)));
        let [term, week, session] = scope.above.as_slice() else { panic!("three levels") };
        assert_eq!(week.range, TimeRange { begin: Some(1_699_747_200.0), end: Some(1_700_352_000.0) });
        assert!(term.range.holds(1_700_352_000.0) && (1_700_352_000.0 / TERM_S).floor() == 215.0);
        assert_eq!(session.range, TimeRange { begin: None, end: Some(1.7e9) });
    }

    #[test]
    fn each_level_has_its_collections() {
        let scope = TimeScope::session("s", 0.0);
        let paths = |root| -> Vec<String> {
            let readings = scope.above.iter().chain(&scope.local);
            readings.map(|r| r.collection(root, "summaries").unwrap().to_string()).collect()
        };
        let of_user =
            ["users/u/log.weekly.summaries", "users/u/log.sessions.summaries", "users/u/convo.sessions/s/summaries"];
        assert_eq!(paths(Root::User("u")), of_user);
        assert_eq!(
            paths(Root::Legacy),
            ["log.weekly.summaries", "log.sessions.summaries", "convo.sessions/s/summaries"]
        );
    }

    #[test]
    fn stretches_are_open_at_the_beginning_and_closed_at_the_end() {
        let range = TimeRange { begin: Some(1.0), end: Some(2.0) };
        assert_eq!([1.0, 1.1, 2.0, 2.1].map(|t| range.holds(t)), [false, true, true, false]);
    }
}
