//! The docs say what the code says.

#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use novelo_conversation::error::TABLE;
use novelo_conversation::settings::SETTINGS;
use novelo_server::surface::openapi::OPERATIONS;

fn page(name: &str) -> String {
    std::fs::read_to_string(format!("{}/../../{name}", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

#[test]
fn every_setting_is_documented_with_its_default() {
    let page = page("docs/operations.md");
    for setting in SETTINGS {
        let names = setting.env_names().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
        let default = if setting.default.is_empty() { String::new() } else { format!("`{}` ", setting.default) };
        let row = format!("| `{}` | {names} | {default}| {} |", setting.key, setting.about);
        assert!(page.contains(&row), "docs/operations.md has no row {row}");
    }
}

#[test]
fn every_error_is_documented_with_its_status() {
    let page = page("docs/api.md");
    for row in TABLE {
        let line = format!("| {} | `{}` | {} |", row.status, row.name, row.meaning);
        assert!(page.contains(&line), "docs/api.md has no row {line}");
    }
}

#[test]
fn every_operation_is_documented() {
    let page = page("docs/api.md");
    for operation in OPERATIONS {
        let tail = operation.path.rsplit('/').find(|part| !part.starts_with('{')).unwrap_or("");
        assert!(page.contains(tail), "docs/api.md does not speak of {}", operation.path);
    }
}
