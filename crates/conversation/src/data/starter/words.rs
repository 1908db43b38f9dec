//! The words in the names of tables and columns, and which language they are of.

use novelo_language::Language;
use novelo_language::schema_words::{any_has, latin};

use super::StarterLocale;
use super::schema::Schema;

/// The words of a name, in lower case: `unitPrice` and `unit_price` have two.
pub(super) fn split(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut is_open = false;
    let mut was_lower = false;
    for c in name.chars() {
        if !c.is_alphanumeric() {
            is_open = false;
            continue;
        }
        if !is_open || (was_lower && c.is_uppercase()) {
            words.push(String::new());
        }
        is_open = true;
        was_lower = c.is_lowercase() || c.is_numeric();
        words.last_mut().into_iter().for_each(|word| word.extend(c.to_lowercase()));
    }
    words
}

/// The words of a name that can ask for it.
pub(super) fn asking(name: &str) -> Vec<String> {
    let says = |word: &String| {
        word.chars().count() > 1 && word.chars().any(char::is_alphabetic) && !any_has(|it| it.empty, &fold(word))
    };
    split(name).into_iter().filter(says).collect()
}

/// A word without accents, in lower case.
pub(super) fn fold(word: &str) -> String {
    novelo_language::analyse::Words::new(word, 8).iter().map(|word| word.folded.to_owned()).collect::<Vec<_>>().concat()
}

/// A name of letters without accents, digits and `_`, for files and parameters.
pub(super) fn plain(name: &str) -> String {
    let words = split(name).into_iter().map(|word| {
        let letter = |c: char| latin(c).map_or_else(|| c.to_string(), str::to_owned);
        let written: String = fold(&word).chars().map(letter).collect();
        written.chars().filter(char::is_ascii_alphanumeric).collect::<String>()
    });
    words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join("_")
}

/// The name as people write it: `Unit price`.
pub(super) fn label(name: &str) -> String {
    let words = split(name).join(" ");
    let mut chars = words.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

/// The language that the names of a database are in.
pub(super) fn locale(schema: &Schema) -> StarterLocale {
    let names = schema.tables.iter().flat_map(|table| {
        std::iter::once(table.name.as_str()).chain(table.columns.iter().map(|column| column.name.as_str()))
    });
    let (mut russian, mut portuguese, mut all) = (0, 0, 0);
    for word in names.flat_map(split) {
        all += 1;
        let is_of = |language: Language| usize::from((language.schema_words().is_own)(&word, &fold(&word)));
        russian += is_of(Language::Russian);
        portuguese += is_of(Language::Portuguese);
    }
    match () {
        () if russian * 3 >= all.max(1) => StarterLocale::Russian,
        () if portuguese * 4 >= all.max(1) => StarterLocale::Portuguese,
        () => StarterLocale::English,
    }
}
