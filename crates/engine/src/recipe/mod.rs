//! Recipes: what goes into a prompt, as data.
//!
//! Owns the shape of a recipe and its validation: components (a tree whose leaves emit), filters in order, a
//! budget, a tokenizer. Each error names the path of the field at fault. A decoded recipe is valid; nothing
//! checks it again.

mod document;
mod spec;

use serde_json::Value;

use crate::Role;
use crate::decode::{DecodeError, Fields, nearest};
use crate::filter::{Compact, Filter};
use crate::limits::{BUDGET_TOKENS_MAX, RECIPE_DEPTH_MAX, RECIPE_FILTERS_MAX, RECIPE_NODES_MAX};
use crate::message::Message;
use crate::module::Module;
use crate::piece::{DocIdMode, Framing};
use crate::recall::Recall;
use crate::time_scope::Level;
use crate::tokens::Tokenizer;

pub use crate::loaded::Shape;
pub use document::{RecipeBuilder, RecipeDocument};
pub use spec::{
    BackfillOptions, CompactOptions, ComponentSpec, FileLimitOptions, FilterSpec, ModuleSpec, RecallSpec,
    SizeLimitOptions, WindowSize,
};

/// What goes into a prompt: components, filters, a budget and a tokenizer. [`RecipeBuilder`] makes one from
/// types.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Recipe {
    /// The leaves, in the order in which they emit.
    pub components: Vec<Component>,
    pub(crate) filters: Vec<Filter>,
    /// The budget of the whole prompt.
    pub budget_tokens: Option<u32>,
    /// What counts the tokens.
    pub tokenizer: Tokenizer,
    /// Whether collections are also read where they lie above the thread.
    pub promotes: bool,
    /// Whether messages carry the ids of their documents.
    pub doc_ids: DocIdMode,
}

/// What proposes pieces.
#[derive(Debug, Clone, PartialEq)]
pub enum Component {
    /// A message of fixed text.
    Literal {
        /// Who speaks.
        role: Role,
        /// The text.
        value: String,
    },
    /// The turns of the thread.
    History {
        /// A text to put before that of each turn.
        framing: Option<Framing>,
    },
    /// The summary of the thread.
    Summary,
    /// What is known about the user.
    UserData,
    /// Documents of another collection of the thread.
    Collection {
        /// The name of the collection.
        name: String,
        /// The texts to put before that of each document.
        framings: Framings,
        /// How documents are shown.
        shape: Shape,
    },
    /// What a search finds for the question, and what is shown where it finds nothing.
    Recall {
        /// What is searched.
        recall: Recall,
        /// What is shown where nothing was found.
        empty: Option<Message>,
    },
    /// A text that competes with the other modules for a budget of its own.
    Module(Module),
}

/// What goes before the text of each document.
#[derive(Debug, Clone, PartialEq)]
pub struct Framings {
    plain: Option<Framing>,
    labelled: Vec<(Level, Framing)>,
}

impl Framings {
    fn new(text: &str, shape: Shape) -> Self {
        let labelled = |level: Level| Some((level, Framing::new(&format!("{}{text}", level.label()))?));
        match shape {
            Shape::Message => Self { plain: Framing::new(text), labelled: Vec::new() },
            Shape::Data => {
                Self { plain: Framing::new(text), labelled: Level::ALL.into_iter().filter_map(labelled).collect() }
            }
        }
    }

    /// What goes before documents of this level; the label before the framing where there are labels.
    pub(crate) fn at(&self, level: Level) -> Option<&Framing> {
        let labelled = self.labelled.iter().find(|(of, _)| *of == level).map(|(_, framing)| framing);
        labelled.or(self.plain.as_ref())
    }
}

const KINDS: [&str; 10] =
    ["literal", "module", "history", "summary", "userData", "recall", "collection", "group", "yoj", "ista"];

