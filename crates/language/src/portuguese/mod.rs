//! Portuguese: its words, how its sentences are read and written, and the words of questions about data.

mod analysis;
mod claims;
mod figures;
mod generated;
mod locale;
mod names;
mod plan;
mod pronoun;
mod schema;
mod window;
mod words;

use self::words::{ADJECTIVES, NOUNS, RELATIONAL, TIMES, TITLED, VERBS};
use crate::syntax::{
    Class, Determined, Entity, FollowUp, Form, Gender, Grammar, LAST, LoneVerb, NounPhrase, Pronoun, ReadingRules,
    Role, Traits, WordLists, WritingRules,
};

pub(crate) static GRAMMAR: Grammar = Grammar {
    analysis: analysis::ANALYSIS,
    words: WordLists {
        classes: CLASSES,
        pronouns: PRONOUNS,
        ordinals: ORDINALS,
        given_names: names::GIVEN_NAMES,
        lone_questions: &[
            (&["por", "que"], "Por que"),
            (&["por", "quê"], "Por que"),
            (&["porque"], "Por que"),
            (&["porquê"], "Por que"),
            (&["quando"], "Quando"),
            (&["onde"], "Onde"),
            (&["como"], "Como"),
            (&["por", "quem"], "Por quem"),
        ],
        reasons: &["Por que"],
        replaceable: &[&["quando"], &["onde"], &["como"], &["por", "que"]],
        more_questions: &[&["o", "que", "mais"], &["que", "mais"], &["quem", "mais"], &["mais", "algo"]],
        fragment_openings: &[("quanto", "a ao à aos às")],
        related_prepositions: &[
            "de do da dos das",
            "em no na nos nas",
            "a ao à aos às para pra pro",
            "por pelo pela pelos pelas",
        ],
        partitives: &[" deles", " delas", " dos dois", " das duas"],
        and: "e",
        or: "ou",
        assistant: &["assistente"],
        generated: generated::WORDS,
        figures: figures::WORDS,
        facts: generated::FACTS,
        binding: generated::BINDING,
        denials: generated::DENIALS,
        nothing_found: "Não encontrei nada sobre isso.",
        compared_to: "",
    },
    traits: Traits { names_follow_nouns: true, definite_parts: true, unknown_verbs: true, ..Traits::NONE },
    reading: ReadingRules {
        ends_as_verb: |word, class| !class.has(Class::KIND.or(Class::NOUN)) && ends_as_verb(word),
        is_plural,
        is_comparative: |question, at| {
            matches!(question.lower(at), "mais" | "menos" | "melhor" | "pior" | "maior" | "menor")
        },
        number,
        gender,
        find_pronoun: pronoun::find,
        is_made,
        lacks_subject,
        lacks_object,
        both: |question, at| match (question.lower(at), question.lower(at + 1)) {
            ("os", "dois") | ("as", "duas") => Some((at, at + 2)),
            ("ambos" | "ambas", _) => Some((at, at + 1)),
            _ => None,
        },
        that_year: |question, at| {
            let noun = at + 1 + usize::from(question.lower(at + 1) == "mesmo");
            let points = matches!(question.lower(at), "naquele" | "nesse" | "neste");
            (points && question.lower(noun) == "ano").then_some(noun)
        },
        replaced_property: Some(replaced_property),
        ..ReadingRules::PLAIN
    },
    writing: WritingRules {
        article,
        in_place_of: |entity, pronoun, _| in_place_of(entity, pronoun),
        after_pointer,
        of,
        inside,
        other: |noun| match noun.map(|noun| gender("", noun, false)) {
            None => "mais",
            Some(Some(Gender::Woman)) => "outras",
            Some(_) => "outros",
        },
        in_year: |_, _, year| format!("em {year}"),
        ..WritingRules::PLAIN
    },
    questions: &plan::QUESTIONS,
    claims: &claims::CLAIMS,
};

const HE: Pronoun = Pronoun { form: Form::Plain, plural: false, gender: Some(Gender::Man), person: None };
const SHE: Pronoun = Pronoun { gender: Some(Gender::Woman), ..HE };
const THEY: Pronoun = Pronoun { plural: true, ..HE };
const THEY_SHE: Pronoun = Pronoun { plural: true, ..SHE };

const PRONOUNS: &[(&str, Pronoun)] = &[
    ("ele", HE),
    ("ela", SHE),
    ("eles", THEY),
    ("elas", THEY_SHE),
    ("dele", Pronoun { form: Form::Of, ..HE }),
    ("dela", Pronoun { form: Form::Of, ..SHE }),
    ("deles", Pronoun { form: Form::Of, ..THEY }),
    ("delas", Pronoun { form: Form::Of, ..THEY_SHE }),
    ("nele", Pronoun { form: Form::In, ..HE }),
    ("nela", Pronoun { form: Form::In, ..SHE }),
    ("neles", Pronoun { form: Form::In, ..THEY }),
    ("nelas", Pronoun { form: Form::In, ..THEY_SHE }),
];

