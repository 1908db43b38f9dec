//! What is known of a user: an object whose values are any JSON.

use bytes::Bytes;
use novelo_engine::loaded::user_data_path;
use novelo_engine::message::check_size;
use novelo_engine::path::DocumentPath;
use novelo_store::PutTerms;

use crate::error::{Error, Result};
use crate::remember::UserMemory;

/// The data as it is now.
pub async fn get(app: &UserMemory, user: &str) -> Result<Bytes> {
    let document = app.store.get(&path(user)?).await?;
    Ok(document.map_or_else(|| Bytes::from_static(b"{}"), |document| document.value))
}

/// Stores data, given as JSON in a field of the request, and answers with what is known now.
pub async fn write(app: &UserMemory, user: &str, (field, written): (&str, &str), terms: PutTerms) -> Result<Bytes> {
    if !written.trim_start().starts_with('{') {
        return Err(Error::invalid(field, "must be an object"));
    }
    check_size(written.as_bytes()).map_err(|e| Error::invalid(field, e))?;
    app.store.put(&path(user)?, Bytes::copy_from_slice(written.as_bytes()), terms).await?;
    get(app, user).await
}

fn path(user: &str) -> Result<DocumentPath> {
    user_data_path(user).map_err(|e| Error::bad_id("user", &e))
}
