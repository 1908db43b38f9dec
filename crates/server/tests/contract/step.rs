//! One call of a scenario, and what must come back.

const METHODS: [&str; 5] = ["GET", "POST", "PUT", "PATCH", "DELETE"];

#[derive(Debug, Default)]
pub struct Step {
    pub line: usize,
    pub method: String,
    pub path: String,
    pub headers: Vec<(String, String)>,
    pub body: String,
    pub status: u16,
    /// JSON with matchers in it; empty where only the status matters.
    pub expected: String,
    pub checks: Vec<Check>,
}

/// What else is asked of an answer.
#[derive(Debug, PartialEq, Eq)]
pub enum Check {
    /// Its text holds this.
    Has(String),
    /// Its text does not hold this.
    Lacks(String),
    /// A value is kept under a name.
    Save(String, From),
}

/// Where a saved value comes from.
#[derive(Debug, PartialEq, Eq)]
pub enum From {
    Header(String),
    /// A JSON pointer into the body.
    Body(String),
}

/// Where the reader is within a step.
#[derive(Clone, Copy, PartialEq)]
enum Part {
    Head,
    Body,
    Answer,
}

/// Reads the lines of a block, or says what is wrong with one of them.
pub fn read(lines: &[(usize, &str)]) -> Result<Vec<Step>, (usize, String)> {
    let mut steps: Vec<Step> = Vec::new();
    let mut part = Part::Answer;
    for (at, line) in lines.iter().copied() {
        if part == Part::Answer && line.trim().is_empty() {
            continue;
        }
        if let Some((method, path)) = request(line).filter(|_| part == Part::Answer) {
            steps.push(Step { line: at, method: method.to_owned(), path: path.to_owned(), ..Step::default() });
            part = Part::Head;
            continue;
        }
        let Some(step) = steps.last_mut() else { return Err((at, format!("no request line: {line}"))) };
        part = take(step, part, line).map_err(|what| (at, what))?;
    }
    match steps.last() {
        Some(step) if part != Part::Answer => {
            Err((step.line, "the step expects nothing: no line begins with =>".into()))
        }
        _ => Ok(steps),
    }
}

fn take(step: &mut Step, part: Part, line: &str) -> Result<Part, String> {
    if part != Part::Answer {
        if let Some(answer) = line.strip_prefix("=> ") {
            let (status, expected) = answer.split_once(' ').unwrap_or((answer, ""));
            step.status = status.parse().map_err(|_| format!("{status} is no status"))?;
            step.expected = expected.to_owned();
            return Ok(Part::Answer);
        }
        if let Some((name, value)) = header(line).filter(|_| part == Part::Head) {
            step.headers.push((name.to_owned(), value.to_owned()));
            return Ok(Part::Head);
        }
        if part == Part::Body {
            step.body.push('\n');
        }
        step.body.push_str(line);
        return Ok(Part::Body);
    }
    match check(line)? {
        Some(check) => step.checks.push(check),
        None if step.checks.is_empty() => {
            step.expected.push('\n');
            step.expected.push_str(line);
        }
        None => return Err(format!("neither a request nor a check: {line}")),
    }
    Ok(Part::Answer)
}

fn request(line: &str) -> Option<(&str, &str)> {
    line.split_once(' ').filter(|(method, path)| METHODS.contains(method) && path.starts_with('/'))
}

fn header(line: &str) -> Option<(&str, &str)> {
    let (name, value) = line.split_once(": ")?;
    name.chars().all(|c| c.is_ascii_alphabetic() || c == '-').then_some((name, value))
}

fn check(line: &str) -> Result<Option<Check>, String> {
    let text = |word: &str| line.strip_prefix(word).map(str::to_owned);
    if let Some(text) = text("has ") {
        return Ok(Some(Check::Has(text)));
    }
    if let Some(text) = text("lacks ") {
        return Ok(Some(Check::Lacks(text)));
    }
    let Some(save) = line.strip_prefix("save ") else { return Ok(None) };
    let known = save.split_once(" = ").and_then(|(name, from)| {
        let from = match from.split_once(' ')? {
            ("header", name) => From::Header(name.to_owned()),
            ("body", pointer) => From::Body(pointer.to_owned()),
            _ => return None,
        };
        Some(Check::Save(name.to_owned(), from))
    });
    known.map(Some).ok_or_else(|| format!("save NAME = header NAME, or save NAME = body /POINTER, not: {line}"))
}