const ORDINALS: &[(&str, usize)] = &[
    ("primeiro primeira", 0),
    ("segundo segunda", 1),
    ("terceiro terceira", 2),
    ("quarto quarta", 3),
    ("último última ultimo ultima", LAST),
];

const CLASSES: &[(Class, &str)] = &[
    (
        Class::DEFINITE,
        "o a os as do da dos das no na nos nas ao aos à às pelo pela pelos pelas pro pra",
    ),
    (
        Class::INDEFINITE,
        "um uma uns umas algum alguma alguns algumas nenhum nenhuma cada todo toda todos todas vários várias muitos
         muitas poucos poucas dois duas três quatro cinco num numa outro outra outros outras qualquer quaisquer",
    ),
    (Class::MY, "meu minha meus minhas nosso nossa nossos nossas"),
    (Class::YOUR, "seu sua seus suas teu tua teus tuas"),
    (
        Class::POINTER,
        "esse essa esses essas este esta estes estas aquele aquela aqueles aquelas isso isto aquilo desse dessa desses
         dessas deste desta destes destas disso disto daquele daquela daquilo nesse nessa nesses nessas neste nesta
         nisso nisto naquele naquela",
    ),
    (Class::NEUTER, "isso isto aquilo disso disto nisso nisto"),
    (
        Class::PREPOSITION,
        "de em para por com sem sobre entre até desde após contra durante segundo conforme à às ao aos do da dos das no na
         nos nas num numa pelo pela pelos pelas pra pro",
    ),
    (Class::ABOUT, "sobre"),
    (Class::AND, "e"),
    (Class::OR, "ou"),
    (Class::CLAUSE, "e mas se quando enquanto porque que onde como , ; : então pois ou qual quais quem caso"),
    (Class::BE, "é são foi foram era eram será serão seria sou sao"),
    (Class::ASKING, "que qual quais quem quando onde como quanto quanta quantos quantas cadê porque"),
    (
        Class::SPEAKER,
        "eu você vocês vc vcs nós me mim te gente alguém ninguém lhe lhes comigo contigo conosco se si tudo nada algo",
    ),
    (
        Class::ADVERB,
        "não nao mais menos muito muita pouco também tambem já ja ainda só so agora aqui ali aí sempre nunca bem mal tão
         quase depois antes logo assim mesmo então apenas talvez realmente além fora dentro perto longe cedo tarde",
    ),
    (
        Class::FILLER,
        "oi olá ola sim ok okay certo obrigado obrigada valeu favor beleza então bom boa legal ótimo perfeito entendi
         claro ah oh opa tá ta",
    ),
    (Class::VERB, VERBS),
    (Class::NOUN, NOUNS),
    (Class::ADDRESSES, "avisa avise liga ligue manda mande pergunta pergunte diz diga fala fale chama chame"),
    (Class::ADJECTIVE, ADJECTIVES),
    (Class::RELATIONAL, RELATIONAL),
    (Class::TIME, TIMES),
    (
        Class::MAN,
        "pai irmão avô filho marido tio sobrinho namorado rei homem menino rapaz senhor sr primo genro sogro cunhado",
    ),
    (
        Class::WOMAN,
        "mãe irmã avó filha esposa tia sobrinha namorada rainha mulher menina moça senhora sra prima nora sogra cunhada",
    ),
    (
        Class::PERSON,
        "chefe médico médica doutor doutora amigo amiga professor professora presidente autor autora diretor diretora
         ator atriz cantor cantora artista escritor escritora jogador jogadora fundador fundadora vizinho vizinha colega
         advogado advogada pais filhos família artilheiro artilheira inventor pintor",
    ),
    (Class::TITLED, TITLED),
    (Class::KIND, TITLED),
    (
        Class::EMPTY,
        "jeito forma maneira vez vezes coisa coisas dia dias tempo parte lado caso exemplo ajuda informação pergunta
         perguntas resposta nome lugar pessoa pessoas gente tipo problema ideia motivo anos ano",
    ),
    (Class::COLLECTIVE, "grupo time equipe banda família turma empresa governo polícia"),
    (Class::ORDINAL, "primeiro primeira segundo segunda terceiro terceira quarto quarta último última ultimo ultima"),
    (Class::THERE, "lá"),
    (Class::PREVIOUS, "anterior"),
    (Class::COMPARES, "compara compare comparar comparando compará comparado"),
    (Class::WEATHER, "chover chove chovendo chuva nevar"),
    (Class::CONTINUES, "mas"),
    (Class::WHO, "quem"),
    (Class::DEFINES, "o que"),
    (Class::BEFORE_ASKING, "o"),
    (Class::CHOOSES, "qual quais quem"),
    (Class::ELSE, "mais"),
    (Class::NOW, "agora"),
    (Class::LETTER, "ligação mensagem"),
    (Class::LIVES, "nasceu morreu vive viveu estudou mora"),
    // Names from other languages keep their own word for `de`.
    (Class::OF, "de do da dos das of"),
    (Class::AFTER_HEAD, "of"),
    (Class::OWNER, "'s"),
    (Class::SORT_OF, "de"),
    (Class::IN_PLACE, "em no na nos nas"),
    (Class::BEFORE_PLACE, "em no na para"),
    (Class::WITH, "com"),
    (Class::TO, "ao à"),
    (Class::A, "um uma"),
    (Class::NAME_ARTICLE, "o a os as"),
    (Class::TITLE, "sr sra dr mr mrs ms st"),
    (Class::CURRENCY, "r"),
];

