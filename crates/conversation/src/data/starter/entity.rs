//! The entity of a table: its columns, what its rows can be selected by, and its queries.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::column::ColumnKind;
use super::ontology::{CataloguePlan, free};
use super::schema::{Schema, SchemaColumn, SchemaTable};
use super::words::{asking, fold, label, plain};
use super::{StarterLocale, quoted, yaml};

const COUNT: &str = "row_count";

/// What can be computed over a table.
pub(super) fn aggregations(table: &SchemaTable) -> Vec<&'static str> {
    let mut all = vec!["list", "count"];
    if table.date().is_some() {
        all.insert(0, "latest");
    }
    if table.measures().next().is_some() {
        all.extend(["avg", "sum", "max", "min"]);
    }
    all
}

/// A column of the answer.
struct ShownColumn<'a> {
    /// Its name in the catalogue.
    name: String,
    sql: String,
    label: String,
    format: &'static str,
    /// None for what names a row.
    of: Option<&'a SchemaColumn>,
}

/// The parts that the queries of a table share.
struct EntityParts<'a> {
    shown: Vec<ShownColumn<'a>>,
    from: String,
    /// Conditions on subjects and time.
    wanted: String,
    subjects: Vec<String>,
    day: Option<String>,
    is_own: bool,
}

fn parts<'a>(plan: &CataloguePlan, schema: &Schema, at: usize, table: &'a SchemaTable) -> EntityParts<'a> {
    let mut from = format!("{} t", quoted(&table.name));
    let (mut shown, mut subjects, mut wanted) = (Vec::new(), Vec::new(), Vec::new());
    let mut taken = BTreeSet::from([COUNT.to_owned()]);
    let mut used: Vec<usize> = Vec::new();
    for subject in plan.subjects_of(schema, at) {
        let Some(target) = schema.tables.get(subject.table) else { continue };
        let Some(identity) = target.identity else { continue };
        let Some(column) = target.columns.get(identity.column) else { continue };
        let reference =
            table.references.iter().find(|reference| reference.table == subject.table && subject.table != at);
        let alias = match reference {
            None => "t".to_owned(),
            Some(reference) => {
                let alias = format!("s{}", shown.len());
                let (Some(own), Some(to)) = (table.columns.get(reference.column), target.columns.get(reference.to))
                else {
                    continue;
                };
                _ = write!(
                    from,
                    " LEFT JOIN {} {alias} ON {alias}.{} = t.{}",
                    quoted(&target.name),
                    quoted(&to.name),
                    quoted(&own.name)
                );
                used.push(reference.column);
                alias
            }
        };
        if reference.is_none() {
            used.push(identity.column);
        }
        let sql = format!("{alias}.{}", quoted(&column.name));
        wanted.push(format!("(:{0} IS NULL OR {sql} IN (SELECT value FROM json_each(:{0})))", subject.plural()));
        subjects.push(sql.clone());
        let name = if reference.is_some() { &target.name } else { &column.name };
        taken.insert(subject.name.clone());
        shown.push(ShownColumn { name: subject.name.clone(), sql, label: label(name), format: "text", of: None });
        if let Some(other) = identity.other_name.and_then(|other| target.columns.get(other)) {
            let name = free(&plain(&other.name), &taken);
            taken.insert(name.clone());
            let sql = format!("{alias}.{}", quoted(&other.name));
            shown.push(ShownColumn { name, sql, label: label(&other.name), format: "text", of: None });
            used.extend(identity.other_name.filter(|_| reference.is_none()));
        }
    }
    shown.extend(attributes(table, &used, &mut taken));
    let day = shown.iter().find(|shown| shown.format == "date").map(|shown| shown.sql.clone());
    if let Some(day) = &day {
        wanted.push(format!("(:from IS NULL OR {day} >= :from) AND (:to IS NULL OR {day} <= :to)"));
    }
    let wanted = if wanted.is_empty() { String::new() } else { format!(" WHERE {}", wanted.join(" AND ")) };
    let is_own = table.identity.is_some_and(|identity| !identity.is_category);
    EntityParts { shown, from, wanted, subjects, day, is_own }
}