impl Recipe {
    /// Reads a recipe that stands at `path` of a request or a file. An error names the field at fault.
    ///
    /// ```
    /// use novelo_engine::Recipe;
    /// use serde_json::json;
    ///
    /// let given = json!({"components": [{"kind": "history"}], "budget_tokens": 8000});
    /// let recipe = Recipe::decode("recipe", &given)?;
    /// assert_eq!(recipe.budget_tokens, Some(8_000));
    ///
    /// let error = Recipe::decode("recipe", &json!({"filtres": []})).unwrap_err();
    /// assert_eq!(error.to_string(), "recipe.filtres is not known; did you mean filters?");
    /// # Ok::<(), novelo_engine::decode::DecodeError>(())
    /// ```
    pub fn decode(path: &str, value: &Value) -> Result<Self, DecodeError> {
        let mut fields = Fields::from_value(path, value)?;
        let mut components = Vec::new();
        if let Some(intro) = fields.value("intro") {
            let mut intro = Fields::from_value(fields.path("intro"), intro)?;
            components.extend(intro.string("system")?.map(|text| literal(Role::System, text)));
            intro.finish()?;
        }
        let mut tree = Tree { nodes: 0, leaves: &mut components };
        tree.read(&fields.path("components"), fields.list("components")?, 1)?;
        let recipe = Self {
            filters: decode_filters(&fields.path("filters"), fields.list("filters")?)?,
            budget_tokens: decode_budget(&mut fields)?,
            tokenizer: Tokenizer::decode(&mut fields)?.unwrap_or_default(),
            promotes: fields.flag("promoteUpstream")?.unwrap_or(false),
            doc_ids: decode_doc_ids(&mut fields)?,
            components,
        };
        fields.string("description")?;
        fields.finish()?;
        Ok(recipe)
    }

    /// The number of turns that its first `historyWindow` shows, where that counts turns.
    pub fn window_turns(&self) -> Option<u32> {
        self.filters.iter().find_map(|filter| match filter {
            Filter::HistoryWindow(window) => window.turns(),
            _ => None,
        })
    }

    /// Whether it has a window whose front must stay where it is from turn to turn.
    pub fn keeps_front(&self) -> bool {
        self.filters.iter().any(|filter| matches!(filter, Filter::StableWindow(_) | Filter::Compact(_)))
    }

    /// The tokenizers that it counts with.
    pub fn tokenizers(&self) -> impl Iterator<Item = Tokenizer> + '_ {
        let own = self.filters.iter().filter_map(|f| match f {
            Filter::SizeLimiter(limiter) => limiter.tokenizer(),
            _ => None,
        });
        own.chain([self.tokenizer])
    }
}

/// Checks a list of filters that stands at `path`, as a request gives them.
pub(crate) fn check_filters(path: &str, entries: &[Value]) -> Result<(), DecodeError> {
    decode_filters(path, entries).map(drop)
}

/// Checks the options of the filter `compact` that stand at `path`, as a request gives them.
pub(crate) fn check_compact(path: &str, options: &Value) -> Result<(), DecodeError> {
    let mut fields = Fields::from_value(path, options)?;
    Compact::decode(&mut fields)?;
    fields.finish()
}

/// Reads a list of filters that stands at `path`.
fn decode_filters(path: &str, entries: &[Value]) -> Result<Vec<Filter>, DecodeError> {
    if entries.len() > RECIPE_FILTERS_MAX {
        let problem = format!("has {} entries; the cap RECIPE_FILTERS_MAX is {RECIPE_FILTERS_MAX}", entries.len());
        return Err(DecodeError::new(path, problem));
    }
    entries.iter().enumerate().map(|(i, entry)| Filter::decode(&format!("{path}[{i}]"), entry)).collect()
}

/// Reads the field `budget_tokens`.
fn decode_budget(fields: &mut Fields<'_>) -> Result<Option<u32>, DecodeError> {
    fields.number("budget_tokens", 1, BUDGET_TOKENS_MAX as u32)
}

fn decode_doc_ids(fields: &mut Fields<'_>) -> Result<DocIdMode, DecodeError> {
    match fields.string("docIds")? {
        None => Ok(DocIdMode::None),
        Some("counted") => Ok(DocIdMode::Counted),
        Some("shown") => Ok(DocIdMode::Shown),
        Some(_) => Err(DecodeError::new(fields.path("docIds"), "must be counted or shown")),
    }
}

fn literal(role: Role, text: &str) -> Component {
    Component::Literal { role, value: text.to_owned() }
}

