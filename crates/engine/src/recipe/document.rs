//! Recipe documents: a recipe together with the JSON that says the same.
//!
//! Owns how code makes and changes recipes. Traces store the JSON, so a recipe that code makes has one too.
//! There is one set of rules: what is built here goes through [`Recipe::decode`], as does what a client
//! sends.

use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::{ComponentSpec, FilterSpec, Recipe};
use crate::decode::DecodeError;
use crate::piece::DocIdMode;
use crate::tokens::Tokenizer;

/// A recipe, and the JSON it was read from.
#[derive(Debug, Clone)]
pub struct RecipeDocument {
    recipe: Recipe,
    text: Box<RawValue>,
}

/// Makes a recipe from typed parts.
///
/// Fields that were not set are not written. An error is the same [`DecodeError`] that decoding the JSON
/// would give.
///
/// ```
/// use novelo_engine::recipe::{ComponentSpec, FilterSpec, RecipeBuilder, WindowSize};
///
/// let document = RecipeBuilder::new()
///     .component(ComponentSpec::system("Answer briefly."))
///     .component(ComponentSpec::history())
///     .filter(FilterSpec::HistoryWindow(WindowSize::Turns(20)))
///     .filter(FilterSpec::tool_call_backfill())
///     .budget_tokens(8_000)
///     .build()?;
/// assert_eq!(document.recipe().budget_tokens, Some(8_000));
/// assert_eq!(document.recipe().components.len(), 2);
///
/// let error = RecipeBuilder::new().budget_tokens(0).build().unwrap_err();
/// assert_eq!(error.to_string(), "recipe.budget_tokens must be a whole number from 1 to 10000000");
/// # Ok::<(), novelo_engine::decode::DecodeError>(())
/// ```
#[derive(Debug, Clone, Default, Serialize)]
pub struct RecipeBuilder {
    #[serde(rename = "docIds", skip_serializing_if = "Option::is_none")]
    doc_ids: Option<&'static str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    components: Vec<ComponentSpec>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    filters: Vec<FilterSpec>,
    #[serde(skip_serializing_if = "Option::is_none")]
    budget_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tokenizer: Option<Tokenizer>,
    #[serde(rename = "promoteUpstream", skip_serializing_if = "Option::is_none")]
    promotes: Option<bool>,
}

impl RecipeBuilder {
    /// A recipe with nothing in it.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a component after the others.
    pub fn component(mut self, component: impl Into<ComponentSpec>) -> Self {
        self.components.push(component.into());
        self
    }

    /// Adds components after the others.
    pub fn components<C: Into<ComponentSpec>>(mut self, components: impl IntoIterator<Item = C>) -> Self {
        self.components.extend(components.into_iter().map(Into::into));
        self
    }

    /// Adds a filter after the others.
    pub fn filter(mut self, filter: FilterSpec) -> Self {
        self.filters.push(filter);
        self
    }

    /// Sets the budget of the whole prompt.
    pub fn budget_tokens(mut self, tokens: u32) -> Self {
        self.budget_tokens = Some(tokens);
        self
    }

    /// Sets the tokenizer that counts.
    pub fn tokenizer(mut self, tokenizer: Tokenizer) -> Self {
        self.tokenizer = Some(tokenizer);
        self
    }

    /// Sets whether collections are also read where they lie above the thread.
    pub fn promote_upstream(mut self, promotes: bool) -> Self {
        self.promotes = Some(promotes);
        self
    }

    /// Sets whether messages carry the ids of their documents.
    pub fn doc_ids(mut self, tag: DocIdMode) -> Self {
        self.doc_ids = tag_name(tag);
        self
    }

    /// The recipe, and its JSON.
    pub fn build(self) -> Result<RecipeDocument, DecodeError> {
        RecipeDocument::decode("recipe", serde_json::to_value(self).expect("a recipe has no key that is not a string"))
    }
}

impl RecipeDocument {
    /// Reads a recipe document that stands at `path` of a request or a file.
    pub fn decode(path: &str, document: Value) -> Result<Self, DecodeError> {
        let recipe = Recipe::decode(path, &document)?;
        let text = serde_json::value::to_raw_value(&document).map_err(|e| DecodeError::new(path, e.to_string()))?;
        Ok(Self { recipe, text })
    }

    /// The recipe.
    pub fn recipe(&self) -> &Recipe {
        &self.recipe
    }

    /// The JSON.
    pub fn text(&self) -> &RawValue {
        &self.text
    }

    /// The recipe and the JSON, each by itself.
    pub fn into_parts(self) -> (Recipe, Box<RawValue>) {
        (self.recipe, self.text)
    }

