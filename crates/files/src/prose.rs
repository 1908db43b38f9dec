//! Text as it is put together from a document: blanks folded, blocks apart, rows of tables with the names of
//! their columns.
//!
//! Headings are written as Markdown writes them, because passages begin at these (`split.rs`). Invariant:
//! the text has at most the given bytes; once it would have more, nothing is added and `finish` fails.

/// Tables inside of tables; deeper ones are read as part of the cell that they stand in.
const TABLES_DEEP_MAX: usize = 8;
/// A cell that is as wide as many columns counts for at most so many.
const SPAN_MAX: usize = 64;
/// A longer cell is a paragraph, and its table only a way to place it on the page.
const CELL_CHARS_MAX: usize = 400;
/// The name of a column is short.
const NAME_CHARS_MAX: usize = 80;

pub(super) struct Prose {
    body: Block,
    tables: Vec<Table>,
    room: usize,
    is_full: bool,
}

/// Text with the break before what comes next.
#[derive(Default)]
struct Block {
    text: String,
    gap: Gap,
    /// What the next text begins with: the mark of a heading or an item.
    mark: &'static str,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
enum Gap {
    #[default]
    None,
    Blank,
    Line,
    Paragraph,
}

#[derive(Default)]
struct Table {
    rows: Vec<Row>,
    row: Row,
    cell: Option<Block>,
    span: usize,
}

#[derive(Default)]
struct Row {
    cells: Vec<String>,
    /// All cells so far name columns.
    names: bool,
}

impl Block {
    fn break_off(&mut self, gap: Gap) {
        self.gap = self.gap.max(gap);
        self.mark = "";
    }

    /// Writes what is due before the next text.
    fn begin(&mut self) {
        if !self.text.is_empty() {
            self.text.push_str(match self.gap {
                Gap::None => "",
                Gap::Blank => " ",
                Gap::Line => "\n",
                Gap::Paragraph => "\n\n",
            });
        }
        self.gap = Gap::None;
        self.text.push_str(std::mem::take(&mut self.mark));
    }

    fn add(&mut self, text: &str) {
        for part in text.split_inclusive(char::is_whitespace) {
            let word = part.trim_end();
            if !word.is_empty() {
                self.begin();
                self.text.extend(word.chars().filter(|c| is_shown(*c)));
            }
            if word.len() < part.len() {
                self.gap = self.gap.max(Gap::Blank);
            }
        }
    }

    fn add_verbatim(&mut self, text: &str) {
        let text = text.trim_end_matches(['\n', '\r']);
        if !text.is_empty() {
            self.begin();
            self.text.extend(text.chars().filter(|c| *c == '\n' || *c == '\t' || is_shown(*c)));
        }
    }
}

/// Soft hyphens, marks of no width and control characters are for the layout, not for the reader.
fn is_shown(c: char) -> bool {
    !c.is_control() && !matches!(c, '\u{ad}' | '\u{200b}' | '\u{2060}' | '\u{feff}')
}

impl Prose {
    pub(super) fn new(bytes_max: usize) -> Self {
        Self { body: Block::default(), tables: Vec::new(), room: bytes_max, is_full: false }
    }

    /// The cell that is open, of the innermost table that has one; else the page.
    fn block(&mut self) -> &mut Block {
        let cell = self.tables.iter_mut().rev().find_map(|table| table.cell.as_mut());
        cell.unwrap_or(&mut self.body)
    }

    fn has_room(&mut self, text: &str) -> bool {
        let needed = text.len() + 2;
        self.is_full |= needed > self.room;
        self.room = self.room.saturating_sub(needed);
        !self.is_full
    }

    /// Whether more would be refused: reading on is of no use.
    pub(super) fn is_full(&self) -> bool {
        self.is_full
    }

    /// Adds text; blanks and line ends of any number become one blank.
    pub(super) fn text(&mut self, text: &str) {
        if self.has_room(text) {
            self.block().add(text);
        }
    }

    /// Adds text with its lines as they are.
    pub(super) fn verbatim(&mut self, text: &str) {
        if self.has_room(text) {
            self.block().add_verbatim(text);
        }
    }

    pub(super) fn line(&mut self) {
        self.block().break_off(Gap::Line);
    }

    pub(super) fn paragraph(&mut self) {
        self.block().break_off(Gap::Paragraph);
    }

    /// Begins a heading, which a paragraph ends. In a table it is a line like any other.
    pub(super) fn heading(&mut self, level: u8) {
        let is_in_table = !self.tables.is_empty();
        let block = self.block();
        block.break_off(Gap::Paragraph);
        block.mark = match level {
            _ if is_in_table => "",
            0 | 1 => "# ",
            2 => "## ",
            3 => "### ",
            _ => "#### ",
        };
    }

