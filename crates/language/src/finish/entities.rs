//! The entities of HTML that models write, and the characters that they stand for.

/// Longer names are shown as they are.
const NAME_BYTES_MAX: usize = 9;

const NAMED: &str = "amp & lt < gt > quot \" apos ' ndash – mdash — hellip … lsquo ‘ rsquo ’ ldquo “ rdquo ” laquo « \
    raquo » bull • middot · deg ° euro € pound £ copy © reg ® trade ™ times × divide ÷ plusmn ± minus − frac12 ½ sect § \
    ordf ª ordm º iexcl ¡ iquest ¿ rarr → larr ← \
    aacute á acirc â atilde ã agrave à auml ä ccedil ç eacute é ecirc ê egrave è iacute í ntilde ñ oacute ó ocirc ô \
    otilde õ ouml ö uacute ú uuml ü szlig ß \
    Aacute Á Acirc Â Atilde Ã Agrave À Auml Ä Ccedil Ç Eacute É Ecirc Ê Egrave È Iacute Í Ntilde Ñ Oacute Ó Ocirc Ô \
    Otilde Õ Ouml Ö Uacute Ú Uuml Ü";
/// Those that are blanks.
const BLANKS: &str = "nbsp ensp emsp thinsp";

/// Whether an entity may go on with this character.
pub(super) fn may_go_on(entity: &str, c: char) -> bool {
    let is_first = entity.len() == 1;
    entity.len() <= NAME_BYTES_MAX && (c.is_ascii_alphanumeric() || (is_first && c == '#'))
}

/// The character of an entity, which begins with `&` and has no `;`. A blank that does not break is a blank.
pub(super) fn character(entity: &str) -> Option<char> {
    let name = entity.strip_prefix('&')?;
    if let Some(number) = name.strip_prefix('#') {
        let hex = number.strip_prefix(['x', 'X']);
        let code = hex.map_or_else(|| number.parse().ok(), |hex| u32::from_str_radix(hex, 16).ok())?;
        let character = char::from_u32(code).map(|c| if c == '\u{a0}' { ' ' } else { c })?;
        return (!character.is_control() || matches!(character, '\n' | '\t')).then_some(character);
    }
    if BLANKS.split(' ').any(|blank| blank == name) {
        return Some(' ');
    }
    let mut words = NAMED.split_ascii_whitespace();
    while let (Some(known), Some(character)) = (words.next(), words.next()) {
        if known == name {
            return character.chars().next();
        }
    }
    None
}