/// Whether a verb is of things alone.
fn is_made(verb: &str) -> bool {
    const ENDS: [&str; 9] =
        ["lançad", "publicad", "inaugurad", "construíd", "fundad", "vendid", "fabricad", "inventad", "escrit"];
    matches!(verb, "custa" | "custam" | "funciona" | "cobre" | "rende" | "inclui")
        || verb.strip_suffix(['o', 'a']).is_some_and(|stem| ENDS.contains(&stem))
}

/// Verbs that begin a question whose subject is left out.
const WITHOUT_SUBJECT: [&str; 20] = [
    "é", "são", "tem", "cobre", "inclui", "vale", "funciona", "precisa", "aceita", "serve", "custa", "vem", "dura",
    "possui", "permite", "usa", "cobra", "rende", "paga", "oferece",
];

/// `Tem garantia?`, and not `É possível?`.
fn lacks_subject(question: &FollowUp<'_>, at: usize) -> bool {
    let impersonal = matches!(
        question.lower(at + 1),
        "como" | "que" | "possível" | "preciso" | "necessário" | "verdade" | "permitido"
    );
    WITHOUT_SUBJECT.contains(&question.lower(at)) && !impersonal
}

fn lacks_object(it: &LoneVerb<'_>) -> bool {
    it.is_verb
        && !matches!(it.verb, "vai" | "está" | "chama" | "fazer" | "faço" | "diz" | "foi" | "ir" | "é")
        && matches!(it.asking, "quanto" | "quando" | "quem" | "onde" | "como" | "quantos" | "quantas")
}

fn ends_as_verb(word: &str) -> bool {
    const ENDS: [&str; 16] = [
        "ar", "er", "ir", "ou", "iu", "ando", "endo", "indo", "aram", "eram", "iram", "avam", "ava", "aria", "aremos",
        "asse",
    ];
    let letters = word.chars().count();
    pronoun::without_clitic(word).is_some() || ENDS.iter().any(|end| letters > end.len() + 1 && word.ends_with(end))
}

fn is_plural(word: &str) -> bool {
    const NO_PLURALS: [&str; 14] = [
        "país", "mês", "gás", "vírus", "ônibus", "lápis", "mais", "menos", "três", "tênis", "ônus", "campus", "bônus",
        "diabetes",
    ];
    word.len() > 3 && word.ends_with('s') && !NO_PLURALS.contains(&word)
}

/// The article with which a phrase is taken up again, by what stood before it. What was first asked about as
/// one of its kind stays one.
fn article<'d>(it: &Determined<'d>) -> &'d str {
    let determiner = it.determiner;
    match determiner {
        "um" | "uma" if it.generic && it.by_user => determiner,
        "o" | "do" | "no" | "ao" | "pelo" | "pro" | "um" | "num" | "esse" | "este" | "aquele" | "desse" | "nesse" => {
            "o"
        }
        "a" | "da" | "na" | "à" | "pela" | "pra" | "uma" | "numa" | "essa" | "esta" | "aquela" | "dessa" | "nessa" => {
            "a"
        }
        "os" | "dos" | "nos" | "aos" | "pelos" | "esses" | "estes" | "aqueles" => "os",
        "as" | "das" | "nas" | "às" | "pelas" | "essas" | "estas" | "aquelas" => "as",
        "meu" | "minha" | "meus" | "minhas" | "nosso" | "nossa" | "nossos" | "nossas" => determiner,
        _ => "",
    }
}

