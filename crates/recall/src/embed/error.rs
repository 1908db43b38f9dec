//! Why a model cannot be used. There is one thing to do about any of it, which is to install another model,
//! so an error says which file is at fault and how.

use std::path::{Path, PathBuf};

/// Why a model cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("{}: {fault}", file.display())]
pub struct ModelError {
    pub file: PathBuf,
    pub fault: Fault,
}

/// What is wrong with a file of a model.
#[derive(Debug, thiserror::Error)]
pub enum Fault {
    #[error("cannot be read: {0}")]
    Unreadable(#[from] std::io::Error),
    #[error("has {bytes} bytes, more than the {bytes_max} that are read")]
    TooLarge { bytes: u64, bytes_max: u64 },
    #[error("is not what it should be: {0}")]
    Json(#[from] serde_json::Error),
    /// It may be in order, but what it asks for is not done here.
    #[error("{what} is {found}, not {supported}")]
    Unsupported { what: &'static str, found: String, supported: &'static str },
    #[error("the vocabulary has no {0}")]
    NoToken(String),
    #[error("the token {token:?} has number {id}, and the model knows {vocab}")]
    TokenNumber { token: String, id: u64, vocab: usize },
    #[error("the header is said to have {header_bytes} bytes, which do not fit into {bytes} or pass {bytes_max}")]
    Header { header_bytes: u64, bytes: u64, bytes_max: u64 },
    /// The tensors overlap, leave holes, or the file ends before they do.
    #[error("the tensors do not cover the data: {0:?} is out of place")]
    Offsets(String),
    #[error("there is no tensor {0:?}")]
    NoTensor(String),
    #[error("the tensor {tensor:?} has the shape {found:?}, not {expected:?}")]
    Shape { tensor: String, found: Vec<u64>, expected: Vec<usize> },
    #[error("the tensor {tensor:?} is of {dtype}, not F32, F16 or BF16")]
    Dtype { tensor: String, dtype: String },
    #[error("the tensor {0:?} has weights that are no finite numbers")]
    NotFinite(String),
}

impl Fault {
    pub(super) fn unsupported(what: &'static str, found: impl ToString, supported: &'static str) -> Self {
        Self::Unsupported { what, found: found.to_string(), supported }
    }

    pub(super) fn of(self, file: &Path) -> ModelError {
        ModelError { file: file.to_owned(), fault: self }
    }
}
