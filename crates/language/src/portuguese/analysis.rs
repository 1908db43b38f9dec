//! Portuguese for search: stop words, stems and the words for days and months. All words are folded.

use std::borrow::Cow;

use rust_stemmers::{Algorithm, Stemmer};

use crate::syntax::{Analysis, Calendar, Script};

pub(crate) const ANALYSIS: Analysis = Analysis {
    script: Script::Latin,
    has_accents: true,
    stop_words: STOP_WORDS,
    negations: NEGATIONS,
    small_talk: SMALL_TALK,
    stem,
    calendar: CALENDAR,
};

pub(crate) const CALENDAR: Calendar = Calendar {
    months: MONTHS,
    ambiguous_months: "",
    day_endings: &[],
    joins: "de",
    time_words:
        "ontem hoje amanha semana semanas mes meses ano anos passado passada proximo proxima recentemente atras desde
             segunda terca quarta quinta sexta sabado domingo verao inverno primavera outono",
    asks_when: "quando",
    asks_which: "que qual quanto ha em o a desde",
    asked_times: "dia data mes ano tempo semana",
};

pub const MONTHS: [&str; 12] = [
    "janeiro",
    "fevereiro fev",
    "marco",
    "abril abr",
    "maio",
    "junho",
    "julho",
    "agosto ago",
    "setembro",
    "outubro out",
    "novembro",
    "dezembro dez",
];

const NEGATIONS: &str = "nao nem sem";

const SMALL_TALK: &str = "
    oi ola obrigado obrigada valeu tchau adeus bom boa dia tarde noite legal otimo otima beleza certo claro parabens
    abraco abracos beijo beijos desculpa desculpe gracas maravilha perfeito nossa uau querido querida
";

const STOP_WORDS: &str = "
    a o as os um uma uns umas e ou mas se de do da dos das em no na nos nas por pelo pela pelos pelas para pra pro com
    sem sob sobre ate entre desde ao aos que quem qual quais quando onde como porque quanto quanta quantos quantas
    eu tu ele ela nos vos eles elas voce voces me te lhe lhes meu minha meus minhas teu tua teus tuas seu sua seus suas
    nosso nossa nossos nossas dele dela deles delas este esta estes estas esse essa esses essas isto isso aquele aquela
    aqueles aquelas aquilo ser sou es somos sao era eram foi foram fui fosse sera seria estar estou esta estamos estao
    estava estavam esteve ter tenho tem temos tinha tinham teve haver ha havia nao sim ja mais menos muito muita muitos
    muitas tao tambem so ainda entao la aqui ali ai ate cada todo toda todos todas outro outra outros outras mesmo mesma
    nem oi ola ne bem gente vai vou
";

fn stem(folded: &str) -> String {
    Stemmer::create(Algorithm::Portuguese).stem(&accented(folded)).chars().map(plain).collect()
}

/// Endings that the stemmer knows only with their accent, given back to a folded word, and plurals that it
/// does not know: so the stem is the same whether or not the accents were typed.
fn accented(folded: &str) -> Cow<'_, str> {
    // Longer endings before those that they end with.
    const ENDINGS: [(&str, &str); 20] = [
        ("encias", "ência"),
        ("ancias", "ância"),
        ("encia", "ência"),
        ("ancia", "ância"),
        ("aveis", "ável"),
        ("iveis", "ível"),
        ("avel", "ável"),
        ("ivel", "ível"),
        ("coes", "ção"),
        ("cao", "ção"),
        ("oes", "ão"),
        ("aes", "ão"),
        ("ais", "al"),
        ("eis", "el"),
        ("ois", "ol"),
        ("ens", "em"),
        ("ins", "im"),
        ("ons", "om"),
        ("uns", "um"),
        ("ao", "ão"),
    ];
    let found = ENDINGS.into_iter().find_map(|(plain, accented)| Some((folded.strip_suffix(plain)?, accented)));
    let found = found.filter(|(start, _)| start.len() > 1);
    found.map_or(Cow::Borrowed(folded), |(start, accented)| Cow::Owned(format!("{start}{accented}")))
}

fn plain(c: char) -> char {
    match c {
        'á' | 'â' | 'ã' => 'a',
        'ç' => 'c',
        'ê' => 'e',
        'í' => 'i',
        'õ' => 'o',
        _ => c,
    }
}
