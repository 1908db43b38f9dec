//! A page of a contract: the clauses it states and the scenarios that prove them.

use crate::step::{self, Step};

#[derive(Debug)]
pub struct Page {
    /// From the root of the repository.
    pub file: String,
    pub clauses: Vec<String>,
    pub scenarios: Vec<Scenario>,
}

/// One fenced block.
#[derive(Debug)]
pub struct Scenario {
    pub line: usize,
    /// The clauses it proves.
    pub clauses: Vec<String>,
    pub steps: Vec<Step>,
}

/// A block while it is read: its first line, its tag, and its lines.
type Open<'t> = (usize, &'t str, Vec<(usize, &'t str)>);

impl Page {
    /// Reads a page, or says with file and line why it is none.
    pub fn read(file: &str, text: &str) -> Result<Self, String> {
        let mut page = Self { file: file.to_owned(), clauses: Vec::new(), scenarios: Vec::new() };
        let mut open: Option<Open<'_>> = None;
        for (at, line) in text.lines().enumerate().map(|(at, line)| (at + 1, line)) {
            match (line.strip_prefix("```"), open.as_mut()) {
                (Some(""), Some(_)) => page.close(open.take())?,
                (Some(_), Some(_)) => return Err(page.wrong(at, "a block inside a block")),
                (Some(tag), None) => open = Some((at, tag, Vec::new())),
                (None, Some((_, _, lines))) => lines.push((at, line)),
                (None, None) => page.clauses.extend(clause(line)),
            }
        }
        match open {
            Some((at, ..)) => Err(page.wrong(at, "the block does not end")),
            None => Ok(page),
        }
    }

    fn close(&mut self, block: Option<Open<'_>>) -> Result<(), String> {
        let Some((line, tag, lines)) = block else { return Ok(()) };
        let mut words = tag.split_whitespace().map(str::to_owned);
        match words.next().as_deref() {
            Some("http") => {}
            Some("text") => return Ok(()),
            _ => return Err(self.wrong(line, "a block is tagged http, with its clauses, or text")),
        }
        let clauses: Vec<String> = words.collect();
        if clauses.is_empty() {
            return Err(self.wrong(line, "the scenario names no clause"));
        }
        let steps = step::read(&lines).map_err(|(at, what)| self.wrong(at, &what))?;
        if steps.is_empty() {
            return Err(self.wrong(line, "the scenario has no step"));
        }
        self.scenarios.push(Scenario { line, clauses, steps });
        Ok(())
    }

    fn wrong(&self, line: usize, what: &str) -> String {
        format!("{}:{line}: {what}", self.file)
    }
}

/// The id that a line opens with, as a paragraph or a bullet.
fn clause(line: &str) -> Option<String> {
    let (id, _) = line.strip_prefix("- ").unwrap_or(line).strip_prefix("**")?.split_once("**")?;
    let (area, number) = id.rsplit_once('-')?;
    let is_id = area.contains('-') && area.chars().all(|c| c.is_ascii_uppercase() || c == '-');
    (is_id && number.parse::<u32>().is_ok()).then(|| id.to_owned())
}
