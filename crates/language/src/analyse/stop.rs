//! Words that carry a sentence and not its matter, folded. They tell the language of a text and are not looked for.

use std::sync::LazyLock;

use rustc_hash::FxHashMap;

use super::Language;

const ENGLISH: &str = "
    a an the and or but if then else of at by for with about into through during before after to from in out on off over
    under again is am are was were be been being have has had having do does did doing done will would shall should can
    could may might must i me my mine myself we us our ours you your yours he him his she her hers it its they them
    their theirs this that these those what which who whom whose when where why how not no nor so than too very just as
    there here s t d ll m re ve don didn doesn isn wasn aren weren won wouldn couldn shouldn hasn haven hadn
    oh hey hi yeah yes ok okay wow also any some both each more most other such only own same because while until
    up down herself himself itself themselves yourself ourselves let
";

const PORTUGUESE: &str = "
    a o as os um uma uns umas e ou mas se de do da dos das em no na nos nas por pelo pela pelos pelas para pra pro com
    sem sob sobre ate entre desde ao aos que quem qual quais quando onde como porque quanto quanta quantos quantas
    eu tu ele ela nos vos eles elas voce voces me te lhe lhes meu minha meus minhas teu tua teus tuas seu sua seus suas
    nosso nossa nossos nossas dele dela deles delas este esta estes estas esse essa esses essas isto isso aquele aquela
    aqueles aquelas aquilo ser sou es somos sao era eram foi foram fui fosse sera seria estar estou esta estamos estao
    estava estavam esteve ter tenho tem temos tinha tinham teve haver ha havia nao sim ja mais menos muito muita muitos
    muitas tao tambem so ainda entao la aqui ali ai ate cada todo toda todos todas outro outra outros outras mesmo mesma
    nem oi ola ne bem gente vai vou
";

const RUSSIAN: &str = "
    и в во не что он на я с со как а то все она так его но да ты к ко у же вы за бы по ее мне было вот от меня еще нет о
    из ему когда даже ну ли если уже или ни быть был него до вас опять уж вам ведь там потом себя ничего ей может они
    тут где есть надо ней для мы тебя их чем была сам чтоб без будто чего тоже себе под будет ж тогда кто этот эта это
    того потому этого какой какая какие какое какую каких каким совсем ним здесь этом мой моя мое мои моего моей твой
    твоя твое твои твоего твоей наш наша тем чтобы нее сейчас были куда зачем всех можно при об хоть после над тот та
    те через эти нас про всего них разве эту тебе нам сколько который которая которые почему откуда
";

static LANGUAGES: LazyLock<FxHashMap<&'static str, u8>> = LazyLock::new(|| {
    let mut languages = FxHashMap::default();
    let lists = [(ENGLISH, Language::English), (PORTUGUESE, Language::Portuguese), (RUSSIAN, Language::Russian)];
    for (words, language) in lists {
        for word in words.split_whitespace() {
            *languages.entry(word).or_insert(0) |= language.bit();
        }
    }
    languages
});

/// The languages in which a folded word is a stop word, as bits.
pub fn languages(word: &str) -> u8 {
    LANGUAGES.get(word).copied().unwrap_or(0)
}
