//! Stretches of time as Russian names them and says them.

use super::analysis::MONTHS;
use crate::window::{
    CountWords, DateBound, DateWords, MonthName, NameWords, Part, Period, Point, Span, TimeUnit, Window, WindowWords,
    YearOf, holds,
};

pub(crate) const WORDS: WindowWords = WindowWords {
    numbers: &NUMBERS,
    number_joint: "",
    ordinals: [
        "первый первая первое первом первого первую 1й 1м 1го",
        "второй вторая второе втором второго вторую 2й 2м 2го",
        "третий третья третье третьем третьего третью 3й 3м 3го",
        "четвертый четвертая четвертое четвертом четвертого четвертую 4й 4м 4го",
    ],
    first_day: "первое первого",
    counts: COUNTS,
    names: NAMES,
    dates: DATES,
    leads: "в во за на с со по от к ко течение период протяжении",
};

const COUNTS: CountWords = CountWords {
    units: &[
        ("день дня дней дню днем сутки суток", TimeUnit::Days(1)),
        ("неделя недели недель неделю неделе неделям неделями", TimeUnit::Days(7)),
        ("месяц месяца месяцев месяце месяцы", TimeUnit::Months(1)),
        ("квартал квартала кварталов квартале", TimeUnit::Months(3)),
        ("полугодие полугодия полугодии полгода", TimeUnit::Months(6)),
        ("год года лет году годы", TimeUnit::Months(12)),
        ("десятилетие десятилетия", TimeUnit::Months(120)),
    ],
    unit_phrases: &[("рабочих дней", TimeUnit::Rows), ("рабочих дня", TimeUnit::Rows)],
    short_units: &[("д", TimeUnit::Days(1)), ("м", TimeUnit::Months(1)), ("г", TimeUnit::Months(12))],
    last: "последний последние последних последнюю последнее последнего последней последнем прошедшие прошедших",
    last_is_previous: "",
    next: "следующие следующих ближайшие ближайших",
    recent_ends: &["подряд"],
    ago_before: "",
    ago_after: "назад",
    within: "за в течение",
    within_of: "",
    metrics: "",
    stretched: "среднее средний средняя сумма итого максимум минимум всего история",
    stretched_begin: "накоплен",
    due_begin: "срок",
    bounds_begin: "больше меньше более менее свыше выше ниже до от после через каждые",
    is_many: |word| holds("дни дня дней недели недель месяцы месяца месяцев кварталы кварталов годы лет года", word),
};

const NAMES: NameWords = NameWords {
    days: &[
        ("сегодня", Window::Today),
        ("сейчас", Window::Today),
        ("на сегодня", Window::Today),
        ("на данный момент", Window::Today),
        ("вчера", Window::Yesterday),
        ("позавчера", Window::DaysAgo(2)),
    ],
    phrases: &[
        ("с начала года", Window::This(Period::Year)),
        ("с начала месяца", Window::This(Period::Month)),
        ("с начала недели", Window::This(Period::Week)),
        ("с начала квартала", Window::This(Period::Quarter)),
        ("за полгода", Window::Months(6)),
        ("за все время", Window::All),
        ("все время", Window::All),
        ("за весь период", Window::All),
        ("за всю историю", Window::All),
        ("с самого начала", Window::All),
        ("отныне", Window::Upcoming),
        ("с сегодняшнего дня", Window::Upcoming),
    ],
    periods: &[
        ("неделя неделю неделе недели", Period::Week),
        ("месяц месяца месяце", Period::Month),
        ("квартал квартала квартале", Period::Quarter),
        ("полугодие полугодия полугодии", Period::Half),
        ("год года году", Period::Year),
    ],
    this_before: "этот эта этой этом этого эту это текущий текущая текущей текущем текущего текущую",
    previous_before: "прошлый прошлая прошлой прошлом прошлого прошлую прошлое предыдущий предыдущем предыдущего
        предыдущую предыдущей",
    next_before: "следующий следующая следующей следующем следующего следующую будущий будущем будущего",
    this_after: "",
    previous_after: "",
    bare_before: "",
    bare_parts: "",
    goes_on: "",
    of_day: &[],
    until: "до",
    day_letter: "",
    weekdays: &[
        ("понедельник понедельника", 1, true),
        ("вторник вторника", 2, true),
        ("среду среды", 3, true),
        ("четверг четверга", 4, true),
        ("пятницу пятницы", 5, true),
        ("субботу субботы", 6, true),
        ("воскресенье воскресенья", 7, true),
    ],
    weekday_last: "прошлый прошлую прошлое последний последнюю",
    weekday_noun: "",
    weekday_after: "",
};

