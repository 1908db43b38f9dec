//! English for search: stop words, stems and the words for days and months. All words are folded.

use rust_stemmers::{Algorithm, Stemmer};

use crate::syntax::{Analysis, Calendar, Script};

pub(crate) const ANALYSIS: Analysis = Analysis {
    script: Script::Latin,
    has_accents: false,
    stop_words: STOP_WORDS,
    negations: NEGATIONS,
    small_talk: SMALL_TALK,
    stem,
    calendar: CALENDAR,
};

pub(crate) const CALENDAR: Calendar = Calendar {
    months: MONTHS,
    ambiguous_months: "may march mar",
    day_endings: &["st", "nd", "rd", "th"],
    joins: "of the",
    time_words:
        "yesterday today tomorrow last next ago week weeks weekend month months year years tonight recently just since
             monday tuesday wednesday thursday friday saturday sunday summer winter spring autumn fall",
    asks_when: "when",
    asks_which: "what which how on in",
    asked_times: "date day month year long week",
};

pub const MONTHS: [&str; 12] = [
    "january jan",
    "february feb",
    "march mar",
    "april apr",
    "may",
    "june jun",
    "july jul",
    "august aug",
    "september sep sept",
    "october oct",
    "november nov",
    "december dec",
];

const NEGATIONS: &str = "not no nor don didn doesn isn wasn aren weren won wouldn couldn shouldn hasn haven hadn";

const SMALL_TALK: &str = "
    hey hi hello oh wow bye goodbye thanks thank welcome congrats congratulations sure great good nice cool awesome
    amazing wonderful lovely fantastic glad night morning evening afternoon haha lol please sorry absolutely definitely
    exactly totally cheers dear yay aw aww
";

const STOP_WORDS: &str = "
    a an the and or but if then else of at by for with about into through during before after to from in out on off over
    under again is am are was were be been being have has had having do does did doing done will would shall should can
    could may might must i me my mine myself we us our ours you your yours he him his she her hers it its they them
    their theirs this that these those what which who whom whose when where why how not no nor so than too very just as
    there here s t d ll m re ve don didn doesn isn wasn aren weren won wouldn couldn shouldn hasn haven hadn
    oh hey hi yeah yes ok okay wow also any some both each more most other such only own same because while until
    up down herself himself itself themselves yourself ourselves let
";

fn stem(folded: &str) -> String {
    Stemmer::create(Algorithm::English).stem(folded).into_owned()
}
