//! A real model: llama.cpp with SmolLM2-135M.

use novelo_conversation::model::{Ask, Delta, Failure};
use serde_json::{Map, json};

use super::{answerer, ask, metric, open, run};
use crate::support::llm::Llm;

#[test]
fn an_llm_streams_tells_its_window_and_refuses_what_is_too_long() {
    let llm = Llm::start(1024);
    let models = open(&llm.settings());
    let model = answerer(&models);
    run(async {
        assert_eq!(model.window_tokens().await, Some(1024));
        let options: Map<_, _> = serde_json::from_value(json!({"max_tokens": 12, "temperature": 0})).unwrap();
        let messages = json!([{"role": "user", "content": "Name three colours.", "id": "x"}]).to_string();
        let mut deltas = model.stream(&Ask { messages: messages.into(), options }).await.unwrap();
        let (mut pieces, mut ended) = (0, None);
        while let Some(delta) = deltas.next().await {
            match delta.unwrap() {
                Delta::End { usage, finish } => ended = Some((usage.unwrap(), finish)),
                delta => {
                    assert!(ended.is_none() && matches!(delta, Delta::Text(_)), "{delta:?}");
                    pieces += 1;
                }
            }
        }
        let (usage, finish) = ended.unwrap();
        assert!(pieces > 3 && usage.prompt_tokens > 10 && usage.completion_tokens as usize >= pieces, "{usage:?}");
        assert!(["stop", "length"].contains(&finish.as_str()), "{finish}");
        assert_eq!(metric(&models, "tokens_total{job=\"answer\",kind=\"prompt\"}"), usage.prompt_tokens as f64);

        let failed = model.complete(&ask(&"word ".repeat(3000))).await;
        let Err(Failure::TooLong { prompt_tokens: Some(prompt), window_tokens, .. }) = failed else {
            panic!("{failed:?}")
        };
        assert!(prompt > 3000 && window_tokens == Some(1024), "{prompt} {window_tokens:?}");
    });
    assert_eq!(model.name(), "SmolLM2-135M-Instruct");
}
