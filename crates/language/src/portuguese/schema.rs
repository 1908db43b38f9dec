//! Portuguese words in the names of tables and columns.

use crate::question_grammar::SchemaWords;
use crate::window::holds;

/// Words of names that are Portuguese alone.
const OWN: &str = "nome codigo preco valor quantidade qtd data dia mes ano cliente clientes produto produtos venda vendas
    cidade estado pais endereco telefone descricao categoria total_geral pedido pedidos fornecedor funcionario salario
    idade titulo autor livro livros aluno alunos nota turma escola estoque compra compras custo receita despesa peso altura
    cor tipo situacao criado atualizado medico paciente consulta veiculo placa marca modelo conta saldo";

pub(crate) const WORDS: SchemaWords = SchemaWords {
    names: "nome titulo nombre",
    codes: "codigo sigla placa matricula cod",
    times: "data dia mes",
    years: "ano",
    percents: "percentual porcentagem",
    keys: "",
    empty: "tabela de da do e chave no por para em",
    is_own: |word, folded| word.chars().any(|c| "áâãàçéêíóôõú".contains(c)) || holds(OWN, folded),
    plurals: &[("oes", "ao", 3), ("ores", "or", 2)],
    latin: &[],
    average: "média",
    rows: "Quantidade",
    all: ["todos", "todas"],
    list: "liste",
};
