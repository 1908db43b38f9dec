//! Given names, by the people they are given to. They tell people from things and men from women; a name that
//! is not here is found by its capital and fits both.

use crate::syntax::Class;

pub(crate) const GIVEN_NAMES: &[(Class, &str)] = &[(Class::MAN, MEN), (Class::WOMAN, WOMEN)];

const MEN: &str = "
    александр алексей анатолий андрей антон аркадий артем борис вадим валентин валерий василий виктор виталий владимир
    владислав геннадий георгий григорий даниил денис дмитрий евгений егор иван игорь илья кирилл константин лев леонид
    максим матвей михаил никита николай олег павел петр семен сергей станислав степан тимофей федор юрий ярослав
    ивану сергею андрею дмитрию алексею михаилу павлу максиму олегу
";

const WOMEN: &str = "
    алена алина алиса алла анастасия анна антонина арина валентина варвара вера вероника виктория галина дарья диана
    евгения екатерина елена елизавета жанна зинаида зоя инна ирина карина катя кристина ксения лариса лена лидия
    людмила маргарита марина мария маша надежда наталья наташа нина оксана ольга оля полина раиса светлана софья
    таисия тамара таня татьяна ульяна юлия юля яна
";

/// How surnames of men end, and what their cases add; those of women have one more letter.
const MEN_END: [&str; 5] = ["ов", "ев", "ин", "ын", "ёв"];
const OF_MEN: [&str; 6] = ["", "а", "у", "ым", "ом", "е"];
const OF_WOMEN: [&str; 4] = ["а", "ой", "у", "ою"];

fn is_surname(base: &&str) -> bool {
    base.chars().count() > 3 && MEN_END.iter().any(|end| base.ends_with(end))
}

/// `Петрова` is `Петров` in the genitive, and another person's name.
pub(crate) fn form_of(name: &str, said: &str) -> Option<bool> {
    let (base, endings) = match Some(name).filter(is_surname) {
        Some(base) => (base, &OF_MEN[..]),
        None => (name.strip_suffix('а').filter(is_surname)?, &OF_WOMEN[..]),
    };
    let ending = said.strip_prefix(base)?;
    let is_ending = |it: &[&str]| it.contains(&ending);
    (is_ending(&OF_MEN) || is_ending(&OF_WOMEN)).then(|| is_ending(endings))
}

/// The surnames that a word is a form of.
pub(crate) fn named_by(said: &str) -> Vec<String> {
    let bases = |endings: &'static [&'static str]| {
        endings.iter().filter_map(|ending| said.strip_suffix(ending)).filter(is_surname)
    };
    let women = bases(&OF_WOMEN).map(|base| format!("{base}а"));
    bases(&OF_MEN).map(str::to_owned).chain(women).filter(|name| name != said).collect()
}
