//! A user of whom one thing is to be forgotten, with a canary in every copy of it.

use std::sync::Arc;

use crate::support::embeddings::Embeddings;
use crate::support::models::Models;
use crate::support::qdrant::Real;
use crate::support::stream::Stream;
use crate::support::{Client, Home, Server, Value, eventually, holding, json, says, thread, user};

pub const CANARY: &str = "zqx-4711";
const TEXT: &str = "My zqx-4711 parrot sings";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Subject {
    Turn,
    Thread,
    User,
    Memory,
    Document,
}

impl Subject {
    pub const ALL: [Self; 5] = [Self::Turn, Self::Thread, Self::User, Self::Memory, Self::Document];
}

/// A row of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Copy {
    Documents,
    Prompts,
    Indexes,
    Vectors,
    Qdrant,
    Summary,
    Compactions,
    MadeMemories,
    EcoAnswer,
    Reference,
    SkillResults,
    Traces,
    Replies,
    Forks,
    RawFiles,
    Backups,
}

impl Copy {
    pub const ALL: [(&str, Self); 16] = [
        ("documents, lists and exports", Self::Documents),
        ("prompts and contexts kept for a repeat", Self::Prompts),
        ("search indexes", Self::Indexes),
        ("vectors", Self::Vectors),
        ("points in Qdrant", Self::Qdrant),
        ("the summary of the thread", Self::Summary),
        ("texts of compactions that were made from it", Self::Compactions),
        ("memories that `/ask-eco` made from it", Self::MadeMemories),
        ("the last answer of `/ask-eco`", Self::EcoAnswer),
        ("the reference of `/ask`", Self::Reference),
        ("results of skills, kept with tasks", Self::SkillResults),
        ("traces of prompts and requests", Self::Traces),
        ("replies that can be resumed", Self::Replies),
        ("forks of the thread", Self::Forks),
        ("raw files", Self::RawFiles),
        ("backups taken before", Self::Backups),
    ];

    /// What a node has beside the store.
    pub const IN_MEMORY: [Self; 3] = [Self::Prompts, Self::Indexes, Self::Replies];

    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|(known, _)| *known == name).map(|(_, copy)| copy)
    }
}

pub struct World {
    pub server: Server,
    /// Where the canary is looked for: the same node, or another.
    reads: Client,
    subject: Subject,
    turn: String,
    trace: String,
    reply: String,
    qdrant: Option<Real>,
    // They end with the test.
    _parts: (Models, Embeddings, Option<Server>),
}

const ASK: &str = "/api/ask";

impl World {
    /// One node with Qdrant; `None` where there is no Qdrant.
    pub fn local(subject: Subject) -> Option<Self> {
        let qdrant = Real::find(&format!("erasure_{subject:?}").to_lowercase())?;
        let (models, embeddings) = (Models::start(), Embeddings::start());
        let talking = models.talking();
        let settings = [&qdrant.settings()[..], &embeddings.settings(), &talking].concat();
        let server = Home::new().serve_with(&settings);
        let mut world = Self::plant(subject, server.client(), server, (models, embeddings, None));
        world.qdrant = Some(qdrant);
        assert!(eventually(|| world.holds(Copy::Qdrant) && world.holds(Copy::Vectors)), "{subject:?}");
        world.server.home.done(&["backup", "before.jsonl"]);
        Some(world)
    }

    /// Two nodes over one Redis: one is asked to forget, the other is looked at.
    pub fn shared(subject: Subject, redis: &str) -> Self {
        let (models, embeddings) = (Models::start(), Embeddings::start());
        let prefix = format!("{subject:?}");
        let own = [("NOVELO_STORE", "redis"), ("NOVELO_REDIS_URL", redis), ("NOVELO_REDIS_PREFIX", &prefix)];
        let settings = [&own[..], &embeddings.settings(), &models.talking()].concat();
        let [first, second]: [Server; 2] = [Home::new(), Home::new()].map(|home: Arc<Home>| home.serve_with(&settings));
        let reads = second.client();
        Self::plant(subject, reads, first, (models, embeddings, Some(second)))
    }

