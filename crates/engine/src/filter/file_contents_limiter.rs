//! `fileContentsLimiter`: file bodies in tool traffic, only the newest few.
//!
//! Walks from the newest message to the oldest and keeps the contents of so many files, and of so many
//! versions of each. What it hides still names its file, so that it can be fetched.

use super::{Draft, Note};
use crate::Role;
use crate::decode::{DecodeError, Fields};
use crate::payload::{FilePayload, Placeholder};
use crate::piece::{Fate, FileLimit, Piece, Why};

const NAME: &str = "fileContentsLimiter";

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct FileContentsLimiter {
    files_max: u32,
    versions_max: u32,
    placeholder: Placeholder,
    in_calls: bool,
    in_answers: bool,
}

/// Versions kept so far of each file that is kept at all.
type Seen<'a> = Vec<(&'a FilePayload, u32)>;

impl FileContentsLimiter {
    pub(crate) fn decode(options: &mut Fields<'_>) -> Result<Self, DecodeError> {
        let placeholder = options.added_text("placeholder")?.unwrap_or("(file contents ommited for space)");
        Ok(Self {
            files_max: options.number("filesLimit", 0, 1_000)?.unwrap_or(7),
            versions_max: options.number("versionsPerFile", 0, 1_000)?.unwrap_or(2),
            placeholder: Placeholder::new(placeholder),
            in_calls: options.flag("detectAssistantToolCalls")?.unwrap_or(true),
            in_answers: options.flag("detectToolMessages")?.unwrap_or(true),
        })
    }

    pub(crate) fn apply<'a>(&'a self, mut draft: Draft<'a>) -> Draft<'a> {
        let mut seen: Seen<'a> = Vec::new();
        let mut payloads = 0;
        let tokenizer = draft.tokenizer;
        for piece in draft.pieces.iter_mut().rev() {
            let files = self.files(piece);
            if files.is_empty() || piece.is_out() {
                continue;
            }
            let mut hidden = false;
            for file in files {
                let Some(limit) = self.beyond(&mut seen, piece, file) else { continue };
                piece.hide(file, &self.placeholder);
                piece.mark(Fate::Redacted, NAME, Why::FileHidden { path: &file.path, limit });
                payloads += 1;
                hidden = true;
            }
            if hidden {
                piece.count_again(tokenizer);
            }
        }
        if payloads > 0 {
            draft.notes.push(Note::FilesHidden { payloads });
        }
        draft
    }

    /// The files of a piece, in the order in which they count.
    #[inline]
    fn files<'a>(&self, piece: &Piece<'a>) -> &'a [FilePayload] {
        let Some(tools) = piece.source().and_then(|m| m.tools()) else { return &[] };
        let looks = match tools.answer {
            Some(_) => self.in_answers && piece.is(Role::Tool),
            None => self.in_calls && piece.is(Role::Assistant),
        };
        if looks { &tools.files } else { &[] }
    }

    /// Counts one more version of a file; the option that leaves no room for it, if one does.
    fn beyond<'a>(&self, seen: &mut Seen<'a>, piece: &Piece<'a>, file: &'a FilePayload) -> Option<FileLimit> {
        if piece.is_rewritten(file.literal) {
            return None;
        }
        let same = |known: &FilePayload| known.fingerprint == file.fingerprint && known.path == file.path;
        let place = match seen.iter().position(|(known, _)| same(known)) {
            Some(place) => place,
            None if seen.len() >= self.files_max as usize => return Some(FileLimit::Files),
            None => {
                seen.push((file, 0));
                seen.len() - 1
            }
        };
        let (_, versions) = seen.get_mut(place)?;
        if *versions >= self.versions_max {
            return Some(FileLimit::Versions);
        }
        *versions += 1;
        None
    }
}