const DATES: DateWords = DateWords {
    month,
    is_day_first: true,
    before: "в во за с со до по на от после к и год года году между",
    counted: "рублей рубля рубль штук раз человек страниц книг дней недель месяцев тысяч процентов км кг метров",
    bounds: "больше меньше более менее свыше выше ниже около",
    of: "",
    day_endings: &["го", "е"],
    year_phrases: &[
        ("прошлого года", YearOf::Last),
        ("в прошлом году", YearOf::Last),
        ("предыдущего года", YearOf::Last),
        ("этого года", YearOf::This),
        ("текущего года", YearOf::This),
        ("в этом году", YearOf::This),
    ],
    year_of: &[],
    year_nouns: "год года году годом г гг годов годы годах",
    part_last: "последний последнем последнего",
    halves: "полугодие полугодии полугодия",
    quarters: "квартал квартале квартала",
    months: "месяц месяце месяца",
    quarter_letters: "к",
    half_letters: "п",
    limits: &[
        ("начиная с", DateBound::Since),
        ("с", DateBound::Since),
        ("со", DateBound::Since),
        ("от", DateBound::Since),
        ("до", DateBound::Until),
        ("по", DateBound::Until),
        ("вплоть до", DateBound::Until),
        ("после", DateBound::After),
        ("позже", DateBound::After),
        ("раньше", DateBound::Before),
        ("ранее", DateBound::Before),
    ],
    fillers: "начала конца середины начале конце год года месяца",
    last_year: &["прошлого года", "прошлый год"],
    this_year: &["этого года", "этот год"],
    links: "по до и",
    onward: &["и далее", "и позже", "по сегодня", "до сегодня", "по сей день", "до сих пор"],
    day_leads: "с от между",
    day_fillers: "",
    first: "первые первых",
    first_months: "месяца месяцев",
    of_this_year: &["года"],
};

fn month(word: &str) -> Option<MonthName> {
    const SHORT: [&str; 12] =
        ["янв", "фев", "мар", "апр", "", "июн", "июл", "авг", "сен сент", "окт", "ноя нояб", "дек"];
    let plain = MONTHS.iter().zip(1..).find(|(names, _)| holds(names, word)).map(|(_, number)| (number, false));
    let short = || SHORT.iter().zip(1..).find(|(names, _)| holds(names, word)).map(|(_, number)| (number, true));
    let by_case = || {
        let stem = word.strip_suffix("ю").or_else(|| word.strip_suffix("ем")).or_else(|| word.strip_suffix("у"))?;
        let begins =
            |names: &&str| names.split(' ').next().is_some_and(|name| name.trim_end_matches(['ь', 'й']) == stem);
        MONTHS.iter().zip(1..).find(|(names, _)| begins(names)).map(|(_, number)| (number, false))
    };
    let (number, is_short) = plain.or_else(short).or_else(by_case)?;
    Some(MonthName { number, leads_day: false, is_short, is_sure: !is_short })
}

const NUMBERS: [(&str, u32); 41] = [
    ("один", 1),
    ("одна", 1),
    ("одну", 1),
    ("одного", 1),
    ("два", 2),
    ("две", 2),
    ("двух", 2),
    ("три", 3),
    ("трех", 3),
    ("четыре", 4),
    ("четырех", 4),
    ("пять", 5),
    ("пяти", 5),
    ("шесть", 6),
    ("шести", 6),
    ("семь", 7),
    ("семи", 7),
    ("восемь", 8),
    ("восьми", 8),
    ("девять", 9),
    ("девяти", 9),
    ("десять", 10),
    ("десяти", 10),
    ("одиннадцать", 11),
    ("двенадцать", 12),
    ("двенадцати", 12),
    ("тринадцать", 13),
    ("четырнадцать", 14),
    ("пятнадцать", 15),
    ("шестнадцать", 16),
    ("семнадцать", 17),
    ("восемнадцать", 18),
    ("девятнадцать", 19),
    ("двадцать", 20),
    ("тридцать", 30),
    ("сорок", 40),
    ("пятьдесят", 50),
    ("шестьдесят", 60),
    ("семьдесят", 70),
    ("восемьдесят", 80),
    ("девяносто", 90),
];

const IN_MONTH: [&str; 12] = [
    "январе",
    "феврале",
    "марте",
    "апреле",
    "мае",
    "июне",
    "июле",
    "августе",
    "сентябре",
    "октябре",
    "ноябре",
    "декабре",
];
const OF_MONTH: [&str; 12] = [
    "января",
    "февраля",
    "марта",
    "апреля",
    "мая",
    "июня",
    "июля",
    "августа",
    "сентября",
    "октября",
    "ноября",
    "декабря",
];
const IN_WEEKDAYS: [&str; 7] = [
    "в последний понедельник",
    "в последний вторник",
    "в последнюю среду",
    "в последний четверг",
    "в последнюю пятницу",
    "в последнюю субботу",
    "в последнее воскресенье",
];

