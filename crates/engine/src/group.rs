//! Collapsed groups: many turns that a prompt shows as one.
//!
//! Owns the names of groups, the two shapes of the response that defines them, and the lookup from a turn to
//! its group. What stands in for a group is made when the groups are loaded, so that a warm prompt only
//! refers to it.

use std::hash::BuildHasher;

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::decode::DecodeError;
use crate::json;
use crate::limits::{COLLAPSE_SIZE_MAX, ID_BYTES_MAX};
use crate::message::{Message, Role, Turn};
use crate::path::check_id;

/// A group's name in its one spelling: upper case, letters and digits of any script, words joined by single
/// underscores; `None` when nothing is left. A mark that follows a letter is part of it.
pub fn name(text: &str) -> Option<String> {
    let mut name = String::with_capacity(text.len());
    let mut is_apart = false;
    for c in text.chars().flat_map(char::to_uppercase) {
        match c.is_alphanumeric() || !is_apart && !name.is_empty() && is_mark(c) {
            true => {
                if std::mem::take(&mut is_apart) && !name.is_empty() {
                    name.push('_');
                }
                name.push(c);
            }
            false => is_apart = true,
        }
    }
    (!name.is_empty()).then_some(name)
}

/// Whether a character only changes the letter before it, such as an accent or a virama. Those that Unicode
/// calls alphabetic are letters already.
fn is_mark(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{36f}' | '\u{483}'..='\u{487}' | '\u{591}'..='\u{5c7}' | '\u{64b}'..='\u{65f}'
        | '\u{93c}' | '\u{94d}' | '\u{9bc}' | '\u{9cd}' | '\u{a3c}' | '\u{a4d}' | '\u{abc}' | '\u{acd}' | '\u{b3c}'
        | '\u{b4d}' | '\u{bcd}' | '\u{c4d}' | '\u{cbc}' | '\u{ccd}' | '\u{d4d}' | '\u{dca}' | '\u{e38}'..='\u{e3a}'
        | '\u{e47}'..='\u{e4e}' | '\u{eb8}'..='\u{ecd}' | '\u{f39}' | '\u{f84}' | '\u{1039}'..='\u{103a}' | '\u{17d2}'
        | '\u{200c}'..='\u{200d}' | '\u{3099}'..='\u{309a}')
}

/// A name as it was spelled before letters of other scripts were kept. An index of that time has it.
pub fn former_name(text: &str) -> Option<String> {
    let upper = text.trim().to_uppercase();
    let words = upper.split(|c: char| !c.is_ascii_uppercase() && !c.is_ascii_digit()).filter(|word| !word.is_empty());
    let name = words.collect::<Vec<_>>().join("_");
    (!name.is_empty()).then_some(name)
}

/// A group as a response defines it.
#[derive(Debug, Clone, PartialEq)]
pub struct GroupDefinition {
    /// Its name, in the one spelling.
    pub name: String,
    /// How many items it has.
    pub size: usize,
    /// The ids among the items that are turns, each once.
    pub turns: Vec<String>,
}

/// The list of groups in a response: at the top, or below `value`.
pub fn listed(response: &Value) -> Option<&Value> {
    response.get("groups").or_else(|| response.get("value")?.get("groups"))
}

/// What a response says of a group, where it says it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct GroupAbout<'v> {
    /// Its description.
    pub description: Option<&'v str>,
    /// The items that it lists.
    pub items: Option<&'v Value>,
}

/// What a response says of its groups, by name. Entries that are no groups say nothing. An index that was
/// made before names kept the letters of other scripts has the former names; they lead to the same groups.
pub fn described(response: &Value) -> FxHashMap<String, GroupAbout<'_>> {
    let groups = || listed(response).and_then(Value::as_array).into_iter().flatten();
    let mut described: FxHashMap<_, _> = groups().filter_map(|group| about(group, name)).collect();
    for (former, about) in groups().filter_map(|group| about(group, former_name)) {
        described.entry(former).or_insert(about);
    }
    described
}

fn about(group: &Value, spell: impl Fn(&str) -> Option<String>) -> Option<(String, GroupAbout<'_>)> {
    let name = spell(group.get("name")?.as_str()?)?;
    let items = group.get("items").filter(|items| items.is_array());
    Some((name, GroupAbout { description: description(group), items }))
}

fn description(group: &Value) -> Option<&str> {
    let below = || group.get("params")?.get("description")?.as_str();
    group.get("description").and_then(Value::as_str).or_else(below)
}