    fn plant(subject: Subject, reads: Client, server: Server, parts: (Models, Embeddings, Option<Server>)) -> Self {
        let is_said = matches!(subject, Subject::Turn | Subject::Thread | Subject::User);
        let text = |is_it: bool| if is_it { TEXT } else { "Another bird sang" };
        server.say("u", "t", &[text(is_said), "Something else"]);
        let turns = server.get(&thread("u", "t", "/turns")).ok();
        let turn = turns["turns"][0]["id"].as_str().unwrap().to_owned();
        server.say("u", "other", &["It stays"]);
        server.post(&user("u", "/memories"), json!({"id": "m", "text": text(subject == Subject::Memory)})).ok();
        let document = json!({"id": "d", "name": "d", "text": text(subject == Subject::Document)});
        server.post(&user("u", "/documents"), document).ok();
        let skill = json!({"name": "search_repos", "content": TEXT});
        server.post(&user("u", "/tasks/k/results"), skill).ok();
        server.post(&user("u", "/tasks/k/results"), json!({"name": "mine", "content": "a result of mine"})).ok();
        let mut trace = String::new();
        if is_said {
            trace = made_from_turn(&server, &turn);
        }
        let asks = json!({"question": "Count!", "user_id": "u", "thread_id": "t", "stream": true});
        let reply = Stream::open(&reads, "POST", ASK, asks).rest().last().unwrap().at.clone();
        let reply = format!("{}.1", reply.rsplit_once('.').unwrap().0);
        let world = Self { server, reads, subject, turn, trace, reply, qdrant: None, _parts: parts };
        // Twice, so that it is kept.
        (0..2).for_each(|_| assert!(world.context().contains(CANARY)));
        world
    }

    /// The path of what is forgotten.
    pub fn path(&self) -> String {
        match self.subject {
            Subject::Turn => format!("users/u/convo.sessions/t/messages/{}", self.turn),
            Subject::Thread => "users/u/convo.sessions/t".into(),
            Subject::User => "users/u".into(),
            Subject::Memory => "users/u/memories/m".into(),
            Subject::Document => "users/u/documents/d".into(),
        }
    }

    pub fn forget(&self) -> Value {
        let path = match self.subject {
            Subject::Turn => format!("/v1/docs/{}", self.path()),
            Subject::Thread => thread("u", "t", ""),
            Subject::User => user("u", ""),
            Subject::Memory => user("u", "/memories/m"),
            Subject::Document => user("u", "/documents/d"),
        };
        self.server.delete(&path).ok()
    }

    /// Forgets the fork too, which keeps its own copy of the turns.
    pub fn forget_fork(&self) {
        self.server.delete(&thread("u", "fork", "")).ok();
    }

    /// Whether a copy still holds the canary, or is still there where it holds no text.
    pub fn holds(&self, copy: Copy) -> bool {
        let is_there = |path: &str| self.reads.get(&format!("/v1/docs/users/u/{path}")).status == 200;
        match copy {
            Copy::Documents => self.everything().contains(CANARY),
            Copy::Prompts => self.context().contains(CANARY),
            Copy::Indexes => self.searches().contains(CANARY),
            Copy::Vectors => is_there(&self.vector()),
            Copy::Qdrant => self.has_point(),
            Copy::Summary => self.reads.get(&thread("u", "t", "/summary")).text().contains(CANARY),
            Copy::Compactions => self.reads.get(&thread("u", "t", "/compactions")).text().contains(CANARY),
            Copy::MadeMemories => is_there("memories/canary"),
            Copy::EcoAnswer => is_there("convo.sessions/t/answered/last"),
            Copy::Reference => is_there("convo.sessions/t/references/last"),
            Copy::SkillResults => self.reads.get(&user("u", "/tasks/k/results")).text().contains(CANARY),
            Copy::Traces => self.reads.get(&format!("/v1/traces/{}", self.trace)).status == 200,
            Copy::Replies => self.reads.with("last-event-id", &self.reply).post(ASK, "{}").status == 200,
            Copy::Forks => self.reads.get(&thread("u", "fork", "/turns")).text().contains(CANARY),
            Copy::RawFiles => holding(&self.server.home.data(), CANARY).is_some(),
            Copy::Backups => std::fs::read_to_string(self.server.home.path("before.jsonl")).unwrap().contains(CANARY),
        }
    }

    /// The raw files hold nothing of it once they are said to be clean. While they are rewritten, a look may
    /// miss a file.
    #[track_caller]
    pub fn files_are_clean(&self) {
        assert!(eventually(|| self.server.get("/health/ready").ok()["erasing"] == false));
        assert!(!self.holds(Copy::RawFiles), "{:?}: the raw files hold the canary", self.subject);
    }

