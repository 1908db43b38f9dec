//! Portuguese words of questions about data, and the English ones that are mixed with them. All words are
//! folded.

use super::{locale, names, schema, window, words};
use crate::question_grammar::{PointerWords, QuestionGrammar, RowWords, Sentences, TalkWords, TimeWords};
use crate::stated::{ConditionWords, NumberBound, UnreadKind};
use crate::window::holds;

pub(crate) static QUESTIONS: QuestionGrammar = QuestionGrammar {
    window: window::WORDS,
    talk: TALK,
    pointers: POINTERS,
    counts: RowWords {
        ranks: "top ultimos ultimas primeiros primeiras maiores menores melhores piores principais recentes
            proximos proximas first last best worst largest smallest latest",
        top: "top",
        last_one: "ultimo ultima",
        is_many: |word| word.ends_with('s'),
    },
    times: TIMES,
    sentences: SENTENCES,
    locale: locale::BRAZIL,
    conditions: CONDITIONS,
    schema: schema::WORDS,
    stemmed_form,
    name_form: names::form_of,
    named_by: |_| Vec::new(),
    qualifiers: "de em do da no na dos das",
    follow_ups: "compare compara versus vs contra tambem outro outra total soma media medio maior menor maximo minimo repita
        repete inclua adicione acrescente troque troca ambos primeiro segundo terceiro quarto quinto ultimo dois duas tres
        tira tire remove sem menos",
    openers: "e mas",
    opening_phrases: &["que tal", "e que tal"],
    fillers:
        "mostre quero gostaria saber ver veja diga dizer fale conte informe liste traga exiba apresente poderia
        consegue preciso favor obrigado existe houve destaque conforme detalhe tem tudo todos todas cada qualquer algum",
};

const TALK: TalkWords = TalkWords {
    chat: "
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
    alta alto baixo caro cara barato barata assunto tema topico mudando
    junto juntos juntas
",
    people: "
    chefe filho filha filhos pai mae pais tio tia avo vo vovo primo prima irmao irma cunhado cunhada sogro sogra
    sobrinho sobrinha marido esposa mulher esposo namorado namorada noivo noiva vizinho vizinha colega colegas amigo
    amiga amigos gerente corretor corretora assessor contador contadora professor professora patrao mentor guru
",
    possessives: "meu minha meus minhas nosso nossa seu sua",
    cries: "nossa",
    is_laughter,
    kinds: "codigo ticker",
    articles: "o a os as um uma tal esse essa este esta aquele aquela meu minha",
    prepositions: "de do da dos das d no na nos nas em com ao aos pro pros pelo pela por sobre contra vs
    versus e ou x entre desde ate durante apos",
    since: "desde ate durante apos antes depois",
    joints: "e ou com contra vs versus x",
    and: "e mais tambem and",
    inside: "de do da dos das",
    spelled_verbs: "é",
    is_verb,
    supposes: "se",
    courtesies: "possivel puder pudesse der quiser for nao",
    asks: "quanto quanta quantos quantas qual quais quem como onde quando",
    asides: &["quis dizer", "quero dizer", "queria dizer", "ou seja"],
    everyday: words::EVERYDAY,
    name_leads: "de do da dos das sobre e ou com contra vs versus",
};

