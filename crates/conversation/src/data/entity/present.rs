//! Rows in words.
//!
//! Owns the three manners of telling: a table, a list, sentences. Invariant: what comes from data stays
//! within its line and its cell, whatever it holds.

use serde_json::Value;

use super::Spoken;
use super::columns::{Column, Columns};
use super::escape;
use super::format::{Format, Writing};
use super::template::{Slot, Template};
use crate::data::database::Rows;

/// How rows are presented.
#[derive(Debug)]
pub enum Manner {
    Table {
        title: Option<Template>,
    },
    /// Each row as its item, or as its columns with their labels.
    List {
        title: Option<Template>,
        item: Option<Template>,
    },
    Text {
        item: Template,
    },
}

impl Manner {
    /// Its templates, with where they stand.
    pub(crate) fn templates(&self) -> impl Iterator<Item = (&'static str, &Template)> {
        let fields = match self {
            Self::Table { title } => [("table.title", title.as_ref()), ("", None)],
            Self::List { title, item } => [("list.title", title.as_ref()), ("list.item", item.as_ref())],
            Self::Text { item } => [("text.item", Some(item)), ("", None)],
        };
        fields.into_iter().filter_map(|(field, template)| Some((field, template?)))
    }
}

/// The rows in this manner; `empty` where there is nothing to tell.
pub fn tell(
    columns: &Columns,
    writing: &Writing,
    manner: &Manner,
    empty: &Template,
    rows: &Rows,
    spoken: &Spoken<'_>,
) -> String {
    let teller = Teller { columns, writing, rows, spoken };
    let mut out = String::new();
    if rows.is_blank() {
        teller.write(empty, &[], &mut out);
        return out;
    }
    match manner {
        Manner::Table { title } => {
            teller.title(title.as_ref(), &mut out);
            teller.table(&mut out);
        }
        Manner::List { title, item } => {
            teller.title(title.as_ref(), &mut out);
            teller.list(item.as_ref(), &mut out);
        }
        Manner::Text { item } => teller.lines("", |row, out| teller.write(item, row, out), &mut out),
    }
    out
}

/// What is said of rows that are not all.
pub(crate) fn tell_cut(rows: &Rows, writing: &Writing) -> Option<String> {
    rows.is_cut.then(|| writing.language.more_rows(rows.rows.len()))
}

struct Teller<'a> {
    columns: &'a Columns,
    writing: &'a Writing,
    rows: &'a Rows,
    spoken: &'a Spoken<'a>,
}

impl Teller<'_> {
    /// What a title says of columns it says of the first row.
    fn title(&self, title: Option<&Template>, out: &mut String) {
        if let Some(title) = title {
            self.write(title, self.rows.rows.first().map_or(&[], Vec::as_slice), out);
            out.push_str("\n\n");
        }
    }

    fn table(&self, out: &mut String) {
        let shown = self.columns.shown(self.rows, self.spoken.question);
        for (_, column) in &shown {
            out.push_str("| ");
            escape::cell(&column.label, out);
            out.push(' ');
        }
        out.push_str("|\n");
        for (_, column) in &shown {
            out.push_str(if column.format.is_number() { "|---:" } else { "|---" });
        }
        out.push('|');
        let mut text = String::new();
        for row in &self.rows.rows {
            out.push('\n');
            for (at, column) in &shown {
                text.clear();
                column.format.write(row.get(*at).unwrap_or(&Value::Null), self.writing, &mut text);
                out.push_str("| ");
                escape::cell(&text, out);
                out.push(' ');
            }
            out.push('|');
        }
    }

    fn list(&self, item: Option<&Template>, out: &mut String) {
        match item {
            Some(item) => self.lines("- ", |row, out| self.write(item, row, out), out),
            None => {
                let shown = self.columns.shown(self.rows, self.spoken.question);
                self.lines("- ", |row, out| write_labelled(&shown, self.writing, row, out), out);
            }
        }
    }

    fn lines(&self, mark: &str, line: impl Fn(&[Value], &mut String), out: &mut String) {
        for (n, row) in self.rows.rows.iter().enumerate() {
            out.push_str(if n == 0 { "" } else { "\n" });
            out.push_str(mark);
            line(row, out);
        }
    }

    fn write(&self, template: &Template, row: &[Value], out: &mut String) {
        let mut text = String::new();
        template.write(out, |slot, out| {
            text.clear();
            self.write_slot(slot, row, &mut text);
            if text.is_empty() && matches!(slot, Slot::Subjects(_)) {
                self.close_lead(out);
            }
            escape::inline(&text, out);
        });
    }

    /// Takes back the small word before names that there are none of: `Ativos de`.
    fn close_lead(&self, out: &mut String) {
        let Some((before, lead)) = out.trim_end().rsplit_once(' ') else { return };
        if self.writing.language.leads_name(&lead.to_lowercase()) {
            out.truncate(before.len() + 1);
        }
    }

    fn write_slot(&self, slot: &Slot, row: &[Value], text: &mut String) {
        match slot {
            Slot::Subjects(kind) => {
                let subjects = self.spoken.subjects.get(*kind).map_or(&[][..], Vec::as_slice);
                text.push_str(&self.writing.language.join(subjects, true));
            }
            Slot::Window => text.push_str(self.spoken.window),
            Slot::Count => text.push_str(&self.rows.rows.len().to_string()),
            Slot::Column { name, format } => {
                let value = self.rows.position(name).and_then(|at| row.get(at)).unwrap_or(&Value::Null);
                let own = self.columns.get(name).map_or(Format::Text, |column| column.format);
                format.unwrap_or(own).write(value, self.writing, text);
            }
        }
    }
}

/// `Fundo: HGLG11; Fechamento: R$ 160,00`.
fn write_labelled(shown: &[(usize, &Column)], writing: &Writing, row: &[Value], out: &mut String) {
    let mut text = String::new();
    for (n, (at, column)) in shown.iter().enumerate() {
        out.push_str(if n == 0 { "" } else { "; " });
        escape::inline(&column.label, out);
        out.push_str(": ");
        text.clear();
        column.format.write(row.get(*at).unwrap_or(&Value::Null), writing, &mut text);
        escape::inline(&text, out);
    }
}

#[cfg(test)]
#[path = "present_tests.rs"]
mod tests;
