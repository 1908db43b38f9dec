//! Novelo's engine: it assembles the prompt that a model should see next.
//!
//! A [`Recipe`] says what goes into the prompt: components (fixed texts, the history, summaries, search
//! results), filters that shorten it, and a token budget. [`assemble`] makes the prompt from the recipe and
//! from what was [`Loaded`]. The [`Assembly`] has the messages, and can [explain](Assembly::explain) what
//! became of everything that was considered.
//!
//! ```
//! use novelo_engine::recipe::ComponentSpec;
//! use novelo_engine::{Loaded, Message, RecipeBuilder, Role, assemble};
//!
//! let conversation = [
//!     Message::text(Role::User, "Which animals can sleep while they fly?"),
//!     Message::text(
//!         Role::Assistant,
//!         "Frigatebirds do. They sleep for a few seconds at a time, mostly at night.",
//!     ),
//!     Message::text(Role::User, "How do we know?"),
//! ];
//! let document =
//!     RecipeBuilder::new().component(ComponentSpec::system("Be brief.")).budget_tokens(80).build()?;
//! let recipe = document.recipe();
//!
//! let loaded = Loaded { inline: &conversation, ..Loaded::default() };
//! let assembly = assemble(recipe, &loaded, recipe.budget_tokens)?;
//!
//! // The instructions and the newest question always stay. The oldest message did not fit.
//! assert_eq!(assembly.tokens, 72);
//! let rows = assembly.explain().pieces;
//! let reasons: Vec<&str> = rows.iter().map(|row| row.why.as_str()).collect();
//! assert_eq!(
//!     reasons,
//!     [
//!         "as stored",
//!         "needs 25 tokens, 8 were left",
//!         "fits, 43 tokens were left",
//!         "newest user turn, always stays",
//!     ]
//! );
//!
//! // The messages as JSON, ready for a chat completions request.
//! let mut prompt = Vec::new();
//! assembly.write(&mut prompt);
//! assert!(prompt.starts_with(br#"[{"role":"system","content":"Be brief."},"#));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The engine is pure: it does no I/O, reads no clock and uses no randomness. The same inputs give the same
//! bytes, so that any past prompt can be built again from its inputs.

#![deny(missing_docs)]
#![warn(unreachable_pub)]

pub mod assemble;
mod budget;
pub mod compact;
mod component;
pub mod decode;
pub mod explain;
mod filter;
pub mod group;
pub mod json;
pub mod limits;
pub mod loaded;
pub mod message;
pub mod module;
mod pairs;
pub mod path;
mod payload;
pub mod piece;
pub mod policy;
pub mod recall;
pub mod recipe;
pub mod reference;
pub mod render;
pub mod scope;
mod shorten;
pub mod time_scope;
pub mod tokens;

pub use assemble::{Assembly, assemble};
pub use budget::OverBudget;
pub use component::Need;
pub use explain::{Explanation, ExplanationRow};
pub use filter::Note;
pub use loaded::Loaded;
pub use message::{Message, Role, Turn};
pub use recipe::{Recipe, RecipeBuilder, RecipeDocument};
pub use tokens::Tokenizer;
