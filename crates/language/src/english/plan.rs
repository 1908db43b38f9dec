//! English words of questions about data. All words are folded.

use super::{locale, names, schema, window, words};
use crate::question_grammar::{PointerWords, QuestionGrammar, RowWords, Sentences, TalkWords, TimeWords};
use crate::stated::{ConditionWords, NumberBound, UnreadKind};
use crate::window::holds;

pub(crate) static QUESTIONS: QuestionGrammar = QuestionGrammar {
    window: window::WORDS,
    talk: TALK,
    pointers: POINTERS,
    counts: RowWords {
        ranks: "top first last best worst largest smallest latest biggest highest lowest newest oldest longest shortest
            leading recent next most least cheapest",
        top: "top",
        last_one: "last latest newest",
        is_many: |word| word.ends_with('s'),
    },
    times: TIMES,
    sentences: SENTENCES,
    locale: locale::ENGLISH,
    conditions: CONDITIONS,
    schema: schema::WORDS,
    stemmed_form: |folded| folded,
    name_form: names::form_of,
    named_by: |_| Vec::new(),
    qualifiers: "of in from by for at on",
    follow_ups:
        "compare compared versus vs against also total sum average mean highest lowest maximum minimum repeat include
        add swap replace both two three first second third fourth fifth last former latter other remove drop without
        except",
    openers: "and but ok okay so then",
    opening_phrases: &["what about", "how about", "and what about", "and how about"],
    fillers: "show give tell list display find want know see look get please need like much many would could one ones
        thing things exactly anything everything there all every overall currently info information data details figure
        figures number please about go come say",
};

const TALK: TalkWords = TalkWords {
    chat: "
        hi hello hey yo hiya howdy greetings good morning afternoon evening night day bye goodbye cheers thanks thank thx
        ta ty please pls plz sorry apologies pardon excuse oops whoops wow ooh great perfect nice cool lovely awesome
        brilliant excellent fine ok okay right sure yes yeah yep yup no nope nah well so anyway actually really honestly
        basically just quickly quick maybe perhaps meant mean means meaning mistake wrong mistaken correction wait hold
        hang hmm hm um uh ah oh aha let lets show give tell list display find fetch bring print want wanted need needed
        like love wish hope think thought guess suppose wonder wondering curious know knew remember forget heard read
        saw look looking see check checking ask asking asked question answer help explain said says say told talk
        talking speak about regarding concerning interested interest would could can should may might must will shall
        do does did doing done go goes going gone come coming back again still also too already yet now then next thing
        things stuff one ones anything something everything nothing bit lot kind sort way much many more less very quite
        rather pretty enough exactly same different another else instead only even ever never always often usually here
        together subject topic changing
        there everywhere mate pal dude guys folks friend sir madam dear love doctor professor
        is are was were be been being am have has had get gets got getting take takes took give gives gave make makes made
        it its he she they them his her their hers theirs this that these those who whom whose what which when where
        why how any all each every both either neither none some few several whole entire full complete
        compare compared comparing versus remove add include drop swap replace switch change
        first second third fourth fifth last former latter
        because since though although if whether while however but and or not than as
    ",
    people: "boss son daughter father mother dad mum mom uncle aunt cousin brother sister husband wife partner boyfriend
        girlfriend neighbour neighbor colleague colleagues friend friends teacher manager grandma grandpa nephew niece
        kid kids child children",
    possessives: "my our your his her their",
    cries: "",
    is_laughter: |folded| {
        let made_of = |letters: &str| folded.len() > 3 && folded.chars().all(|c| letters.contains(c));
        made_of("ha") || made_of("he") || matches!(folded, "lol" | "rofl" | "lmao")
    },
    kinds: "code number id",
    articles: "the a an this that my our your another",
    prepositions: "of for from in on at by with about to vs versus and or than between like against without except
        minus plus into per into through since until till during after before around near",
    since: "since until till during after before through around",
    joints: "and or with vs versus against plus to",
    and: "and plus also",
    inside: "of the and in for on to a",
    spelled_verbs: "",
    is_verb: |before, folded| {
        let ends = |endings: &[&str]| folded.len() > 4 && endings.iter().any(|ending| folded.ends_with(ending));
        let may_be = !holds(TALK.prepositions, before) || matches!(before, "to" | "and" | "or");
        matches!(before, "to" | "i" | "you" | "we" | "they" | "please") || (may_be && ends(&["ing", "ly"]))
    },
    supposes: "if suppose supposing",
    courtesies: "possible not you please so",
    asks: "how what which who where when why",
    asides: &["i mean", "i meant", "that is", "you know"],
    everyday: words::EVERYDAY,
    name_leads: "of about for by and or with against vs versus",
};

