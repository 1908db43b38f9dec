//! Messages that are sent together with ids of their own, and the ledger of what was acknowledged: what a
//! thread holds is compared with it.

use super::{Client, Value, json, thread};

/// Messages that were sent together, and the seqs that they were acknowledged with.
#[derive(Debug, Clone)]
pub struct Batch {
    pub thread: String,
    pub texts: Vec<String>,
    pub seqs: Option<Vec<u64>>,
}

impl Batch {
    /// The nth batch of a writer; every third goes to the thread that all share.
    pub fn new(round: usize, writer: usize, n: usize) -> Self {
        let thread = if n % 3 == 2 { format!("r{round}-shared") } else { format!("r{round}-w{writer}") };
        let texts = (0..1 + n % 4).map(|i| format!("r{round} w{writer} b{n} m{i}")).collect();
        Self { thread, texts, seqs: None }
    }

    pub fn body(&self) -> Value {
        let message = |text: &String| json!({"role": "user", "content": text, "id": text.replace(' ', "-")});
        json!({"messages": self.texts.iter().map(message).collect::<Vec<_>>()})
    }

    pub fn acknowledge(&mut self, answer: &Value) {
        let turns = answer["turns"].as_array().unwrap();
        self.seqs = Some(turns.iter().map(|turn| turn["seq"].as_u64().unwrap()).collect());
    }
}

/// Every turn of a thread: its seq and what it says.
pub fn turns(client: &Client, user: &str, of: &str) -> Vec<(u64, String)> {
    let mut turns: Vec<(u64, String)> = Vec::new();
    loop {
        let after = turns.last().map_or(0, |(seq, _)| *seq);
        let page = client.get(&thread(user, of, &format!("/turns?after={after}&limit=1000"))).ok();
        let row =
            |turn: &Value| (turn["seq"].as_u64().unwrap(), turn["message"]["content"].as_str().unwrap().to_owned());
        turns.extend(page["turns"].as_array().unwrap().iter().map(row));
        if page["has_more"] == json!(false) {
            return turns;
        }
    }
}

/// What is wrong with a thread: it holds what was acknowledged, and otherwise only whole batches that came
/// next.
pub fn fault(of: &str, turns: &[(u64, String)], sent: &[Vec<Batch>]) -> Option<String> {
    if !turns.iter().map(|(seq, _)| *seq).eq(1..=turns.len() as u64) {
        return Some(format!("seqs have gaps: {turns:?}"));
    }
    let of_thread = |batches: &Vec<Batch>| batches.iter().filter(|batch| batch.thread == of).cloned().rev().collect();
    let mut waiting: Vec<Vec<Batch>> = sent.iter().map(of_thread).collect();
    let mut rest = turns;
    while let Some((_, text)) = rest.first() {
        let comes_next = |batches: &&mut Vec<Batch>| batches.last().is_some_and(|batch| batch.texts[0] == *text);
        let Some(batch) = waiting.iter_mut().find(comes_next).and_then(Vec::pop) else {
            return Some(format!("{text} is a phantom, or out of order"));
        };
        let (found, after) = rest.split_at(batch.texts.len().min(rest.len()));
        if !found.iter().map(|(_, text)| text).eq(&batch.texts) {
            return Some(format!("{batch:?} is in pieces: {found:?}"));
        }
        if batch.seqs.as_ref().is_some_and(|seqs| !found.iter().map(|(seq, _)| seq).eq(seqs)) {
            return Some(format!("{batch:?} was acknowledged elsewhere: {found:?}"));
        }
        rest = after;
    }
    let lost = waiting.iter().flatten().find(|batch| batch.seqs.is_some());
    lost.map(|batch| format!("{batch:?} was acknowledged and is lost"))
}
