//! Russian declension: of regular nouns, adjectives and names in the singular. A word that fits no rule stays
//! as it was said.

use crate::syntax::{Case, Entity, Gender, token};

/// The case in which it was said, by what stood before it.
fn said_in(entity: &Entity) -> Option<Case> {
    case_after(&entity.preposition)
}

/// The case that a preposition asks for.
pub(crate) fn case_after(preposition: &str) -> Option<Case> {
    match preposition {
        "про" | "через" | "за" => Some(Case::Accusative),
        "о" | "об" | "в" | "во" | "на" | "при" => Some(Case::Locative),
        "у" | "из" | "от" | "до" | "для" | "без" | "после" | "около" => Some(Case::Genitive),
        "к" | "ко" | "по" => Some(Case::Dative),
        "с" | "со" | "над" | "под" | "между" => Some(Case::Instrumental),
        _ => None,
    }
}

/// A phrase in a case, or in the nominative.
pub(crate) fn in_case(entity: &Entity, case: Option<Case>) -> String {
    let said = said_in(entity);
    let oblique = entity.after_verb && entity.head.ends_with(['у', 'ю', 'е', 'и', 'ы', 'ь']);
    if said == case || (oblique && said.is_none() && case.is_some()) {
        return entity.name.clone();
    }
    let words: Vec<&str> = entity.name.split(' ').collect();
    let mut out = Vec::with_capacity(words.len());
    let mut open = true;
    for (at, word) in words.iter().enumerate() {
        let last = at + 1 == words.len();
        let adjective = !last && is_adjective(&token::lower(word));
        let base = if said.is_none() { Some((*word).to_owned()) } else { nominative(word, said) };
        let now = base.map(|base| {
            case.map_or(base.clone(), |case| {
                declined(&base, case, WordPosition { adjective, surname: last && at > 0 }, entity)
            })
        });
        out.push(if open { now.unwrap_or_else(|| (*word).to_owned()) } else { (*word).to_owned() });
        open &= adjective || word.chars().next().is_some_and(char::is_uppercase);
    }
    out.join(" ")
}

pub(crate) fn is_adjective(word: &str) -> bool {
    ["ый", "ая", "яя", "ое", "ее", "ые", "ие", "ую", "ого", "ой", "ский", "кий", "ной", "ом", "ых"]
        .iter()
        .any(|end| word.chars().count() > 4 && word.ends_with(end))
}

/// The nominative of a word that was said in another case, where its ending tells.
fn nominative(word: &str, said: Option<Case>) -> Option<String> {
    const FROM: [(Case, &str, &str); 15] = [
        (Case::Genitive, "ов", "ы"),
        (Case::Genitive, "ей", "и"),
        (Case::Accusative, "ую", "ая"),
        (Case::Accusative, "юю", "яя"),
        (Case::Accusative, "ию", "ия"),
        (Case::Accusative, "у", "а"),
        (Case::Accusative, "ю", "я"),
        (Case::Locative, "ии", "ия"),
        (Case::Locative, "ой", "ая"),
        (Case::Locative, "ве", "ва"),
        (Case::Locative, "не", "на"),
        (Case::Genitive, "ии", "ия"),
        (Case::Genitive, "ой", "ая"),
        (Case::Genitive, "ы", "а"),
        (Case::Genitive, "а", ""),
    ];
    let said = said?;
    let found = FROM.iter().find_map(|(case, end, base)| {
        (*case == said).then(|| word.strip_suffix(end)).flatten().map(|stem| format!("{stem}{base}"))
    });
    match said {
        Case::Accusative => Some(found.unwrap_or_else(|| word.to_owned())),
        _ => found,
    }
}

/// Endings of the nominative, and those that take their place: genitive, dative, accusative, instrumental,
/// locative. Longer endings come first; `_` keeps the nominative.
const ADJECTIVES: [(&str, [&str; 5]); 9] = [
    ("кий", ["кого", "кому", "_", "ким", "ком"]),
    ("ый", ["ого", "ому", "_", "ым", "ом"]),
    ("ой", ["ого", "ому", "_", "ым", "ом"]),
    ("ий", ["его", "ему", "_", "им", "ем"]),
    ("ая", ["ой", "ой", "ую", "ой", "ой"]),
    ("яя", ["ей", "ей", "юю", "ей", "ей"]),
    ("ое", ["ого", "ому", "_", "ым", "ом"]),
    ("ые", ["ых", "ым", "_", "ыми", "ых"]),
    ("ие", ["их", "им", "_", "ими", "их"]),
];

const SURNAMES: [(&str, [&str; 5]); 2] = [("а", ["ой", "ой", "у", "ой", "ой"]), ("", ["а", "у", "_", "ым", "е"])];

