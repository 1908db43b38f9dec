//! Russian: its words, and how its sentences are read and written.
//!
//! Owns the tables and what is asked of them; `decline` owns the endings.

mod analysis;
mod claims;
mod decline;
mod figures;
mod generated;
mod locale;
mod names;
mod plan;
mod pronoun;
mod schema;
mod window;
mod words;

use self::decline::{in_case, is_adjective};
use crate::syntax::{
    Case, Class, Entity, Form, Gender, Grammar, LAST, LoneVerb, NounPhrase, Pronoun, ReadingRules, Role, Traits,
    WordLists, WritingRules,
};

pub(crate) static GRAMMAR: Grammar = Grammar {
    analysis: analysis::ANALYSIS,
    words: WordLists {
        classes: CLASSES,
        pronouns: PRONOUNS,
        ordinals: ORDINALS,
        given_names: names::GIVEN_NAMES,
        lone_questions: &[
            (&["почему"], "Почему"),
            (&["зачем"], "Зачем"),
            (&["когда"], "Когда"),
            (&["где"], "Где"),
            (&["как"], "Как"),
        ],
        reasons: &["Почему", "Зачем"],
        replaceable: &[&["когда"], &["где"], &["почему"], &["как"]],
        more_questions: &[&["что", "еще"], &["кто", "еще"], &["где", "еще"]],
        fragment_openings: &[("как что", "насчет")],
        related_prepositions: &["в во на", "о об про"],
        partitives: &[" из них", " из двух", " из этих"],
        and: "и",
        or: "или",
        assistant: &[],
        generated: generated::WORDS,
        figures: figures::WORDS,
        facts: generated::FACTS,
        binding: generated::BINDING,
        denials: generated::DENIALS,
        nothing_found: "Я ничего об этом не нашёл.",
        compared_to: "",
    },
    traits: Traits { has_articles: false, governs_nouns: true, names_follow_nouns: true, ..Traits::NONE },
    reading: ReadingRules {
        ends_as_verb: |word, class| !class.has(Class::NOUN) && ends_as_verb(word),
        is_adjective,
        is_plural,
        is_comparative: |question, at| is_comparative(question.lower(at)),
        is_apposed: |_| true,
        gender: |_, head, _| gender(head),
        is_same_kind: |said, now| without_ending(said) == without_ending(now),
        find_pronoun: pronoun::find,
        is_made,
        lacks_object,
        both: |question, at| matches!(question.lower(at), "оба" | "обе").then_some((at, at + 1)),
        that_year: |question, at| {
            let noun = at + 1 + usize::from(question.lower(at + 1) == "же");
            (question.lower(at) == "том" && question.lower(noun) == "году").then_some(noun)
        },
        replaced_property: Some(replaced_property),
        ..ReadingRules::PLAIN
    },
    writing: WritingRules {
        in_place_of: |entity, pronoun, _| in_place_of(entity, pronoun),
        as_subject: |entity| in_case(entity, None),
        as_object: |entity| in_case(entity, Some(Case::Accusative)),
        after_pointer,
        after_previous: after_pointer,
        after_verb,
        of: |entity| in_case(entity, Some(Case::Genitive)),
        inside,
        other: |_| "ещё",
        in_year: |_, _, year| format!("{year} году"),
        ..WritingRules::PLAIN
    },
    questions: &plan::QUESTIONS,
    claims: &claims::CLAIMS,
};

const HE: Pronoun = Pronoun { form: Form::Plain, plural: false, gender: Some(Gender::Man), person: None };
const SHE: Pronoun = Pronoun { gender: Some(Gender::Woman), ..HE };
const THEY: Pronoun = Pronoun { plural: true, gender: None, ..HE };

const fn pronoun_in(pronoun: Pronoun, case: Case) -> Pronoun {
    Pronoun { form: Form::Case(case), ..pronoun }
}

const PRONOUNS: &[(&str, Pronoun)] = &[
    ("он оно", HE),
    ("она", SHE),
    ("они", THEY),
    ("его", pronoun_in(HE, Case::Accusative)),
    ("него", pronoun_in(HE, Case::Genitive)),
    ("ему нему", pronoun_in(HE, Case::Dative)),
    ("им ним", pronoun_in(HE, Case::Instrumental)),
    ("нем", pronoun_in(HE, Case::Locative)),
    ("ее", pronoun_in(SHE, Case::Accusative)),
    ("нее", pronoun_in(SHE, Case::Genitive)),
    ("ей ней", pronoun_in(SHE, Case::Dative)),
    ("ею нею", pronoun_in(SHE, Case::Instrumental)),
    ("их", pronoun_in(THEY, Case::Accusative)),
    ("них", pronoun_in(THEY, Case::Genitive)),
    ("ими ними", pronoun_in(THEY, Case::Instrumental)),
];