/// The component tree as it is read, depth first and left to right.
struct Tree<'t> {
    nodes: usize,
    leaves: &'t mut Vec<Component>,
}

impl Tree<'_> {
    fn read(&mut self, path: &str, nodes: &[Value], depth: usize) -> Result<(), DecodeError> {
        if depth > RECIPE_DEPTH_MAX && !nodes.is_empty() {
            let problem = format!("nests deeper than {RECIPE_DEPTH_MAX} (RECIPE_DEPTH_MAX)");
            return Err(DecodeError::new(path, problem));
        }
        for (i, node) in nodes.iter().enumerate() {
            self.nodes += 1;
            if self.nodes > RECIPE_NODES_MAX {
                let problem = format!("brings the recipe to more than {RECIPE_NODES_MAX} nodes (RECIPE_NODES_MAX)");
                return Err(DecodeError::new(format!("{path}[{i}]"), problem));
            }
            self.node(&format!("{path}[{i}]"), node, depth)?;
        }
        Ok(())
    }

    fn node(&mut self, path: &str, node: &Value, depth: usize) -> Result<(), DecodeError> {
        let mut fields = Fields::from_value(path, node)?;
        let kind = fields.string("kind")?.ok_or_else(|| DecodeError::new(fields.path("kind"), "is missing"))?;
        let children = fields.list("children")?;
        if matches!(kind, "literal" | "module") && fields.value("children").is_some() {
            return Err(DecodeError::new(format!("{path}[children]"), format!("must not stand on a {kind}")));
        }
        let leaf = leaf(kind, &mut fields)?;
        fields.finish()?;
        if children.is_empty() {
            self.leaves.extend(leaf);
            return Ok(());
        }
        self.read(&format!("{path}[children]"), children, depth + 1)
    }
}

fn leaf(kind: &str, fields: &mut Fields<'_>) -> Result<Option<Component>, DecodeError> {
    let missing = |fields: &Fields<'_>, name| DecodeError::new(fields.path(name), "is missing");
    let component = match kind {
        "literal" => {
            let value = fields.string("value")?.ok_or_else(|| missing(fields, "value"))?;
            let role = fields.string("role")?.unwrap_or("system");
            let role = Role::from_name(role).ok_or_else(|| DecodeError::new(fields.path("role"), "must be a role"))?;
            literal(role, value)
        }
        "history" => Component::History { framing: Framing::new(fields.added_text("framing")?.unwrap_or("")) },
        "summary" => Component::Summary,
        "userData" => Component::UserData,
        "recall" => {
            let recall = Recall::decode(fields)?;
            Component::Recall { empty: recall.show_empty(), recall }
        }
        "module" => Component::Module(Module::decode(fields)?),
        "group" => {
            fields.string("name")?;
            return Ok(None);
        }
        "collection" | "yoj" | "ista" => {
            let name = fields.string("name")?.filter(|n| !n.is_empty()).ok_or_else(|| missing(fields, "name"))?;
            crate::path::check_id(name).map_err(|e| DecodeError::new(fields.path("name"), format!("is bad: {e}")))?;
            let framing = fields.added_text("framing")?.unwrap_or("");
            collection(name, framing, decode_shape(fields)?)
        }
        _ => {
            let hint = nearest(kind, &KINDS).map(|near| format!("; did you mean {near}?")).unwrap_or_default();
            let problem = format!("must be one of {}{hint}", KINDS.join(", "));
            return Err(DecodeError::new(fields.path("kind"), problem));
        }
    };
    Ok(Some(component))
}

fn decode_shape(fields: &mut Fields<'_>) -> Result<Shape, DecodeError> {
    match fields.string("as")? {
        None | Some("message") => Ok(Shape::Message),
        Some("data") => Ok(Shape::Data),
        Some(_) => Err(DecodeError::new(fields.path("as"), "must be message or data")),
    }
}

fn collection(name: &str, framing: &str, shape: Shape) -> Component {
    match name {
        crate::scope::TURNS => Component::History { framing: Framing::new(framing) },
        _ => Component::Collection { name: name.to_owned(), framings: Framings::new(framing, shape), shape },
    }
}

#[cfg(test)]
mod tests;
