//! The explanation of an assembly, as data.
//!
//! Owns the wire form of `explain`: one row for each piece that was considered, in or out, and the notes.
//! ExplanationRows partition the input; turns too old to be looked at share one row that says how many they
//! are.

use serde::Serialize;

use crate::assemble::Assembly;
use crate::filter::Note;
use crate::piece::{Fate, Origin, Piece};

/// What became of everything that was considered for a prompt.
#[derive(Debug, Serialize)]
pub struct Explanation {
    /// One row for each piece, in or out, in order.
    pub pieces: Vec<ExplanationRow>,
    /// What filters and searches noticed.
    pub notes: Vec<Note>,
}

/// What became of one piece, and why.
#[derive(Debug, Serialize)]
pub struct ExplanationRow {
    /// Where it comes from: `history`, `inline`, `question`, or the component.
    pub origin: String,
    /// Who speaks.
    pub role: Option<&'static str>,
    /// Its cost.
    pub tokens: u32,
    /// What became of it.
    pub fate: Fate,
    /// The component or filter that decided.
    pub by: &'static str,
    /// Why, in words.
    pub why: String,
    /// The id of its document.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The place of its turn in the thread.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seq: Option<u64>,
    /// Place among the messages given inline.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub index: Option<usize>,
    /// How many turns the row stands for, where that is not one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turns: Option<u64>,
}

impl Assembly<'_> {
    /// Explains what became of everything that was considered, and why.
    ///
    /// ```
    /// use novelo_engine::piece::Fate;
    /// use novelo_engine::recipe::{FilterSpec, WindowSize};
    /// use novelo_engine::{Loaded, Message, RecipeBuilder, Role, assemble};
    ///
    /// let messages = ["one", "two", "three"].map(|text| Message::text(Role::User, text));
    /// let window = FilterSpec::HistoryWindow(WindowSize::Turns(2));
    /// let document = RecipeBuilder::new().filter(window).build()?;
    /// let loaded = Loaded { inline: &messages, ..Loaded::default() };
    ///
    /// let explanation = assemble(document.recipe(), &loaded, None)?.explain();
    /// let oldest = &explanation.pieces[0];
    /// assert_eq!((oldest.fate, oldest.by), (Fate::Dropped, "historyWindow"));
    /// assert_eq!(oldest.why, "before the last 2 turns");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn explain(&self) -> Explanation {
        let mut pieces = Vec::with_capacity(self.pieces.len() + 1);
        pieces.extend((self.turns_before > 0).then(|| ExplanationRow::not_loaded(self.turns_before)));
        pieces.extend(self.pieces.iter().map(ExplanationRow::from_piece));
        Explanation { pieces, notes: self.notes.clone() }
    }
}

impl ExplanationRow {
    fn from_piece(piece: &Piece<'_>) -> Self {
        let (origin, id, seq, index) = match piece.origin {
            Origin::Turn { seq, id } => ("history".into(), Some(id.to_owned()), Some(seq), None),
            Origin::Inline { index } => ("inline".into(), None, None, Some(index)),
            Origin::Question => ("question".into(), None, None, None),
            Origin::Component { name, item } => (name.to_owned(), item.map(|i| i.id.to_string()), None, None),
            Origin::Recall { from } => (from.name().to_owned(), None, None, None),
            Origin::Module(module) => (format!("module {}", module.name), None, None, None),
            Origin::Group(shown) => ("group".into(), Some(shown.group.name.to_string()), None, None),
            Origin::Compaction(shown) => ("compaction".into(), Some(shown.span.id.to_string()), None, None),
            Origin::Made => ("made".into(), None, None, None),
        };
        Self {
            origin,
            role: piece.role().map(|r| r.name()),
            tokens: piece.tokens,
            fate: piece.fate,
            by: piece.by,
            why: piece.reasons(),
            id,
            seq,
            index,
            turns: None,
        }
    }

    fn not_loaded(turns: u64) -> Self {
        Self {
            origin: "history".to_owned(),
            role: None,
            tokens: 0,
            fate: Fate::Dropped,
            by: "history",
            why: "older than what one context looks at".to_owned(),
            id: None,
            seq: None,
            index: None,
            turns: Some(turns),
        }
    }
}