const ORDINALS: &[(&str, usize)] = &[
    ("первый первая первое первого первому первую первой", 0),
    ("второй вторая второе второго второму вторую", 1),
    ("третий третья третье третьего третьему третью", 2),
    ("последний последняя последнего последнему последнюю", LAST),
];

const CLASSES: &[(Class, &str)] = &[
    (Class::INDEFINITE, "один одна одно одни два две три четыре пять много несколько все всех каждый любой другой другая другие"),
    (Class::MY, "мой моя мое мои моего моей моему моих моим наш наша наше наши"),
    (Class::YOUR, "твой твоя твое твои твоего твоей ваш ваша ваше ваши"),
    (
        Class::POINTER,
        "это этот эта эти этого этой этому этим этом эту этих тот та те того той тому тем том ту тех такой такая такое
         такие",
    ),
    (Class::NEUTER, "это этого этому этим этом"),
    (
        Class::PREPOSITION,
        "в во на с со к ко у о об обо по за из от до для без при про через над под между после перед из-за около вокруг
         против кроме среди",
    ),
    (Class::ABOUT, "про о об обо"),
    (Class::AND, "и"),
    (Class::OR, "или"),
    (Class::CLAUSE, "и а но если когда что чтобы где который которая которые потому , ; : или как ли то"),
    (Class::BE, "есть был была было были будет будут такое такой такая такие это"),
    (
        Class::ASKING,
        "что кто какой какая какое какие какую каких каким какого какому где куда откуда когда почему зачем сколько чей чья
         чем кого кому чего как который каком какими",
    ),
    (
        Class::SPEAKER,
        "я ты мы вы меня тебя нас вас мне тебе нам вам мной тобой нами вами себя себе кто-то никто все что-то ничего
         кто-нибудь что-нибудь",
    ),
    (
        Class::ADVERB,
        "сам сама само сами не ни уже еще также тоже только лишь очень более менее самый самая самое самые сейчас потом здесь тут всегда
         никогда вообще быстро хорошо плохо можно нужно надо нельзя ли же бы вот даже почти примерно обычно часто много
         мало впервые теперь",
    ),
    (Class::FILLER, "да нет привет здравствуйте спасибо пожалуйста ок окей хорошо понятно ладно ну ага конечно отлично"),
    (Class::VERB, VERBS),
    (Class::NOUN, NOUNS),
    (Class::ADJECTIVE, "способен способна способны должен должна должны нужен нужна нужно нужны лучше хуже дешевле дороже больше меньше выше ниже важно полезно вредно"),
    (Class::RELATIONAL, RELATIONAL),
    (Class::TIME, TIMES),
    (
        Class::MAN,
        "папа отец брат дедушка дед сын муж дядя племянник парень король мужчина мальчик отца брата сына мужа отцу брату",
    ),
    (
        Class::WOMAN,
        "мама мать сестра бабушка дочь жена тетя племянница девушка королева женщина девочка маму сестру дочку жену маме
         сестре",
    ),
    (
        Class::PERSON,
        "начальник врач друг подруга учитель учительница президент автор директор актер актриса певец певица писатель
         поэт поэтесса ученый тренер основатель сосед коллега родители дети ребенок друзья",
    ),
    (Class::TITLED, TITLED),
    (Class::KIND, TITLED),
    (Class::EMPTY, "способ раз вещь вещи день дни время времени часть сторона случай пример помощь вопрос ответ место люди человек лет год дела"),
    (Class::COLLECTIVE, "группа команда семья компания класс полиция правительство"),
    (
        Class::ORDINAL,
        "первый первая первое первого первому первую первой второй вторая второе второго второму вторую третий третья
         третье третьего третьему третью последний последняя последнего последнему последнюю",
    ),
    (Class::THERE, "там"),
    (Class::PREVIOUS, "предыдущий предыдущая предыдущее предыдущим предыдущей предыдущего предыдущую"),
    (Class::COMPARES, "сравни сравните сравнить"),
    (Class::CONTINUES, "а"),
    (Class::WHO, "кто"),
    (Class::CHOOSES, "какой какая какое что кто"),
    (Class::ELSE, "еще"),
    (Class::NOW, "теперь"),
    (Class::THEN, "тогда"),
    (Class::LETTER, "звонок"),
    (Class::LIVES, "лет родился родилась умер умерла жил жила учился училась"),
    // Names in Latin letters keep their own word for `of`.
    (Class::OF, "of de do da dos das"),
    (Class::AFTER_HEAD, "of"),
    (Class::OWNER, "'s"),
    (Class::IN_PLACE, "в во на"),
    (Class::BEFORE_PLACE, "в во на"),
    (Class::WITH, "с со"),
    (Class::TITLE, "г mr mrs ms dr st sr sra"),
    (Class::CURRENCY, "r"),
];