    /// The same with components before all others.
    ///
    /// ```
    /// use novelo_engine::recipe::{ComponentSpec, RecipeBuilder};
    ///
    /// let document = RecipeBuilder::new().component(ComponentSpec::history()).build()?;
    /// let led = document.with_leading("recipe", [ComponentSpec::system("Answer in French.")])?;
    /// assert_eq!(
    ///     led.text().get(),
    ///     r#"{"components":[{"kind":"literal","value":"Answer in French."},{"kind":"history"}]}"#
    /// );
    /// # Ok::<(), novelo_engine::decode::DecodeError>(())
    /// ```
    pub fn with_leading(
        &self,
        path: &str,
        components: impl IntoIterator<Item = ComponentSpec>,
    ) -> Result<Self, DecodeError> {
        let mut list: Vec<Value> = components.into_iter().map(|component| to_value(&component)).collect();
        let mut fields = self.fields();
        if list.is_empty() {
            return Self::decode(path, Value::Object(fields));
        }
        let components = fields.entry("components").or_insert(Value::Null);
        list.extend(components.as_array_mut().into_iter().flat_map(std::mem::take));
        *components = Value::Array(list);
        Self::decode(path, Value::Object(fields))
    }

    /// The same with these filters instead of its own, as a request gives them.
    pub fn with_filters(&self, filters: Value) -> Result<Self, DecodeError> {
        super::check_filters("filters", filters.as_array().map(Vec::as_slice).unwrap_or_default())?;
        self.with("filters", filters)
    }

    /// The same with the filter `compact`, with options that stand at `path` of a request: before the filters
    /// that drop messages, behind those that only make them shorter.
    ///
    /// ```
    /// use novelo_engine::recipe::{ComponentSpec, FilterSpec, RecipeBuilder};
    /// use serde_json::json;
    ///
    /// let document = RecipeBuilder::new().filter(FilterSpec::tool_call_backfill()).build()?;
    /// let compact = document.with_compact("compact", json!({"maxTokens": 8000}))?;
    /// assert_eq!(
    ///     compact.text().get(),
    ///     r#"{"filters":[{"name":"compact","options":{"maxTokens":8000}},"toolCallBackfill"]}"#
    /// );
    /// let error = document.with_compact("compact", json!({"keep": 2})).unwrap_err();
    /// assert_eq!(error.path, "compact.keep");
    /// # Ok::<(), novelo_engine::decode::DecodeError>(())
    /// ```
    pub fn with_compact(&self, path: &str, options: Value) -> Result<Self, DecodeError> {
        super::check_compact(path, &options)?;
        let mut fields = self.fields();
        let filters = fields.entry("filters").or_insert(Value::Null);
        let mut list = filters.as_array_mut().map(std::mem::take).unwrap_or_default();
        let name = |filter: &Value| filter.get("name").unwrap_or(filter).as_str().map(str::to_owned);
        list.retain(|filter| name(filter).as_deref() != Some("compact"));
        let shortens = ["fileContentsLimiter", "collapseGroupReplacer", "moduleBudget", "dedupe"];
        let goes_before = |filter: &Value| name(filter).is_some_and(|name| shortens.contains(&name.as_str()));
        let at = list.iter().position(|filter| !goes_before(filter)).unwrap_or(list.len());
        list.insert(at, json!({"name": "compact", "options": options}));
        *filters = Value::Array(list);
        Self::decode("recipe", Value::Object(fields))
    }

    /// The same with another tokenizer.
    pub fn with_tokenizer(&self, tokenizer: Tokenizer) -> Result<Self, DecodeError> {
        self.with("tokenizer", to_value(&tokenizer))
    }

    /// The same with the ids of documents on its messages, or without them.
    pub fn with_doc_ids(&self, tag: DocIdMode) -> Result<Self, DecodeError> {
        self.with("docIds", to_value(&tag_name(tag)))
    }

    fn with(&self, field: &str, value: Value) -> Result<Self, DecodeError> {
        let mut fields = self.fields();
        fields.insert(field.to_owned(), value);
        Self::decode("recipe", Value::Object(fields))
    }

    fn fields(&self) -> Map<String, Value> {
        serde_json::from_str(self.text.get()).expect("what was decoded as a recipe is an object")
    }
}

fn to_value(part: &impl Serialize) -> Value {
    serde_json::to_value(part).expect("parts of a recipe have no key that is not a string")
}

fn tag_name(tag: DocIdMode) -> Option<&'static str> {
    match tag {
        DocIdMode::None => None,
        DocIdMode::Counted => Some("counted"),
        DocIdMode::Shown => Some("shown"),
    }
}