/// A group of a response that was not taken.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SkippedGroup {
    /// Its name as it is written, or its place where it has none.
    pub group: String,
    /// What is wrong with it.
    pub why: String,
}

/// Reads a list of groups that stands at `path`, and refuses the whole list for one that is wrong. Groups
/// whose names come out the same are one, the later entry's.
pub fn define(path: &str, groups: &Value) -> Result<Vec<GroupDefinition>, DecodeError> {
    define_some(path, groups, |_, error| Err(error))
}

/// Reads a list of groups that stands at `path`: those that are right, and the others with what is wrong.
pub fn define_valid(path: &str, groups: &Value) -> Result<(Vec<GroupDefinition>, Vec<SkippedGroup>), DecodeError> {
    let mut skipped = Vec::new();
    let defined = define_some(path, groups, |entry, error| {
        let group = entry.get("name").and_then(Value::as_str).map_or_else(|| error.path.clone(), str::to_owned);
        skipped.push(SkippedGroup { group, why: error.to_string() });
        Ok(())
    })?;
    Ok((defined, skipped))
}

fn define_some(
    path: &str,
    groups: &Value,
    mut skip: impl FnMut(&Value, DecodeError) -> Result<(), DecodeError>,
) -> Result<Vec<GroupDefinition>, DecodeError> {
    let entries = groups.as_array().ok_or_else(|| DecodeError::new(path, "must be an array"))?;
    let mut defined: Vec<GroupDefinition> = Vec::new();
    let mut places: FxHashMap<String, usize> = FxHashMap::default();
    let mut room = COLLAPSE_SIZE_MAX;
    for (i, entry) in entries.iter().enumerate() {
        let group = match define_one(&format!("{path}[{i}]"), entry, room) {
            Ok(group) => group,
            Err(error) => {
                skip(entry, error)?;
                continue;
            }
        };
        room -= 1 + group.size;
        let place = *places.entry(group.name.clone()).or_insert(defined.len());
        match defined.get_mut(place) {
            Some(known) => *known = group,
            None => defined.push(group),
        }
    }
    Ok(defined)
}

/// Reads a group; it and its items must fit into the room.
fn define_one(path: &str, entry: &Value, room: usize) -> Result<GroupDefinition, DecodeError> {
    let refuse = |field: &str, problem: &str| Err(DecodeError::new(format!("{path}.{field}"), problem));
    let Value::Object(fields) = entry else { return Err(DecodeError::new(path, "must be an object")) };
    let Some(given) = fields.get("name").and_then(Value::as_str) else { return refuse("name", "is missing") };
    let Some(name) = name(given) else { return refuse("name", "has no letter and no digit") };
    if name.len() > ID_BYTES_MAX {
        return refuse("name", &format!("has {} bytes; the cap ID_BYTES_MAX is {ID_BYTES_MAX}", name.len()));
    }
    let items = match fields.get("items") {
        None | Some(Value::Null) => &[][..],
        Some(Value::Array(items)) => items.as_slice(),
        Some(_) => return refuse("items", "must be an array"),
    };
    if 1 + items.len() > room {
        let problem = format!("brings groups and items to more than COLLAPSE_SIZE_MAX, {COLLAPSE_SIZE_MAX}");
        return Err(DecodeError::new(path, problem));
    }
    Ok(GroupDefinition { name, size: items.len(), turns: turn_ids(&format!("{path}.items"), items)? })
}

fn turn_ids(path: &str, items: &[Value]) -> Result<Vec<String>, DecodeError> {
    let mut seen = rustc_hash::FxHashSet::default();
    let mut turns = Vec::new();
    for (i, item) in items.iter().enumerate() {
        let refuse = |field, problem: String| Err(DecodeError::new(format!("{path}[{i}].{field}"), problem));
        let Some(id) = item.get("id").and_then(Value::as_str) else { return refuse("id", "is missing".into()) };
        if let Err(error) = check_id(id) {
            return refuse("id", format!("is not an id: {error}"));
        }
        match item.get("type").and_then(Value::as_str) {
            Some("message") if seen.insert(id) => turns.push(id.to_owned()),
            Some("message" | "collapsed") => {}
            _ => return refuse("type", "must be message or collapsed".into()),
        }
    }
    Ok(turns)
}

/// A group that turns of a thread belong to.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Group {
    /// Its name, in the one spelling.
    pub name: Box<str>,
    /// The id of the response that defines it.
    pub response: Box<str>,
    /// Its description.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub description: Option<Box<str>>,
    /// As its response lists them.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub items: Option<Box<RawValue>>,
    /// ShownGroup turn by turn all the same.
    #[serde(default)]
    pub expanded: bool,
}

