//! Portuguese words of talk that say nothing about data, and the small words that show where a name stands.
//! All words are folded.

/// Greetings, thanks, slang, people who told something, and verbs of saying and thinking.
const CHAT: &str = "
    oi ola opa eae eai iae alo hey bom boa bons boas dia tarde noite beleza blz firmeza suave tranquilo salve fala
    obrigado obrigada brigado brigada valeu vlw tmj grato grata agradeco abraco abracos bjs tchau ate logo flw falou
    favor gentileza pf pfv pfvr please licenca desculpa desculpe desculpas perdao foi mal errei errado errada engano
    enganei confundi corrigindo corrija correcao digo ops opa putz nossa caramba caraca eita uau wow vish credo show
    otimo otima perfeito perfeita legal massa top bacana excelente maravilha certo certinho isso exato exatamente
    entendi entendido ok okay okey sim claro nao nada pois tipo assim ne ta to tava ah eh oh hum hmm aham uhum
    mano cara vei veio velho brother bro parca parceiro amigo amiga amigao galera pessoal gente povo querido querida
    bem moco moca senhor senhora doutor mestre jovem
    aqui agora depois antes entao enfim bom olha veja ve espera pera perai calma aguarda escuta repara
    queria quero gostaria preciso precisava pode poderia consegue conseguiria sabe saberia saber sei
    pensando pensei penso acho achei achava lembrei lembra curioso curiosa curiosidade duvida pergunta perguntar
    disse dizer diz diga dizem falar falando falado falaram falou comentou comentaram contou recomendou recomendaram
    indicou mandou mandar manda passa passar mostra mostrar ajuda ajudar ajude explica
    quis dizer verdade realidade na real sinceramente rapidinho rapido coisa coisas algo negocio parada trem
    melhor muito demais bastante pouco pouquinho so apenas mesmo mesma tal esse essa esquece esqueca deixa volta
    voltando voltar voltemos seguinte tambem tb tbm tbem outra vez novo novamente denovo ainda sempre nunca talvez
    hein ein viu hj qnto qto qnt qt pq vc vcs q oq cade kd td tds msm mto mt pra pro pras pros
    ajudinha detalhe curto comecando comecar iniciante leigo entender vive sobre ouvi li vi pensar
    quem seria sera fica ficar ficou esta estao estou estava sao era tinha tenho teria
    alta alto baixo caro cara barato barata
";

/// People who are spoken of.
const PEOPLE: &str = "
    chefe filho filha filhos pai mae pais tio tia avo vo vovo primo prima irmao irma cunhado cunhada sogro sogra
    sobrinho sobrinha marido esposa mulher esposo namorado namorada noivo noiva vizinho vizinha colega colegas amigo
    amiga amigos gerente corretor corretora assessor contador contadora professor professora patrao mentor guru
";

const POSSESSIVES: &str = "meu minha meus minhas nosso nossa seu sua";

/// Words for a kind of subject, which may stand before its name.
const KINDS: &str = "fundo fundos fii fiis acao acoes ativo ativos papel papeis empresa indice banco codigo ticker";

const ARTICLES: &str = "o a os as um uma tal esse essa este esta aquele aquela meu minha";

/// What a name follows. After `para` stands what something is for.
const PREPOSITIONS: &str = "de do da dos das d no na nos nas em com ao aos pro pros pelo pela por sobre contra vs
    versus e ou x entre desde ate durante apos";

/// Those that a stretch of time follows.
const SINCE: &str = "desde ate durante apos antes depois";

/// Those that join a name to one before it.
const JOINTS: &str = "e ou com contra vs versus x";

/// Those that an infinitive may follow.
const BEFORE_VERBS: &str = "de a e com por em ou ate";

/// Join two things that are asked for.
pub(crate) const AND: [&str; 4] = ["e", "mais", "tambem", "and"];

const INSIDE: &str = "de do da dos das";

/// Whether a word only keeps a talk going.
pub(crate) fn is_chat(folded: &str) -> bool {
    holds(CHAT, folded) || holds(PEOPLE, folded) || is_laughter(folded)
}

/// `minha sobrinha` says whose the aunt is, and not whose the fund.
pub(crate) fn is_of_people(folded: &str, next: &str) -> bool {
    holds(POSSESSIVES, folded) && holds(PEOPLE, next)
}

/// `Nossa, que caro!`: no possessive, where a sign follows.
pub(crate) fn is_cry(folded: &str) -> bool {
    folded == "nossa"
}

/// `kkkk`, `hahaha`, `rsrs`.
fn is_laughter(folded: &str) -> bool {
    let made_of = |letters: &str| folded.len() > 1 && folded.chars().all(|c| letters.contains(c));
    made_of("k") || (folded.len() > 3 && (made_of("ha") || made_of("hua") || made_of("he"))) || made_of("rs")
}

pub(crate) fn is_kind(folded: &str) -> bool {
    holds(KINDS, folded)
}

pub(crate) fn is_article(folded: &str) -> bool {
    holds(ARTICLES, folded)
}

pub(crate) fn is_preposition(folded: &str) -> bool {
    holds(PREPOSITIONS, folded)
}

pub(crate) fn is_since(folded: &str) -> bool {
    holds(SINCE, folded)
}

pub(crate) fn is_joint(folded: &str) -> bool {
    holds(JOINTS, folded)
}

/// Whether it may stand inside a name: `Banco do Brasil`.
pub(crate) fn is_inside(folded: &str) -> bool {
    holds(INSIDE, folded)
}

/// Whether a word is a form of a verb, or tells how something is done, by its ending. After `do` or `na` no
/// verb stands.
pub(crate) fn is_verb(before: &str, folded: &str) -> bool {
    const ENDINGS: [&str; 15] = [
        "ando", "endo", "indo", "aram", "eram", "iram", "avam", "mente", "amos", "emos", "imos", "aria", "eria", "ou",
        "ei",
    ];
    const INFINITIVES: [&str; 3] = ["ar", "er", "ir"];
    let ends = |endings: &[&str]| folded.len() > 4 && endings.iter().any(|ending| folded.ends_with(ending));
    let may_follow = !is_preposition(before) || holds(BEFORE_VERBS, before);
    may_follow && (ends(&ENDINGS) || ends(&INFINITIVES))
}

fn holds(list: &str, folded: &str) -> bool {
    list.split_whitespace().any(|word| word == folded)
}
