//! Removing the documents of forgotten collections, a few at a time.
//!
//! Owns how far that is. Nobody reaches these documents any more: the entries of their collections are gone,
//! and a number is never given again. Invariant: a number stays noted as doomed until nothing is stored under
//! it, so that the next opening resumes what a crash interrupted.

use super::db::Space;
use super::txn::Txn;
use crate::Error;
use crate::codec::{pair_key, pair_of};
use crate::record::Record;

/// No id is longer than this in bytes.
const ID_BYTES_MAX: usize = 1_100;

/// Where the last step ended. Starting there saves it from stepping over all that was removed before.
#[derive(Debug, Default)]
pub(super) struct DoomedSweep {
    number: u64,
    next_seq: u64,
    /// Index entries may be left, because a record could not be read.
    has_strays: bool,
}

impl DoomedSweep {
    /// Removes up to so many documents; whether none is left.
    pub fn step(&mut self, txn: &mut Txn<'_>, documents_max: usize) -> Result<bool, Error> {
        let mut left = documents_max;
        while left > 0 {
            match self.doomed(txn)? {
                None => return Ok(true),
                Some(number) if number != self.number => *self = Self { number, ..Self::default() },
                Some(_) => {}
            }
            let removed = self.remove_documents(txn, left)?;
            if removed < left {
                if self.has_strays {
                    remove_strays(txn, self.number)?;
                }
                txn.remove(Space::Doomed, self.number.to_be_bytes());
            }
            left = left.saturating_sub(removed.max(1));
        }
        Ok(false)
    }

    /// The next number: the same again, a higher one, or else the lowest.
    fn doomed(&self, txn: &Txn<'_>) -> Result<Option<u64>, Error> {
        let view = txn.view();
        let first = |low: u64| view.range(Space::Doomed, &low.to_be_bytes(), &[0xff; 8]).next().transpose();
        let found = match first(self.number)? {
            Some(found) => Some(found),
            None => first(0)?,
        };
        Ok(found.and_then(|(key, _)| key.get(..8)?.try_into().ok().map(u64::from_be_bytes)))
    }

    fn remove_documents(&mut self, txn: &mut Txn<'_>, documents_max: usize) -> Result<usize, Error> {
        let documents = {
            let view = txn.view();
            let (low, high) = (pair_key(self.number, self.next_seq), pair_key(self.number, u64::MAX));
            view.range(Space::Docs, &low, &high).take(documents_max).collect::<Result<Vec<_>, _>>()?
        };
        for (key, bytes) in &documents {
            let Some((_, seq)) = pair_of(key) else { return Err(Error::damaged("docs", "a key is cut short")) };
            match Record::decode(key, bytes) {
                Ok(record) => txn.erase(self.number, seq, &record),
                Err(_) => {
                    txn.remove(Space::Docs, &**key);
                    self.has_strays = true;
                }
            }
            self.next_seq = seq.saturating_add(1);
        }
        Ok(documents.len())
    }
}

/// Removes index entries that lead to no document.
fn remove_strays(txn: &mut Txn<'_>, number: u64) -> Result<(), Error> {
    let (low, mut high) = (number.to_be_bytes(), number.to_be_bytes().to_vec());
    high.resize(high.len() + ID_BYTES_MAX, 0xff);
    for space in [Space::Ids, Space::Times] {
        let keys = {
            let view = txn.view();
            view.range(space, &low, &high).map(|entry| Ok(entry?.0)).collect::<Result<Vec<_>, Error>>()?
        };
        keys.into_iter().for_each(|key| txn.remove(space, &*key));
    }
    Ok(())
}
