//! What a query answered.

use std::sync::Arc;

use serde::ser::{Serialize, SerializeMap, SerializeSeq, Serializer};
use serde_json::Value;

/// Written on the wire as a list of objects, each with the columns in their order.
#[derive(Debug, Clone, PartialEq)]
pub struct Rows {
    /// The names of the columns.
    pub columns: Arc<[String]>,
    /// Cells in the order of the columns: null, a number or a text.
    pub rows: Vec<Vec<Value>>,
    /// Whether there were more.
    pub is_cut: bool,
}

impl Rows {
    /// Whether there is nothing to tell: no rows, or none but nulls, as a sum over nothing answers.
    pub(crate) fn is_blank(&self) -> bool {
        self.rows.iter().flatten().all(Value::is_null)
    }

    /// Where a column stands.
    pub fn position(&self, column: &str) -> Option<usize> {
        self.columns.iter().position(|name| name == column)
    }

    /// What they take in memory, about.
    pub fn bytes(&self) -> usize {
        self.rows.iter().map(|row| row_bytes(row)).sum()
    }
}

/// What a row takes in memory, about.
pub(crate) fn row_bytes(row: &[Value]) -> usize {
    row.iter().map(|cell| size_of::<Value>() + cell.as_str().map_or(0, str::len)).sum()
}

impl Serialize for Rows {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut list = serializer.serialize_seq(Some(self.rows.len()))?;
        for cells in &self.rows {
            list.serialize_element(&Row { columns: &self.columns, cells })?;
        }
        list.end()
    }
}

struct Row<'a> {
    columns: &'a [String],
    cells: &'a [Value],
}

impl Serialize for Row<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = serializer.serialize_map(Some(self.cells.len()))?;
        for (column, cell) in self.columns.iter().zip(self.cells) {
            object.serialize_entry(column, cell)?;
        }
        object.end()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn rows(cells: Vec<Vec<Value>>) -> Rows {
        Rows { columns: ["day".to_owned(), "a".to_owned()].into(), rows: cells, is_cut: false }
    }

    #[test]
    fn rows_are_objects_on_the_wire_in_the_order_of_their_columns() {
        let written =
            serde_json::to_string(&rows(vec![vec![json!("2025-01-02"), json!(1.5)], vec![json!(null), json!(2)]]));
        assert_eq!(written.unwrap(), r#"[{"day":"2025-01-02","a":1.5},{"day":null,"a":2}]"#);
        assert_eq!(serde_json::to_string(&rows(vec![])).unwrap(), "[]");
    }

    #[test]
    fn nulls_alone_are_nothing_to_tell() {
        assert!(rows(vec![]).is_blank());
        assert!(rows(vec![vec![json!(null), json!(null)]]).is_blank());
        assert!(!rows(vec![vec![json!(null), json!(0)]]).is_blank());
    }
}
