//! Portuguese words of questions about data, and the English ones that are mixed with them. All words are
//! folded.

pub(crate) use super::window::{is_time_unit, is_unit, number};
use crate::stated::UnreadKind;
use crate::window::Tokens;

/// Words that a number stands beside when it counts rows.
pub(crate) const RANKS: [&str; 20] = [
    "top",
    "ultimos",
    "ultimas",
    "primeiros",
    "primeiras",
    "maiores",
    "menores",
    "melhores",
    "piores",
    "principais",
    "recentes",
    "proximos",
    "proximas",
    "first",
    "last",
    "best",
    "worst",
    "largest",
    "smallest",
    "latest",
];
/// May be written together with the number that it counts to.
pub(crate) const TOP: &str = "top";
/// Ask for the last row alone.
pub(crate) const LAST_ONE: [&str; 2] = ["ultimo", "ultima"];
/// Words between what is compared.
pub(crate) const LINKS: [&str; 10] = ["com", "a", "ao", "aos", "contra", "vs", "versus", "with", "to", "against"];
/// The word before the number of a day.
pub(crate) const DAY: &str = "dia";

/// A word as it is stemmed. The stemmer takes `dividendo` for a form of a verb and its plural for none; here
/// they are one noun.
pub(crate) fn stemmed_form(folded: &str) -> &str {
    folded.strip_suffix('s').filter(|noun| noun.ends_with("ndo")).unwrap_or(folded)
}

/// Take a subject away, add one, or put one in the place of another.
pub(crate) const REMOVE: [&str; 12] =
    ["tira", "tire", "tirar", "tirando", "remove", "remova", "exclui", "exclua", "retira", "retire", "sem", "menos"];
pub(crate) const ADD: [&str; 21] = [
    "tambem",
    "tb",
    "tbm",
    "tbem",
    "inclui",
    "inclua",
    "incluir",
    "adiciona",
    "adicione",
    "acrescenta",
    "acrescente",
    "junta",
    "junto",
    "coloca",
    "coloque",
    "colocar",
    "poe",
    "ponha",
    "bota",
    "bote",
    "botar",
];
pub(crate) const SWAP: [&str; 6] = ["troca", "troque", "trocar", "substitui", "substitua", "substituir"];
/// The stretch of time of the answer before.
pub(crate) const SAME_PERIOD: [&str; 8] = [
    "mesmo periodo",
    "nesse periodo",
    "neste periodo",
    "esse periodo",
    "mesmo intervalo",
    "nesse intervalo",
    "mesma janela",
    "nesse meio tempo",
];

/// Whether `se` with the word behind it supposes something, and is no courtesy.
pub(crate) fn is_supposing(word: &str, next: &str) -> bool {
    const POLITE: [&str; 7] = ["possivel", "puder", "pudesse", "der", "quiser", "for", "nao"];
    word == "se" && !next.is_empty() && !POLITE.contains(&next)
}

/// Whether the question itself begins here.
pub(crate) fn is_asking(word: &str) -> bool {
    ["quanto", "quanta", "quantos", "quantas", "qual", "quais", "quem", "como", "onde", "quando"].contains(&word)
}

/// Point at the subject before the last.
pub(crate) const OTHER: [&str; 8] =
    ["o outro", "a outra", "do outro", "da outra", "no outro", "pro outro", "outro fundo", "esse outro"];
/// Point at all that were listed.
pub(crate) const THESE: [&str; 10] =
    ["deles", "delas", "desses", "dessas", "destes", "destas", "esses", "essas", "eles", "nesses"];

const ARTICLES: [&str; 16] =
    ["o", "a", "do", "da", "no", "na", "pro", "pra", "ao", "os", "as", "dos", "das", "nos", "nas", "pros"];

/// `os dois`, `ambos`: how many subjects, and where the words end.
pub(crate) fn counted_pointer(tokens: &Tokens<'_>, at: usize) -> Option<(usize, usize)> {
    if tokens.is_one_of(at, &["ambos", "ambas"]) {
        return Some((2, at + 1));
    }
    let count = match tokens.word(at + 1) {
        "dois" | "duas" | "2" => 2,
        "tres" | "3" => 3,
        _ => return None,
    };
    let is_led = tokens.is_one_of(at, &["os", "as", "dos", "das", "nos", "nas", "pros", "esses", "desses"]);
    (is_led && is_alone(tokens, at + 2)).then_some((count, at + 2))
}