/// The groups of a thread, and which turn belongs to which.
#[derive(Debug, Default)]
pub struct Groups {
    shown: Vec<ShownGroup>,
    of: FxHashMap<Box<str>, u32>,
    /// What could not be looked up, a line each.
    pub problems: Vec<String>,
}

/// The groups of turns, by seq.
#[derive(Debug, Default)]
pub struct Membership {
    first: Option<u64>,
    of: Vec<u32>,
}

/// The place of a turn that is in no group.
const NOWHERE: u32 = u32::MAX;

impl Membership {
    /// The place of a turn's group, if it is known whether the turn has one.
    pub(crate) fn get(&self, seq: u64) -> Option<Option<usize>> {
        let at = seq.checked_sub(self.first?)?;
        self.of.get(at as usize).map(|place| (*place != NOWHERE).then_some(*place as usize))
    }
}

/// What a prompt shows of a group.
#[derive(Debug)]
pub struct ShownGroup {
    /// The group.
    pub group: Group,
    /// Stands in for the turns of a group that is collapsed.
    pub(crate) placeholder: Message,
    /// Goes into each turn of a group that is expanded.
    pub(crate) members: String,
    /// Tells its placeholder from any other message.
    pub(crate) fingerprint: u64,
}

impl Groups {
    /// `of` has the place of a turn's group in `groups`.
    pub fn new(groups: Vec<Group>, of: Vec<(Box<str>, u32)>, problems: Vec<String>) -> Self {
        Self { shown: groups.into_iter().map(ShownGroup::new).collect(), of: of.into_iter().collect(), problems }
    }

    /// The place of a turn's group.
    pub fn place(&self, turn: &str) -> Option<usize> {
        self.of.get(turn).map(|place| *place as usize)
    }

    /// The groups of turns that stand one after the other, so that nobody asks for them by id again.
    pub fn membership<'t>(&self, turns: impl Iterator<Item = &'t Turn>) -> Membership {
        let mut known = Membership::default();
        for turn in turns {
            let first = *known.first.get_or_insert(turn.seq);
            known.of.resize(turn.seq.saturating_sub(first) as usize, NOWHERE);
            known.of.push(self.of.get(&turn.id).copied().unwrap_or(NOWHERE));
        }
        known
    }

    pub(crate) fn shown(&self, place: usize) -> Option<&ShownGroup> {
        self.shown.get(place)
    }

    /// The groups, in order.
    pub fn iter(&self) -> impl Iterator<Item = &Group> {
        self.shown.iter().map(|shown| &shown.group)
    }
}