/// The columns of a table that name no row, in its order.
fn attributes<'a>(table: &'a SchemaTable, used: &[usize], taken: &mut BTreeSet<String>) -> Vec<ShownColumn<'a>> {
    let mut shown = Vec::new();
    let rest =
        table.columns.iter().enumerate().filter(|(at, column)| !used.contains(at) && column.kind != ColumnKind::Other);
    let has_others = table.columns.iter().any(|column| !matches!(column.kind, ColumnKind::Id | ColumnKind::Other));
    for (_, column) in rest.filter(|(_, column)| column.kind != ColumnKind::Id || !has_others) {
        let name = free(&plain(&column.name), taken);
        taken.insert(name.clone());
        let of = format!("t.{}", quoted(&column.name));
        let (sql, format) = match column.kind {
            ColumnKind::Date(form) => (form.sql(&of), "date"),
            ColumnKind::Integer => (of, "integer"),
            ColumnKind::Real => (of, "number"),
            ColumnKind::Percent => (of, "percent"),
            _ => (of, "text"),
        };
        shown.push(ShownColumn { name, sql, label: label(&column.name), format, of: Some(column) });
    }
    shown
}

pub(super) fn write(
    plan: &CataloguePlan,
    schema: &Schema,
    at: usize,
    table: &SchemaTable,
    locale: StarterLocale,
) -> String {
    let parts = parts(plan, schema, at, table);
    let kind = if table.is_view { "view" } else { "table" };
    let names: Vec<&str> = table.columns.iter().map(|column| column.name.as_str()).collect();
    let mut out = format!("about: {}\n", yaml(&format!("Rows of the {kind} {}: {}.", table.name, names.join(", "))));
    if let Some(day) = &parts.day {
        _ = writeln!(out, "last_day: {}", yaml(&format!("SELECT max({day}) FROM {} t", quoted(&table.name))));
    }
    write_columns(&parts, locale, &mut out);
    write_conditions(&parts, &mut out);
    write_queries(&parts, table, &mut out);
    out
}

fn is_measure(shown: &ShownColumn<'_>) -> bool {
    shown.of.is_some_and(|column| matches!(column.kind, ColumnKind::Integer | ColumnKind::Real | ColumnKind::Percent))
}

/// The name of the column with the average of another.
fn average(shown: &ShownColumn<'_>) -> String {
    format!("avg_of_{}", shown.name)
}

fn write_columns(parts: &EntityParts<'_>, locale: StarterLocale, out: &mut String) {
    out.push_str("# `asked_by` are words that ask for a column: with them, only those columns are shown.\ncolumns:\n");
    for shown in &parts.shown {
        let words = asked_by(parts, shown);
        let asked = if words.is_empty() { String::new() } else { format!(", asked_by: [{}]", words.join(", ")) };
        _ = writeln!(out, "  {}: {{label: {}, format: {}{asked}}}", shown.name, yaml(&shown.label), shown.format);
        if is_measure(shown) {
            let label = format!("{} ({})", shown.label, locale.words().average);
            let format = if shown.format == "percent" { "percent" } else { "number" };
            _ = writeln!(out, "  {}: {{label: {}, format: {format}{asked}}}", average(shown), yaml(&label));
        }
    }
    _ = writeln!(out, "  {COUNT}: {{label: {}, format: integer}}", yaml(locale.words().rows));
}

/// The words that ask for a column. What names a row, and the day of what happened, is always shown.
fn asked_by(parts: &EntityParts<'_>, shown: &ShownColumn<'_>) -> Vec<String> {
    let Some(column) = shown.of.filter(|_| parts.is_own || shown.format != "date") else { return Vec::new() };
    let words = asking(&column.name);
    let is_shared = |word: &String| {
        let others = parts.shown.iter().filter_map(|other| other.of).filter(|other| other.name != column.name);
        others.flat_map(|other| asking(&other.name)).any(|other| fold(&other) == fold(word))
    };
    let mut all: Vec<String> = Vec::new();
    all.extend((words.len() > 1).then(|| words.join(" ")));
    all.extend(words.iter().filter(|word| !is_shared(word)).cloned());
    all.iter().map(|word| yaml(word)).collect()
}

