//! A server of embeddings in OpenAI's form, which knows what a few words mean, and how to misbehave.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

/// Words that mean the same, a dimension each; the last is for texts that hold none of them.
const MEANINGS: [&[&str]; 4] = [&["boat", "ship"], &["parrot", "bird"], &["tea", "drink"], &[]];

/// How it answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Manner {
    Well,
    /// With so many dimensions more than before.
    Wider(usize),
    /// One vector too few.
    Short,
    /// Not at all: it waits until the caller hangs up.
    Slowly,
    Status(u16),
    /// With words instead of JSON.
    Nonsense,
}

/// A running one. It ends with the process.
pub struct Embeddings {
    pub base: String,
    state: Arc<Mutex<State>>,
}

struct State {
    manner: Manner,
    /// Every text that was embedded.
    texts: Vec<String>,
}

impl Embeddings {
    pub fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let base = format!("http://{}/v1", listener.local_addr().unwrap());
        let state = Arc::new(Mutex::new(State { manner: Manner::Well, texts: Vec::new() }));
        let shared = state.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let state = shared.clone();
                // A caller that hangs up is its own affair.
                std::thread::spawn(move || drop(answer(stream, &state)));
            }
        });
        Self { base, state }
    }

    pub fn behave(&self, manner: Manner) {
        self.state.lock().unwrap().manner = manner;
    }

    pub fn texts(&self) -> Vec<String> {
        self.state.lock().unwrap().texts.clone()
    }

    /// The settings that make a server use it.
    pub fn settings(&self) -> [(&str, &str); 3] {
        [("NOVELO_EMBED", "openai"), ("NOVELO_EMBEDDING_URL", &self.base), ("NOVELO_EMBEDDING_TIMEOUT_MS", "500")]
    }
}

fn answer(stream: TcpStream, state: &Mutex<State>) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream);
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        match line.trim().to_ascii_lowercase().split_once(": ") {
            Some(("content-length", value)) => length = value.parse().unwrap(),
            None if line.trim().is_empty() => break,
            _ => {}
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    let request: Value = serde_json::from_slice(&body)?;
    let texts = request["input"].as_array().unwrap().iter().map(|text| text.as_str().unwrap().to_owned());
    let texts: Vec<String> = texts.collect();
    let manner = state.lock().unwrap().manner;
    let has = |word: &str| texts.iter().any(|text| text.contains(word));
    let manner = match () {
        () if has("unspeakable") => Manner::Status(400),
        () if has("ponderous") => Manner::Slowly,
        () => manner,
    };
    let (status, answer) = match manner {
        Manner::Well => (200, embeddings(&texts, 0).to_string()),
        Manner::Wider(by) => (200, embeddings(&texts, by).to_string()),
        Manner::Short => (200, embeddings(texts.get(1..).unwrap(), 0).to_string()),
        Manner::Status(status) => (status, json!({"error": {"message": "no"}}).to_string()),
        Manner::Nonsense => (200, "certainly!".to_owned()),
        Manner::Slowly => {
            // Until the caller gives up and closes the connection.
            return reader.read_to_end(&mut Vec::new()).map(drop);
        }
    };
    if status == 200 {
        state.lock().unwrap().texts.extend(texts);
    }
    let head = format!("HTTP/1.1 {status} X\r\nconnection: close\r\ncontent-length: {}\r\n\r\n", answer.len());
    reader.into_inner().write_all((head + &answer).as_bytes())
}

fn embeddings(texts: &[String], wider_by: usize) -> Value {
    let row = |(index, text): (usize, &String)| json!({"index": index, "embedding": embedding(text, wider_by)});
    json!({"data": texts.iter().enumerate().map(row).rev().collect::<Vec<_>>()})
}

fn embedding(text: &str, wider_by: usize) -> Vec<f32> {
    let text = text.to_lowercase();
    let means = |words: &&[&str]| f32::from(u8::from(words.iter().any(|word| text.contains(word))));
    let mut vector: Vec<f32> = MEANINGS.iter().map(means).collect();
    if vector.iter().all(|x| *x == 0.0) {
        *vector.last_mut().unwrap() = 1.0;
    }
    vector.extend(std::iter::repeat_n(0.0, wider_by));
    vector
}