const VERBS: &str = "
    расскажи расскажите скажи скажите покажи покажите объясни объясните найди найдите посоветуй посоветуйте напиши
    напишите позвони позвоните включи выключи поставь закажи добавь удали запиши переведи сравни помоги помогите открой
    закрой купи знаю знает знаешь стоит стоят живу живет живут жил жила могу может могут можешь хочу хочет хотят люблю
    любит дает дают идет идут шел шла шло ест едят ем пьет пьют умер умерла родился родилась создал создала создали
    написал написала написали снял сняла сняли изобрел изобрела изобрели открыл открыла открыли основал основали построил
    построили купил купила купили сделал сделала сделали работает работают находится находятся называется называются
    является являются образуется образуются начался началась началось начались закончился закончилась происходит
    происходят отличается отличаются влияет влияют занимает занимают означает значит длится зовут платит платят весит
    весят растет растут бывает бывают нравится помогает помогают вызывает вызывают лечить купить сделать посмотреть
    кормить варить доехать оформить продлить приготовить узнать понять получить заменить умеешь умеет умею говоришь
    вышел вышла вышло вышли познакомились основала подключить отменить оплачивает оплатить вернуть снизить пылесосит
    моет строит весил стоил стоила ведет ведут делает делают имеет имеют содержит содержат включает входит входят
    действует действуют требует требуют нужен нужна нужны открылся открылась закрылся вырос выросла упал упала победил
    победила снялся снялась играл играла пел пела служил служила руководит возглавляет возглавил получил получила
    говорит говорю спросит придет прийти полетел убил придумал выиграл выиграла стал стала стали был
";

const RELATIONAL: &str = "
    симптом симптомы причина причины эффект эффекты лечение история происхождение значение определение вид виды тип типы
    пример примеры польза вред плюсы минусы преимущества недостатки преимущество недостаток риск риски особенности
    характеристики функция функции цель цели роль важность влияние отличие отличия разница часть части автор создатель
    основатель цена цены стоимость курс размер вес высота длина глубина возраст население столица площадь состав
    ингредиенты этапы этап результаты результат последствия требования правила принципы применение версии версия модели
    структура ставка лимит срок график прибыль выручка доход дивиденды капитализация показания противопоказания
    профилактика диагностика температура расстояние скорость свойства элементы формула адрес телефон альтернативы сюжет
    тема темы персонажи награды открытия условия гарантия комплектация доставка скидка скидки редактор директор владелец
    отзывы билеты офис штраф процент зарплата капитан тренер мэр валюта климат экономика культура бюджет пароль батарея
    мощность объем цвет цвета режим вход расписание комиссия франшиза взнос
    ограничения возможности сотрудники руководитель глубина
";

const TIMES: &str = "
    сегодня завтра вчера послезавтра позавчера утром днем вечером ночью неделя неделю неделе месяц год году день
    понедельник вторник среда среду четверг пятница пятницу суббота субботу воскресенье январе феврале марте апреле мае
    июне июле августе сентябре октябре ноябре декабре января февраля марта апреля мая июня июля августа сентября октября
    ноября декабря выходные летом зимой осенью весной час часов минут
";

/// Kinds of things that are called by a name of their own.
const TITLED: &str = "
    песня песню альбом фильм книга книгу роман сериал игра игру группа артист певец певица город страна страну остров
    компания компанию банк бренд команда музей университет школа война болезнь закон ресторан отель акция акцию фонд
    экзамен налог программа приложение сайт лекарство продукт план курс язык планета животное растение процесс система
";

const NOUNS: &str = "мать кровать печать память сеть треть нить площадь рать клеть нефть медь сайте элите";

/// Whether a verb is of things alone.
fn is_made(verb: &str) -> bool {
    matches!(
        verb,
        "стоит"
            | "стоят"
            | "вышел"
            | "вышла"
            | "вышло"
            | "вышли"
            | "открывается"
            | "построен"
            | "построена"
            | "длится"
    )
}