const POINTERS: PointerWords = PointerWords {
    remove: "tira tire tirar tirando remove remova exclui exclua retira retire sem menos",
    add: "tambem tb tbm tbem inclui inclua incluir adiciona adicione acrescenta acrescente junta junto coloca
        coloque colocar poe ponha bota bote botar",
    swap: "troca troque trocar substitui substitua substituir",
    other: &["o outro", "a outra", "do outro", "da outra", "no outro", "pro outro", "outro fundo", "esse outro"],
    these: "deles delas desses dessas destes destas esses essas eles nesses",
    counts_alone: &[("ambos ambas", 2)],
    counts: &[("dois duas 2", 2), ("tres 3", 3)],
    count_leads: "os as dos das nos nas pros esses desses",
    ordinals: &[
        ("primeiro 1o", Some(1)),
        ("segundo 2o", Some(2)),
        ("terceiro 3o", Some(3)),
        ("quarto 4o", Some(4)),
        ("quinto 5o", Some(5)),
        ("ultimo", None),
    ],
    ordinal_leads: "o a do da no na pro pra ao os as dos das nos nas pros",
    ordinal_nouns: "colocado lugar",
    follows:
        "lado e qual quanto como tem paga pagou esta ta foi fundos fiis em no na nos de hoje ontem por ai da do lista que
        agora",
    links: "com a ao aos contra vs versus with to against",
    against: "contra vs versus x frente perante",
    pronouns: "isso isto ele ela eles elas dele dela",
    demonstratives: "nesse neste nessa nesta desse deste dessa desta esse essa este naquele naquela daquele daquela
        mesmo mesma",
    answers: "lista listagem tabela ranking resposta comparacao relacao",
    owners: "dele dela deles delas ele ela eles elas",
    changes: "so soh apenas somente troca troque trocar muda mude",
};

const TIMES: TimeWords = TimeWords {
    day: "dia",
    other: "amanha quinzena retrasado retrasada trasanteontem daqui feriado carnaval natal pascoa reveillon
        vespera seculo decada",
    how_often: "por ao cada todo todos os a dia mes dy",
    goes_with: "em no na nos nas de do da dos das ate desde ha faz uns umas primeiro primeira segundo segunda ultimo
        ultima ultimos ultimas proximo proxima retrasado retrasada dia meados inicio fim comeco final",
    tells_begin: "retras",
    parts: "fim final comeco inicio meados meio metade mesmo mesma resto",
    moves: "antes depois seguinte seguintes retrasado retrasada",
    same: &[
        "mesmo periodo",
        "nesse periodo",
        "neste periodo",
        "esse periodo",
        "mesmo intervalo",
        "nesse intervalo",
        "mesma janela",
        "nesse meio tempo",
    ],
};

const SENTENCES: Sentences = Sentences {
    unread: sentence,
    did_you_mean: |code| format!("Você quis dizer {code}?"),
    told,
    not_answered: |words| format!("Não respondi sobre \"{words}\"."),
    window: window::in_words,
    more_rows: |count| format!("(Há mais do que isto: são as primeiras {count} linhas.)"),
    no_rows: "Não há dados sobre isso.",
};

const CONDITIONS: ConditionWords = ConditionWords {
    bounds: &BOUNDS,
    fillers: "de dos uns umas",
    between: "entre between",
    between_links: "e a and",
    from: "de",
    from_links: "a ate",
    signs: &["R$", "$"],
    sign_letters: &["r"],
    money: "reais real conto contos pila pilas",
    percent: &["por cento"],
    zero: "zero",
    scales: &[("mil k", 1e3), ("milhao milhoes mi mm", 1e6), ("bilhao bilhoes bi", 1e9)],
    of: "de",
    groups: &["."],
    points: &[",", "."],
};

const BOUNDS: [(&str, NumberBound); 46] = [
    ("acima de", NumberBound::Above),
    ("acima do", NumberBound::Above),
    ("acima dos", NumberBound::Above),
    ("acima da", NumberBound::Above),
    ("maior que", NumberBound::Above),
    ("maiores que", NumberBound::Above),
    ("maior do que", NumberBound::Above),
    ("maiores do que", NumberBound::Above),
    ("superior a", NumberBound::Above),
    ("superiores a", NumberBound::Above),
    ("mais de", NumberBound::Above),
    ("mais que", NumberBound::Above),
    ("mais do que", NumberBound::Above),
    ("passa de", NumberBound::Above),
    ("passam de", NumberBound::Above),
    ("passe de", NumberBound::Above),
    ("above", NumberBound::Above),
    ("more than", NumberBound::Above),
    ("greater than", NumberBound::Above),
    ("abaixo de", NumberBound::Below),
    ("abaixo do", NumberBound::Below),
    ("abaixo dos", NumberBound::Below),
    ("abaixo da", NumberBound::Below),
    ("menor que", NumberBound::Below),
    ("menores que", NumberBound::Below),
    ("menor do que", NumberBound::Below),
    ("menores do que", NumberBound::Below),
    ("inferior a", NumberBound::Below),
    ("inferiores a", NumberBound::Below),
    ("menos de", NumberBound::Below),
    ("menos que", NumberBound::Below),
    ("menos do que", NumberBound::Below),
    ("below", NumberBound::Below),
    ("less than", NumberBound::Below),
    ("under", NumberBound::Below),
    ("pelo menos", NumberBound::AtLeast),
    ("ao menos", NumberBound::AtLeast),
    ("no minimo", NumberBound::AtLeast),
    ("minimo de", NumberBound::AtLeast),
    ("a partir de", NumberBound::AtLeast),
    ("at least", NumberBound::AtLeast),
    ("no maximo", NumberBound::AtMost),
    ("maximo de", NumberBound::AtMost),
    ("ate", NumberBound::AtMost),
    ("at most", NumberBound::AtMost),
    ("igual a", NumberBound::Equal),
];

