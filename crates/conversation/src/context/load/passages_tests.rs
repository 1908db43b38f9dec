use novelo_engine::decode::Fields;
use novelo_engine::time_scope::TimeScope;
use serde_json::{Value, json};
use tokio::time::sleep;

use super::*;
use crate::app::{self, App, Tasks};
use crate::context;
use crate::context::request::RecipeChoice;
use crate::error::Error;
use crate::remember::memories::{self, NewMemory};
use crate::settings::Settings;

const LIMIT: Duration = Duration::from_secs(3);

async fn after(took: Duration) -> Result<u8> {
    sleep(took).await;
    Ok(7)
}

#[tokio::test(start_paused = true)]
async fn a_search_has_its_time_and_not_a_moment_more() {
    let moment = Duration::from_millis(1);
    assert_eq!(within(Some(LIMIT), after(LIMIT - moment)).await.unwrap(), Ok(7));
    assert_eq!(within(Some(LIMIT), after(LIMIT + moment)).await.unwrap(), Err("it took longer than 3s".to_owned()));
    assert_eq!(within(None, after(LIMIT * 1_000)).await.unwrap(), Ok(7));
}

#[tokio::test]
async fn a_search_that_fails_is_no_failure_of_the_request() {
    let fails = |code| async move { Err::<u8, _>(Error::new(code, "the disk is gone")) };
    for limit in [Some(LIMIT), None] {
        for code in [Code::Internal, Code::Busy, Code::ReadOnly] {
            assert_eq!(within(limit, fails(code)).await.unwrap(), Err("the disk is gone".to_owned()));
        }
        assert_eq!(within(limit, fails(Code::InvalidField)).await.unwrap_err().code, Code::InvalidField);
    }
}

async fn open(dir: &tempfile::TempDir) -> (App, Tasks) {
    app::open(Settings { policies: dir.path().join("none"), ..Settings::in_memory() }).await.unwrap()
}

fn component() -> Value {
    json!({"kind": "recall", "from": "memories", "heading": "HERE:", "empty": "HERE: none."})
}

fn recall() -> Recall {
    let component = component();
    let mut fields = Fields::from_value("component", &component).unwrap();
    Recall::decode(&mut fields).unwrap()
}

async fn prompt(app: &App, recalled: Vec<RecalledPassages>) -> (String, usize) {
    let recipe = json!({"components": [component()]});
    let request = Request {
        user: Some("u".into()),
        reach: TimeScope::thread("t", 0.0),
        query: Some("parrot".into()),
        recipe: RecipeChoice::Given(recipe),
        recalled,
        omits_recall_notice: true,
        ..Request::default()
    };
    let made = context::context(app, request).await.unwrap();
    let messages: Value = serde_json::from_slice(&made.messages()).unwrap();
    assert_eq!(messages.as_array().unwrap().len(), 1);
    (messages[0]["content"].as_str().unwrap().to_owned(), made.sources.len())
}

#[tokio::test]
async fn what_was_searched_for_already_is_not_searched_for_again() {
    let dir = tempfile::tempdir().unwrap();
    let (app, tasks) = open(&dir).await;
    let recall = recall();
    let find = || recall_one(&app, "u", &recall, "parrot", |_| false);
    let nothing = find().await.unwrap();
    let Recalled { message, hits, problems, .. } = &nothing.recalled;
    assert!(message.is_none() && hits.is_empty() && problems.is_empty() && nothing.hits.is_empty());
    for text in ["The parrot eats at six", "Rent is due"] {
        memories::add(&app, "u", NewMemory { text, ..NewMemory::default() }).await.unwrap();
    }
    let found = find().await.unwrap();
    assert_eq!((found.recalled.hits.len(), found.hits.len()), (1, 1));
    let searched = prompt(&app, Vec::new()).await;
    assert_eq!(searched, ("HERE:\nThe parrot eats at six".to_owned(), 1));
    assert_eq!(prompt(&app, vec![found.clone()]).await, searched);
    assert_eq!(prompt(&app, vec![nothing.clone()]).await, ("HERE: none.".to_owned(), 0));
    let another = Recalled { recall: Recall { hits_max: 1, ..recall.clone() }, ..nothing.recalled.clone() };
    let another = RecalledPassages { recalled: another, ..nothing };
    assert_eq!(prompt(&app, vec![another]).await, searched, "what is given for another recall is not used");
    app::close(app.clone(), tasks).await.unwrap();
}
