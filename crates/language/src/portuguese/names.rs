//! Given names, by the people they are given to. They tell people from things and men from women; a name that
//! is not here is found by its capital and fits both.

use crate::english;
use crate::syntax::Class;
use crate::window::holds;

pub(crate) const GIVEN_NAMES: &[(Class, &str)] = &[(Class::MAN, MEN), (Class::WOMAN, WOMEN)];

const MEN: &str = "
    felipe gustavo joaquim joão josé luiz marcelo mateus otavio pablo renato rodrigo thiago tiago vitor vinicius
";

const WOMEN: &str = "
    adriana aline amélia beatriz bruna cecília clarice fernanda flávia giovana helena inês jéssica joana júlia juliana
    larissa letícia lúcia luana luísa luiza luna márcia mônica natália patrícia priscila raquel renata silvia simone
    tatiana tereza vitória
";

/// `Fernando` and `Fernanda`, `Petrov` and `Petrova` are two people.
pub(crate) fn form_of(name: &str, said: &str) -> Option<bool> {
    let (man, woman) = if name.ends_with('a') { (said, name) } else { (name, said) };
    let is_pair = man.strip_suffix('o').zip(woman.strip_suffix('a')).is_some_and(|(man, woman)| man == woman);
    let is_name =
        holds(MEN, man) || holds(WOMEN, woman) || english::is_given_name(man) || english::is_given_name(woman);
    if is_pair && is_name { Some(false) } else { english::name_form(name, said) }
}