    /// Begins an item of a list, on a line of its own.
    pub(super) fn item(&mut self) {
        let block = self.block();
        block.gap = if block.text.is_empty() { Gap::None } else { Gap::Line };
        block.mark = "- ";
    }

    pub(super) fn begin_table(&mut self) {
        if self.tables.len() < TABLES_DEEP_MAX {
            self.tables.push(Table::default());
        }
    }

    pub(super) fn begin_row(&mut self) {
        self.end_row();
        if let Some(table) = self.tables.last_mut() {
            table.row = Row { cells: Vec::new(), names: true };
        }
    }

    pub(super) fn begin_cell(&mut self, is_name: bool, span: usize) {
        self.end_cell();
        if let Some(table) = self.tables.last_mut() {
            table.row.names &= is_name;
            table.cell = Some(Block::default());
            table.span = span.clamp(1, SPAN_MAX);
        }
    }

    /// Says that the open cell is as wide as several columns.
    pub(super) fn widen_cell(&mut self, span: usize) {
        if let Some(table) = self.tables.last_mut() {
            table.span = span.clamp(1, SPAN_MAX);
        }
    }

    pub(super) fn end_cell(&mut self) {
        let Some(table) = self.tables.last_mut() else { return };
        if let Some(cell) = table.cell.take() {
            table.row.cells.push(cell.text);
            table.row.cells.extend((1..table.span).map(|_| String::new()));
        }
    }

    pub(super) fn end_row(&mut self) {
        self.end_cell();
        let Some(table) = self.tables.last_mut() else { return };
        let row = std::mem::take(&mut table.row);
        if row.cells.iter().any(|cell| !cell.is_empty()) {
            table.rows.push(row);
        }
    }

    /// Ends a table. Where the format does not say which cells name columns, the first row may.
    pub(super) fn end_table(&mut self, first_row_may_name: bool) {
        self.end_row();
        let Some(table) = self.tables.pop() else { return };
        let text = table_text(table.rows, first_row_may_name);
        self.paragraph();
        self.verbatim(&text);
        self.paragraph();
    }

    pub(super) fn finish(mut self) -> Result<String, String> {
        while !self.tables.is_empty() {
            self.end_table(false);
        }
        match self.is_full {
            true => Err(super::too_much_text()),
            false => Ok(self.body.text),
        }
    }
}

fn table_text(rows: Vec<Row>, first_row_may_name: bool) -> String {
    let is_layout = |rows: &[Row]| {
        let mut cells = rows.iter().flat_map(|row| &row.cells);
        cells.any(|cell| cell.contains("\n\n") || cell.chars().nth(CELL_CHARS_MAX).is_some())
    };
    let names_columns = |first: &Row| {
        let may = (first.names || first_row_may_name) && rows.len() > 1;
        may && first.cells.len() > 1 && are_names(&first.cells, first.names)
    };
    let names = rows.first().filter(|first| names_columns(first)).map(|first| first.cells.clone());
    if names.is_none() && is_layout(&rows) {
        let cells = rows.into_iter().flat_map(|row| row.cells).filter(|cell| !cell.is_empty());
        return cells.collect::<Vec<_>>().join("\n\n");
    }
    let lines = rows.iter().enumerate().map(|(at, row)| row_line(names.as_deref().filter(|_| at > 0), &row.cells));
    lines.collect::<Vec<_>>().join("\n")
}

/// Whether cells can be the names of columns: each short, and in most columns.
pub(super) fn are_names(cells: &[String], are_marked: bool) -> bool {
    let given = cells.iter().filter(|cell| !cell.trim().is_empty());
    let fit = |cell: &&String| {
        cell.chars().nth(NAME_CHARS_MAX).is_none() && (are_marked || cell.trim().parse::<f64>().is_err())
    };
    let (count, fitting) = (given.clone().count(), given.filter(fit).count());
    count > 0 && count == fitting && count * 2 > cells.len()
}

/// A row as a line: `name: value | name: value`, or `value | value` without names.
pub(super) fn row_line(names: Option<&[String]>, cells: &[String]) -> String {
    let folded = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let parts = cells.iter().enumerate().filter_map(|(at, cell)| {
        let value = folded(cell);
        let name = names.and_then(|names| names.get(at)).map(|name| folded(name)).unwrap_or_default();
        match (value.is_empty(), name.is_empty()) {
            (true, _) => None,
            (false, true) => Some(value),
            (false, false) => Some(format!("{name}: {value}")),
        }
    });
    parts.collect::<Vec<_>>().join(" | ")
}
