use serde_json::{Value, json};

use super::*;
use crate::app;
use crate::context::replay;
use crate::model::{Job, room_tokens};
use crate::settings::Settings;
use crate::trace::{self, TraceEntry};

const WINDOW_TOKENS: u32 = 1_000;

#[tokio::test]
async fn a_work_prompt_has_a_trace_and_stays_within_the_window_of_its_model() {
    let dir = tempfile::tempdir().unwrap();
    let mut settings = Settings { policies: dir.path().join("none"), ..Settings::in_memory() };
    settings.models.answer.url.value = "http://127.0.0.1:9".to_owned().into();
    settings.models.answer.model.value = "small".to_owned();
    settings.models.answer.window_tokens = u64::from(WINDOW_TOKENS);
    let (app, tasks) = app::open(settings).await.unwrap();
    let model = app.models.get(Job::Answer).unwrap();
    let make = async |words: usize| {
        let thread = Some(("u", "t"));
        let prompt = WorkPrompt { instruction: "Sum up.", model, thread, made_from: None };
        prompt.make(&app, |share| "word ".repeat(words / share)).await
    };
    let whole = make(100).await.unwrap();
    let expected = json!([{"role": "system", "content": "Sum up."}, {"role": "user", "content": "word ".repeat(100)}]);
    assert_eq!(serde_json::from_slice::<Value>(&whole.messages()).unwrap(), expected);
    assert_eq!(untraced_messages("Sum up.", &"word ".repeat(100)).unwrap(), whole.messages());
    let cut = make(4_000).await.unwrap();
    assert!(cut.tokens <= room_tokens(WINDOW_TOKENS) && cut.tokens > room_tokens(WINDOW_TOKENS) / 2, "{}", cut.tokens);
    let Some(TraceEntry::Prompt(traced)) = trace::find(&app.store, &app.recorder, &cut.trace).await.unwrap() else {
        panic!("there is a trace")
    };
    assert_eq!((traced.user.as_deref(), traced.thread.as_deref()), (Some("u"), Some("t")));
    let (messages, explanation, is_identical) = replay(&app, &traced).await.unwrap();
    assert!(is_identical && messages == cut.messages() && !json!(explanation).is_null());
    assert_eq!(make(4_000_000).await.unwrap_err().code, Code::OverBudget);
    app::close(app.clone(), tasks).await.unwrap();
}
