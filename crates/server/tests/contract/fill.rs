//! Names and repetitions in a scenario's text, filled in.

use std::collections::BTreeMap;

use serde_json::Value;

/// What a name in braces stands for.
pub type Names = BTreeMap<String, Value>;

/// No scenario needs a longer text; more is a slip of the pen.
const BYTES_MAX: usize = 64 * 1024 * 1024;

/// Writes a text with `{name}`, `{name+1}`, `{{list 3 …}}` and `{{repeat 3 …}}` filled in.
pub fn fill(text: &str, names: &Names) -> Result<String, String> {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('{') {
        let (before, braced) = rest.split_at(at);
        out.push_str(before);
        rest = if braced.starts_with("{{") && !braced.starts_with("{{{") {
            let (inside, after) = closed(braced).ok_or_else(|| format!("no end of {}", excerpt(braced)))?;
            out.push_str(&repeated(inside, names)?);
            after
        } else if let Some((name, after)) = named(braced) {
            out.push_str(&value(name, names)?);
            after
        } else {
            out.push('{');
            &braced[1..]
        };
    }
    Ok(out + rest)
}

/// The end of the week that holds a time, both in seconds.
pub fn week_end(time: i64) -> i64 {
    const WEEK_S: i64 = 604_800;
    const FIRST_S: i64 = 259_200;
    FIRST_S + ((time - FIRST_S).div_euclid(WEEK_S) + 1) * WEEK_S
}

/// `{name}` or `{name+1}` at the front of a text. JSON has no such thing: there a brace is followed by a
/// quote.
fn named(text: &str) -> Option<(&str, &str)> {
    let (inside, after) = text.strip_prefix('{')?.split_once('}')?;
    let is_name = inside.starts_with(|c: char| c.is_ascii_lowercase())
        && inside.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || "+-".contains(c));
    is_name.then_some((inside, after))
}

fn value(name: &str, names: &Names) -> Result<String, String> {
    let unknown = || format!("{{{name}}} stands for nothing");
    if let Some(value) = names.get(name) {
        return Ok(value.as_str().map_or_else(|| value.to_string(), str::to_owned));
    }
    let sign = name.find(['+', '-']).ok_or_else(unknown)?;
    let (base, offset) = name.split_at(sign);
    let base = names.get(base).and_then(Value::as_i64).ok_or_else(unknown)?;
    let offset: i64 = offset.parse().map_err(|_| unknown())?;
    Ok((base + offset).to_string())
}

/// What stands between `{{` and the `}}` that closes it, and what follows. Braces between them come in pairs.
fn closed(text: &str) -> Option<(&str, &str)> {
    let mut depth = 0_usize;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'{' => depth += 1,
            b'}' => depth = depth.checked_sub(1)?,
            _ => {}
        }
        if depth == 0 {
            return Some((text.get(2..at - 1)?, &text[at + 1..]));
        }
    }
    None
}

fn repeated(inside: &str, names: &Names) -> Result<String, String> {
    let unknown = || format!("{{{{{}}}}} is neither list nor repeat", excerpt(inside));
    let mut parts = inside.splitn(3, ' ');
    let (word, count, text) = (parts.next(), parts.next(), parts.next());
    let between = match word {
        Some("list") => ",",
        Some("repeat") => "",
        _ => return Err(unknown()),
    };
    let (first, last) = count.and_then(range).ok_or_else(unknown)?;
    let text = text.ok_or_else(unknown)?;
    let count = usize::try_from(last - first + 1).map_err(|_| unknown())?;
    if count.saturating_mul(text.len()) > BYTES_MAX {
        return Err(format!("the text is longer than {BYTES_MAX} bytes"));
    }
    // A long run of one letter need not be looked at letter by letter.
    if between.is_empty() && !text.contains('{') {
        return Ok(text.repeat(count));
    }
    let mut names = names.clone();
    let mut each = |n: i64| {
        names.insert("n".into(), n.into());
        fill(text, &names)
    };
    Ok((first..=last).map(&mut each).collect::<Result<Vec<_>, _>>()?.join(between))
}

fn range(text: &str) -> Option<(i64, i64)> {
    match text.split_once('-') {
        Some((first, last)) => Some((first.parse().ok()?, last.parse().ok()?)),
        None => Some((1, text.parse().ok()?)),
    }
}

fn excerpt(text: &str) -> String {
    text.chars().take(40).collect()
}
