//! Given names, by the people they are given to. They tell people from things and men from women; a name that
//! is not here is found by its capital and fits both.

use crate::syntax::Class;

pub const GIVEN_NAMES: &[(Class, &str)] = &[(Class::MAN, MEN), (Class::WOMAN, WOMEN)];

const MEN: &str = "
    felipe gustavo joaquim joão josé luiz marcelo mateus otavio pablo renato rodrigo thiago tiago vitor vinicius
";

const WOMEN: &str = "
    adriana aline amélia beatriz bruna cecília clarice fernanda flávia giovana helena inês jéssica joana júlia juliana
    larissa letícia lúcia luana luísa luiza luna márcia mônica natália patrícia priscila raquel renata silvia simone
    tatiana tereza vitória
";