/// One or many, by the article.
fn number(article: &str) -> Option<bool> {
    match article {
        "o" | "a" | "um" | "uma" => Some(false),
        "os" | "as" => Some(true),
        _ => None,
    }
}

/// By the article, or by the ending of a common noun.
fn gender(article: &str, head: &str, named: bool) -> Option<Gender> {
    match article {
        "o" | "os" | "um" | "meu" | "meus" | "nosso" | "nossos" => return Some(Gender::Man),
        "a" | "as" | "uma" | "minha" | "minhas" | "nossa" | "nossas" => return Some(Gender::Woman),
        _ => {}
    }
    const WOMEN: [&str; 6] = ["a", "as", "ção", "ções", "dade", "gem"];
    const MEN: [&str; 3] = ["o", "os", "ismo"];
    let ends = |ends: &[&str]| ends.iter().any(|end| head.ends_with(end));
    match () {
        () if named => None,
        () if ends(&WOMEN)
            && !["problema", "sistema", "programa", "tema", "dia", "mapa", "planeta"].contains(&head) =>
        {
            Some(Gender::Woman)
        }
        () if ends(&MEN) && !head.ends_with("ão") => Some(Gender::Man),
        () => None,
    }
}

/// A phrase in the place of a pronoun. A common noun that was said without an article takes the pronoun's.
fn in_place_of(entity: &Entity, pronoun: &Pronoun) -> String {
    let own = match (pronoun.gender, pronoun.plural) {
        (Some(Gender::Woman), false) => "a",
        (Some(Gender::Woman), true) => "as",
        (_, false) => "o",
        (_, true) => "os",
    };
    let article = if entity.article.is_empty() && !entity.features.named { own } else { entity.article.as_str() };
    match pronoun.form {
        Form::Of => contracted("de", article, &entity.name),
        Form::In => contracted("em", article, &entity.name),
        _ if article.is_empty() => entity.name.clone(),
        _ => format!("{article} {}", entity.name),
    }
}

/// A preposition, an article and a name.
fn contracted(preposition: &str, article: &str, name: &str) -> String {
    let both = match (preposition, article) {
        (_, "") => preposition.to_owned(),
        ("de", "o" | "a" | "os" | "as") => format!("d{article}"),
        ("em", "o" | "a" | "os" | "as") => format!("n{article}"),
        _ => format!("{preposition} {article}"),
    };
    format!("{both} {name}")
}

/// A phrase in the place of a pointer, whose first letter tells what it is contracted with.
fn after_pointer(entity: &Entity, pointer: &str) -> String {
    match pointer.chars().next() {
        Some('d') => of(entity),
        Some('n') => inside(entity),
        _ => entity.full(),
    }
}

fn inside(entity: &Entity) -> String {
    contracted("em", &entity.article, &entity.name)
}

fn of(entity: &Entity) -> String {
    contracted("de", &entity.article, &entity.name)
}

/// What the last question asked for, whose place another property takes; without one, what it was about.
fn replaced_property(said: &NounPhrase, asked: &[&NounPhrase]) -> Option<(usize, usize)> {
    let start = |phrase: &NounPhrase| {
        phrase.determiner.filter(|at| phrase.preposition != Some(*at)).unwrap_or(phrase.words.start)
    };
    let property = asked.windows(2).find_map(|pair| match pair {
        [first, second] if !first.features.named && second.preposition == Some(first.words.end) => Some(*first),
        _ => None,
    });
    let last = asked
        .iter()
        .rev()
        .find(|it| it.determiner.is_some() && it.preposition.is_none() && !it.features.named)
        .copied();
    let defined = asked.iter().find(|it| it.role == Role::Topic).copied();
    let old = match said.determiner {
        Some(_) => property.or(last).or(defined),
        None => defined,
    }?;
    Some((start(old), old.words.end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prepositions_and_articles_become_one() {
        assert_eq!(contracted("de", "o", "HGLG11"), "do HGLG11");
        assert_eq!(contracted("em", "as", "Filipinas"), "nas Filipinas");
        assert_eq!(contracted("de", "um", "ETF"), "de um ETF");
        assert_eq!(contracted("de", "", "Marta"), "de Marta");
    }

    #[test]
    fn nouns_that_end_like_verbs_are_none() {
        assert!(["comprar", "falando", "chegou", "venderam"].iter().all(|word| ends_as_verb(word)));
        let lexicon = crate::Language::Portuguese.lexicon();
        assert!(!["lugar", "mundo", "dólar", "fundo", "malária"].iter().any(|word| lexicon.is_verb(word)));
    }
}
