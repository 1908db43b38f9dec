//! Candidates for the prompt.
//!
//! Owns [`Piece`]: a message with where it comes from, what it costs and what became of it. A piece cannot be
//! built without origin, cost and reason, and none is ever thrown away: one that is out stays in the draft,
//! marked dropped, so that the explanation partitions the input. Changes are splices over the original bytes,
//! written at the end.

mod body;
mod edit;
mod framing;
mod why;

use std::hash::{BuildHasher, Hash, Hasher};

use rustc_hash::{FxBuildHasher, FxHasher};

use crate::compact::ShownSpan;
use crate::group::ShownGroup;
use crate::json::{self, Span};
use crate::loaded::CollectionItem;
use crate::message::{Message, Role};
use crate::module::Module;
use crate::payload::{FilePayload, Placeholder};
use crate::recall::RecallSource;
use crate::tokens::{self, OVERHEAD_TOKENS, Tokenizer};
use body::Body;
use edit::Edit;

pub use framing::Framing;
pub use why::{Fate, FileLimit, Why};

/// One candidate.
#[derive(Debug, Clone)]
pub struct Piece<'a> {
    /// Where it comes from.
    pub origin: Origin<'a>,
    /// Its cost.
    pub tokens: u32,
    /// What became of it.
    pub fate: Fate,
    /// The component or filter that decided.
    pub by: &'static str,
    /// Why the last decision was made.
    pub why: Why<'a>,
    /// What else was done to it before that.
    earlier: Option<Box<Earlier<'a>>>,
    tag: DocIdMode,
    /// Whether no filter and no budget may drop it.
    is_pinned: bool,
    body: Body<'a>,
}

/// What becomes of the id of the document that a message comes from.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum DocIdMode {
    /// It is not on the message.
    #[default]
    None,
    /// It is on the message until the prompt is written: it counts, and nobody sees it.
    Counted,
    /// It stays, as the member `docId`.
    Shown,
}

/// What was done to a piece before its last fate, oldest first. A list: hostile input makes it long.
#[derive(Debug, Clone, Default)]
struct Earlier<'a> {
    done: Vec<(Fate, Why<'a>)>,
}