/// How a sentence says that conditions were applied: each with what it is on and its value.
fn told(conditions: &[(&str, &str, String)]) -> String {
    let one = |(label, op, value): &(&str, &str, String)| {
        let bound = match *op {
            ">" => "acima de",
            ">=" => "a partir de",
            "<" => "abaixo de",
            "<=" => "até",
            _ => "igual a",
        };
        format!("{label} {bound} {value}")
    };
    format!("Filtro: {}.", conditions.iter().map(one).collect::<Vec<_>>().join("; "))
}

/// A word as it is stemmed. The stemmer takes `dividendo` for a form of a verb and its plural for none; here
/// they are one noun.
fn stemmed_form(folded: &str) -> &str {
    folded.strip_suffix('s').filter(|noun| noun.ends_with("ndo")).unwrap_or(folded)
}

/// What is said of words that were not understood, where the rules have no sentence of their own.
fn sentence(kind: UnreadKind) -> &'static str {
    match kind {
        UnreadKind::Name => "Não conheço \"{words}\". Diga o código ou o nome do que procura.",
        UnreadKind::Period => {
            "Não entendi o período \"{words}\". Diga, por exemplo, hoje, em 27/10/2025, em março de 2025 ou nos \
             últimos 12 meses."
        }
        UnreadKind::Condition => "Não sei selecionar por \"{words}\".",
        UnreadKind::Pointer => "A que se refere \"{words}\"? Diga o código.",
        UnreadKind::Ambiguous => "\"{words}\" pode ser mais de um.",
        UnreadKind::Number => "Não entendi o número {words}.",
        UnreadKind::Unanswered => "A última pergunta falava de {words}. De qual se trata agora? Diga o código.",
    }
}

/// `kkkk`, `hahaha`, `rsrs`.
fn is_laughter(folded: &str) -> bool {
    let made_of = |letters: &str| folded.len() > 1 && folded.chars().all(|c| letters.contains(c));
    made_of("k") || (folded.len() > 3 && (made_of("ha") || made_of("hua") || made_of("he"))) || made_of("rs")
}

/// Those that an infinitive may follow.
const BEFORE_VERBS: &str = "de a e com por em ou ate";

/// Whether a word is a form of a verb, or tells how something is done, by its ending. After `do` or `na` no
/// verb stands.
fn is_verb(before: &str, folded: &str) -> bool {
    const ENDINGS: [&str; 15] = [
        "ando", "endo", "indo", "aram", "eram", "iram", "avam", "mente", "amos", "emos", "imos", "aria", "eria", "ou",
        "ei",
    ];
    const INFINITIVES: [&str; 3] = ["ar", "er", "ir"];
    let ends = |endings: &[&str]| folded.len() > 4 && endings.iter().any(|ending| folded.ends_with(ending));
    let may_follow = !holds(TALK.prepositions, before) || holds(BEFORE_VERBS, before);
    may_follow && (ends(&ENDINGS) || ends(&INFINITIVES))
}