const POINTERS: PointerWords = PointerWords {
    remove: "remove drop without except excluding exclude minus omit",
    add: "also too add include including plus",
    swap: "swap replace switch exchange",
    other: &["the other", "other one", "that other", "its other", "other"],
    these: "them these those they their",
    counts_alone: &[("both", 2)],
    counts: &[("two 2", 2), ("three 3", 3)],
    count_leads: "the these those all",
    ordinals: &[
        ("first 1st former", Some(1)),
        ("second 2nd", Some(2)),
        ("third 3rd", Some(3)),
        ("fourth 4th", Some(4)),
        ("fifth 5th", Some(5)),
        ("last latter", None),
    ],
    ordinal_leads: "the",
    ordinal_nouns: "one place ranked listed",
    follows: "side together and or in on of for since from has have had is was were does did please then too instead again now today
        yesterday during over before after what how by cost costs",
    links: "with to against vs versus and",
    against: "against vs versus",
    pronouns: "it its they them he she him",
    demonstratives: "this that these those same",
    answers: "list table ranking chart answer comparison",
    owners: "its their theirs them he she him",
    changes: "only just instead switch change",
};

const TIMES: TimeWords = TimeWords {
    day: "day",
    other: "tomorrow christmas easter weekend weekends holiday holidays summer winter spring autumn fortnight century
        midnight noon tonight lunchtime",
    how_often: "per each every a by times",
    goes_with:
        "in on the of at from since until till by for during over last next first second early late mid about around
        end start beginning middle this past previous",
    tells_begin: "early late mid end start beginning middle",
    parts: "early late mid end start beginning middle part half rest same",
    moves: "before earlier after later following ago",
    same: &[
        "the same period",
        "same period",
        "the same time",
        "that period",
        "this period",
        "in that time",
        "the same months",
    ],
};

const SENTENCES: Sentences = Sentences {
    unread: |kind| match kind {
        UnreadKind::Name => "I do not know \"{words}\". Give the code or the name of what you mean.",
        UnreadKind::Period => {
            "I did not understand the time \"{words}\". Say, for example, today, on 27 October 2025, in March 2025 or \
             in the last 12 months."
        }
        UnreadKind::Condition => "I cannot select by \"{words}\".",
        UnreadKind::Pointer => "What does \"{words}\" refer to? Give a code or a name.",
        UnreadKind::Unanswered => "The last question was about {words}. Which one is meant now? Give a code or a name.",
        UnreadKind::Ambiguous => "\"{words}\" may be more than one.",
        UnreadKind::Number => "I did not understand the number {words}.",
    },
    did_you_mean: |name| format!("Did you mean {name}?"),
    told: |conditions| {
        let one = |(label, op, value): &(&str, &str, String)| {
            let bound = match *op {
                ">" => "above",
                ">=" => "at least",
                "<" => "below",
                "<=" => "at most",
                _ => "is",
            };
            format!("{label} {bound} {value}")
        };
        format!("Filter: {}.", conditions.iter().map(one).collect::<Vec<_>>().join("; "))
    },
    not_answered: |words| format!("I did not answer about \"{words}\"."),
    window: window::in_words,
    more_rows: |count| format!("(There is more than this: these are the first {count} rows.)"),
    no_rows: "There is no data about this.",
};

const CONDITIONS: ConditionWords = ConditionWords {
    bounds: &[
        ("above", NumberBound::Above),
        ("over", NumberBound::Above),
        ("more than", NumberBound::Above),
        ("greater than", NumberBound::Above),
        ("larger than", NumberBound::Above),
        ("bigger than", NumberBound::Above),
        ("higher than", NumberBound::Above),
        ("longer than", NumberBound::Above),
        ("older than", NumberBound::Above),
        ("better than", NumberBound::Above),
        ("exceeding", NumberBound::Above),
        ("below", NumberBound::Below),
        ("under", NumberBound::Below),
        ("less than", NumberBound::Below),
        ("fewer than", NumberBound::Below),
        ("lower than", NumberBound::Below),
        ("smaller than", NumberBound::Below),
        ("shorter than", NumberBound::Below),
        ("cheaper than", NumberBound::Below),
        ("younger than", NumberBound::Below),
        ("worse than", NumberBound::Below),
        ("at least", NumberBound::AtLeast),
        ("no less than", NumberBound::AtLeast),
        ("minimum of", NumberBound::AtLeast),
        ("a minimum of", NumberBound::AtLeast),
        ("at most", NumberBound::AtMost),
        ("up to", NumberBound::AtMost),
        ("no more than", NumberBound::AtMost),
        ("maximum of", NumberBound::AtMost),
        ("exactly", NumberBound::Equal),
        ("equal to", NumberBound::Equal),
    ],
    fillers: "about around the",
    between: "between",
    between_links: "and to",
    from: "from",
    from_links: "to",
    signs: &["$", "£", "€"],
    sign_letters: &["us"],
    money: "dollar dollars pound pounds euro euros quid bucks usd eur gbp",
    percent: &["percent", "per cent"],
    zero: "zero nil",
    scales: &[("thousand k", 1e3), ("million millions m mn", 1e6), ("billion billions bn", 1e9)],
    of: "of",
    groups: &[","],
    points: &["."],
};