fn lacks_object(it: &LoneVerb<'_>) -> bool {
    const COMPLETE: [&str; 10] =
        ["делать", "быть", "зовут", "идти", "пройти", "ехать", "доехать", "это", "был", "значит"];
    it.is_verb && !COMPLETE.contains(&it.verb) && matches!(it.asking, "сколько" | "когда" | "кто" | "где" | "как")
}

/// What is left out after a verb: what is done to, or what does.
fn after_verb(entity: &Entity, verb: &str, who: bool) -> String {
    let infinitive = ["ть", "ти", "чь"].iter().any(|end| verb.ends_with(end));
    in_case(entity, (who || infinitive).then_some(Case::Accusative))
}

/// What is left of a noun when its ending is taken off.
fn without_ending(word: &str) -> String {
    word.chars().take(word.chars().count().saturating_sub(2).max(4)).collect()
}

fn is_comparative(word: &str) -> bool {
    matches!(
        word,
        "лучше"
            | "хуже"
            | "больше"
            | "меньше"
            | "дешевле"
            | "дороже"
            | "выше"
            | "ниже"
            | "старше"
            | "моложе"
    ) || (word.chars().count() > 5 && word.ends_with("ее"))
}

fn ends_as_verb(word: &str) -> bool {
    const ENDS: [&str; 24] = [
        "ться", "тся", "ешь", "ишь", "ает", "яет", "ует", "еет", "ают", "яют", "уют", "еют", "лась", "лись", "лось",
        "лся", "нуть", "ить", "ать", "ять", "еть", "айте", "ите", "шёл",
    ];
    let letters = word.chars().count();
    ENDS.iter().any(|end| letters > end.chars().count() + 1 && word.ends_with(end))
}

fn is_plural(word: &str) -> bool {
    const OBLIQUE: [&str; 4] = ["ах", "ях", "ами", "ями"];
    let letters = word.chars().count();
    letters > 3 && word.ends_with(['ы', 'и']) || letters > 4 && OBLIQUE.iter().any(|end| word.ends_with(end))
}

/// By the ending of the nominative; Latin words and soft endings tell nothing.
fn gender(head: &str) -> Option<Gender> {
    match head.chars().next_back()? {
        'а' | 'я' | 'у' | 'ю' => Some(Gender::Woman),
        'б' | 'в' | 'г' | 'д' | 'ж' | 'з' | 'й' | 'к' | 'л' | 'м' | 'н' | 'п' | 'р' | 'с' | 'т' | 'ф' | 'х' | 'ц'
        | 'ч' | 'ш' | 'щ' | 'о' => Some(Gender::Man),
        _ => None,
    }
}

/// A phrase in the place of a pronoun, in its case.
fn in_place_of(entity: &Entity, pronoun: &Pronoun) -> String {
    match pronoun.form {
        Form::Case(case) => in_case(entity, Some(case)),
        _ => in_case(entity, None),
    }
}

/// A phrase in the place of a pointer, in its case.
fn after_pointer(entity: &Entity, pointer: &str) -> String {
    let case = match pointer {
        _ if pointer.ends_with("ого") || pointer.ends_with("его") || pointer == "этих" => {
            Some(Case::Genitive)
        }
        _ if pointer.ends_with("ому") => Some(Case::Dative),
        _ if pointer.ends_with("им") => Some(Case::Instrumental),
        "этом" | "том" => Some(Case::Locative),
        "эту" | "ту" => Some(Case::Accusative),
        _ => None,
    };
    in_case(entity, case)
}

fn inside(entity: &Entity) -> String {
    let preposition = if entity.preposition == "на" { "на" } else { "в" };
    format!("{preposition} {}", in_case(entity, Some(Case::Locative)))
}

/// What the last question asked for, whose place another property takes; without one, what it was about.
fn replaced_property(said: &NounPhrase, asked: &[&NounPhrase]) -> Option<(usize, usize)> {
    let property = asked.windows(2).find_map(|pair| match pair {
        [first, second]
            if !first.features.named
                && second.words.start >= first.words.end
                && (second.features.named || second.preposition.is_some()) =>
        {
            Some(*first)
        }
        _ => None,
    });
    let defined = asked.iter().find(|it| it.role == Role::Topic).copied();
    let only = asked.first().filter(|it| asked.len() == 1 && !it.wanted && !it.features.named).copied();
    let old = property.or(defined).or(only)?;
    (said.words.len() <= 2).then_some((old.words.start, old.words.end))
}
