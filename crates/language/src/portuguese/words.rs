//! The longer lists of Portuguese words.

pub(crate) const VERBS: &str = "
    tem têm há ter haver ser estar está estao estão estava estavam esteve fica ficam ficou ficar vai vão vou ir ia faz
    fazem faço fez feito fazer diz dizem disse dizer dá dão deu dar pode podem posso podia poderia poder quer querem
    quero queria querer sabe sabem sei saber vem vêm veio vir vê vejo viu ver põe pôs custa custam custou funciona
    funcionam paga pagam pagou rende rendem rendeu vale valem valeu sai saem saiu chega chego chegam chegou abre abrem
    abriu fecha fecham fechou começa começam começou termina terminam terminou acontece acontecem aconteceu existe
    existem existia afeta afetam afetou mora moram morou nasce nasceu morre morreu vive vivem viveu escreve escreveu
    criou cria criam fundou inventou descobriu pintou compôs dirigiu ganhou ganha perdeu venceu joga jogou estudou
    estuda trabalha trabalham trabalhou usa usam usou serve servem precisa precisam preciso precisou gosta gostam gosto
    acha acham acho significa chama chamam formam forma dura duram durou causa causam causou conta conte contar fala fale
    falar explica explique explicar mostra mostre mostrar manda mande mandar liga ligue ligar toca toque tocar agenda
    agende agendar reserva reserve reservar recomenda recomende recomendam indica indique traduza traduz calcula
    calcule muda mude mudar cancela cancelo cancele marca marque compra comprei comprou comprar vende vendeu veja olha
    olhe diga dê ajuda ajude ajudar apaga apague sobe subiu cai caiu caíram subiram tinha tinham teve tiveram seja sejam
    fosse exposta exposto lançado lançada lançados feita feitos feitas conhecido conhecida chamado chamada sinto temos
    tenho deve devem devo dever consigo consegue conseguem entrou entra entram permite permitem cobra cobram aceita
    aceitam compara compare vieram trata tratam surgiu surgiram basta pesa pesam demora demoram cobre cobrem inclui incluem
    oferece oferecem possui possuem dorme corre vence vencem expira renova renovam entrega entregam emite emito solicito
    peço altero atualizo instalo configuro acesso acessa redefino contém contêm garante garantem recebe recebem
    aumenta aumentam diminui reduz participa participam pertence pertencem produz produzem fabrica fabricam
    fundado fundada construído construída publicado publicada escrito escrita dirigido dirigida inaugurado inaugurada
    descoberto descoberta inventado inventada vendido vendida aprovado aprovada resuma resume liste lista
";

pub(crate) const ADJECTIVES: &str = "
    bom boa bons boas ruim ruins melhor melhores pior piores maior maiores menor menores grande grandes pequeno pequena
    novo nova novos novas velho velha antigo antiga caro cara caros caras barato barata baratos baratas alto alta baixo
    baixa longo longa curto curta rápido rápida lento lenta fácil fáceis difícil difíceis importante importantes
    principal principais possível possíveis necessário necessária necessários necessárias seguro segura perigoso
    perigosa famoso famosa comum comuns verdade certo certa errado errada igual iguais diferente diferentes melhorado
    frio fria quente quentes cheio vazio livre grátis gratuito próximo próxima próximos último última atual atuais
    disponível disponíveis comestível verdadeiro preto preta branco branca vermelho vermelha azul verde amarelo amarela
    cinza roxo rosa úteis útil compatível compatíveis permitido permitida obrigatório obrigatória
";

pub(crate) const RELATIONAL: &str = "
    sintoma sintomas causa causas efeito efeitos tratamento tratamentos história origem significado definição tipo tipos
    exemplo exemplos benefício benefícios vantagem vantagens desvantagem desvantagens risco riscos característica
    características função funções objetivo objetivos papel importância impacto impactos diferença diferenças membro
    membros autor criador fundador preço preços valor valores cotação custo custos tamanho peso altura comprimento idade
    população capital área localização ingrediente ingredientes etapa etapas fase fases resultado resultados
    consequência consequências requisito requisitos regra regras princípio princípios aplicação aplicações uso usos
    versão versões modelo modelos estrutura taxa limite limites prazo horário rendimento lucro receita faturamento
    dividendo dividendos yield patrimônio liquidez vacância gestor gestora administradora artilheiro algoritmo
    algoritmos contraindicações prevenção diagnóstico cura ponto pontos prós contras níveis nível temperatura distância
    duração velocidade profundidade significância propriedades componentes elementos fórmula sede endereço telefone
    carência garantia bateria multa cor cores mensalidade anuidade vencimento entrega desconto descontos cobertura
    franquia parcela parcelas validade saldo senha manual especificações funcionalidades elenco diretor diretora
    capitão treinador prefeito moeda clima economia cultura idioma população orçamento cronograma
    alternativas concorrentes documentação site elenco enredo personagens tema temas
