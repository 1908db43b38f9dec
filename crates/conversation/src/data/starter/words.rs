//! The words in the names of tables and columns, and which language they are of.

use super::StarterLocale;
use super::schema::Schema;

/// Words of names that are Portuguese alone.
const PORTUGUESE: &str = "nome codigo preco valor quantidade qtd data dia mes ano cliente clientes produto produtos venda vendas
    cidade estado pais endereco telefone descricao categoria total_geral pedido pedidos fornecedor funcionario salario
    idade titulo autor livro livros aluno alunos nota turma escola estoque compra compras custo receita despesa peso altura
    cor tipo situacao criado atualizado medico paciente consulta veiculo placa marca modelo conta saldo";
/// Words that say nothing about what a column holds.
const EMPTY: &str = "id ids tbl table tabela pk fk the of de da do and e key chave no by por para with per in em";

/// The words of a name, in lower case: `unitPrice` and `unit_price` have two.
pub(super) fn split(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut is_open = false;
    let mut was_lower = false;
    for c in name.chars() {
        if !c.is_alphanumeric() {
            is_open = false;
            continue;
        }
        if !is_open || (was_lower && c.is_uppercase()) {
            words.push(String::new());
        }
        is_open = true;
        was_lower = c.is_lowercase() || c.is_numeric();
        words.last_mut().into_iter().for_each(|word| word.extend(c.to_lowercase()));
    }
    words
}

/// The words of a name that can ask for it.
pub(super) fn asking(name: &str) -> Vec<String> {
    let says =
        |word: &String| word.chars().count() > 1 && word.chars().any(char::is_alphabetic) && !has(EMPTY, &fold(word));
    split(name).into_iter().filter(says).collect()
}

/// A word without accents, in lower case.
pub(super) fn fold(word: &str) -> String {
    novelo_language::analyse::Words::new(word, 8).iter().map(|word| word.folded.to_owned()).collect::<Vec<_>>().concat()
}

pub(super) fn has(list: &str, word: &str) -> bool {
    list.split_whitespace().any(|entry| entry == word)
}

/// One of what a table has many of. Endings of other kinds stay.
pub(super) fn singular(word: &str) -> String {
    let ends = |end: &str| word.strip_suffix(end).filter(|front| front.chars().count() > 2);
    match () {
        () if ends("ies").is_some() => format!("{}y", ends("ies").unwrap_or(word)),
        () if ends("oes").is_some() => format!("{}ao", ends("oes").unwrap_or(word)),
        () if ends("ses").is_some() || ends("xes").is_some() || ends("res").is_some_and(|_| word.ends_with("ores")) => {
            word.strip_suffix("es").unwrap_or(word).to_owned()
        }
        () if word.ends_with("ss") || word.ends_with("us") || word.ends_with("is") => word.to_owned(),
        () => ends("s").unwrap_or(word).to_owned(),
    }
}

/// A name of letters without accents, digits and `_`, for files and parameters.
pub(super) fn plain(name: &str) -> String {
    const CYRILLIC: [(char, &str); 32] = [
        ('а', "a"),
        ('б', "b"),
        ('в', "v"),
        ('г', "g"),
        ('д', "d"),
        ('е', "e"),
        ('ж', "zh"),
        ('з', "z"),
        ('и', "i"),
        ('й', "y"),
        ('к', "k"),
        ('л', "l"),
        ('м', "m"),
        ('н', "n"),
        ('о', "o"),
        ('п', "p"),
        ('р', "r"),
        ('с', "s"),
        ('т', "t"),
        ('у', "u"),
        ('ф', "f"),
        ('х', "kh"),
        ('ц', "ts"),
        ('ч', "ch"),
        ('ш', "sh"),
        ('щ', "shch"),
        ('ъ', ""),
        ('ы', "y"),
        ('ь', ""),
        ('э', "e"),
        ('ю', "yu"),
        ('я', "ya"),
    ];
    let words = split(name).into_iter().map(|word| {
        let letter = |c: char| match CYRILLIC.iter().find(|(letter, _)| *letter == c) {
            Some((_, latin)) => (*latin).to_owned(),
            None => c.to_string(),
        };
        let latin: String = fold(&word).chars().map(letter).collect();
        latin.chars().filter(char::is_ascii_alphanumeric).collect::<String>()
    });
    words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join("_")
}

/// The name as people write it: `Unit price`.
pub(super) fn label(name: &str) -> String {
    let words = split(name).join(" ");
    let mut chars = words.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

/// The language that the names of a database are in.
pub(super) fn locale(schema: &Schema) -> StarterLocale {
    let names = schema.tables.iter().flat_map(|table| {
        std::iter::once(table.name.as_str()).chain(table.columns.iter().map(|column| column.name.as_str()))
    });
    let (mut russian, mut portuguese, mut all) = (0, 0, 0);
    for word in names.flat_map(split) {
        all += 1;
        russian += usize::from(word.chars().any(|c| ('а'..='я').contains(&c) || c == 'ё'));
        let has_accent = word.chars().any(|c| "áâãàçéêíóôõú".contains(c));
        portuguese += usize::from(has_accent || has(PORTUGUESE, &fold(&word)));
    }
    match () {
        () if russian * 3 >= all.max(1) => StarterLocale::Russian,
        () if portuguese * 4 >= all.max(1) => StarterLocale::Portuguese,
        () => StarterLocale::English,
    }
}
