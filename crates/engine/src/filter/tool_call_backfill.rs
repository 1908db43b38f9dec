//! `toolCallBackfill`: every call answered, every answer called, in the order that models accept.
//!
//! Answers move to follow the message that issued their call; a call without one gets a made-up answer; an
//! answer without a call becomes a message of another role.

use rustc_hash::{FxHashMap, FxHashSet};

use super::{Draft, Note};
use crate::decode::{DecodeError, Fields};
use crate::json;
use crate::message::{Message, ToolCall};
use crate::pairs::{Pairs, answered};
use crate::piece::{Fate, Origin, Piece, Why};
use crate::{Role, Tokenizer};

const NAME: &str = "toolCallBackfill";
const CALLS_COMPARED_MAX: usize = 16;

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ToolCallBackfill {
    missing_content: String,
    role: Role,
    orphan_role: Role,
    strip_orphan_id: bool,
}

impl ToolCallBackfill {
    pub(crate) fn decode(options: &mut Fields<'_>) -> Result<Self, DecodeError> {
        let mut role = |name: &'static str, default: Role| match options.string(name)? {
            None => Ok(default),
            Some(given) => Role::from_name(given).ok_or_else(|| DecodeError::new(options.path(name), "must be a role")),
        };
        Ok(Self {
            role: role("role", Role::Tool)?,
            orphan_role: role("orphanRole", Role::System)?,
            missing_content: options.added_text("missingContent")?.unwrap_or("Tool call failed to respond").to_owned(),
            strip_orphan_id: options.flag("stripOrphanToolId")?.unwrap_or(true),
        })
    }

    pub(crate) fn apply<'a>(&'a self, mut draft: Draft<'a>) -> Draft<'a> {
        if let Some(orphans) = orphans_in_order(&draft) {
            return self.recast_orphans(draft, &orphans);
        }
        let steps = plan(&draft.pieces);
        let before = live_before(&draft.pieces);
        let tokenizer = draft.tokenizer;
        let (mut made, mut moved, mut orphans) = (0, 0, 0);
        let mut supply = Supply { rest: draft.pieces.into_iter().enumerate(), parked: FxHashMap::default() };
        draft.pieces = Vec::with_capacity(steps.len());
        let (mut last, mut last_moved) = (None, false);
        for step in steps {
            if let Step::Missing { call } = step {
                draft.pieces.push(self.missing(call, tokenizer));
                made += 1;
                continue;
            }
            let at = step.place();
            let Some(mut piece) = supply.take(at) else { continue };
            let follows = before.get(at).copied().flatten() == last;
            match step {
                Step::Orphan { .. } => {
                    self.recast(&mut piece, tokenizer);
                    orphans += 1;
                }
                Step::ToolAnswer { call, .. } if last_moved || !follows => {
                    piece.mark(Fate::Moved, NAME, Why::FollowsCall { call });
                    moved += 1;
                }
                _ => {}
            }
            if !piece.is_out() {
                last = Some(at);
                last_moved = matches!(step, Step::ToolAnswer { .. }) && (last_moved || !follows);
            }
            draft.pieces.push(piece);
        }
        if made + moved + orphans > 0 {
            draft.notes.push(Note::Backfilled { made, moved, orphans });
        }
        draft
    }

    /// Nothing moves and nothing is missing: what is there changes where it stands.
    fn recast_orphans<'a>(&'a self, mut draft: Draft<'a>, orphans: &[usize]) -> Draft<'a> {
        for at in orphans {
            if let Some(piece) = draft.pieces.get_mut(*at) {
                self.recast(piece, draft.tokenizer);
            }
        }
        if !orphans.is_empty() {
            draft.notes.push(Note::Backfilled { made: 0, moved: 0, orphans: orphans.len() });
        }
        draft
    }

    fn missing<'a>(&self, call: &'a str, tokenizer: Tokenizer) -> Piece<'a> {
        let raw = format!(
            r#"{{"role":{},"tool_call_id":{},"content":{}}}"#,
            json::literal(self.role.name()),
            json::literal(call),
            json::literal(&self.missing_content),
        );
        Piece::made(Origin::Made, NAME, Why::Unanswered { call }, Message::from_stored(raw.into()), tokenizer)
    }

    fn recast<'a>(&'a self, piece: &mut Piece<'a>, tokenizer: Tokenizer) {
        let call = match &piece.why {
            Why::Unanswered { call } => Some(*call),
            _ => piece.source().and_then(named),
        };
        piece.recast(self.orphan_role, self.strip_orphan_id, tokenizer);
        piece.mark(Fate::Redacted, NAME, Why::Orphan { call, role: self.orphan_role });
    }
}

/// The id that an answer names.
fn named(message: &Message) -> Option<&str> {
    message.tools()?.answer.as_ref()?.id.as_deref()
}