fn write_conditions(parts: &EntityParts<'_>, out: &mut String) {
    let mut lines = String::new();
    for shown in &parts.shown {
        let Some(column) = shown.of else { continue };
        let words = asked_by(parts, shown);
        if is_measure(shown) && !words.is_empty() {
            let unit = if shown.format == "percent" { ", unit: percent" } else { "" };
            _ = writeln!(lines, "  {}: {{words: [{}]{unit}}}", shown.name, words.join(", "));
        } else if !column.choices.is_empty() && column.choices.iter().all(|value| !fold(value).is_empty()) {
            let value = |value: &String| format!("{}: [{}]", yaml(value), yaml(&value.to_lowercase()));
            let values: Vec<String> = column.choices.iter().map(value).collect();
            _ = writeln!(lines, "  {}: {{values: {{{}}}}}", shown.name, values.join(", "));
        }
    }
    if !lines.is_empty() {
        out.push_str(
            "# What rows can be selected by: numbers above or below, and values by their words.\nconditions:\n",
        );
        out.push_str(&lines);
    }
}

fn write_queries(parts: &EntityParts<'_>, table: &SchemaTable, out: &mut String) {
    let EntityParts { from, wanted, day, .. } = parts;
    let list: Vec<String> =
        parts.shown.iter().map(|shown| format!("{} AS {}", shown.sql, quoted(&shown.name))).collect();
    let list = list.join(", ");
    let keys = parts.subjects.join(", ");
    let named: Vec<String> = parts
        .shown
        .iter()
        .take_while(|shown| shown.of.is_none())
        .map(|shown| format!("{} AS {}", shown.sql, quoted(&shown.name)))
        .collect();
    let grouped: Vec<String> =
        parts.shown.iter().take_while(|shown| shown.of.is_none()).map(|shown| shown.sql.clone()).collect();
    let title = label(&table.name);
    let title = if day.is_some() { format!("{title} {{window}}") } else { title };
    out.push_str("queries:\n");
    let mut query = |name: &str, sql: String| {
        _ = writeln!(out, "  {name}:\n    sql: {}\n    table: {{title: {}}}", yaml(&sql), yaml(&title));
    };
    let order = match (day, parts.subjects.first()) {
        (Some(day), _) if !parts.is_own => format!("{day} DESC"),
        (_, Some(first)) => first.clone(),
        (Some(day), None) => format!("{day} DESC"),
        (None, None) => "1".to_owned(),
    };
    query("list", format!("SELECT {list} FROM {from}{wanted} ORDER BY {order} LIMIT coalesce(:limit, -1)"));
    query("count", format!("SELECT count(*) AS {COUNT} FROM {from}{wanted}"));
    if let Some(day) = day {
        let sql = match parts.is_own || keys.is_empty() {
            true => format!("SELECT {list} FROM {from}{wanted} ORDER BY {day} DESC LIMIT coalesce(:limit, 1)"),
            false => {
                let names: Vec<String> = parts.shown.iter().map(|shown| quoted(&shown.name)).collect();
                let age = format!("row_number() OVER (PARTITION BY {keys} ORDER BY {day} DESC) AS newest");
                format!(
                    "SELECT {} FROM (SELECT {list}, {age} FROM {from}{wanted}) WHERE newest = 1 ORDER BY 1",
                    names.join(", ")
                )
            }
        };
        query("latest", sql);
    }
    let measures: Vec<&ShownColumn<'_>> = parts.shown.iter().filter(|shown| is_measure(shown)).collect();
    if measures.is_empty() {
        return;
    }
    // Each row of a table of its own is one thing: what is computed is computed over all of them.
    let by = if parts.is_own { Vec::new() } else { grouped };
    let named = if parts.is_own { Vec::new() } else { named };
    for (name, function) in [("avg", "avg"), ("sum", "sum"), ("max", "max"), ("min", "min")] {
        let computed = measures.iter().map(|shown| match name {
            "avg" => format!("avg({}) AS {}", shown.sql, quoted(&average(shown))),
            _ => format!("{function}({}) AS {}", shown.sql, quoted(&shown.name)),
        });
        let columns: Vec<String> = named.iter().cloned().chain(computed).collect();
        let group = if by.is_empty() { String::new() } else { format!(" GROUP BY {} ORDER BY 1", by.join(", ")) };
        query(name, format!("SELECT {} FROM {from}{wanted}{group}", columns.join(", ")));
    }
}