/// `o primeiro`, `do segundo`, `o último`: which one, none for the last, and where the words end.
pub(crate) fn ordinal_pointer(tokens: &Tokens<'_>, at: usize) -> Option<(Option<usize>, usize)> {
    let nth = match tokens.word(at + 1) {
        "primeiro" | "1o" => Some(1),
        "segundo" | "2o" => Some(2),
        "terceiro" | "3o" => Some(3),
        "quarto" | "4o" => Some(4),
        "quinto" | "5o" => Some(5),
        "ultimo" => None,
        _ => return None,
    };
    let next = at + 2 + usize::from(tokens.is_one_of(at + 2, &["fundo", "fii", "colocado", "lugar"]));
    (tokens.is_one_of(at, &ARTICLES) && is_alone(tokens, next)).then_some((nth, next))
}

/// Whether nothing follows that a word would belong to.
fn is_alone(tokens: &Tokens<'_>, next: usize) -> bool {
    const FOLLOWS: [&str; 26] = [
        "e", "qual", "quanto", "como", "tem", "paga", "pagou", "esta", "ta", "foi", "fundos", "fiis", "em", "no", "na",
        "nos", "de", "hoje", "ontem", "por", "ai", "da", "do", "lista", "que", "agora",
    ];
    next >= tokens.len() || FOLLOWS.contains(&tokens.word(next)) || !tokens.gap(next).trim().is_empty()
}

/// Whether a word changes which subjects are meant.
pub(crate) fn is_change(word: &str) -> bool {
    REMOVE.contains(&word) || ADD.contains(&word) || SWAP.contains(&word)
}

/// Words before a unit of time that say how often, not when.
pub(crate) const HOW_OFTEN: [&str; 10] = ["por", "ao", "cada", "todo", "todos", "os", "a", "dia", "mes", "dy"];

/// Words of time beside the units and months.
pub(crate) const OTHER_TIMES: [&str; 14] = [
    "amanha",
    "quinzena",
    "retrasado",
    "retrasada",
    "trasanteontem",
    "daqui",
    "feriado",
    "carnaval",
    "natal",
    "pascoa",
    "reveillon",
    "vespera",
    "seculo",
    "decada",
];

/// Whether a word is a unit of the calendar, a month or another word of time.
pub(crate) fn is_time(word: &str) -> bool {
    const ROWS: [&str; 6] = ["preg", "sess", "fech", "sessi", "trad", "busi"];
    let is_calendar = is_time_unit(word) && !ROWS.iter().any(|row| word.starts_with(row));
    is_calendar || super::window::is_sure_month(word) || OTHER_TIMES.contains(&word)
}

/// Words that lead up to a time or go on after it.
pub(crate) fn goes_with_time(word: &str) -> bool {
    const WORDS: [&str; 34] = [
        "em",
        "no",
        "na",
        "nos",
        "nas",
        "de",
        "do",
        "da",
        "dos",
        "das",
        "ate",
        "desde",
        "ha",
        "faz",
        "uns",
        "umas",
        "primeiro",
        "primeira",
        "segundo",
        "segunda",
        "ultimo",
        "ultima",
        "ultimos",
        "ultimas",
        "proximo",
        "proxima",
        "retrasado",
        "retrasada",
        "dia",
        "meados",
        "inicio",
        "fim",
        "comeco",
        "final",
    ];
    WORDS.contains(&word)
}

/// What is said of words that were not understood, where the rules have no sentence of their own.
pub(crate) fn sentence(kind: UnreadKind) -> &'static str {
    match kind {
        UnreadKind::Name => "Não conheço \"{words}\". Diga o código ou o nome do que procura.",
        UnreadKind::Period => {
            "Não entendi o período \"{words}\". Diga, por exemplo, hoje, em 27/10/2025, em março de 2025 ou nos \
             últimos 12 meses."
        }
        UnreadKind::Condition => "Não sei selecionar por \"{words}\".",
        UnreadKind::Pointer => "A que se refere \"{words}\"? Diga o código.",
        UnreadKind::Unanswered => "A última pergunta falava de {words}. De qual se trata agora? Diga o código.",
    }
}

/// What is asked of a code that is one slip away from a known one.
pub(crate) fn did_you_mean(code: &str) -> String {
    format!("Você quis dizer {code}?")
}

/// Whether a word leads to something that is selected by: `de shopping`, `em SP`.
pub(crate) fn is_qualifier(word: &str) -> bool {
    ["de", "em", "do", "da", "no", "na", "dos", "das"].contains(&word)
}

/// Words before a stretch of time that take a part of it, and behind it that move it.
pub(crate) const PARTS_OF_TIME: [&str; 10] =
    ["fim", "final", "comeco", "inicio", "meados", "meio", "metade", "mesmo", "mesma", "resto"];
pub(crate) const MOVES_TIME: [&str; 6] = ["antes", "depois", "seguinte", "seguintes", "retrasado", "retrasada"];