/// Pieces that are taken nearly in order; the few that are passed over wait.
struct Supply<'a> {
    rest: std::iter::Enumerate<std::vec::IntoIter<Piece<'a>>>,
    parked: FxHashMap<usize, Piece<'a>>,
}

impl<'a> Supply<'a> {
    fn take(&mut self, at: usize) -> Option<Piece<'a>> {
        if let Some(piece) = self.parked.remove(&at) {
            return Some(piece);
        }
        for (passed, piece) in self.rest.by_ref() {
            if passed == at {
                return Some(piece);
            }
            self.parked.insert(passed, piece);
        }
        None
    }
}

/// What comes next in the repaired order.
enum Step<'a> {
    Keep { at: usize },
    ToolAnswer { at: usize, call: &'a str },
    Orphan { at: usize },
    Missing { call: &'a str },
}

impl Step<'_> {
    fn place(&self) -> usize {
        match self {
            Self::Keep { at } | Self::ToolAnswer { at, .. } | Self::Orphan { at } => *at,
            Self::Missing { .. } => usize::MAX,
        }
    }
}

/// The answers without a call, where nothing else needs repair: each message with calls is followed by their
/// answers, in order, and no others.
fn orphans_in_order(draft: &Draft<'_>) -> Option<Vec<usize>> {
    let mut open: &[ToolCall] = &[];
    let mut last: Option<&str> = None;
    let mut orphans = Vec::new();
    for (at, piece) in draft.live() {
        if piece.is(Role::Tool) {
            let id = answered(piece);
            match open.split_first() {
                Some((call, rest)) if Some(&*call.id) == id => (open, last) = (rest, Some(&*call.id)),
                _ if id.is_some() && last == id => {}
                Some(_) => return None,
                None => {
                    orphans.push(at);
                    last = None;
                }
            }
            continue;
        }
        if !open.is_empty() {
            return None;
        }
        (open, last) = (piece.base().calls(), None);
        if may_repeat(open) {
            return None;
        }
    }
    (open.is_empty() && !is_any_called(draft, &orphans)).then_some(orphans)
}

/// Whether some message calls what one of these answers.
fn is_any_called(draft: &Draft<'_>, answers: &[usize]) -> bool {
    if answers.is_empty() {
        return false;
    }
    let ids = answers.iter().filter_map(|at| draft.pieces.get(*at).and_then(answered));
    let ids: FxHashSet<&str> = ids.collect();
    draft.live().any(|(_, piece)| piece.base().calls().iter().any(|call| ids.contains(&*call.id)))
}

/// Whether an id might stand twice among the calls; where they are many, nobody looks.
fn may_repeat(calls: &[ToolCall]) -> bool {
    calls.len() > CALLS_COMPARED_MAX
        || calls.iter().enumerate().any(|(n, call)| calls.iter().take(n).any(|earlier| earlier.id == call.id))
}

fn plan<'a>(pieces: &[Piece<'a>]) -> Vec<Step<'a>> {
    let pairs = Pairs::find(pieces);
    let mut answers: FxHashMap<usize, Vec<usize>> = FxHashMap::default();
    for at in 0..pieces.len() {
        if let Some(owner) = pairs.owner(at) {
            answers.entry(owner).or_default().push(at);
        }
    }
    let mut steps = Vec::with_capacity(pieces.len() + 8);
    for (at, piece) in pieces.iter().enumerate() {
        if piece.is_out() {
            steps.push(Step::Keep { at });
        } else if pairs.owner(at).is_some() {
            continue;
        } else if piece.is(Role::Tool) {
            steps.push(Step::Orphan { at });
        } else {
            steps.push(Step::Keep { at });
            let calls = piece.source().map(Message::calls).unwrap_or_default();
            plan_answers(pieces, calls, answers.get(&at).map_or(&[], Vec::as_slice), &mut steps);
        }
    }
    steps
}

/// The answers to one message's calls. An id that stands twice among them is answered once.
fn plan_answers<'a>(pieces: &[Piece<'a>], calls: &'a [ToolCall], answers: &[usize], steps: &mut Vec<Step<'a>>) {
    let mut by_id: FxHashMap<&str, Vec<usize>> = FxHashMap::default();
    for at in answers {
        by_id.entry(pieces.get(*at).and_then(answered).unwrap_or("")).or_default().push(*at);
    }
    let mut seen = FxHashSet::default();
    for call in calls.iter().filter(|call| seen.insert(&*call.id)) {
        match by_id.get(&*call.id) {
            Some(mine) => steps.extend(mine.iter().map(|at| Step::ToolAnswer { at: *at, call: &call.id })),
            None => steps.push(Step::Missing { call: &call.id }),
        }
    }
}

/// For each place, the live piece right before it.
fn live_before(pieces: &[Piece<'_>]) -> Vec<Option<usize>> {
    let mut last = None;
    pieces.iter().enumerate().map(|(at, piece)| if piece.is_out() { last } else { last.replace(at) }).collect()
}
