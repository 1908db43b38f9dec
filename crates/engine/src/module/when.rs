//! When a module is called for.

use serde_json::Value;

use super::{HEURISTICS_MAX, NAME_BYTES_MAX, Situation};
use crate::decode::{DecodeError, Fields};

const INTENSITY_MAX: f64 = 10.0;

/// All that is given must hold.
#[derive(Debug, Clone, Default)]
pub(super) struct When {
    modes: Option<Vec<Mode>>,
    openness: Option<Vec<u8>>,
    intensity_min: Option<f32>,
    intensity_max: Option<f32>,
    guided: Option<bool>,
    forced: Option<bool>,
    /// Any of them; none stands for whichever.
    pub heuristics: Vec<String>,
    memories: Option<bool>,
    opening: Option<Vec<u8>>,
    saves: Option<bool>,
    crisis: Option<bool>,
    named: Option<bool>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    Fast,
    Full,
}

impl When {
    pub(super) fn decode(mut fields: Fields<'_>) -> Result<Self, DecodeError> {
        let when = Self {
            modes: list(&mut fields, "mode", "must be fast or full", mode)?,
            openness: list(&mut fields, "openness", "must be 1, 2 or 3", level)?,
            intensity_min: intensity(&mut fields, "intensity_min")?,
            intensity_max: intensity(&mut fields, "intensity_max")?,
            guided: fields.flag("guided")?,
            forced: fields.flag("forced")?,
            heuristics: heuristics(&mut fields)?,
            memories: fields.flag("memories")?,
            opening: list(&mut fields, "opening", "must be 1, 2 or 3", level)?,
            saves: fields.flag("saves")?,
            crisis: fields.flag("crisis")?,
            named: fields.flag("named")?,
        };
        let path = fields.path("intensity_min");
        fields.finish()?;
        match (when.intensity_min, when.intensity_max) {
            (Some(min), Some(max)) if min > max => {
                Err(DecodeError::new(path, "is over intensity_max: nothing is both"))
            }
            _ => Ok(when),
        }
    }

    /// Whether only a crisis calls for it.
    pub(super) fn is_for_crisis(&self) -> bool {
        self.crisis == Some(true)
    }

    /// What of the situation calls for it, in words; `None` where it is not called for.
    pub(super) fn holds(&self, situation: &Situation<'_>) -> Option<String> {
        let mode = if situation.fast { Mode::Fast } else { Mode::Full };
        if !self.modes.as_deref().unwrap_or(&[Mode::Full]).contains(&mode) {
            return None;
        }
        let mut why: Vec<String> = Vec::new();
        let mut check = |holds: bool, said: String| holds.then(|| why.push(said));
        if let Some(levels) = &self.openness {
            check(levels.contains(&situation.openness), format!("openness {}", situation.openness))?;
        }
        if let Some(min) = self.intensity_min {
            check(situation.intensity >= min, format!("intensity {}, at least {min}", situation.intensity))?;
        }
        if let Some(max) = self.intensity_max {
            check(situation.intensity <= max, format!("intensity {}, at most {max}", situation.intensity))?;
        }
        let flags = [
            (self.guided, situation.guided, "guided"),
            (self.forced, situation.forced, "forced"),
            (self.memories, situation.memories, "memories"),
            (self.saves, situation.saves, "saves"),
            (self.crisis, situation.crisis, "crisis"),
            (self.named, !situation.name.is_empty(), "named"),
        ];
        for (wanted, is, name) in flags.into_iter().filter_map(|(wanted, is, name)| Some((wanted?, is, name))) {
            check(wanted == is, if is { name.to_owned() } else { format!("not {name}") })?;
        }
        if !self.heuristics.is_empty() {
            let fired = self.heuristics.iter().filter(|name| situation.heuristics.contains(&name.as_str()));
            let fired: Vec<&str> = fired.map(String::as_str).collect();
            check(!fired.is_empty(), format!("heuristic {}", fired.join(", ")))?;
        }
        if let Some(levels) = &self.opening {
            let opening = situation.opening.filter(|level| levels.contains(level))?;
            check(true, format!("opening {opening}"))?;
        }
        Some(if why.is_empty() { "always".to_owned() } else { why.join("; ") })
    }
}

/// A list of which each entry is read alike, and which says something where it is given.
fn list<T>(
    fields: &mut Fields<'_>,
    name: &'static str,
    problem: &str,
    read: impl Fn(&Value) -> Option<T>,
) -> Result<Option<Vec<T>>, DecodeError> {
    let path = fields.path(name);
    if fields.value(name).is_none() {
        return Ok(None);
    }
    let entries = fields.list(name)?;
    if entries.is_empty() {
        return Err(DecodeError::new(path, "must not be empty: it would never hold"));
    }
    let entry = |(i, entry)| read(entry).ok_or_else(|| DecodeError::new(format!("{path}[{i}]"), problem));
    entries.iter().enumerate().map(entry).collect::<Result<_, _>>().map(Some)
}

fn mode(value: &Value) -> Option<Mode> {
    match value.as_str()? {
        "fast" => Some(Mode::Fast),
        "full" => Some(Mode::Full),
        _ => None,
    }
}

fn level(value: &Value) -> Option<u8> {
    u8::try_from(value.as_u64()?).ok().filter(|level| (1..=3).contains(level))
}

fn heuristics(fields: &mut Fields<'_>) -> Result<Vec<String>, DecodeError> {
    let problem = format!("must be a name of 1 to {NAME_BYTES_MAX} bytes");
    let name = |value: &Value| value.as_str().filter(|n| (1..=NAME_BYTES_MAX).contains(&n.len())).map(str::to_owned);
    let names = list(fields, "heuristics", &problem, name)?.unwrap_or_default();
    if names.len() > HEURISTICS_MAX {
        let problem = format!("has {} entries; at most {HEURISTICS_MAX} can be", names.len());
        return Err(DecodeError::new(fields.path("heuristics"), problem));
    }
    Ok(names)
}

fn intensity(fields: &mut Fields<'_>, name: &'static str) -> Result<Option<f32>, DecodeError> {
    match fields.float(name)? {
        Some(n) if !(0.0..=INTENSITY_MAX).contains(&n) => {
            Err(DecodeError::new(fields.path(name), format!("must be from 0 to {INTENSITY_MAX}")))
        }
        n => Ok(n.map(|n| n as f32)),
    }
}
