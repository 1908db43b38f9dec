//! W7: a message to `/ask-eco`, beside the bare call of the model that answers it.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use axum::Router;
use axum::extract::State;
use axum::routing::{get, post};
use serde_json::{Value, json};

use super::http::{HttpClient, ask, client, start, start_ours};
use super::{BenchRow, RatioTarget, median, medians};
use novelo_conversation::app;
use novelo_conversation::settings::Settings;
use novelo_server::http::body::Json;
use novelo_server::router::router;
use novelo_server::server::Server;

const ROUNDS: usize = 301;
/// The first rounds make everything warm.
const WARM: usize = 20;
const LIMIT_US: f64 = 1_000.0;

/// When the model was asked last.
type LastCall = Arc<Mutex<Option<Instant>>>;

pub(crate) async fn message() -> anyhow::Result<Vec<BenchRow>> {
    let dir = tempfile::tempdir()?;
    let asked = LastCall::default();
    let (model, (stop_model, model_served)) = start(server(asked.clone())).await?;
    let at = |name: &str| dir.path().join(name);
    let mut settings = Settings { data: at("data"), policies: at("policies"), ..Settings::default() };
    settings.models.answer.url.value = format!("{model}/v1").into();
    let (app, tasks) = app::open(settings).await?;
    let server = Server::new(app.clone()).await?;
    let (address, (stop, served)) = start_ours(&server, router(server.clone())).await?;
    let bench = MessageBench {
        client: client(),
        eco: format!("{address}/ask-eco"),
        bare: format!("{model}/v1/chat/completions"),
        asked,
    };
    let figures = bench.measure().await?;
    drop((stop, stop_model));
    served.await?;
    model_served.await?;
    app::close(app, tasks).await?;
    Ok(figures.rows())
}

/// A model that answers at once, whole or as a stream, and remembers when it was asked.
fn server(asked: LastCall) -> Router {
    let answer = async |State(asked): State<LastCall>, body: bytes::Bytes| {
        *asked.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
        let wants: Value = serde_json::from_slice(&body).unwrap_or_default();
        let text = "Estou aqui com você. O que pesa mais agora?";
        let choice =
            |key: &str| json!({"index": 0, key: {"role": "assistant", "content": text}, "finish_reason": "stop"});
        match wants.get("stream") == Some(&json!(true)) {
            true => format!("data: {}\n\ndata: [DONE]\n\n", json!({"choices": [choice("delta")]})),
            false => json!({"choices": [choice("message")]}).to_string(),
        }
    };
    let models = async || Json::from_value(&json!({"data": [{"id": "bench"}]}));
    Router::new().route("/v1/chat/completions", post(answer)).route("/v1/models", get(models)).with_state(asked)
}

struct MessageBench {
    client: HttpClient,
    eco: String,
    bare: String,
    asked: LastCall,
}

/// Pairs of ours and raw, and how long ours took to ask the model, in microseconds.
#[derive(Default)]
struct MessageTimes {
    anew: Vec<(f64, f64)>,
    again: Vec<(f64, f64)>,
    before: Vec<(f64, f64)>,
}

impl MessageBench {
    async fn measure(&self) -> anyhow::Result<MessageTimes> {
        let mut figures = MessageTimes::default();
        for round in 0..ROUNDS + WARM {
            let (raw, raw_before) = self.timed(&self.bare, self.prompt()).await?;
            let body = self.message(round);
            let (anew, before) = self.timed(&self.eco, body.clone()).await?;
            let (again, _) = self.timed(&self.eco, body).await?;
            if round >= WARM {
                figures.anew.push((anew, raw));
                figures.again.push((again, raw));
                figures.before.push((before, raw_before));
            }
        }
        Ok(figures)
    }

    /// How long the call took, and how long until the model was asked; the same if it was not asked.
    async fn timed(&self, at: &str, body: String) -> anyhow::Result<(f64, f64)> {
        *self.asked.lock().unwrap_or_else(PoisonError::into_inner) = None;
        let started = Instant::now();
        let answer = ask(&self.client, at, body).await?;
        let took = started.elapsed().as_secs_f64() * 1e6;
        anyhow::ensure!(answer.windows(5).any(|part| part == b"Estou"), "{}", String::from_utf8_lossy(&answer));
        let asked = *self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        Ok((took, asked.map_or(took, |asked| asked.duration_since(started).as_secs_f64() * 1e6)))
    }

    fn prompt(&self) -> String {
        json!({"model": "bench", "messages": [{"role": "user", "content": "Estou muito ansioso"}]}).to_string()
    }

    /// A message that needs the whole prompt, in a session of ten messages.
    fn message(&self, round: usize) -> String {
        let content = format!("Estou muito ansioso e não consigo dormir, pela {round}ª vez nesta semana");
        let session = json!({"sessionId": format!("s{}", round / 10)});
        json!({"userId": "bench", "stream": false, "sessionMeta": session, "messages": [{"role": "user", "content": content}]})
            .to_string()
    }
}

impl MessageTimes {
    fn rows(&self) -> Vec<BenchRow> {
        let row = |what: &str, pairs: &[(f64, f64)]| {
            let (ours, raw, ratio) = medians(pairs);
            BenchRow { name: "W7", what: what.to_owned(), ours, raw, unit: "µs", ratio, target: None }
        };
        let before = median(self.before.iter().map(|(ours, raw)| ours - raw).collect());
        let what = "from the request to the model, less what the bare call takes to get there / 1 ms".to_owned();
        let target = Some(RatioTarget::AtMost(1.0));
        let overhead =
            BenchRow { name: "W7", what, ours: before, raw: LIMIT_US, unit: "µs", ratio: before / LIMIT_US, target };
        vec![
            row(
                "/ask-eco, full prompt, both turns stored durably / the bare call of a model that answers at once",
                &self.anew,
            ),
            row("the same message again, from the cache / the bare call", &self.again),
            overhead,
        ]
    }
}
