//! The answer to a request for a context.
//!
//! Owns the bytes around the messages: their name, and the figures for a native caller.

use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use novelo_engine::{Assembly, json, render};

use crate::error::{Code, Error, Result};
use crate::search::FoundPassage;
use crate::thread::compaction::Compaction;
use crate::trace::TraceId;

/// An answer, and the name of its trace.
#[derive(Debug, Clone)]
pub struct ContextResponse {
    /// The response as JSON.
    pub body: Bytes,
    /// Where in the body the messages are.
    messages: Range<usize>,
    /// The tokens of the prompt.
    pub tokens: u32,
    /// The budget of the prompt, if it had one.
    pub budget_tokens: Option<u32>,
    /// The passages in the prompt, best first.
    pub sources: Arc<[FoundPassage]>,
    /// The id of the prompt's trace.
    pub trace: TraceId,
    /// Whether the trace was kept.
    pub traced: bool,
    /// The compaction that was made for it and stored, if one was.
    pub compaction: Option<Arc<Compaction>>,
}

impl ContextResponse {
    /// The messages alone, a JSON array.
    pub fn messages(&self) -> Bytes {
        self.body.slice(self.messages.clone())
    }

    /// How much memory it takes.
    pub fn bytes(&self) -> usize {
        self.body.len() + self.sources.iter().map(FoundPassage::bytes).sum::<usize>() + 512
    }
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

/// How a context is explained.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Explain {
    /// Not at all.
    #[default]
    No,
    /// A row for each message.
    Rows,
    /// As text.
    Text,
}

/// An answer in the making.
#[derive(Debug)]
pub struct Draft {
    out: Vec<u8>,
    messages: Range<usize>,
}

impl Draft {
    /// The answer up to the end of its messages.
    pub fn begin(assembly: &Assembly<'_>, answer: Answer) -> Self {
        let name = match answer {
            Answer::Context(_) => "messages",
            Answer::Messages(name) => name,
        };
        let size: usize = assembly.messages().map(|p| p.base().raw().len() + 64).sum();
        let mut out = Vec::with_capacity(size + 512);
        out.extend_from_slice(format!(r#"{{"{name}":"#).as_bytes());
        let head = out.len();
        assembly.write(&mut out);
        let messages = head..out.len();
        Self { out, messages }
    }

    /// The messages as a JSON array.
    pub fn messages(&self) -> &[u8] {
        self.out.get(self.messages.clone()).unwrap_or_default()
    }

    /// The rest of the answer.
    pub fn finish(
        mut self,
        assembly: &Assembly<'_>,
        sources: Arc<[FoundPassage]>,
        (trace, traced): (TraceId, bool),
        answer: Answer,
    ) -> Result<ContextResponse> {
        if let Answer::Context(explain) = answer {
            write_figures(&mut self.out, assembly, &trace, explain)?;
        }
        self.out.push(b'}');
        let (tokens, budget_tokens) = (assembly.tokens, assembly.budget_tokens);
        Ok(ContextResponse {
            body: self.out.into(),
            messages: self.messages,
            tokens,
            budget_tokens,
            sources,
            trace,
            traced,
            compaction: None,
        })
    }
}

/// Writes the figures that a native caller gets beside the messages.
fn write_figures(out: &mut Vec<u8>, assembly: &Assembly<'_>, id: &TraceId, explain: Explain) -> Result<()> {
    let budget = assembly.budget_tokens.map_or_else(|| "null".to_owned(), |b| b.to_string());
    let (tokens, id) = (assembly.tokens, id.encode());
    out.extend_from_slice(format!(r#","tokens":{tokens},"budget_tokens":{budget},"trace_id":"{id}""#).as_bytes());
    let explained = match explain {
        Explain::No => None,
        Explain::Rows => Some(serde_json::to_string(&assembly.explain()).map_err(unexplained)?),
        Explain::Text => Some(json::literal(&render::text(assembly))),
    };
    if let Some(explained) = explained {
        out.extend_from_slice(format!(r#","explain":{explained}"#).as_bytes());
    }
    Ok(())
}

fn unexplained(error: serde_json::Error) -> Error {
    Error::new(Code::Internal, format!("the explanation cannot be written: {error}"))
}
