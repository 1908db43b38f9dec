//! Russian: its words, and how a phrase takes the case of the pronoun whose place it takes.
//!
//! Owns the tables and what is asked of them; `decline` owns the endings.

mod decline;

use self::decline::in_the;
pub use self::decline::{case_after, is_adjective};
use super::entity::Entity;
use super::lexicon::{Case, Class, Form, Gender, LAST, Pronoun};
use super::phrase::{Phrase, Role};
use super::token::Token;

const HE: Pronoun = Pronoun { form: Form::Plain, plural: false, gender: Some(Gender::Man), person: None };
const SHE: Pronoun = Pronoun { gender: Some(Gender::Woman), ..HE };
const THEY: Pronoun = Pronoun { plural: true, gender: None, ..HE };

const fn in_case(pronoun: Pronoun, case: Case) -> Pronoun {
    Pronoun { form: Form::Case(case), ..pronoun }
}

pub const PRONOUNS: &[(&str, Pronoun)] = &[
    ("он оно", HE),
    ("она", SHE),
    ("они", THEY),
    ("его", in_case(HE, Case::Accusative)),
    ("него", in_case(HE, Case::Genitive)),
    ("ему нему", in_case(HE, Case::Dative)),
    ("им ним", in_case(HE, Case::Instrumental)),
    ("нем", in_case(HE, Case::Locative)),
    ("ее", in_case(SHE, Case::Accusative)),
    ("нее", in_case(SHE, Case::Genitive)),
    ("ей ней", in_case(SHE, Case::Dative)),
    ("ею нею", in_case(SHE, Case::Instrumental)),
    ("их", in_case(THEY, Case::Accusative)),
    ("них", in_case(THEY, Case::Genitive)),
    ("ими ними", in_case(THEY, Case::Instrumental)),
];

pub const ORDINALS: &[(&str, usize)] = &[
    ("первый первая первое первого первому первую первой", 0),
    ("второй вторая второе второго второму вторую", 1),
    ("третий третья третье третьего третьему третью", 2),
    ("последний последняя последнего последнему последнюю", LAST),
];

pub const CLASSES: &[(Class, &str)] = &[
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

/// Verbs of which people are the subject.
pub const LIVES: [&str; 9] = ["лет", "родился", "родилась", "умер", "умерла", "жил", "жила", "учился", "училась"];

/// Whether a verb is of things alone.
pub fn is_made(verb: &str) -> bool {
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

/// Whether a verb at the end of a question leaves out its subject or object.
pub fn needs_more(asking: &str, verb: &str) -> bool {
    !matches!(
        verb,
        "делать"
            | "быть"
            | "зовут"
            | "идти"
            | "пройти"
            | "ехать"
            | "доехать"
            | "это"
            | "был"
            | "значит"
    ) && matches!(asking, "сколько" | "когда" | "кто" | "где" | "как")
}

pub fn object(entity: &Entity) -> String {
    in_the(entity, Some(Case::Accusative))
}

/// What is left out after a verb: what is done to, or what does.
pub fn after_verb(entity: &Entity, verb: &str, who: bool) -> String {
    let infinitive = ["ть", "ти", "чь"].iter().any(|end| verb.ends_with(end));
    in_the(entity, (who || infinitive).then_some(Case::Accusative))
}

pub fn is_comparative(word: &str) -> bool {
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

pub fn ends_as_verb(word: &str) -> bool {
    const ENDS: [&str; 24] = [
        "ться", "тся", "ешь", "ишь", "ает", "яет", "ует", "еет", "ают", "яют", "уют", "еют", "лась", "лись", "лось",
        "лся", "нуть", "ить", "ать", "ять", "еть", "айте", "ите", "шёл",
    ];
    let letters = word.chars().count();
    ENDS.iter().any(|end| letters > end.chars().count() + 1 && word.ends_with(end))
}

pub fn is_plural(word: &str) -> bool {
    const OBLIQUE: [&str; 4] = ["ах", "ях", "ами", "ями"];
    let letters = word.chars().count();
    letters > 3 && word.ends_with(['ы', 'и']) || letters > 4 && OBLIQUE.iter().any(|end| word.ends_with(end))
}

/// By the ending of the nominative; Latin words and soft endings tell nothing.
pub fn gender(head: &str) -> Option<Gender> {
    match head.chars().next_back()? {
        'а' | 'я' | 'у' | 'ю' => Some(Gender::Woman),
        'б' | 'в' | 'г' | 'д' | 'ж' | 'з' | 'й' | 'к' | 'л' | 'м' | 'н' | 'п' | 'р' | 'с' | 'т' | 'ф' | 'х' | 'ц'
        | 'ч' | 'ш' | 'щ' | 'о' => Some(Gender::Man),
        _ => None,
    }
}

/// A phrase in the place of a pronoun, in its case.
pub fn written(entity: &Entity, pronoun: &Pronoun) -> String {
    match pronoun.form {
        Form::Case(case) => in_the(entity, Some(case)),
        _ => in_the(entity, None),
    }
}

/// A phrase in the place of a pointer, in its case.
pub fn after_pointer(entity: &Entity, pointer: &str) -> String {
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
    in_the(entity, case)
}

pub fn in_place(entity: &Entity) -> String {
    let preposition = if entity.preposition == "на" { "на" } else { "в" };
    format!("{preposition} {}", in_the(entity, Some(Case::Locative)))
}

pub fn of(entity: &Entity) -> String {
    in_the(entity, Some(Case::Genitive))
}

/// What the last question asked for, whose place another property takes; without one, what it was about.
pub fn with_property<'p>(said: &Phrase, asked: impl Iterator<Item = &'p Phrase>) -> Option<(usize, usize)> {
    let asked: Vec<&Phrase> = asked.collect();
    let property = asked.windows(2).find_map(|pair| match pair {
        [first, second]
            if !first.named
                && second.words.start >= first.words.end
                && (second.named || second.preposition.is_some()) =>
        {
            Some(*first)
        }
        _ => None,
    });
    let defined = asked.iter().find(|it| it.role == Role::Topic).copied();
    let only = asked.first().filter(|it| asked.len() == 1 && !it.wanted && !it.named).copied();
    let old = property.or(defined).or(only)?;
    (said.words.len() <= 2).then_some((old.words.start, old.words.end))
}

/// Whether `его`, `ее` and `их` say whose the next word is.
pub fn is_possessive(pronoun: &Token<'_>, next: &str) -> bool {
    let addressee = ["ам", "ям", "ому", "ему"].iter().any(|end| next.ends_with(end));
    matches!(pronoun.lower.as_str(), "его" | "ее" | "их") && !addressee
}
