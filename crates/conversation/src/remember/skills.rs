//! Skills: what a model may do with the memory by itself.
//!
//! Owns the one table of them: a name, the description for a model, the arguments, and the function behind
//! it. Each calls what the native API calls. Invariant: a skill reaches what its user may reach, and nothing
//! else.

use novelo_store::PutTerms;
use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};

use super::arguments::{self, Argument, ArgumentKind, Arguments};
use crate::caller::Caller;
use crate::error::{Code, Error, Result};
use crate::remember::UserMemory;
use crate::remember::documents::{self, DocumentKind, NewFiles, NewText};
use crate::remember::memories::{self, NewMemory};
use crate::remember::search::{self, MemoryQuery};
use crate::remember::tasks::{self, Change, NewTask, TaskStatus};
use crate::remember::user_data;
use crate::search::validity::{MemorySource, MemoryTerms};
use crate::telemetry::now;

macro_rules! skills {
    ($($skill:ident $name:literal $about:literal [$($argument:ident $required:tt $kind:expr, $says:literal;)*];)*) => {
        /// A function that a model or a client can call.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Skill { $(#[doc = $about] $skill),* }

        impl Skill {
            /// All skills.
            pub const ALL: &[Self] = &[$(Self::$skill),*];

            /// The name of the function.
            pub fn name(self) -> &'static str {
                match self { $(Self::$skill => $name),* }
            }

            fn about(self) -> &'static str {
                match self { $(Self::$skill => $about),* }
            }

            /// What it takes.
            pub fn arguments(self) -> &'static [Argument] {
                match self {
                    $(Self::$skill => &[$(Argument {
                        name: stringify!($argument), kind: $kind, required: skills!(@required $required), about: $says,
                    }),*]),*
                }
            }
        }
    };
    (@required !) => { true };
    (@required ?) => { false };
}

const STATUSES: ArgumentKind = ArgumentKind::OneOf(&["open", "done"]);

skills! {
    ListTasks "list_tasks" "Lists the user's tasks, oldest first." [
        status ? STATUSES, "only tasks of this status";
        after ? ArgumentKind::Text, "the id of the last task of the page before";
    ];
    AddTask "add_task" "Adds a task for the user." [
        title ! ArgumentKind::Text, "what is to be done";
        notes ? ArgumentKind::Text, "anything more about it";
        due ? ArgumentKind::Text, "when it is due";
    ];
    UpdateTask "update_task" "Changes a task." [
        id ! ArgumentKind::Text, "the id of the task";
        title ? ArgumentKind::Text, "what is to be done";
        notes ? ArgumentKind::Text, "anything more about it";
        due ? ArgumentKind::Text, "when it is due";
        status ? STATUSES, "open or done";
    ];
    CompleteTask "complete_task" "Marks a task as done." [id ! ArgumentKind::Text, "the id of the task";];
    DeleteTask "delete_task" "Deletes a task." [id ! ArgumentKind::Text, "the id of the task";];
    Remember "remember" "Keeps a text for later conversations with the user." [
        text ! ArgumentKind::Text, "what to remember, in words that make sense by themselves";
        meta ? ArgumentKind::Object, "data to keep with it";
    ];
    Recall "recall" "Finds what was remembered of the user." [
        query ! ArgumentKind::Text, "what to look for";
        k ? ArgumentKind::Number, "how many hits at most";
    ];
    SetUserData "set_user_data" "Keeps facts about the user, such as the name. Adds to those that are kept." [
        data ! ArgumentKind::Object, "an object: name, preferences and the like; its values may be any JSON";
    ];
    IndexDocument "index_document" "Makes a text searchable. One of the same id is replaced." [
        name ! ArgumentKind::Text, "what the document is called";
        text ! ArgumentKind::Text, "all of it";
        id ? ArgumentKind::Text, "the id to keep it under";
        meta ? ArgumentKind::Object, "data to keep with it";
    ];
    IndexRepo "index_repo" "Makes a file or a directory of the server searchable. Needs an admin key." [
        path ! ArgumentKind::Text, "an absolute path on the server";
        name ? ArgumentKind::Text, "what the repository is called";
    ];
    VectorRag "vector_rag" "Finds passages of the user's documents." [
        query ! ArgumentKind::Text, "what to look for";
        k ? ArgumentKind::Number, "how many hits at most";
    ];
    SearchRepos "search_repos" "Finds passages of the user's repositories, with file and line." [
        query ! ArgumentKind::Text, "what to look for";
        repo ? ArgumentKind::Text, "only in the repository of this name or id";
        k ? ArgumentKind::Number, "how many hits at most";
    ];
}

/// Who calls a skill, and for whom.
#[derive(Clone, Copy)]
pub struct SkillCaller<'c> {
    /// The memory of users.
    pub app: &'c UserMemory,
    /// Who calls.
    pub caller: &'c Caller,
    /// The user for whom it is called.
    pub user: &'c str,
    /// Whether a model calls it by itself: what it remembers is not the word of the user.
    pub is_model: bool,
}

