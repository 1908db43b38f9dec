//! Tables in files: workbooks sheet by sheet, and CSV. Each row is a line with the names of its columns.

use std::io::Cursor;

use calamine::{Data, DataRef, ExcelDateTime, Ods, Reader, Sheets, Xls, Xlsb, Xlsx};

use super::encoding;
use super::prose::{Prose, are_names, row_line};

/// Columns of one row; what stands further to the right is left out.
const COLUMNS_MAX: usize = 1_024;
/// Bytes in which the separator of a CSV file shows.
const SAMPLE_BYTES: usize = 64 * 1024;

/// Rows of one table as they come, written as lines.
struct Rows<'p> {
    prose: &'p mut Prose,
    names: Option<Vec<String>>,
    first: Option<Vec<String>>,
    has_begun: bool,
}

impl<'p> Rows<'p> {
    fn new(prose: &'p mut Prose) -> Self {
        Self { prose, names: None, first: None, has_begun: false }
    }

    /// The first row that has more than one cell names the columns, if it can.
    fn add(&mut self, cells: Vec<String>) {
        let given = cells.iter().filter(|cell| !cell.trim().is_empty()).count();
        if given == 0 || self.prose.is_full() {
            return;
        }
        if !self.has_begun && given > 1 {
            self.has_begun = true;
            if are_names(&cells, false) {
                self.first = Some(cells);
                return;
            }
        }
        if let Some(names) = self.first.take() {
            self.line(None, &names);
            self.names = Some(names);
        }
        let names = self.names.take();
        self.line(names.as_deref(), &cells);
        self.names = names;
    }

    fn line(&mut self, names: Option<&[String]>, cells: &[String]) {
        self.prose.line();
        self.prose.verbatim(&row_line(names, cells));
    }

    fn finish(mut self) {
        if let Some(only) = self.first.take() {
            self.line(None, &only);
        }
        self.prose.paragraph();
    }
}

pub(super) fn read_csv(bytes: &[u8], prose: &mut Prose) -> Result<(), String> {
    let text = encoding::decode(bytes);
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .delimiter(separator(&text))
        .from_reader(text.as_bytes());
    let mut rows = Rows::new(prose);
    for record in reader.records() {
        let record = record.map_err(|error| format!("is no CSV that can be read: {error}"))?;
        rows.add(record.iter().take(COLUMNS_MAX).map(str::to_owned).collect());
    }
    rows.finish();
    Ok(())
}

/// The separator that parts the first lines into the most columns, as evenly as can be.
fn separator(text: &str) -> u8 {
    let end = (0..=text.len().min(SAMPLE_BYTES)).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    let sample = text.get(..end).unwrap_or_default();
    let worth = |separator: &u8| {
        let mut reader = csv::ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .delimiter(*separator)
            .from_reader(sample.as_bytes());
        let widths: Vec<usize> = reader.records().take(20).filter_map(Result::ok).map(|row| row.len()).collect();
        let first = widths.first().copied().unwrap_or(0);
        let like_first = widths.iter().filter(|width| **width == first).count();
        if first > 1 { (like_first, first) } else { (0, 0) }
    };
    // The last of equals is taken, so the comma comes last.
    [b'|', b'\t', b';', b','].into_iter().max_by_key(worth).unwrap_or(b',')
}

pub(super) fn read_workbook(bytes: &[u8], prose: &mut Prose) -> Result<(), String> {
    let broken = |error: &dyn std::fmt::Display| format!("is no workbook that can be read: {error}");
    let mut workbook = open_workbook(bytes).map_err(|error| broken(&error))?;
    for name in workbook.sheet_names() {
        prose.heading(2);
        prose.text(&name);
        prose.paragraph();
        match &mut workbook {
            // Cell by cell: a sheet with one cell in its last row would else take memory for all before it.
            Sheets::Xlsx(workbook) => read_cells(workbook, &name, prose).map_err(|error| broken(&error))?,
            other => {
                let range = other.worksheet_range(&name).map_err(|error| broken(&error))?;
                let mut rows = Rows::new(prose);
                range.rows().for_each(|row| rows.add(row.iter().take(COLUMNS_MAX).map(shown).collect()));
                rows.finish();
            }
        }
        if prose.is_full() {
            break;
        }
    }
    Ok(())
}

/// Opens a workbook as what it is. The error is that of the commonest format.
fn open_workbook(bytes: &[u8]) -> Result<Sheets<Cursor<&[u8]>>, calamine::Error> {
    let cursor = || Cursor::new(bytes);
    if !bytes.starts_with(b"PK") {
        return Ok(Sheets::Xls(Xls::new(cursor())?));
    }
    // The first member of an OpenDocument archive says so, unpacked.
    if bytes.windows(12).take(200).any(|it| it == b"opendocument") {
        return Ok(Sheets::Ods(Ods::new(cursor())?));
    }
    match Xlsx::new(cursor()) {
        Ok(workbook) => Ok(Sheets::Xlsx(workbook)),
        Err(error) => Xlsb::new(cursor()).map(Sheets::Xlsb).map_err(|_| error.into()),
    }
}

fn read_cells(workbook: &mut Xlsx<Cursor<&[u8]>>, sheet: &str, prose: &mut Prose) -> Result<(), calamine::XlsxError> {
    let mut cells = workbook.worksheet_cells_reader(sheet)?;
    let mut rows = Rows::new(prose);
    let (mut row, mut at) = (Vec::new(), 0);
    while let Some(cell) = cells.next_cell()? {
        let (line, column) = cell.get_position();
        if line != at {
            rows.add(std::mem::take(&mut row));
            at = line;
        }
        let column = column as usize;
        if column >= COLUMNS_MAX || matches!(cell.get_value(), DataRef::Empty) {
            continue;
        }
        row.resize(row.len().max(column + 1), String::new());
        if let Some(place) = row.get_mut(column) {
            *place = shown(&Data::from(cell.get_value().clone()));
        }
        if rows.prose.is_full() {
            return Ok(());
        }
    }
    rows.add(row);
    rows.finish();
    Ok(())
}

/// A cell as people read it: dates as dates, numbers without the noise of floating point.
fn shown(cell: &Data) -> String {
    match cell {
        Data::Float(number) => shown_number(*number),
        Data::DateTime(time) => shown_time(time),
        Data::Error(_) | Data::Empty => String::new(),
        other => other.to_string(),
    }
}

fn shown_number(number: f64) -> String {
    // As a spreadsheet shows it: 15 digits, so that 0.1 + 0.2 is 0.3.
    let text = format!("{number:.14e}");
    text.parse::<f64>().map_or(text, |rounded| rounded.to_string())
}

fn shown_time(time: &ExcelDateTime) -> String {
    let (year, month, day, hour, minute, second, _) = time.to_ymd_hms_milli();
    let clock = match second {
        0 => format!("{hour:02}:{minute:02}"),
        _ => format!("{hour:02}:{minute:02}:{second:02}"),
    };
    let value = time.as_f64();
    match () {
        () if time.is_duration() => {
            let minutes = (value * 24.0 * 60.0).round() as i64;
            format!("{}:{:02}", minutes / 60, minutes % 60)
        }
        () if value < 1.0 => clock,
        () if value.fract() == 0.0 => format!("{year:04}-{month:02}-{day:02}"),
        () => format!("{year:04}-{month:02}-{day:02} {clock}"),
    }
}
