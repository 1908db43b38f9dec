//! The answer to a request for a context.
//!
//! Owns the bytes around the messages: their name, and what a native caller is told beside them.

use bytes::Bytes;
use novelo_engine::{Assembly, Explanation, json, render};

use crate::http::error::{ApiError, Code, Result};
use crate::trace::TraceId;

/// An answer, and the name of its trace.
#[derive(Debug, Clone)]
pub struct Made {
    pub body: Bytes,
    pub trace: TraceId,
    /// Whether the trace was kept.
    pub traced: bool,
}

/// The form of the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Answer {
    /// The messages with what they cost, and why they are there.
    Context(Explain),
    /// An object of the messages alone, under this name.
    Messages(&'static str),
}

impl Default for Answer {
    fn default() -> Self {
        Self::Context(Explain::No)
    }
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Explain {
    #[default]
    No,
    Rows,
    Text,
}

/// The answer up to the end of its messages, and where these begin.
pub fn begin(assembly: &Assembly<'_>, answer: Answer) -> (Vec<u8>, usize) {
    let name = match answer {
        Answer::Context(_) => "messages",
        Answer::Messages(name) => name,
    };
    let size: usize = assembly.messages().map(|p| p.base().raw().len() + 64).sum();
    let mut out = Vec::with_capacity(size + 512);
    out.extend_from_slice(format!(r#"{{"{name}":"#).as_bytes());
    let head = out.len();
    assembly.write(&mut out);
    (out, head)
}

/// The rest of the answer.
pub fn finish(out: &mut Vec<u8>, assembly: &Assembly<'_>, id: &TraceId, answer: Answer) -> Result<()> {
    if let Answer::Context(explain) = answer {
        let budget = assembly.budget_tokens.map_or_else(|| "null".to_owned(), |b| b.to_string());
        let (tokens, id) = (assembly.tokens, id.encode());
        out.extend_from_slice(format!(r#","tokens":{tokens},"budget_tokens":{budget},"trace_id":"{id}""#).as_bytes());
        let explained = match explain {
            Explain::No => None,
            Explain::Rows => Some(serde_json::to_string(&Explanation::of(assembly)).map_err(unexplained)?),
            Explain::Text => Some(json::literal(&render::text(assembly))),
        };
        if let Some(explained) = explained {
            out.extend_from_slice(format!(r#","explain":{explained}"#).as_bytes());
        }
    }
    out.push(b'}');
    Ok(())
}

fn unexplained(error: serde_json::Error) -> ApiError {
    ApiError::new(Code::Internal, format!("the explanation cannot be written: {error}"))
}
