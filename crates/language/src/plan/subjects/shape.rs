//! How the codes of a kind look.

/// `A` is a letter, `9` a digit, `X` either, and `+` behind one of them means one or more. Other signs may
/// stand between the pieces of a code or be left out.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Shape(Vec<(CodeSign, bool)>);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CodeSign {
    Letter,
    Digit,
    Either,
}

impl Shape {
    pub(crate) const CHARS_MAX: usize = 32;

    pub fn parse(text: &str) -> Result<Self, String> {
        let mut signs: Vec<(CodeSign, bool)> = Vec::new();
        for c in text.chars() {
            match c {
                'A' => signs.push((CodeSign::Letter, false)),
                '9' => signs.push((CodeSign::Digit, false)),
                'X' => signs.push((CodeSign::Either, false)),
                '+' if !signs.is_empty() => signs.last_mut().into_iter().for_each(|(_, repeats)| *repeats = true),
                '-' | '/' | '.' | '_' | ' ' | ':' | '#' => {}
                _ => {
                    let problem = "must be made of A (a letter), 9 (a digit), X (either), + (one or more of the one \
                                   before) and the signs - / . _ : #";
                    return Err(problem.to_owned());
                }
            }
        }
        match signs.len() {
            0 => Err("must have a letter or a digit".to_owned()),
            1..=Self::CHARS_MAX => Ok(Self(signs)),
            _ => Err(format!("must have at most {} characters", Self::CHARS_MAX)),
        }
    }

    /// Whether a code of it cannot be taken for a number.
    pub(crate) fn has_letter(&self) -> bool {
        self.0.iter().any(|(sign, _)| *sign == CodeSign::Letter)
    }

    /// Whether a folded code, without signs between its pieces, looks so.
    pub fn fits(&self, folded: &str) -> bool {
        // The places in the shape that may come next.
        let mut open = vec![0_usize];
        for c in folded.chars() {
            let mut next: Vec<usize> = Vec::with_capacity(open.len() + 1);
            for at in open {
                let Some((sign, repeats)) = self.0.get(at) else { continue };
                let is_it = match sign {
                    CodeSign::Letter => c.is_alphabetic(),
                    CodeSign::Digit => c.is_ascii_digit(),
                    CodeSign::Either => c.is_alphanumeric(),
                };
                for place in [(is_it && *repeats).then_some(at), is_it.then_some(at + 1)].into_iter().flatten() {
                    if !next.contains(&place) {
                        next.push(place);
                    }
                }
            }
            open = next;
        }
        open.contains(&self.0.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_of_any_shape() {
        for (shape, fits, not) in [
            ("AAAA99", "hglg11", "hglg1"),
            ("AA-999", "bk014", "bk14"),
            ("A+9+", "sku7", "77"),
            ("9999", "2024", "202"),
            ("A9XX", "b7c1", "b77"),
            ("AA99", "жж12", "ж12"),
        ] {
            let shape = Shape::parse(shape).unwrap();
            assert!(shape.fits(fits) && !shape.fits(not), "{shape:?}");
        }
        assert!(Shape::parse("").is_err() && Shape::parse("a1").is_err() && Shape::parse("+A").is_err());
        assert!(!Shape::parse("99").unwrap().has_letter());
    }
}
