//! Imports and forks.
//!
//! Both copy documents with their seqs and versions. A fork copies the turns, since the two threads may be at
//! different servers.

use novelo_engine::path::CollectionPath;

use super::Redis;
use super::write_args::WriteStep;
use crate::Error;
use crate::op::Exported;
use crate::read::Range;

impl Redis {
    /// Returns how many documents were new.
    pub(super) async fn import(&self, documents: &[Exported]) -> Result<u64, Error> {
        let mut steps: Vec<WriteStep<'_>> = Vec::new();
        for document in documents {
            let of = document.path.collection();
            match steps.last_mut() {
                Some(WriteStep::Import { to, documents }) if *to == of => documents.push(document),
                _ => steps.push(WriteStep::Import { to: of, documents: vec![document] }),
            }
        }
        let (answers, _) = self.run_steps(&steps).await?;
        answers.into_iter().try_fold(0, |imported, mut answer| Ok(imported + answer.number()?))
    }

    /// Returns how many turns the fork begins with.
    pub(super) async fn fork(&self, from: &CollectionPath, at_seq: u64, to: &CollectionPath) -> Result<u64, Error> {
        let between = Range::Between { first: 1, last: at_seq };
        let Some(source) = self.seen(&self.0.names.collection(from), between).await? else {
            return Err(Error::NotFound { path: from.to_string() });
        };
        if at_seq > source.version.last_seq {
            return Err(Error::Invalid(format!("at_seq {at_seq} is beyond the end, {}", source.version.last_seq)));
        }
        let step = WriteStep::Fork { to: to.clone(), born: &source.born, at_seq, turns: &source.records };
        match self.run_steps(&[step]).await?.0.pop() {
            Some(mut answer) => answer.number(),
            None => Err(Error::damaged("what Redis holds", "a fork had no answer")),
        }
    }
}