";

pub(crate) const TIMES: &str = "
    hoje amanhã ontem anteontem manhã tarde noite madrugada semana mês ano dia segunda terça quarta quinta sexta sábado
    domingo segunda-feira terça-feira quarta-feira quinta-feira sexta-feira sábados domingos janeiro fevereiro março abril
    maio junho julho agosto setembro outubro novembro dezembro horas hora minutos semanas meses anos século verão inverno
    outono primavera
";

/// Kinds of things that are called by a name of their own.
pub(crate) const TITLED: &str = "
    música canção álbum filme livro romance série jogo banda artista cantor cantora cidade país estado ilha empresa
    companhia banco marca time equipe museu universidade escola guerra batalha doença lei tratado restaurante hotel fundo
    ação ações prova exame taxa imposto índice programa aplicativo site remédio produto plano curso linguagem planeta
    animal planta processo sistema investimento criptomoeda moeda técnica método teoria festa evento
";

pub(crate) const NOUNS: &str = "
    lugar mulher celular dólar açúcar militar popular mar par líder qualquer escolar solar familiar similar regular
    singular particular hambúrguer câncer hangar radar bar lar pilar exemplar caráter ar polar nuclear circular molecular
    lunar bipolar angular titular vestibular hospitalar alimentar complementar quando mundo fundo lindo segundo comando
    bando vindo interesse classe
";

/// Words of everyday things, folded, which titles and names are made of too.
pub(crate) const EVERYDAY: &str = "
    agua alma amigo amor ano areia arte arvore asa aula aviao avo azul baia baile bairro banco banho barba
    barca barco barro bebida beijo bela bicho bico boca boi bola bolo bolsa bom borda bosque botao braco
    branco brinquedo cabeca cabelo cabo cachorro cadeira cafe caixa calca caldo calor cama caminho campo
    cana cantor capa cara carne carro carta casa casaco cavalo cedro cerca ceu cha chao chapeu chave
    cheiro chuva cidade cinema circo claro clima cobra colina comida copo cor coracao corda corpo costa
    cozinha crianca cruz dama danca dedo dente deserto dia dinheiro disco doce dono dor elefante escada
    escola escuro espelho estacao estrada estrela faca familia farol fazenda feira festa figueira filha
    filho filme flauta flor floresta fogo folha fome fonte forca formiga forno foto frio fruta fumaca gado
    galinha galpao garrafa gato gelo gente gosto grama guerra historia homem hora horta hotel igreja ilha
    inverno irma irmao janela jantar jardim jogo joia jornal juro lado ladrilho lago lagoa lapis laranja
    lata leao leite lenda letra limao lingua linha livro lobo loja lojas lote lotes lua luz maca macaco
    madeira mae mago mala manga manha mao mapa maquina mar marinho mel melodia menina menino mercado mes
    mesa metal milho moca moeda montanha morro morte motor mulher mundo muro musica navio neve ninho noite
    nome norte nuvem oceano olho onda osso ouro ovo pai pais palavra palco pao papel parede parque passaro
    passo pata patio pato paz pe pedra peixe pele pena pera perna perola pessoa pinheiro piso planeta
    planta poco poeira ponte porta porto povo praca praia prata prato predio preto primavera princesa
    principe quadro queijo rainha raio raiz rapaz rato rede rei relogio renda rio riso roda rosa rosto
    rota roupa rua sabor sal sala sangue sapato seda segredo selva semana serra sinal sino sol som sombra
    sonho sono sopa sorriso sul tambor tarde teatro telhado tempo terra tesouro tigre tinta titulo titulos
    torre trabalho trem trigo vaca vale vela velho vento verao verde viagem vida vidro vila vinho vitrine
    vitrines voz vulcao xadrez
";
