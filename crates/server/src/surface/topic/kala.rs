//! Kalas: the time ranges of this surface.

use novelo_engine::decode::{DecodeError, Fields};
use novelo_engine::path::check_id;
use novelo_engine::time_scope::TimeScope;
use serde_json::Value;

/// The time scope of a kala. An unknown kind is read as a session if it names one, else it reads nothing;
/// unknown members are ignored.
pub(crate) fn reach(kala: Option<&Value>, now: f64) -> Result<TimeScope, DecodeError> {
    let mut fields = kala.map_or_else(|| Ok(Fields::none("kala")), |kala| Fields::from_value("kala", kala))?;
    let kind = fields.string("kind")?.filter(|kind| !kind.is_empty());
    let kind = kind.ok_or_else(|| DecodeError::new("kala.kind", "is missing"))?;
    match kind {
        "SegKala" => {
            let (id, end) = (thread(&mut fields, "sessionId")?, fields.float("end")?.unwrap_or(now));
            let length_s = fields.float("windowSeconds")?;
            if length_s.is_some_and(|length| length < 0.0) {
                return Err(DecodeError::new("kala.windowSeconds", "must not be negative"));
            }
            Ok(TimeScope::segment(id, end, length_s))
        }
        "Topic" => Ok(TimeScope::topic(thread(&mut fields, "topicId")?, now)),
        "WeekKala" => Ok(TimeScope::week(moment(&mut fields, "weekEnd")?)),
        "TermKala" => Ok(TimeScope::term(moment(&mut fields, "begin")?, moment(&mut fields, "end")?)),
        "SessionKala" => session(&mut fields, now),
        _ if fields.value("sessionId").is_some() => session(&mut fields, now),
        _ => Ok(TimeScope::default()),
    }
}

fn session(fields: &mut Fields<'_>, now: f64) -> Result<TimeScope, DecodeError> {
    let id = thread(fields, "sessionId")?;
    Ok(TimeScope::session(id, fields.float("sessionEnd")?.unwrap_or(now)))
}

fn thread<'v>(fields: &mut Fields<'v>, name: &'static str) -> Result<&'v str, DecodeError> {
    let id = fields.string(name)?.ok_or_else(|| DecodeError::new(fields.path(name), "is missing"))?;
    check_id(id).map_err(|e| DecodeError::new(fields.path(name), format!("is not an id: {e}")))?;
    Ok(id)
}

fn moment(fields: &mut Fields<'_>, name: &'static str) -> Result<f64, DecodeError> {
    fields.float(name)?.ok_or_else(|| DecodeError::new(fields.path(name), "is missing"))
}
