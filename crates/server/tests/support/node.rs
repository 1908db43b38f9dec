//! A node in this process, over a store that others have too. It listens on its own port.

use std::ops::Deref;

use novelo_conversation::app::{self, App, Tasks};
use novelo_conversation::remember::reader;
use novelo_conversation::settings::{SETTINGS, Settings};
use novelo_server::peers::Membership;
use novelo_server::server::Server;
use novelo_server::{http, peers, router};
use novelo_store::Store;
use tokio::runtime::Runtime;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use super::{Client, PROGRAM};

/// A running node. It takes calls as a client without a key.
pub struct Node {
    pub app: App,
    /// What its own command line presents instead of a key.
    pub own_secret: String,
    tasks: Tasks,
    joined: Membership,
    stop: oneshot::Sender<()>,
    served: JoinHandle<()>,
    client: Client,
    runtime: Runtime,
}

impl Node {
    /// Starts one; others know it then.
    pub fn start(store: &Store, settings: &[(&str, &str)]) -> Self {
        let runtime = Runtime::new().unwrap();
        // A test is not the program that reads files.
        reader::set_reader(PROGRAM.into(), ["read-file".into()]);
        let own = [("NOVELO_STORE", "memory"), ("NOVELO_ASK_DATABASE", "none"), ("NOVELO_ADDR", "127.0.0.1:0")];
        let env = |name: &str| settings.iter().chain(&own).find(|(of, _)| *of == name).map(|(_, v)| (*v).to_owned());
        assert!(settings.iter().all(|(name, _)| SETTINGS.iter().any(|s| s.env_names().any(|of| of == *name))));
        let settings = Settings::gather(None, env, &[]).unwrap();
        let (app, own_secret, tasks, joined, addr, served, stop) = runtime.block_on(async {
            let (app, tasks) = app::open_with(settings, store.clone()).await.unwrap();
            let server = Server::new(app.clone()).await.unwrap();
            let listener = router::bind(&server, app.settings.addr).await.unwrap();
            let addr = listener.local_addr().unwrap();
            let joined = peers::join(&server, app.settings.node_url(addr)).await.unwrap();
            let (stop, stopped) = oneshot::channel::<()>();
            let (router, connections) = (router::router(server.clone()), server.connections.clone());
            let served = tokio::spawn(http::serve(router, listener, connections, async move { drop(stopped.await) }));
            (app, server.own_secret.clone(), tasks, joined, addr, served, stop)
        });
        Self { app, own_secret, tasks, joined, stop, served, client: Client::new(addr), runtime }
    }

    /// Ends it as a power cut would: without a word to other nodes.
    pub fn kill(self) {
        self.runtime.shutdown_background();
    }

    /// Ends it as `SIGTERM` does.
    pub fn stop(self) {
        let Self { app, tasks, joined, stop, served, runtime, .. } = self;
        runtime.block_on(async {
            drop(stop);
            served.await.unwrap();
            joined.leave().await;
            app::close(app, tasks).await.unwrap();
        });
    }

    /// Runs something where its tasks run.
    pub fn block_on<T>(&self, work: impl Future<Output = T>) -> T {
        self.runtime.block_on(work)
    }

    pub fn client(&self) -> Client {
        self.client.clone()
    }
}

impl Deref for Node {
    type Target = Client;

    fn deref(&self) -> &Client {
        &self.client
    }
}

/// Where a node says where it is.
pub fn place(node: &str) -> novelo_engine::path::DocumentPath {
    novelo_engine::path::CollectionPath::new(&[novelo_conversation::caller::NODES]).unwrap().document(node).unwrap()
}
