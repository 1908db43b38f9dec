//! One step of a scenario: mostly a call, and what must come back.

const METHODS: [&str; 6] = ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];

#[derive(Debug)]
pub struct Step {
    pub line: usize,
    pub act: Act,
}

#[derive(Debug)]
pub enum Act {
    /// A setting, from the next start of the server on.
    Set(Setting),
    /// A file below the server's directory.
    Write {
        name: String,
        text: String,
    },
    /// A SQLite file below the server's directory, made or changed by a script.
    Database {
        name: String,
        sql: String,
    },
    /// The server ends at once and starts again on the same data.
    Restart,
    /// What the model does with the next request, or with all for which nothing was said.
    Model {
        always: bool,
        act: String,
    },
    Call(Call),
}

#[derive(Debug, PartialEq, Eq)]
pub struct Setting {
    pub key: String,
    pub value: String,
}

/// Stands where a method would: what the model was asked is the answer.
pub const ASKED: &str = "ASKED";

#[derive(Debug, Default)]
pub struct Call {
    pub method: String,
    pub path: String,
    pub headers: Vec<(String, String)>,
    pub body: String,
    /// Whether it is made again until the answer is as expected.
    pub until: bool,
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
    /// What stands behind a text, up to the next quotation mark.
    After(String),
}

/// Where the reader is within a step.
#[derive(Clone, Copy, PartialEq)]
enum Part {
    Head,
    Body,
    Answer,
    /// After a step that is no call.
    End,
}

/// Reads the lines of a block, or says what is wrong with one of them.
pub fn read(lines: &[(usize, &str)]) -> Result<Vec<Step>, (usize, String)> {
    let mut steps: Vec<Step> = Vec::new();
    let mut part = Part::End;
    for (line, text) in lines.iter().copied() {
        if matches!(part, Part::Answer | Part::End) {
            if text.trim().is_empty() {
                continue;
            }
            if let Some(act) = act(text).map_err(|what| (line, what))? {
                part = if matches!(act, Act::Call(_)) { Part::Head } else { Part::End };
                steps.push(Step { line, act });
                continue;
            }
        }
        let Some(Step { act: Act::Call(call), .. }) = steps.last_mut().filter(|_| part != Part::End) else {
            return Err((line, format!("no request line: {text}")));
        };
        part = take(call, part, text).map_err(|what| (line, what))?;
    }
    match steps.last() {
        Some(step) if matches!(part, Part::Head | Part::Body) => {
            Err((step.line, "the step expects nothing: no line begins with =>".into()))
        }
        _ => Ok(steps),
    }
}

/// What a line begins, if it begins a step.
fn act(line: &str) -> Result<Option<Act>, String> {
    if let Some((method, path)) = request(line) {
        let call = Call { method: method.to_owned(), path: path.to_owned(), ..Call::default() };
        return Ok(Some(Act::Call(call)));
    }
    let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
    let parts = match word {
        ASKED if rest.is_empty() => {
            return Ok(Some(Act::Call(Call { method: ASKED.to_owned(), ..Call::default() })));
        }
        "RESTART" if rest.is_empty() => return Ok(Some(Act::Restart)),
        "SET" => rest.split_once(" = ").map(|(key, value)| Act::Set(Setting { key: key.into(), value: value.into() })),
        "MODEL" => {
            let always = rest.strip_prefix("always ");
            Some(Act::Model { always: always.is_some(), act: always.unwrap_or(rest).to_owned() })
        }
        "WRITE" => rest.split_once(' ').map(|(name, text)| Act::Write { name: name.into(), text: text.into() }),
        "DATABASE" => rest.split_once(' ').map(|(name, sql)| Act::Database { name: name.into(), sql: sql.into() }),
        _ => return Ok(None),
    };
    parts.map(Some).ok_or_else(|| format!("SET KEY = VALUE, or WRITE or DATABASE NAME \"TEXT\", not: {line}"))
}

fn take(call: &mut Call, part: Part, line: &str) -> Result<Part, String> {
    if part != Part::Answer {
        if let Some(answer) = line.strip_prefix("=> ") {
            let at_last = answer.strip_prefix("until ");
            call.until = at_last.is_some();
            let answer = at_last.unwrap_or(answer);
            let (status, expected) = answer.split_once(' ').unwrap_or((answer, ""));
            call.status = status.parse().map_err(|_| format!("{status} is no status"))?;
            call.expected = expected.to_owned();
            return Ok(Part::Answer);
        }
        if let Some((name, value)) = header(line).filter(|_| part == Part::Head) {
            call.headers.push((name.to_owned(), value.to_owned()));
            return Ok(Part::Head);
        }
        if part == Part::Body {
            call.body.push('\n');
        }
        call.body.push_str(line);
        return Ok(Part::Body);
    }
    match check(line)? {
        Some(check) => call.checks.push(check),
        None if call.checks.is_empty() => {
            call.expected.push('\n');
            call.expected.push_str(line);
        }
        None => return Err(format!("neither a request nor a check: {line}")),
    }
    Ok(Part::Answer)
}

fn request(line: &str) -> Option<(&str, &str)> {
    line.split_once(' ').filter(|(method, path)| METHODS.contains(method) && path.starts_with(['/', '{']))
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
            ("after", text) => From::After(text.to_owned()),
            _ => return None,
        };
        Some(Check::Save(name.to_owned(), from))
    });
    known.map(Some).ok_or_else(|| format!("save NAME = header NAME, or body /POINTER, or after TEXT, not: {line}"))
}