const NOUNS: [(&str, [&str; 5]); 24] = [
    ("ии", ["ий", "иям", "_", "иями", "иях"]),
    ("ги", ["_", "гам", "_", "гами", "гах"]),
    ("ки", ["_", "кам", "_", "ками", "ках"]),
    ("хи", ["_", "хам", "_", "хами", "хах"]),
    ("ство", ["ства", "ству", "_", "ством", "стве"]),
    ("мо", ["ма", "му", "_", "мом", "ме"]),
    ("ия", ["ии", "ии", "ию", "ией", "ии"]),
    ("ие", ["ия", "ию", "_", "ием", "ии"]),
    ("ий", ["ия", "ию", "_", "ием", "ии"]),
    ("га", ["ги", "ге", "гу", "гой", "ге"]),
    ("ка", ["ки", "ке", "ку", "кой", "ке"]),
    ("ха", ["хи", "хе", "ху", "хой", "хе"]),
    ("жа", ["жи", "же", "жу", "жей", "же"]),
    ("ча", ["чи", "че", "чу", "чей", "че"]),
    ("ша", ["ши", "ше", "шу", "шей", "ше"]),
    ("а", ["ы", "е", "у", "ой", "е"]),
    ("я", ["и", "е", "ю", "ей", "е"]),
    ("й", ["я", "ю", "_", "ем", "е"]),
    ("ь", ["и", "и", "_", "ью", "и"]),
    ("ы", ["_", "ам", "_", "ами", "ах"]),
    ("и", ["_", "ям", "_", "ями", "ях"]),
    ("о", ["_", "_", "_", "_", "_"]),
    ("е", ["_", "_", "_", "_", "_"]),
    ("", ["а", "у", "_", "ом", "е"]),
];

/// What a word is in its phrase.
#[derive(Clone, Copy, Default)]
struct WordPosition {
    adjective: bool,
    surname: bool,
}

fn declined(word: &str, case: Case, position: WordPosition, entity: &Entity) -> String {
    let person = entity.features.person == Some(true);
    let cyrillic = word.chars().all(|c| matches!(c, '\u{400}'..='\u{52f}'));
    let acronym = word.chars().count() > 1 && word.chars().all(char::is_uppercase);
    if !cyrillic || acronym || word.ends_with(['у', 'ю', 'э']) {
        return word.to_owned();
    }
    if let Some(stem) = word.strip_suffix('ь').filter(|_| person && entity.features.gender == Some(Gender::Man)) {
        return declined(&format!("{stem}й"), case, WordPosition::default(), entity);
    }
    let surname = person && position.surname;
    let ends = |ends: &[&str]| word.chars().count() > 4 && ends.iter().any(|end| word.ends_with(end));
    let table: &[(&str, [&str; 5])] = match () {
        () if position.adjective || (surname && ends(&["ский", "цкий", "ской", "ская", "цкая", "ный", "ная"])) => {
            &ADJECTIVES
        }
        () if surname && ends(&["ова", "ева", "ёва", "ина", "ов", "ев", "ёв", "ин"]) => &SURNAMES,
        () => &NOUNS,
    };
    let Some((stem, [genitive, dative, accusative, instrumental, locative])) =
        table.iter().find_map(|(end, cases)| Some((word.strip_suffix(end)?, cases)))
    else {
        return word.to_owned();
    };
    let ending = match case {
        Case::Genitive => genitive,
        Case::Dative => dative,
        // Who is alive is in the genitive.
        Case::Accusative if person && *accusative == "_" => genitive,
        Case::Accusative => accusative,
        Case::Instrumental => instrumental,
        Case::Locative => locative,
    };
    if *ending == "_" { word.to_owned() } else { format!("{stem}{ending}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Language;
    use crate::syntax::phrase;

    /// What the last phrase of a text becomes in a case.
    #[track_caller]
    fn check(text: &str, case: Option<Case>, expect: &str) {
        let lexicon = Language::Russian.lexicon();
        let tokens = token::tokens(text, lexicon, 100);
        let phrases = phrase::phrases(&tokens, lexicon);
        let entity = Entity::from_phrase(text, &tokens, phrases.last().unwrap(), true, lexicon).unwrap();
        assert_eq!(in_case(&entity, case), expect);
    }

    #[test]
    fn names_are_declined() {
        check("Что такое Байкал?", Some(Case::Genitive), "Байкала");
        check("Кто такая Мария Кюри?", Some(Case::Genitive), "Марии Кюри");
        check("Кто такой Юрий Гагарин?", Some(Case::Dative), "Юрию Гагарину");
        check("Что такое Третьяковская галерея?", Some(Case::Accusative), "Третьяковскую галерею");
        check("Что такое Python?", Some(Case::Genitive), "Python");
        check("Что такое МФЦ?", Some(Case::Locative), "МФЦ");
    }

    #[test]
    fn what_was_said_in_a_case_is_brought_back() {
        check("Расскажи про Москву", None, "Москва");
        check("Расскажи про Москву", Some(Case::Locative), "Москве");
        check("Расскажи о Второй мировой войне", None, "Вторая мировая война");
        check("Я живу в Самаре", Some(Case::Locative), "Самаре");
    }
}
