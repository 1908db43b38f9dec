//! Portuguese words around the texts that models generate.

use crate::syntax::GeneratedWords;

pub const WORDS: GeneratedWords = GeneratedWords {
    labels: "pergunta questao consulta reescrita reescrito reformulada reformulado independente autonoma autossuficiente
        autocontida resumo",
    label_fillers: "a o as os um uma e aqui esta segue claro certo com certeza seria fica ficaria sua seu nova novo final
        versao de da do em para original completa completo contexto conversa atualizado ate agora anterior abaixo isolada
        standalone ok ser pode",
    refusals: &[
        "desculpe",
        "desculpa",
        "me desculpe",
        "peco desculpas",
        "sinto muito",
        "lamento",
        "infelizmente",
        "nao posso",
        "nao consigo",
        "nao sei",
        "nao tenho",
        "eu nao posso",
        "eu nao consigo",
        "eu nao tenho",
        "nao ha informacao",
        "nao ha informacoes",
        "nao ha historico",
        "nao entendi",
        "como um modelo de linguagem",
        "como modelo de linguagem",
        "como uma ia",
        "como ia",
        "voce poderia esclarecer",
        "voce pode esclarecer",
        "poderia esclarecer",
        "pode esclarecer",
        "por favor forneca",
        "por favor esclareca",
        "nenhum",
        "nenhuma",
    ],
    requests: "fale fala me conte conta explique explica descreva liste compare compara mostre mostra diga resuma resume
        cite defina encontre recomende sugira escreva traduza calcule converta ajude lembre envie mande ligue toque crie
        agende marque cancele apague abra informe detalhe dê quero gostaria",
    roles: "usuario usuaria usuarios assistente humano pessoa cliente ia",
    abbreviations: "sr sra dr dra prof profa av r etc ex obs tel pag art vs",
};

/// Words of decisions, plans and lasting facts, folded.
pub(crate) const FACTS: &str = "
    decidi decidimos decidiu decidir decisao combinei combinamos combinado concordo concordamos plano planejo planejamos planejar
    quero queremos preciso precisamos prefiro preferimos favorito favorita adoro amo odeio gosto comecei comecou comecamos comecar
    comprei compramos comprou vendi vendeu mudei mudou mudamos muda moro moramos mora trabalho trabalha emprego nasci nasceu
    aniversario casei casado casada divorciado chama chamo nome prazo orcamento reservei reservamos reserva terminei terminou
    entrei ganhei ganhou perdi perdeu sai adotei adotamos alergico alergica devo prometi prometo meta objetivo assinei assinou
    pedi abri abriu lancei lancamos versao corrigi erro escolhi escolhemos custa custou preco paguei pagou reuniao consulta
    viajei viajamos viagem visitei estudo formei contratei contratou filha filho esposa marido mae pai irma irmao cachorro gato
    alugar aluguei diagnosticado
";

/// Words and phrases of goals, rules and limits, folded.
pub(super) const BINDING: &str = "
    deve, devem, devemos, nunca, sempre, nao pode, nao podem, nao use, nao usar, nao faca, nao deve, objetivo, objetivos,
    meta, metas, prazo, restricao, restricoes, requisito, requisitos, obrigatorio, limite, no maximo, no minimo, ate o dia,
    em hipotese alguma, sem excecao, evite, evitar, proibido, a partir de agora, lembre se, regra, regras, politica,
    alergico, alergica, prefiro, prefere, preferencia, importante que, tem que, temos que, precisa, precisamos, orcamento
";

/// Words that deny, beside the negations among the stop words; folded.
pub(super) const DENIALS: &str = "nunca jamais nenhum nenhuma nada ninguem tampouco recusa recusou";
