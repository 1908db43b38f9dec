//! What is known of a user: a flat object.
//!
//! Owns the rule that it is flat, so that a prompt can show it in one line.

use bytes::Bytes;
use novelo_engine::loaded::user_data_path;
use novelo_engine::path::DocumentPath;
use novelo_store::PutTerms;
use serde_json::Value;

use crate::error::{Error, Result};
use crate::remember::UserMemory;

/// The data as it is now.
pub async fn get(app: &UserMemory, user: &str) -> Result<Bytes> {
    let document = app.store.get(&path(user)?).await?;
    Ok(document.map_or_else(|| Bytes::from_static(b"{}"), |document| document.value))
}

/// Stores data, given as it is read and as it is written, and answers with what is known now.
pub async fn write(app: &UserMemory, user: &str, data: &Value, written: &str, terms: PutTerms) -> Result<Bytes> {
    check_flat(data)?;
    app.store.put(&path(user)?, Bytes::copy_from_slice(written.as_bytes()), terms).await?;
    get(app, user).await
}

fn check_flat(data: &Value) -> Result<()> {
    let Value::Object(fields) = data else { return Err(Error::invalid("body", "must be an object")) };
    match fields.iter().find(|(_, value)| value.is_object() || value.is_array()) {
        Some((key, _)) => Err(Error::invalid(key.as_str(), "must be a string, a number, true, false or null")),
        None => Ok(()),
    }
}

fn path(user: &str) -> Result<DocumentPath> {
    user_data_path(user).map_err(|e| Error::bad_id("user", &e))
}
