//! Rows for a plan: from the cache, or from the database.

use std::sync::Arc;
use std::time::{Duration, Instant};

use novelo_language::plan::{LIMIT_MAX, Parameters, Window};
use serde_json::{Value, json};

use crate::data::catalogue::Catalogue;
use crate::data::database::{Bounds, Database, QueryError};
use crate::data::entity::{Entity, LEFT, parameter};
use crate::data::{CachedRows, Data, FoundRows};
use crate::error::{Code, Error, Result};
use crate::telemetry::now;

/// What is looked up, and for whom.
#[derive(Debug, Clone, Copy)]
pub struct Plan<'a> {
    pub entity: &'a str,
    pub parameters: &'a Parameters,
    /// Whose data it is, where the query asks.
    pub user: &'a str,
}

const LAST_DAY: Bounds = Bounds { rows_max: 1, wait: Duration::from_millis(500) };
/// What an entry of the cache takes beside its cells.
const ENTRY_BYTES: usize = 512;
const DAY_S: f64 = 86_400.0;

pub(crate) async fn look_up(data: &Arc<Data>, catalogue: &Arc<Catalogue>, plan: Plan<'_>) -> Result<FoundRows> {
    let unknown = || Error::new(Code::Internal, format!("there is no entity {}", plan.entity));
    let entity = catalogue.entity(plan.entity).ok_or_else(unknown)?;
    let today = (now() / DAY_S) as i32;
    let key = key(data, catalogue, entity, &plan, today);
    if let Some(CachedRows { found, .. }) = data.found.get(&key).filter(|cached| Instant::now() < cached.expires_at) {
        return Ok(FoundRows { is_cached: true, ..found });
    }
    let (keep, wait) = (entity.keep, entity.bounds.wait);
    let found = {
        let (data, catalogue) = (data.clone(), catalogue.clone());
        let (name, parameters, user) = (plan.entity.to_owned(), plan.parameters.clone(), plan.user.to_owned());
        let task = tokio::task::spawn_blocking(move || {
            let entity = catalogue.entity(&name)?;
            Some(run(&data.database, &catalogue, entity, &parameters, &user, today))
        });
        let ended = |e| Error::new(Code::Internal, format!("a query ended early: {e}"));
        task.await.map_err(ended)?.ok_or_else(unknown)?
    };
    let found = found.map_err(|error| refusal(plan.entity, wait, &error))?;
    if !keep.is_zero() {
        let bytes = ENTRY_BYTES + key.len() + found.rows.bytes();
        let cached = CachedRows { found: found.clone(), expires_at: Instant::now() + keep };
        data.found.insert(key, cached, bytes);
    }
    Ok(found)
}

/// All that the rows depend on.
fn key(data: &Data, catalogue: &Catalogue, entity: &Entity, plan: &Plan<'_>, today: i32) -> String {
    let is_private = entity.query(&plan.parameters.aggregation).contains(":client_id");
    let user = is_private.then_some(plan.user);
    json!([catalogue.edition, data.database.generation(), entity.name, user, today, plan.parameters]).to_string()
}

fn run(
    database: &Database,
    catalogue: &Catalogue,
    entity: &Entity,
    parameters: &Parameters,
    user: &str,
    today: i32,
) -> std::result::Result<FoundRows, QueryError> {
    let last_day = match &entity.last_day {
        Some(sql) => database
            .query(sql, &[], LAST_DAY)?
            .rows
            .first()
            .and_then(|row| row.first().and_then(Value::as_str).and_then(novelo_language::iso_day)),
        None => None,
    };
    let data_day = last_day.unwrap_or(today).min(today);
    let span = parameters.window.map(|window| window.span(data_day, today)).unwrap_or_default();
    // Rows are counted after they were selected, unless they stand for days.
    let conditions = &parameters.conditions;
    let counts_left = !conditions.is_empty() && parameters.window.and_then(Window::rows).is_none();
    let limit = if counts_left { Some(LIMIT_MAX) } else { parameters.limit };
    let limit = limit.map_or(Value::Null, Value::from);
    let left = parameters.limit.filter(|_| counts_left).map_or(-1, i64::from);
    let named: Vec<String> = (0..conditions.len()).map(parameter).collect();
    let mut bound = vec![
        ("client_id", user.into()),
        ("from", span.from.clone().map_or(Value::Null, Value::from)),
        ("to", span.to.clone().map_or(Value::Null, Value::from)),
        ("limit", limit),
        ("today", novelo_language::iso_date(f64::from(data_day) * DAY_S).into()),
        ("aggregation", parameters.aggregation.as_str().into()),
    ];
    for (at, kind) in catalogue.ontology.kinds().iter().enumerate() {
        let subjects = parameters.subjects_of(at, &kind.name);
        bound.push((&kind.name, only(subjects)));
        bound.push((&kind.plural, if subjects.is_empty() { Value::Null } else { json!(subjects) }));
    }
    for choice in catalogue.rules.choices() {
        bound.push((choice, parameters.choices.get(choice).map_or(Value::Null, |chosen| json!(chosen))));
    }
    if !conditions.is_empty() {
        bound.push((LEFT, left.into()));
    }
    for (name, condition) in named.iter().zip(conditions) {
        let value = match &condition.value {
            Value::Array(values) => json!(values).to_string().into(),
            value => value.clone(),
        };
        bound.push((name, value));
    }
    let sql = entity.selection(&parameters.aggregation, conditions);
    let rows = database.query(&sql, &bound, entity.bounds)?;
    Ok(FoundRows { rows: Arc::new(rows), span, is_cached: false })
}

/// The one that there is.
fn only(subjects: &[String]) -> Value {
    match subjects {
        [one] => one.as_str().into(),
        _ => Value::Null,
    }
}

fn refusal(entity: &str, wait: Duration, error: &QueryError) -> Error {
    tracing::warn!(entity, %error, "a query failed");
    let problem = match error {
        QueryError::Slow(_) => format!("the query of {entity} took longer than {} ms", wait.as_millis()),
        QueryError::Busy => "too many queries are running".to_owned(),
        QueryError::Failed(_) => format!("the query of {entity} failed; the log says why"),
    };
    Error::new(Code::DataFailed, problem)
}
