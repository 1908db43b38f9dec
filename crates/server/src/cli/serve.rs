//! `novelo serve`: runs the server until it is stopped.

use std::path::{Path, PathBuf};

use anyhow::Context;
use tokio::signal::unix::{SignalKind, signal};

use crate::instance::Instance;
use crate::server::Server;
use crate::{files, http, peers, router};
use novelo_conversation::app::{self};
use novelo_conversation::settings::{Settings, StoreKind};
use novelo_conversation::{logs, sample};

/// A note for this machine's own command line: the address of the server, and the secret to present there. It
/// lies in the data directory, readable only by its owner, who could read the documents anyway.
#[derive(serde::Serialize, serde::Deserialize)]
pub struct ServerNote {
    pub addr: String,
    pub secret: String,
}

pub async fn run(settings: Settings) -> anyhow::Result<()> {
    logs::start_logs(&settings.log)?;
    let files = files::raise_limit();
    let is_empty = std::fs::read_dir(&settings.data).map_or(true, |mut entries| entries.next().is_none());
    let fresh = settings.store == StoreKind::Memory || is_empty;
    let (app, tasks) = app::open(settings).await?;
    match (app.settings.sample, app.settings.is_shared()) {
        (true, true) => sample::write_once(&app).await?,
        (true, false) if fresh => sample::write(&app).await?,
        _ => {}
    }
    let server = Server::new(app.clone()).await?;
    let listener = router::bind(&server, server.app.settings.addr).await?;
    let addr = listener.local_addr()?;
    let note = write_note(&server, &addr.to_string())?;
    // From the moment it is reported as ready, it may be stopped.
    let stop = stop()?;
    let joined = match app.settings.is_shared() {
        true => Some(peers::join(&server, app.settings.node_url(addr)).await?),
        false => None,
    };
    let connections = server.connections.clone();
    tracing::info!(files.before, files.now, connections = connections.max(), "descriptors");
    say!("novelo is ready at http://{addr}");
    http::serve(router::router(server), listener, connections, stop).await;
    if let Some(joined) = joined {
        joined.leave().await;
    }
    if let Some(note) = note {
        remove_note(&note);
    }
    app::close(app, tasks).await
}

/// A note that is left behind does no harm: a client lets the server prove that it has this directory open.
fn remove_note(note: &Path) {
    if let Err(error) = std::fs::remove_file(note) {
        tracing::warn!(%error, note = %note.display(), "the note of this server was not removed");
    }
}

/// Resolves at SIGTERM or SIGINT.
fn stop() -> anyhow::Result<impl Future<Output = ()>> {
    let (mut term, mut int) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
    Ok(async move {
        tokio::select! {
            _ = term.recv() => {}
            _ = int.recv() => {}
        }
        tracing::info!("stopping: finishing what is in flight");
    })
}

pub(crate) fn note_path(settings: &Settings) -> PathBuf {
    settings.data.join("serving.json")
}

fn write_note(server: &Server, addr: &str) -> anyhow::Result<Option<PathBuf>> {
    use std::io::Write;
    use std::os::unix::fs::OpenOptionsExt;
    let settings = &server.app.settings;
    if settings.store == StoreKind::Memory {
        return Ok(None);
    }
    let path = note_path(settings);
    let note = ServerNote { addr: addr.to_owned(), secret: server.own_secret.clone() };
    let failure = || format!("cannot write {}", path.display());
    std::fs::create_dir_all(&settings.data).with_context(failure)?;
    let instance = Instance::create(&settings.data)?;
    server.instance.get_or_init(|| instance);
    if path.exists() {
        std::fs::remove_file(&path).with_context(failure)?;
    }
    let mut file = std::fs::OpenOptions::new();
    let mut file = file.write(true).create_new(true).mode(0o600).open(&path).with_context(failure)?;
    file.write_all(&serde_json::to_vec(&note)?).with_context(failure)?;
    Ok(Some(path))
}