/// Where a piece comes from.
#[derive(Debug, Clone, Copy)]
pub enum Origin<'a> {
    /// A turn of the thread.
    Turn {
        /// Its place in the thread.
        seq: u64,
        /// The id of its document.
        id: &'a str,
    },
    /// A message given with the request.
    Inline {
        /// Its place among them, from 0.
        index: usize,
    },
    /// What is being asked now.
    Question,
    /// A component that is not the log: its name, and the document where there is one.
    Component {
        /// The name of the component or of its collection.
        name: &'a str,
        /// The document.
        item: Option<&'a CollectionItem>,
    },
    /// What a search found.
    Recall {
        /// Where the search looked.
        from: RecallSource,
    },
    /// A module of the recipe.
    Module(&'a Module),
    /// Stands in for the turns of a group.
    Group(&'a ShownGroup),
    /// Says in short what the messages of a compacted span say.
    Compaction(&'a ShownSpan),
    /// Made by a filter, to stand after another piece.
    Made,
}

/// The name of the message that says what recalled passages are.
pub(crate) const RECALL_NOTICE: &str = "recallNotice";

impl<'a> Piece<'a> {
    #[inline(always)]
    pub(crate) fn stored(origin: Origin<'a>, by: &'static str, message: &'a Message, tokenizer: Tokenizer) -> Self {
        let tokens = message.tokens(tokenizer);
        Self {
            origin,
            tokens,
            fate: Fate::Kept,
            by,
            why: Why::Emitted,
            earlier: None,
            tag: DocIdMode::None,
            is_pinned: false,
            body: Body::Stored(message),
        }
    }

    pub(crate) fn made(
        origin: Origin<'a>,
        by: &'static str,
        why: Why<'a>,
        message: Message,
        tokenizer: Tokenizer,
    ) -> Self {
        let (tokens, body) = (message.tokens(tokenizer), Body::Made(Box::new(message)));
        let (earlier, tag) = (None, DocIdMode::None);
        Self { origin, tokens, fate: Fate::Made, by, why, earlier, tag, is_pinned: false, body }
    }

    /// What stands in for the turns of a group.
    pub(crate) fn stand_in(by: &'static str, why: Why<'a>, group: &'a ShownGroup, tokenizer: Tokenizer) -> Self {
        let stored = Self::stored(Origin::Group(group), by, &group.placeholder, tokenizer);
        Self { fate: Fate::Made, why, ..stored }
    }

    /// What says a compacted span in short.
    pub(crate) fn span(by: &'static str, why: Why<'a>, shown: &'a ShownSpan, tokenizer: Tokenizer) -> Self {
        let stored = Self::stored(Origin::Compaction(shown), by, &shown.message, tokenizer);
        Self { fate: Fate::Made, why, ..stored }
    }

    /// Whether it is not in the prompt.
    pub fn is_out(&self) -> bool {
        matches!(self.fate, Fate::Dropped | Fate::Collapsed)
    }

    /// The document that it comes from.
    #[inline]
    pub fn id(&self) -> Option<&'a str> {
        match self.origin {
            Origin::Turn { id, .. } => Some(id),
            Origin::Component { item: Some(item), .. } => Some(&item.id),
            _ => None,
        }
    }

    /// Whether it belongs to the conversation, rather than to what stands around it.
    pub(crate) fn is_log(&self) -> bool {
        !matches!(self.origin, Origin::Component { .. } | Origin::Recall { .. } | Origin::Module(_))
    }

    /// Whether it says that what was recalled is data.
    pub(crate) fn is_recall_notice(&self) -> bool {
        matches!(self.origin, Origin::Component { name: RECALL_NOTICE, item: None })
    }

    fn is_made(&self) -> bool {
        matches!(self.origin, Origin::Made | Origin::Group(_) | Origin::Compaction(_))
    }

    /// Whether a user said it, rather than a component or a filter in a user's name.
    pub(crate) fn is_user_turn(&self) -> bool {
        self.is_log() && !self.is_made() && self.base().is(Role::User)
    }

    /// Who speaks.
    pub fn role(&self) -> Option<Role> {
        self.body.role()
    }

    /// Whether this role speaks.
    pub fn is(&self, role: Role) -> bool {
        self.role() == Some(role)
    }

    /// Whether it came as an instruction; an answer that a filter recast did not.
    pub fn instructs(&self) -> bool {
        !self.is_made() && self.base().role().is_some_and(Role::instructs)
    }

    /// The message that its bytes come from.
    pub fn base(&self) -> &Message {
        self.body.base()
    }

    /// The message it was stored as, for as long as the documents live; `None` for one that was made here.
    pub(crate) fn source(&self) -> Option<&'a Message> {
        self.body.source()
    }

    /// Whether its bytes are those of a stored message.
    pub fn is_verbatim(&self) -> bool {
        matches!(self.body, Body::Stored(_))
    }

    /// What tells its bytes from any other's, where that is known without writing them. Of a turn it is where
    /// it stands, as long as nobody replaces it, and what was done to it.
    pub(crate) fn fingerprint(&self) -> Option<u64> {
        let of = match self.origin {
            Origin::Turn { seq, .. } => seq,
            Origin::Group(group) => group.fingerprint,
            Origin::Compaction(shown) => shown.fingerprint,
            _ => return None,
        };
        let is_stored = !matches!(self.body, Body::Made(_));
        is_stored.then(|| FxBuildHasher.hash_one((of, self.base().raw().len(), self.tag, self.form())))
    }

    /// Puts it out, for good. What was done to it before no longer matters.
    pub(crate) fn drop(&mut self, by: &'static str, why: Why<'a>) {
        self.put_out(Fate::Dropped, by, why);
    }

    /// Puts it out because another piece stands in for it.
    pub(crate) fn collapse(&mut self, by: &'static str, why: Why<'a>) {
        self.put_out(Fate::Collapsed, by, why);
    }

    fn put_out(&mut self, fate: Fate, by: &'static str, why: Why<'a>) {
        self.earlier = None;
        (self.fate, self.by, self.why) = (fate, by, why);
    }

    /// Says what became of it, without changing it. What was done to it before is remembered.
    pub(crate) fn mark(&mut self, fate: Fate, by: &'static str, why: Why<'a>) {
        let last = std::mem::replace(&mut self.why, why);
        if matches!(self.fate, Fate::Cut | Fate::Redacted | Fate::Moved) || last.changes() {
            self.earlier.get_or_insert_default().done.push((self.fate, last));
        }
        self.fate = fate;
        self.by = by;
    }

    /// Says why it stays, unless more than that has become of it already.
    pub(crate) fn keep(&mut self, by: &'static str, why: Why<'a>) {
        if self.fate == Fate::Kept {
            self.mark(Fate::Kept, by, why);
        }
    }

    /// Says that it must stay.
    pub(crate) fn pin(&mut self, by: &'static str) {
        self.is_pinned = true;
        self.keep(by, Why::Pinned);
    }

    pub(crate) fn is_pinned(&self) -> bool {
        self.is_pinned
    }

    /// Whether this has become of it, now or on the way.
    pub fn was(&self, fate: Fate) -> bool {
        self.fate == fate || self.earlier().any(|(earlier, _)| *earlier == fate)
    }

    /// All that became of it, in words, the last first.
    pub fn reasons(&self) -> String {
        let earlier = self.earlier().map(|(_, why)| why);
        std::iter::once(&self.why).chain(earlier).map(Why::to_string).collect::<Vec<_>>().join("; ")
    }

    /// What was done to it before, the last first.
    fn earlier(&self) -> impl Iterator<Item = &(Fate, Why<'a>)> {
        self.earlier.iter().flat_map(|earlier| earlier.done.iter().rev())
    }

    /// Hides the contents of a file it carries. It costs what it did until it is counted again, once for all
    /// its files.
    pub(crate) fn hide(&mut self, file: &'a FilePayload, placeholder: &'a Placeholder) {
        self.body.hide(file, placeholder);
    }

    #[inline]
    pub(crate) fn count_again(&mut self, tokenizer: Tokenizer) {
        let text = match tokenizer {
            Tokenizer::Approx => tokens::approx(self.units()),
            exact => self.text_tokens(exact),
        };
        self.tokens = text + OVERHEAD_TOKENS;
    }

    /// Whether its text was cut, so that it is no longer the JSON that it came as.
    pub(crate) fn is_rewritten(&self, literal: Span) -> bool {
        self.body.is_rewritten(literal)
    }

    /// UTF-16 code units of its text, where the content is one string.
    pub(crate) fn content_units(&self) -> Option<u32> {
        self.body.content_units()
    }

    /// Cuts its text to the first `units_max` UTF-16 code units.
    pub(crate) fn cut(&mut self, units_max: u32, tokenizer: Tokenizer) {
        self.body.cut(units_max);
        self.count_again(tokenizer);
    }

    /// Lets it say another text.
    pub(crate) fn replace_text(&mut self, message: Message, tokenizer: Tokenizer) {
        self.tokens = message.tokens(tokenizer);
        self.body = Body::Made(Box::new(message));
    }

    /// Puts a text before its own. It costs what it did until it is counted again.
    #[inline]
    pub(crate) fn frame(&mut self, framing: &'a Framing) {
        if self.body.frame(framing) {
            self.why = Why::Framed;
        }
    }

    /// Puts the id of its document on it. It costs what it did until it is counted again.
    #[inline]
    pub(crate) fn tag(&mut self, tag: DocIdMode) {
        let Some(id) = self.id() else { return };
        match (self.base().doc_id(), tag) {
            (None, tag) => self.tag = tag,
            (Some(own), DocIdMode::Shown) => {
                let edit = Edit::text(own, json::literal(id), own.slice(self.base().as_str()));
                self.body.splice(vec![edit]);
            }
            (Some(_), _) => {}
        }
    }

    /// Adds members, each after a comma, unless it has the first of them already.
    pub(crate) fn annotate(&mut self, members: &'a str, tokenizer: Tokenizer) {
        let text = self.base().as_str();
        let first = members.trim_start_matches(',').split(':').next().unwrap_or("");
        let Some(end) = text.rfind('}') else { return };
        if !json::members(text).any(|(key, _)| key.slice(text) == first) {
            self.edit(vec![Edit::members(end as u32, members)], tokenizer);
        }
    }

    /// Turns an answer nobody asked for into a message of another role.
    pub(crate) fn recast(&mut self, role: Role, strip_id: bool, tokenizer: Tokenizer) {
        let text = self.base().as_str();
        let Some(answer) = self.base().tools().and_then(|t| t.answer.as_ref()) else { return };
        let edit = |at: Span, instead| Edit::text(at, instead, at.slice(text));
        let mut edits = vec![edit(answer.role, json::literal(role.name()))];
        edits.extend(answer.id_member.filter(|_| strip_id).map(|member| edit(member, String::new())));
        self.edit(edits, tokenizer);
        self.body.set_role(role);
    }

    /// Writes the message as the model will see it.
    pub fn write(&self, out: &mut Vec<u8>) {
        self.body.write(out);
        if self.tag == DocIdMode::Shown {
            self.write_tag(out);
        }
    }

    fn write_tag(&self, out: &mut Vec<u8>) {
        let Some(id) = self.id() else { return };
        let end = out.iter().rposition(|byte| *byte == b'}').unwrap_or(out.len());
        out.truncate(end);
        out.extend_from_slice(DOC_ID.as_bytes());
        out.extend_from_slice(json::literal(id).as_bytes());
        out.push(b'}');
    }

    /// Tokens of its text.
    pub(crate) fn text_tokens(&self, tokenizer: Tokenizer) -> u32 {
        match (tokenizer, &self.body) {
            (Tokenizer::Approx, _) => tokens::approx(self.units()),
            (exact, Body::Stored(message)) if self.tag == DocIdMode::None => message.text_tokens(exact),
            (exact, Body::Made(message)) if self.tag == DocIdMode::None => message.text_tokens(exact),
            (exact, _) => self.base().edited_tokens(exact, self.form(), || {
                let mut raw = Vec::new();
                self.body.write(&mut raw);
                if self.tag != DocIdMode::None {
                    self.write_tag(&mut raw);
                }
                exact.count(&json::compact(&String::from_utf8_lossy(&raw)))
            }),
        }
    }

    /// UTF-16 code units of its compact JSON, with its id where that counts.
    #[inline]
    fn units(&self) -> u32 {
        let tag_units = match self.tag {
            DocIdMode::None => 0,
            _ => self.id().map_or(0, |id| DOC_ID.len() as u32 + json::literal_units(id)),
        };
        self.body.units() + tag_units
    }

    /// What tells this form of a message from another.
    fn form(&self) -> u64 {
        let mut hasher = FxHasher::default();
        self.id().filter(|_| self.tag != DocIdMode::None).hash(&mut hasher);
        self.body.hash(&mut hasher);
        hasher.finish()
    }

    fn edit(&mut self, edits: Vec<Edit<'a>>, tokenizer: Tokenizer) {
        self.body.splice(edits);
        self.count_again(tokenizer);
    }
}

/// What stands before the id of a document.
const DOC_ID: &str = ",\"docId\":";
