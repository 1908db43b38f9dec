//! The assembly: documents and a recipe in, messages and their explanation out.
//!
//! Owns the one order in which a prompt is made: components emit, filters fold, the budget holds. Invariants,
//! each with a property test in `tests/invariants.rs`: never over budget; what goes in is accounted for,
//! exactly once; the newest user turn stays; the same inputs give the same bytes.

use std::hash::BuildHasher;

use crate::budget::{self, OverBudget};
use crate::compact::CompactionPlan;
use crate::component::Counting;
use crate::filter::{Draft, Note};
use crate::loaded::Loaded;
use crate::piece::{Origin, Piece, Why};
use crate::recall::Recalled;
use crate::recipe::Recipe;
use crate::tokens::Tokenizer;

/// Messages, and what became of everything that was considered.
#[derive(Debug)]
pub struct Assembly<'a> {
    /// Everything that was considered, in order, also what is out.
    pub pieces: Vec<Piece<'a>>,
    /// What filters and searches noticed.
    pub notes: Vec<Note>,
    /// The cost of the messages that are in.
    pub tokens: u32,
    /// The budget that was given.
    pub budget_tokens: Option<u32>,
    /// What the filter `compact` would have compacted. Carry it out, and assemble again.
    pub compaction: Option<CompactionPlan>,
    /// What the tokens were counted with.
    pub tokenizer: Tokenizer,
    /// Turns of the thread that were too old to be looked at.
    pub turns_before: u64,
}

/// Makes a prompt within a budget.
///
/// Fails only if what must stay does not fit: instructions, components and the newest user turn.
///
/// ```
/// use novelo_engine::{Loaded, Message, Recipe, Role, assemble};
///
/// let question = Message::text(Role::User, "What is the tallest mountain on Mars?");
/// let (recipe, loaded) = (Recipe::default(), Loaded { question: Some(&question), ..Loaded::default() });
///
/// let assembly = assemble(&recipe, &loaded, Some(100)).unwrap();
/// assert_eq!(assembly.messages().count(), 1);
///
/// let over = assemble(&recipe, &loaded, Some(10)).unwrap_err();
/// assert_eq!((over.budget_tokens, over.needed_tokens), (10, 25));
/// ```
pub fn assemble<'a>(
    recipe: &'a Recipe,
    loaded: &'a Loaded<'a>,
    budget_tokens: Option<u32>,
) -> Result<Assembly<'a>, OverBudget> {
    let tokenizer = recipe.tokenizer;
    let mut pieces = Vec::with_capacity(loaded.turns.len() + loaded.inline.len() + 8);
    let counting = Counting { tokenizer, tag: recipe.doc_ids };
    for component in &recipe.components {
        component.emit(loaded, counting, &mut pieces);
    }
    emit_given(loaded, tokenizer, &mut pieces);
    let mut draft = Draft { pieces, notes: Vec::new(), tokenizer, budget_tokens, compaction: None };
    draft.notes.extend(load_notes(loaded));
    for recalled in loaded.recalled {
        draft.notes.extend(recall_notes(recalled));
    }
    leave_out_refused(&mut draft, loaded);
    draft = recipe.filters.iter().fold(draft, |draft, filter| filter.apply(draft, loaded));
    if let Some(budget_tokens) = budget_tokens {
        draft = budget::apply(draft, budget_tokens)?;
    }
    leave_out_summary(&mut draft, loaded);
    Ok(Assembly {
        tokens: draft.tokens(),
        pieces: draft.pieces,
        notes: draft.notes,
        budget_tokens,
        compaction: draft.compaction,
        tokenizer,
        turns_before: loaded.turns_before,
    })
}

/// The tokens that are in a prompt whatever its budget: instructions, components and the newest user turn.
pub fn needed_tokens(recipe: &Recipe, loaded: &Loaded<'_>) -> u32 {
    let counting = Counting { tokenizer: recipe.tokenizer, tag: recipe.doc_ids };
    let mut pieces = Vec::with_capacity(loaded.turns.len() + loaded.inline.len() + 8);
    for component in &recipe.components {
        component.emit(loaded, counting, &mut pieces);
    }
    emit_given(loaded, recipe.tokenizer, &mut pieces);
    let tokenizer = recipe.tokenizer;
    let mut draft = Draft { pieces, notes: Vec::new(), tokenizer, budget_tokens: None, compaction: None };
    leave_out_refused(&mut draft, loaded);
    budget::needed_tokens(&mut draft)
}

