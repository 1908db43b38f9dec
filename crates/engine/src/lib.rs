//! Novelo's engine: turns and memories in, the messages a model should see next out.
//!
//! Pure: no I/O, no clock, no randomness. `now` and everything loaded come in as values, so that the same inputs give
//! the same bytes, and any past prompt can be built again. Start at [`assemble`].

#![warn(unreachable_pub)]

pub mod assemble;
mod budget;
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