/// Tasks that are listed at once.
const TASKS_MAX: usize = 100;

impl Skill {
    /// The skill of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|skill| skill.name() == name)
    }

    /// Whether a model may call it by itself. What reads the disk of the server is for people: a document can
    /// talk a model into anything.
    pub(crate) fn is_for_models(self) -> bool {
        self != Self::IndexRepo
    }

    /// The definition that a model is given, in the form of OpenAI's tools.
    pub fn definition(self) -> Value {
        let (name, about) = (self.name(), self.about());
        let parameters = arguments::schema(self.arguments());
        json!({"type": "function", "function": {"name": name, "description": about, "parameters": parameters}})
    }

    /// Runs it. What is wrong with an argument is said of `arguments.x`.
    pub async fn run(self, call: SkillCaller<'_>, sent: Option<Value>) -> Result<Box<RawValue>> {
        let arguments = Arguments::accept(self.arguments(), sent)?;
        self.act(call, &arguments).await.map_err(|error| error.within("arguments"))
    }

    async fn act(self, call: SkillCaller<'_>, given: &Arguments) -> Result<Box<RawValue>> {
        let SkillCaller { app, caller, user, is_model } = call;
        match self {
            Self::ListTasks => {
                let status = given.text("status").map(TaskStatus::from_name).transpose()?;
                written(&tasks::list(app, user, status, given.text("after"), TASKS_MAX).await?)
            }
            Self::AddTask => {
                let (title, notes, due) = (given.required("title"), given.text("notes"), given.text("due"));
                written(&tasks::add(app, user, NewTask { id: None, title, notes, due }).await?)
            }
            Self::UpdateTask => {
                let status = given.text("status").map(TaskStatus::from_name).transpose()?;
                let (notes, due) = (given.text("notes").map(Some), given.text("due").map(Some));
                change(call, given, Change { title: given.text("title"), status, notes, due }).await
            }
            Self::CompleteTask => {
                change(call, given, Change { status: Some(TaskStatus::Done), ..Change::default() }).await
            }
            Self::DeleteTask => match tasks::remove(app, user, given.required("id")).await? {
                true => written(&json!({"deleted": true})),
                false => Err(Error::not_found("such task")),
            },
            Self::Remember => {
                let meta = meta(given)?;
                let source = is_model.then_some(MemorySource::Model);
                let terms = MemoryTerms { source, ..MemoryTerms::default() };
                let new = NewMemory { id: None, text: given.required("text"), meta: meta.as_deref(), terms };
                written(&json!({"id": memories::add(app, user, new).await?}))
            }
            Self::Recall => written(&search::memories(app, user, query(given)).await?),
            Self::SetUserData => set_user_data(call, given).await,
            Self::IndexDocument => {
                let meta = meta(given)?;
                let (id, name, text) = (given.text("id"), given.required("name"), given.required("text"));
                written(&documents::index_text(app, user, NewText { id, name, text, meta: meta.as_deref() }).await?)
            }
            Self::IndexRepo => {
                let new = NewFiles { id: None, name: given.text("name"), path: given.required("path") };
                written(&documents::index_files(app, caller, user, new).await?)
            }
            Self::VectorRag => {
                let kind = Some(DocumentKind::Document);
                written(&search::passages(app, user, query(given), kind, None).await?)
            }
            Self::SearchRepos => {
                let (kind, repo) = (Some(DocumentKind::Repo), given.text("repo"));
                written(&search::passages(app, user, query(given), kind, repo).await?)
            }
        }
    }
}

async fn change(call: SkillCaller<'_>, given: &Arguments, change: Change<'_>) -> Result<Box<RawValue>> {
    let task = tasks::change(call.app, call.user, given.required("id"), change).await?;
    written(&task.ok_or_else(|| Error::not_found("such task"))?)
}

async fn set_user_data(call: SkillCaller<'_>, given: &Arguments) -> Result<Box<RawValue>> {
    let data = given.object("data").cloned().unwrap_or_default();
    let terms = PutTerms { merge: true, now: now(), ..PutTerms::default() };
    let known = user_data::write(call.app, call.user, ("data", &data.to_string()), terms).await?;
    RawValue::from_string(String::from_utf8_lossy(&known).into_owned()).map_err(unwritten)
}

fn query(given: &Arguments) -> MemoryQuery<'_> {
    MemoryQuery { text: given.required("query"), k: given.number("k"), explain: false, as_of: None }
}

fn meta(given: &Arguments) -> Result<Option<Box<RawValue>>> {
    given.object("meta").map(written).transpose()
}

fn written(value: &impl Serialize) -> Result<Box<RawValue>> {
    to_raw_value(value).map_err(unwritten)
}

fn unwritten(error: serde_json::Error) -> Error {
    Error::new(Code::Internal, format!("a result cannot be written: {error}"))
}