/// What was ignored of the request, and what was too old to be looked at.
fn load_notes(loaded: &Loaded<'_>) -> impl Iterator<Item = Note> {
    let unknown = loaded.unknown_fields.iter().cloned().map(Note::UnknownField);
    let turns = (loaded.turns_before > 0).then_some(Note::NotLoaded { turns: loaded.turns_before });
    let documents = loaded.collections.iter().filter(|read| read.before > 0).map(|read| Note::DocumentsNotLoaded {
        collection: read.name.to_owned(),
        level: read.level,
        documents: read.before,
    });
    unknown.chain(turns).chain(documents)
}

fn recall_notes(recalled: &Recalled) -> impl Iterator<Item = Note> {
    let (from, hits, near) = (recalled.recall.from, recalled.hits.clone(), recalled.near.clone());
    let problems = recalled.problems.iter().map(|what| Note::LookupFailed { what: what.clone() });
    std::iter::once(Note::Recalled { from, hits, near }).chain(problems)
}

/// What a model refused would be refused again, and with it every later question.
fn leave_out_refused<'a>(draft: &mut Draft<'a>, loaded: &'a Loaded<'a>) {
    if loaded.refused.is_empty() {
        return;
    }
    for piece in &mut draft.pieces {
        let Origin::Turn { seq, .. } = piece.origin else { continue };
        let found = loaded.refused.binary_search_by_key(&seq, |refused| refused.seq);
        if let Some(refused) = found.ok().and_then(|at| loaded.refused.get(at)) {
            piece.drop("refused", Why::Refused { why: &refused.why });
        }
    }
}

/// A summary that was made from turns which are all in the prompt says nothing new, and would change the
/// front of it with every turn.
fn leave_out_summary(draft: &mut Draft<'_>, loaded: &Loaded<'_>) {
    let Some(upto) = loaded.summary_upto else { return };
    let covered = |piece: &&Piece<'_>| matches!(piece.origin, Origin::Turn { seq, .. } if seq <= upto);
    let whole = draft.pieces.iter().any(|piece| matches!(piece.origin, Origin::Turn { seq: 1, .. }));
    let is_told = |why: &Why<'_>| matches!(why, Why::Refused { .. } | Why::Compacted { .. });
    let is_missing = |piece: &Piece<'_>| piece.is_out() && !is_told(&piece.why);
    if !whole || draft.pieces.iter().filter(covered).any(is_missing) {
        return;
    }
    let summary = |piece: &&mut Piece<'_>| matches!(piece.origin, Origin::Component { name: "summary", item: None });
    for piece in draft.pieces.iter_mut().filter(summary).filter(|piece| !piece.is_out()) {
        piece.drop("summary", Why::Covered);
    }
}

fn emit_given<'a>(loaded: &'a Loaded<'a>, tokenizer: Tokenizer, out: &mut Vec<Piece<'a>>) {
    for (index, message) in loaded.inline.iter().enumerate() {
        out.push(Piece::stored(Origin::Inline { index }, "messages", message, tokenizer));
    }
    if let Some(question) = loaded.question {
        out.push(Piece::stored(Origin::Question, "question", question, tokenizer));
    }
}

/// One message of a prompt, for comparing prompts: equal marks are equal bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct MessageMark {
    /// Hash of the message's bytes.
    pub fingerprint: u64,
    /// Cost of the message.
    pub tokens: u32,
}

impl<'a> Assembly<'a> {
    /// What the model receives, in order.
    pub fn messages(&self) -> impl Iterator<Item = &Piece<'a>> {
        self.pieces.iter().filter(|p| !p.is_out())
    }

    /// Writes the messages as a JSON array.
    pub fn write(&self, out: &mut Vec<u8>) {
        out.push(b'[');
        for (n, piece) in self.messages().enumerate() {
            if n > 0 {
                out.push(b',');
            }
            piece.write(out);
        }
        out.push(b']');
    }

    /// The messages as marks.
    pub fn marks(&self) -> Vec<MessageMark> {
        let mut bytes = Vec::new();
        self.messages()
            .map(|piece| {
                let fingerprint = piece.fingerprint().unwrap_or_else(|| {
                    bytes.clear();
                    piece.write(&mut bytes);
                    rustc_hash::FxBuildHasher.hash_one(&bytes)
                });
                MessageMark { fingerprint, tokens: piece.tokens }
            })
            .collect()
    }
}

/// Tokens of the longest common front of two prompts.
pub fn unchanged_tokens(before: &[MessageMark], now: &[MessageMark]) -> u32 {
    before.iter().zip(now).take_while(|(a, b)| a.fingerprint == b.fingerprint).map(|(_, b)| b.tokens).sum()
}