    /// What was not forgotten is there.
    pub fn others_stay(&self) {
        if self.subject == Subject::User {
            return;
        }
        assert_eq!(self.reads.said("u", "other"), ["It stays"]);
        let memory = self.reads.get(&user("u", "/memories")).text();
        assert_eq!(memory.contains("Another bird"), self.subject != Subject::Memory, "{memory}");
        let results = self.reads.get(&user("u", "/tasks/k/results")).text();
        assert!(results.contains("a result of mine"), "{results}");
    }

    fn everything(&self) -> String {
        let paths = [user("u", "/export"), user("u", "/threads"), user("u", "/memories"), user("u", "/documents")];
        let of_thread = ["/turns", "/export"].map(|rest| thread("u", "t", rest));
        let read = paths.iter().chain(&of_thread);
        // A fork is a conversation of its own.
        let lines = read.map(|path| self.reads.get(path).text()).collect::<Vec<_>>().join("\n");
        lines.lines().filter(|line| !line.contains("/convo.sessions/fork/")).collect::<Vec<_>>().join("\n")
    }

    /// The prompt for a question about it, which is recalled where it is not in the thread.
    fn context(&self) -> String {
        let from = if self.subject == Subject::Document { "documents" } else { "memories" };
        let components = json!([{"kind": "history"}, {"kind": "recall", "from": from}]);
        let recipe = json!({"components": components, "filters": []});
        let question = "Which parrot sings?";
        let wish = json!({"user": "u", "thread": "t", "question": question, "recipe": recipe});
        self.reads.context(wish)["messages"].to_string()
    }

    fn searches(&self) -> String {
        let search =
            |kind: &str| self.reads.post(&user("u", &format!("/{kind}/search")), json!({"query": "parrot sings"}));
        let found = ["memories", "turns", "documents"].map(|kind| search(kind).ok());
        let hits = found.iter().flat_map(|found| found["hits"].as_array().unwrap().clone());
        hits.filter(|hit| hit["thread"] != "fork").map(|hit| hit.to_string()).collect()
    }

    fn vector(&self) -> String {
        match self.subject {
            Subject::Turn | Subject::Thread | Subject::User => "convo.sessions/t/vectors/1".into(),
            // The memory that is made from a turn is not there for these.
            Subject::Memory => "vectors/1".into(),
            Subject::Document => "documents/d/vectors/1".into(),
        }
    }

    fn has_point(&self) -> bool {
        let Some(qdrant) = &self.qdrant else { return false };
        let (collection, of) = match self.subject {
            Subject::Turn | Subject::Thread | Subject::User => {
                ("conversation_memory", "users/u/convo.sessions/t/messages")
            }
            Subject::Memory => ("conversation_memory", "users/u/memories"),
            Subject::Document => ("documents", "users/u/documents/d/passages"),
        };
        let is_it = |payload: &Value| payload["of"] == of && payload["seq"] == 1;
        qdrant.count(collection, "u") > 0 && qdrant.payloads(collection).iter().any(is_it)
    }
}

/// Plants what is made from a turn; the trace of a prompt about it.
fn made_from_turn(server: &Server, turn: &str) -> String {
    let put = |path: &str, value: Value| drop(server.put(&format!("/v1/docs/users/u/{path}"), value).ok());
    let meta = json!({"origem": "ask-eco", "sessao": "t", "turno": turn});
    put("memories/canary", json!({"text": TEXT, "meta": meta}));
    put("convo.sessions/t/memory/summary", json!({"text": TEXT, "upto_seq": 1, "by": "extract"}));
    let span = json!({"id": "s1-1", "first_seq": 1, "last_seq": 1, "turns": 1, "tokens": 9, "kind": "talk", "by": "extract", "text": TEXT});
    let compaction = json!({
        "id": "c1", "created_at": 1.0, "tokens_before": 30, "tokens_after": 20, "max_tokens": 20, "tokenizer": "approx",
        "spans": [span],
    });
    put("convo.sessions/t/compactions/c1", compaction);
    put("convo.sessions/t/answered/last", json!({"answer": TEXT}));
    put("convo.sessions/t/references/last", json!({"last": TEXT}));
    server.post(&thread("u", "t", "/fork"), json!({"at_seq": 1, "to": "fork"})).ok();
    let made = server.context(json!({"user": "u", "thread": "t", "question": TEXT}));
    server.append("u", "t", &[says("assistant", "Indeed.")]);
    made["trace_id"].as_str().unwrap().to_owned()
}