impl ShownGroup {
    fn new(group: Group) -> Self {
        let (name, response) = (json::literal(&group.name), json::literal(&group.response));
        let mut text = format!(r#"{{"type":"collapsed_group","name":{name},"responseId":{response}"#);
        if let Some(description) = &group.description {
            text.push_str(&format!(r#","description":{}"#, json::literal(description)));
        }
        if let Some(items) = &group.items {
            text.push_str(&format!(r#","items":{}"#, json::compact(items.get())));
        }
        text.push('}');
        let placeholder = Message::text(Role::System, &text);
        let about = format!(r#"{{"name":{name},"expanded":true,"responseId":{response}}}"#);
        let members = format!(r#","collapsedGroupId":{name},"collapsedGroup":{about}"#);
        let fingerprint = rustc_hash::FxBuildHasher.hash_one(placeholder.raw());
        Self { group, placeholder, members, fingerprint }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn names_have_one_spelling() {
        for (given, expected) in [
            ("PAST_DECISIONS", Some("PAST_DECISIONS")),
            ("  past decisions! ", Some("PAST_DECISIONS")),
            ("__a--b__", Some("A_B")),
            ("Reunião nº 2", Some("REUNIÃO_Nº_2")),
            ("Reunia\u{303}o", Some("REUNIA\u{303}O")),
            ("straße", Some("STRASSE")),
            ("прошлые решения", Some("ПРОШЛЫЕ_РЕШЕНИЯ")),
            ("过去的 决定", Some("过去的_决定")),
            ("हिन्दी", Some("हिन्दी")),
            ("ภาษาไทย ๒", Some("ภาษาไทย_๒")),
            ("\u{301}a", Some("A")),
            ("ПРОШЛЫЕ_РЕШЕНИЯ", Some("ПРОШЛЫЕ_РЕШЕНИЯ")),
            ("¿?", None),
            ("", None),
        ] {
            assert_eq!(name(given).as_deref(), expected, "{given}");
        }
    }

    #[test]
    fn both_shapes_of_a_response_define_groups() {
        let flat = json!({"groups": [{"name": "a", "description": "d", "items": [
            {"type": "message", "id": "m1"}, {"type": "collapsed", "id": "G"}, {"type": "message", "id": "m1"}]}]});
        let below = json!({"create_time": 1, "value": {"groups": [{"name": "A", "params": {"description": "d"}}]}});
        let one = |response: &Value| define("groups", listed(response).unwrap()).unwrap().remove(0);
        assert_eq!((one(&flat).turns, one(&flat).size), (vec!["m1".to_owned()], 3));
        assert_eq!((one(&below).name, one(&below).size), ("A".into(), 0));
        let about = |response| described(response).remove("A").map(|about| (about.description, about.items.is_some()));
        assert_eq!((about(&flat), about(&below)), (Some((Some("d"), true)), Some((Some("d"), false))));
    }

    #[test]
    fn a_former_name_leads_to_its_group() {
        let response = json!({"groups": [{"name": "Reunião", "description": "d"}, {"name": "Reuni o"}]});
        let described = described(&response);
        assert_eq!(described.get("REUNIÃO").and_then(|about| about.description), Some("d"));
        assert_eq!(described.get("REUNI_O"), Some(&GroupAbout::default()), "a name of now is not overridden");
        let response = json!({"groups": [{"name": "Reunião", "description": "d"}]});
        assert_eq!(super::described(&response).get("REUNI_O").and_then(|about| about.description), Some("d"));
    }

    #[test]
    fn what_is_right_is_taken_and_the_rest_is_listed() {
        let item = json!({"type": "collapsed", "id": "g"});
        let groups = json!([
            {"name": "a", "items": vec![item.clone(); COLLAPSE_SIZE_MAX - 3]}, 7, {"name": "!"},
            {"name": "b", "items": [{"type": "message"}]}, {"name": "too many", "items": [item, item]}, {"name": "c"},
        ]);
        let (defined, skipped) = define_valid("groups", &groups).unwrap();
        assert_eq!(defined.iter().map(|group| group.name.as_str()).collect::<Vec<_>>(), ["A", "C"]);
        let listed: Vec<_> = skipped.iter().map(|s| (s.group.as_str(), s.why.split(' ').next().unwrap())).collect();
        let expected = [
            ("groups[1]", "groups[1]"),
            ("!", "groups[2].name"),
            ("b", "groups[3].items[0].id"),
            ("too many", "groups[4]"),
        ];
        assert_eq!(listed, expected);
        assert!(define_valid("groups", &json!({})).is_err());
    }

    #[test]
    fn places_are_known_for_the_turns_they_were_made_of() {
        let group = Group { name: "G".into(), response: "r".into(), description: None, items: None, expanded: false };
        let groups = Groups::new(vec![group], vec![("a".into(), 0)], Vec::new());
        let turn =
            |seq, id: &str| Turn { seq, id: id.into(), create_time: 0.0, message: Message::text(Role::User, "") };
        let known = groups.membership([turn(5, "x"), turn(7, "a")].iter());
        assert_eq!([4, 5, 6, 7, 8].map(|seq| known.get(seq)), [None, Some(None), Some(None), Some(Some(0)), None]);
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (groups, path) in [
            (json!({}), "groups"),
            (json!([1]), "groups[0]"),
            (json!([{"name": "a"}, {}]), "groups[1].name"),
            (json!([{"name": "!"}]), "groups[0].name"),
            (json!([{"name": "a", "items": 1}]), "groups[0].items"),
            (json!([{"name": "a", "items": [{"type": "message"}]}]), "groups[0].items[0].id"),
            (json!([{"name": "a", "items": [{"type": "x", "id": "m"}]}]), "groups[0].items[0].type"),
            (json!([{"name": "a".repeat(257)}]), "groups[0].name"),
        ] {
            assert_eq!(define("groups", &groups).unwrap_err().path, path, "{groups}");
        }
        let item = json!({"type": "collapsed", "id": "g"});
        let of = |items: usize| define("groups", &json!([{"name": "a", "items": vec![item.clone(); items]}]));
        assert!(of(COLLAPSE_SIZE_MAX - 1).is_ok());
        assert_eq!(of(COLLAPSE_SIZE_MAX).unwrap_err().path, "groups[0]");
    }
}