/// The window that a span is of, as a sentence says it after a noun: with its days, where its name leaves
/// open which they are.
pub(crate) fn in_words(span: &Span, window: Window) -> String {
    let shown = |day: &str| -> Option<String> {
        let mut parts = day.splitn(3, '-');
        let (year, month, day) = (parts.next()?, parts.next()?, parts.next()?);
        Some(format!("{day}.{month}.{year}"))
    };
    let days = span.from.as_deref().and_then(shown).zip(span.to.as_deref().and_then(shown));
    match days.filter(|_| window.is_relative_name()) {
        Some((from, to)) if from == to => format!("за {from}"),
        Some((from, to)) => format!("с {from} по {to}"),
        None => named(window),
    }
}

fn named(window: Window) -> String {
    match window {
        Window::Days(n) => counted("за", n, ["последний день", "последние", "дня", "дней"]),
        Window::Months(n) => counted("за", n, ["последний месяц", "последние", "месяца", "месяцев"]),
        Window::Rows(n) => counted("за", n, ["последнюю запись", "последние", "записи", "записей"]),
        Window::Today => String::new(),
        Window::Yesterday => "на вчера".to_owned(),
        Window::DaysAgo(2) => "на позавчера".to_owned(),
        Window::DaysAgo(n) => format!("на {n} {} назад", plural(n, ["день", "дня", "дней"])),
        Window::MonthsAgo(1) => "на месяц назад".to_owned(),
        Window::MonthsAgo(n) => format!("на {n} {} назад", plural(n, ["месяц", "месяца", "месяцев"])),
        Window::Weekday(day) => name(&IN_WEEKDAYS, day).to_owned(),
        Window::This(period) => in_period(period, ["на этой", "в этом"]),
        Window::Previous(period) => in_period(period, ["на прошлой", "в прошлом"]),
        Window::Next(period) => in_period(period, ["на следующей", "в следующем"]),
        Window::Upcoming => "с сегодняшнего дня".to_owned(),
        Window::NextDays(n) => counted("в", n, ["ближайший день", "ближайшие", "дня", "дней"]),
        Window::NextMonths(n) => counted("в", n, ["ближайший месяц", "ближайшие", "месяца", "месяцев"]),
        Window::In(point) => inside(point),
        Window::Between(a, b) => format!("с {} по {}", of(a), of(b)),
        Window::Since(point) => format!("с {}", of(point)),
        Window::Until(point) => format!("до {}", of(point)),
        Window::All => "за всё время".to_owned(),
    }
}

fn counted(lead: &str, n: u32, [one, many, few_unit, many_unit]: [&str; 4]) -> String {
    match n {
        1 => format!("{lead} {one}"),
        _ => format!("{lead} {many} {n} {}", plural(n, [few_unit, few_unit, many_unit])),
    }
}

fn plural(n: u32, [one, few, many]: [&str; 3]) -> &str {
    match (n % 10, n % 100) {
        (_, 11..=14) => many,
        (1, _) => one,
        (2..=4, _) => few,
        _ => many,
    }
}

fn in_period(period: Period, [feminine, other]: [&str; 2]) -> String {
    match period {
        Period::Week => format!("{feminine} неделе"),
        Period::Month => format!("{other} месяце"),
        Period::Quarter => format!("{other} квартале"),
        Period::Half => format!("{other} полугодии"),
        Period::Year => format!("{other} году"),
    }
}

fn name(names: &[&'static str], number: impl TryInto<usize>) -> &'static str {
    let at = number.try_into().ok().and_then(|number: usize| number.checked_sub(1));
    at.and_then(|at| names.get(at)).copied().unwrap_or_default()
}

fn year_of(point: Point) -> String {
    match point.year {
        YearOf::Newest => String::new(),
        YearOf::This => " этого года".to_owned(),
        YearOf::Last => " прошлого года".to_owned(),
        YearOf::Of(year) => format!(" {year} года"),
    }
}

fn inside(point: Point) -> String {
    match (point.part, point.year) {
        (Part::Whole, YearOf::Of(year)) => format!("в {year} году"),
        (Part::Whole, YearOf::Last) => "в прошлом году".to_owned(),
        (Part::Whole, _) => "в этом году".to_owned(),
        (Part::Half(half), _) => format!("в {half}-м полугодии{}", year_of(point)),
        (Part::Quarter(quarter), _) => format!("в {quarter}-м квартале{}", year_of(point)),
        (Part::Month(month), _) => format!("в {}{}", name(&IN_MONTH, month), year_of(point)),
        (Part::Day { .. }, _) => format!("за {}", of(point)),
    }
}

fn of(point: Point) -> String {
    match point.part {
        Part::Whole => year_of(point).trim_start().to_owned(),
        Part::Half(half) => format!("{half}-го полугодия{}", year_of(point)),
        Part::Quarter(quarter) => format!("{quarter}-го квартала{}", year_of(point)),
        Part::Month(month) => format!("{}{}", name(&OF_MONTH, month), year_of(point)),
        Part::Day { month, day } => format!("{day} {}{}", name(&OF_MONTH, month), year_of(point)),
    }
}

#[cfg(test)]
#[path = "window_tests.rs"]
mod tests;
